package processor_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// names lists the runs that a filter takes.
func (p *process) names(o *processor.ListOptions) []string {
	p.w.t.Helper()
	names := []string{}
	for info, err := range p.List(p.w.t.Context(), o) {
		if err != nil {
			p.w.t.Fatal(err)
		}
		names = append(names, info.Name)
	}
	return names
}

// startTagged starts a run with tags and without an input.
func (p *process) startTagged(pl *processor.Pipeline, name string, tags map[string]string) *processor.Run {
	p.w.t.Helper()
	run, err := p.Start(p.w.t.Context(), pl, nil, &processor.StartOptions{Name: name, Tags: tags})
	if err != nil {
		p.w.t.Fatal(err)
	}
	return run
}

// ending is squares with a second branch that fails.
func ending(t *testing.T) *processor.Pipeline {
	t.Helper()
	return squares(t, func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
		if task.Event == "02.00" {
			return processor.Abort("broken"), nil
		}
		return processor.Complete(1), nil
	})
}

func TestList_Tags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.process(nil)
		pl := squares(t, square)
		p.startTagged(pl, "a", map[string]string{"customer": "ACME & Söhne", "batch": "7"})
		p.startTagged(pl, "b", map[string]string{"customer": "x", "urgent": ""})
		p.startTagged(pl, "c", nil)
		for _, test := range []struct {
			tags map[string]string
			want []string
		}{
			{nil, []string{"a", "b", "c"}},
			{map[string]string{"customer": ""}, []string{"a", "b"}},
			{map[string]string{"customer": "ACME & Söhne"}, []string{"a"}},
			{map[string]string{"customer": "", "batch": "7"}, []string{"a"}},
			{map[string]string{"customer": "x", "batch": "7"}, []string{}},
			{map[string]string{"urgent": ""}, []string{"b"}},
			{map[string]string{"urgent": "yes"}, []string{}},
		} {
			if got := p.names(&processor.ListOptions{Tags: test.tags}); !slices.Equal(got, test.want) {
				t.Errorf("List(%q) = %q, want %q", test.tags, got, test.want)
			}
		}
	})
}

// Whoever attaches to a run by its name does not change its tags.
func TestStart_AttachingKeepsTags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := squares(t, square)
		p.startTagged(pl, "a", map[string]string{"batch": "7"})
		if run := p.startTagged(pl, "a", map[string]string{"batch": "8", "more": ""}); !run.Attached {
			t.Errorf("Start() with other tags = %+v, want it attached", run)
		}
		if got := p.stream("a").Attr("tags"); got != "batch=7" {
			t.Errorf("tags = %q, want those of the first start", got)
		}
	})
}

func TestStart_RefusesTagsBeforeItWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		_, err := w.process(nil).Start(t.Context(), squares(t, square), nil,
			&processor.StartOptions{Tags: map[string]string{"a b": "x"}})
		if !errors.Is(err, eventstream.ErrTag) {
			t.Errorf("Start() with a wrong tag = %v, want ErrTag", err)
		}
		if got := w.blobs(""); len(got) > 0 {
			t.Errorf("Start() with a wrong tag wrote %q", got)
		}
	})
}

// Tags are metadata that every edit writes anew: they last as long as the run.
func TestTags_LastIntoTheArchiveAndBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := ending(t)
		p.work(nil, pl)
		tagged := &processor.ListOptions{Tags: map[string]string{"batch": "7"}}
		if _, err := p.Start(t.Context(), pl, []byte("3"), &processor.StartOptions{Name: "a", Tags: tagged.Tags}); err != nil {
			t.Fatal(err)
		}
		p.await("a")
		time.Sleep(2 * time.Hour)
		if got := p.names(tagged); !slices.Equal(got, []string{"a"}) || len(p.w.blobs("archive/")) != 1 {
			t.Errorf("List() after the archiving = %q", got)
		}
		if _, err := p.Retry(t.Context(), "a", nil); err != nil {
			t.Fatal(err)
		}
		if got := p.names(tagged); !slices.Equal(got, []string{"a"}) || len(p.w.blobs("streams/")) != 1 {
			t.Errorf("List() after the retry = %q", got)
		}
	})
}

func TestList_Status(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := ending(t)
		p.start(pl, "canceled", 0)
		if err := p.Cancel(t.Context(), "canceled", "", "", ""); err != nil {
			t.Fatal(err)
		}
		p.work(nil, pl)
		p.run(pl, "aborted", "no number")
		p.run(pl, "completed", 1)
		p.run(pl, "with-error", 2)
		for status, want := range map[string][]string{
			"completed": {"completed"}, processor.StatusWithError: {"with-error"},
			"aborted": {"aborted"}, "canceled": {"canceled"}, "inprocess": {},
		} {
			if got := p.names(&processor.ListOptions{Status: status}); !slices.Equal(got, want) {
				t.Errorf("List(%s) = %q, want %q", status, got, want)
			}
		}
	})
}
