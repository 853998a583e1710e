package processor_test

import (
	"errors"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

func TestLook(t *testing.T) {
	w := newWorld(t)
	p := w.process(nil)
	pl := squares(t, square)
	p.start(pl, "a", 3)
	before, err := p.Look(t.Context(), "a")
	if err != nil || before.Name != "a" || before.Total != 1 || before.Status != eventstream.Inprocess || before.ETag == "" {
		t.Fatalf("Look(a) = %+v, %v, want a run of one event", before, err)
	}
	p.work(nil, pl)
	p.await("a")
	after, err := p.Look(t.Context(), "a")
	if err != nil || after.Status != eventstream.Completed || after.Done != 5 || after.ETag == before.ETag {
		t.Errorf("Look(a) = %+v, %v, want the run completed, with another ETag", after, err)
	}
	for info, err := range p.List(t.Context(), nil) {
		if err != nil || info.ETag != after.ETag {
			t.Errorf("List() has ETag %q, %v, want %q as Look", info.ETag, err, after.ETag)
		}
	}
	if _, err := p.Look(t.Context(), "b"); !errors.Is(err, processor.ErrNoRun) {
		t.Errorf("Look(b) = %v, want ErrNoRun", err)
	}
	if p.Scope() != p.scope {
		t.Error("Scope() is another scope than New was given")
	}
}

func TestLook_Unreadable(t *testing.T) {
	w := newWorld(t)
	p := w.process(nil)
	if _, err := w.st.Put(t.Context(), processor.BlobOf("a"), []byte("<EventStream>"), nil); err != nil {
		t.Fatal(err)
	}
	info, err := p.Look(t.Context(), "a")
	if err != nil || !errors.Is(info.Unreadable, eventstream.ErrMalformed) || info.ETag == "" {
		t.Errorf("Look(a) = %+v, %v, want it unreadable", info, err)
	}
}

func TestDefinitions(t *testing.T) {
	w := newWorld(t)
	p := w.process(nil)
	pl := squares(t, square)
	p.start(pl, "a", 1)
	p.start(pl, "b", 1)
	for _, blob := range []string{"pipelines/README", "pipelines/x.yaml"} {
		if _, err := w.st.Put(t.Context(), blob, []byte("not one"), nil); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for definition, err := range p.Definitions(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, definition)
	}
	if len(got) != 1 || got[0] != pl.Definition() {
		t.Errorf("Definitions() = %q, want %q alone", got, pl.Definition())
	}
}
