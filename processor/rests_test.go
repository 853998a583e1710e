package processor_test

import (
	"bytes"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// Streams that promise work and have none must not keep a worker busy, nor fill
// its log.
func TestWork_LeavesFruitlessStreamsAlone(t *testing.T) {
	for name, document := range map[string]string{
		"malformed":       `<EventStream name="bad"><Event id="00"`,
		"empty":           "",
		"no definition":   `<EventStream name="r"><Event id="00" name="Split" status="init"/></EventStream>`,
		"impossible step": `<EventStream name="r" definition="DEF"><Event id="00" name="Nobody" status="init"/></EventStream>`,
		"bad attempt":     `<EventStream name="r" definition="DEF"><Event id="00" name="Split" status="init" attempt="9223372036854775807"/></EventStream>`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				pl := squares(t, square)
				body := bytes.ReplaceAll([]byte(document), []byte("DEF"), []byte(pl.Definition()))
				if _, err := w.st.Put(t.Context(), "streams/r.xml", body, nil); err != nil {
					t.Fatal(err)
				}
				spy := storetest.NewFaults(w.st, nil)
				var log bytes.Buffer
				p := w.processOn(spy, &processor.Options{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))})
				p.work(nil, pl)
				time.Sleep(10 * time.Minute)
				if n := spy.Counts()["acquire"]; n > 60 {
					t.Errorf("%d leases were asked for in 10 minutes: %v", n, spy.Counts())
				}
				wantEnd(t, p.run(pl, "other", 3), eventstream.Completed, false, "14")
				p.stop()
				p.done.Wait()
				if lines := bytes.Count(log.Bytes(), []byte("\n")); lines > 25 {
					t.Errorf("the log has %d lines:\n%s", lines, log.Bytes()[:min(log.Len(), 2000)])
				}
			})
		})
	}
}
