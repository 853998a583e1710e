package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/leasestream/leasestream/processor"
)

// staff knows who works. It asks at the first run that needs workers, and never
// again.
type staff struct {
	p      *processor.Processor
	roster *processor.Roster
}

// unserved is what of a run no live worker would take; nil for nothing.
func (s *staff) unserved(ctx context.Context, run processor.RunInfo) (*processor.Unserved, error) {
	if !run.HasReady() {
		return nil, nil
	}
	if s.roster == nil {
		roster, err := s.p.Roster(ctx)
		if err != nil {
			return nil, err
		}
		s.roster = roster
	}
	return s.roster.Unserved(run), nil
}

// explainUnserved says what waits for a worker in vain, and what to do.
func explainUnserved(w io.Writer, u *processor.Unserved) error {
	steps := "step " + u.Steps[0]
	if len(u.Steps) > 1 {
		steps = "steps " + strings.Join(u.Steps, ", ")
	}
	_, err := fmt.Fprintf(w, "No live worker serves %s of pipeline %s, definition %s.\n%s",
		printable(steps), dash(printable(u.Pipeline)), printable(u.Definition), remedy(u))
	return err
}

func remedy(u *processor.Unserved) string {
	if len(u.Others) == 0 {
		return "Start one: leasestream work FILE, with the file that the run was started with.\n"
	}
	return fmt.Sprintf(`Workers serve the pipeline in another definition, %s:
its file was changed after the run began, and a run goes on in the one that it began
with. Give a worker the old file: leasestream blob get %s >old.yaml,
then leasestream work old.yaml, with the --dir of the other files.
`, printable(strings.Join(u.Others, ", ")), definitionBlob(u.Definition))
}

// definitionBlob is where the file of a definition lies.
func definitionBlob(definition string) string {
	return "pipelines/" + printable(strings.TrimPrefix(definition, "sha256:")) + ".yaml"
}

// unservedJSON is the steps that no live worker serves.
func unservedJSON(u *processor.Unserved) []string {
	if u == nil {
		return []string{}
	}
	return u.Steps
}
