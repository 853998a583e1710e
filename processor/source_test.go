package processor_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store"
)

func TestSource(t *testing.T) {
	w := newWorld(t)
	p := w.process(nil)
	pl := squares(t, square)
	if _, err := p.Source(t.Context(), pl.Definition()); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Source() before a start = %v, want %v", err, store.ErrNotFound)
	}
	p.start(pl, "r", 1)
	source, err := p.Source(t.Context(), pl.Definition())
	if err != nil || string(source) != string(pl.Source()) {
		t.Errorf("Source() = %q, %v, want %q", source, err, pl.Source())
	}
	blob := "pipelines/" + strings.TrimPrefix(pl.Definition(), "sha256:") + ".yaml"
	if _, err := w.st.Put(t.Context(), blob, append(source, '\n'), nil); err != nil {
		t.Fatal(err)
	}
	if source, err := p.Source(t.Context(), pl.Definition()); source != nil || !errors.Is(err, processor.ErrDefinition) {
		t.Errorf("Source() of a blob that was tampered with = %q, %v, want %v", source, err, processor.ErrDefinition)
	}
}

// A definition comes from a document, in which anything may stand.
func TestSource_OfNoDefinition(t *testing.T) {
	p := newWorld(t).process(nil)
	for _, definition := range []string{
		"", "sha256:", "sha256:../streams/r", strings.Repeat("0", 64), "sha256:" + strings.Repeat("A", 64), "sha256:" + strings.Repeat("0", 64) + "\n",
	} {
		if _, err := p.Source(t.Context(), definition); !errors.Is(err, processor.ErrDefinition) {
			t.Errorf("Source(%q) = %v, want %v", definition, err, processor.ErrDefinition)
		}
	}
}
