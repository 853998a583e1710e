package cli

import (
	"fmt"
	"io"

	"github.com/leasestream/leasestream/processor"
)

// purgeView shows what a purge does, run by run. It ends however the purge did: what
// was removed is gone, and has to be told.
type purgeView interface {
	show(run processor.PurgedRun) error
	end(sum purgedSum) error
}

// purgeLines is a line for each run that was removed, and one for all.
type purgeLines struct {
	w      io.Writer
	dryRun bool
}

func (v *purgeLines) show(run processor.PurgedRun) error {
	if run.Err != nil {
		return nil
	}
	_, err := fmt.Fprintf(v.w, "%s: %s\n", run.Name, shownPurged(run.Purged))
	return err
}

func (v *purgeLines) end(sum purgedSum) error {
	verb := "purged"
	if v.dryRun {
		verb = "would be purged"
	}
	_, err := fmt.Fprintf(v.w, "%s %s: %s\n", plural(len(sum.names), "run"), verb, shownPurged(sum.Purged))
	return err
}

func shownPurged(p processor.Purged) string {
	return fmt.Sprintf("%s, %d bytes", plural(p.Payloads, "payload"), p.Bytes)
}

// purgeJSON is an array of runs as ls has them.
type purgeJSON struct{ array *jsonArray }

func (v purgeJSON) show(run processor.PurgedRun) error {
	o := object{{"name", run.Name}}
	if run.Run != "" {
		o = runInfoJSON(run.RunInfo)
	}
	o = append(o, member{"payloads", run.Payloads}, member{"children", run.Children}, member{"bytes", run.Bytes})
	if run.Err != nil {
		o = append(o, member{"error", run.Err.Error()})
	}
	return v.array.add(o)
}

func (v purgeJSON) end(purgedSum) error { return v.array.end("") }
