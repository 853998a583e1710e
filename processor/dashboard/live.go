package dashboard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

const (
	// patience is how long a browser may take to read an event.
	patience = 10 * time.Second
	// heartbeat keeps proxies from closing a stream in which nothing happens.
	heartbeat = 15 * time.Second
)

// live is an event stream (server-sent events) about one subject: "part" with
// parts of the page that have changed, "change" with the version for which the
// page has to be loaded anew.
func (d *Dashboard) live(w http.ResponseWriter, r *http.Request) {
	of := r.URL.Query().Get("of")
	look, every := d.subject(r.PathValue("subject"), of)
	if look == nil {
		http.NotFound(w, r)
		return
	}
	watcher := d.feeds.watch(r.PathValue("subject")+" "+of, every, look)
	defer watcher.leave()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	s := &sse{w: w, control: http.NewResponseController(w), shown: r.URL.Query().Get("version")}
	s.run(r.Context(), d.feeds.done(), watcher)
}

// subject is how a subject of event streams is looked at, and how often; nil if
// there is none of that name.
func (d *Dashboard) subject(subject, of string) (look, time.Duration) {
	switch pace := d.feeds.pace; subject {
	case "runs":
		return d.lookAtRuns, pace.runs
	case "run":
		return func(ctx context.Context) (update, error) { return d.lookAtRun(ctx, of) }, pace.run
	case "workers":
		return d.lookAtWorkers, pace.other
	case "leases":
		return d.lookAtLeases, pace.other
	}
	return nil, 0
}

// sse writes an event stream.
type sse struct {
	w       io.Writer
	control *http.ResponseController
	shown   string // version that the page shows
}

func (s *sse) run(ctx context.Context, done <-chan struct{}, watcher *watcher) {
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	err := s.write(": connected\n\n")
	for err == nil {
		select {
		case <-ctx.Done():
			return
		case <-done:
			return
		case <-ticker.C:
			err = s.write(":\n\n")
		case u := <-watcher.c:
			err = s.tell(u)
		}
	}
}

func (s *sse) tell(u update) error {
	if u.version == s.shown {
		return nil
	}
	s.shown = u.version
	var text strings.Builder
	if u.html != "" {
		text.WriteString("event: part\n")
		for line := range strings.Lines(u.html) {
			text.WriteString("data: " + strings.TrimRight(line, "\r\n") + "\n")
		}
		text.WriteString("\n")
	}
	fmt.Fprintf(&text, "event: change\ndata: %s\n\n", strings.NewReplacer("\r", " ", "\n", " ").Replace(u.version))
	return s.write(text.String())
}

// write gives up on a browser that does not read.
func (s *sse) write(text string) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(patience)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := io.WriteString(s.w, text); err != nil {
		return err
	}
	return s.control.Flush()
}
