package processor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/memstore"
)

// text is JSON of n bytes: a string.
func text(n int) json.RawMessage {
	data := bytes.Repeat([]byte("x"), n)
	data[0], data[n-1] = '"', '"'
	return data
}

// handler is one that ends in the same way always.
func handler(out processor.Outcome) processor.Handler {
	return func(context.Context, *processor.Task) (processor.Outcome, error) { return out, nil }
}

// limited is a process with limits that are less work to reach: 100,000 bytes a
// payload, 300,000 in all.
func (w *world) limited() *process {
	p := w.process(nil)
	p.SetLimits(100_000, 300_000)
	return p
}

func wantTooLarge(t *testing.T, call string, err error, what string, size int) {
	t.Helper()
	want := fmt.Sprintf("%s: too large: %d bytes, the limit is 100000; put the data into a file", what, size)
	if !errors.Is(err, store.ErrTooLarge) || !strings.Contains(err.Error(), want) {
		t.Errorf("%s = %v, want ErrTooLarge: %s", call, err, want)
	}
}

// What is too large is refused before anything is written, by whoever hands it in.
func TestPayload_LimitOfWhatIsHandedIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.limited()
		pl := pipeline(t, processor.Step{Name: "Wait", Handler: handler(processor.Wait(0))})
		fits, over := text(100_000), text(100_001)

		_, err := p.Start(t.Context(), pl, over, &processor.StartOptions{Name: "r"})
		wantTooLarge(t, "Start()", err, "input", len(over))
		if got := w.blobs(""); len(got) != 0 {
			t.Errorf("a refused Start() left %q", got)
		}
		if _, err := p.Start(t.Context(), pl, append(fits, ' ', '\n'), &processor.StartOptions{Name: "r"}); err != nil {
			t.Errorf("Start() with an input that fits when it is compact = %v", err)
		}

		wantTooLarge(t, "Complete()", p.Complete(t.Context(), "r", "", over, ""), "output of event 00", len(over))
		if err := p.Complete(t.Context(), "r", "", fits, ""); err != nil {
			t.Errorf("Complete() with an output that fits = %v", err)
		}
		_, err = p.Retry(t.Context(), "r", &processor.RetryOptions{From: "00", Input: over})
		wantTooLarge(t, "Retry()", err, "input of event 00", len(over))
		if got := w.blobs("payload/"); len(got) != 2 {
			t.Errorf("the payloads are %q, want input and output alone", got)
		}
		end, err := p.Await(t.Context(), "r", nil)
		if err != nil || !bytes.Equal(end.Output, fits) {
			t.Errorf("Await() = %d bytes, %v, want what fits", len(end.Output), err)
		}
	})
}

// An outcome is refused as a whole: nothing of it is written, and it is not tried
// again.
func TestPayload_LimitOfOutcomes(t *testing.T) {
	over, big := text(100_001), text(100_000)
	for _, test := range []struct {
		name string
		out  processor.Outcome
		want string
	}{
		{"output", processor.Complete(over), `output of step "A": too large: 100001 bytes, the limit is 100000; put the data into a file or a blob, and hand on its name`},
		{"next", processor.Next("B", over), `message of step "A" to step "B": too large: 100001 bytes`},
		{"a message", processor.Split("B", text(5000), over), `message 2 of 2 of step "A" to step "B": too large: 100001 bytes`},
		{"a numbered one", processor.SplitTo(processor.Branch{Step: "B", Message: text(5000)}, processor.Branch{Step: "B", Number: 7, Message: over}),
			`message 2 of 2 of step "A" to step "B", branch number 7: too large: 100001 bytes`},
		{"all together", processor.Split("B", big, big, big, 7), `the 4 messages of step "A" together: too large: 300001 bytes, the limit is 300000; split in two levels`},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				p := w.limited()
				pl := pipeline(t, processor.Step{Name: "A", Handler: handler(test.out)}, processor.Step{Name: "B", Handler: square})
				p.work(nil, pl)
				end := p.run(pl, "r", nil)
				if end.Status != eventstream.Aborted || !strings.Contains(end.Msg, test.want) {
					t.Errorf("the run ended %v: %s, want aborted: %s", end.Status, end.Msg, test.want)
				}
				if attempt := p.stream("r").Root().Attempt(); attempt != 1 {
					t.Errorf("the step was tried %d times, want once", attempt)
				}
				if got := w.blobs("payload/"); len(got) != 0 {
					t.Errorf("the refused outcome left %q", got)
				}
			})
		})
	}
}

func TestPayload_WhatFitsExactly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.limited()
		big := text(100_000)
		pl := pipeline(t,
			processor.Step{Name: "A", Handler: handler(processor.Split("B", big, big, big).Join("C"))},
			processor.Step{Name: "B", Handler: handler(processor.Complete(big))},
			processor.Step{Name: "C", Handler: handler(processor.Complete(big))},
		)
		p.work(nil, pl)
		wantEnd(t, p.run(pl, "r", nil), eventstream.Completed, false, string(big))
		if got := w.blobs("payload/"); len(got) != 7 {
			t.Errorf("there are %d payloads, want 3 messages, 3 results and the end", len(got))
		}
	})
}

// The limits are those that the documentation tells.
func TestPayload_Limits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := pipeline(t, processor.Step{Name: "A", Handler: handler(processor.Wait(0))})
		p.start(pl, "r", nil)
		err := p.Complete(t.Context(), "r", "", text(processor.MaxPayload+1), "")
		if want := "too large: 67108865 bytes, the limit is 67108864"; !errors.Is(err, store.ErrTooLarge) || !strings.Contains(err.Error(), want) {
			t.Errorf("Complete() = %v, want ErrTooLarge: %s", err, want)
		}
	})
}

// A message that fits may not fit any more with what is put around it.
func TestPayload_LimitOfTheMessageOnFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.limited()
		pl := pipeline(t,
			processor.Step{Name: "A", OnFailure: "Rescue", Handler: handler(processor.Abort("broken"))},
			processor.Step{Name: "Rescue", Handler: handler(processor.Complete("rescued"))},
		)
		p.work(nil, pl)
		wantEnd(t, p.run(pl, "small", "x"), eventstream.Completed, false, `"rescued"`)
		if _, err := p.Start(t.Context(), pl, text(100_000), &processor.StartOptions{Name: "r"}); err != nil {
			t.Fatal(err)
		}
		end := p.await("r")
		if want := `broken; step "Rescue" was not asked: input of event 00: too large`; end.Status != eventstream.Aborted || !strings.Contains(end.Msg, want) {
			t.Errorf("the run ended %v: %s, want aborted: %s", end.Status, end.Msg, want)
		}
		if got := w.blobs("payload/"); len(got) != 1 {
			t.Errorf("the payloads are %q, want the input alone", got)
		}
	})
}

// A store may take less than we allow: then too, nothing is tried for ever.
func TestPayload_LimitOfTheStore(t *testing.T) {
	messages := make([]any, 60)
	for i := range messages {
		messages[i] = text(3000)
	}
	for name, out := range map[string]processor.Outcome{
		"a payload":    processor.Complete(text(200_000)),
		"the document": processor.Split("B", messages...),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := memstore.New(&memstore.Options{MaxBody: 100_000})
				if err := st.Create(t.Context()); err != nil {
					t.Fatal(err)
				}
				p := (&world{t, st}).process(nil)
				pl := pipeline(t, processor.Step{Name: "A", Handler: handler(out)}, processor.Step{Name: "B", Handler: square})
				p.work(nil, pl)
				end := p.run(pl, "r", nil)
				if end.Status != eventstream.Aborted || !strings.Contains(end.Msg, "too large") {
					t.Errorf("the run ended %v: %s, want aborted: too large", end.Status, end.Msg)
				}
			})
		})
	}
}

// What the stream refuses once, it refuses always: no attempt follows.
func TestRun_OutcomeThatTheStreamRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := pipeline(t, processor.Step{Name: "A", Handler: handler(processor.Split("A", nil))})
		p.work(nil, pl)
		end := p.run(pl, "r", nil)
		wantEnd(t, end, eventstream.Completed, true, "")
		if s := p.stream("r"); s.Len() < 64 || !strings.Contains(s.At(s.Len()-1).Msg(), "deep") {
			t.Errorf("the stream has %d events, the last one %s", s.Len(), s.At(s.Len()-1).Msg())
		}
	})
}

// Whether a payload lies in the document or in a blob, it comes out as it went in.
func TestPayload_AroundTheClaimCheck(t *testing.T) {
	for n, blobs := range map[int]int{4095: 0, 4096: 0, 4097: 1} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			p := w.process(nil)
			hard := `<&>"]]>` // longer in XML
			output := append(append(json.RawMessage(`"`), strings.Repeat("&", n-len(hard)-3)...), `<&>\"]]>"`...)
			if len(output) != n {
				t.Fatalf("the output has %d bytes, want %d", len(output), n)
			}
			pl := pipeline(t, processor.Step{Name: "A", Handler: handler(processor.Complete(output))})
			p.work(nil, pl)
			if end := p.run(pl, "r", nil); !bytes.Equal(end.Output, output) {
				t.Errorf("output of %d bytes = %s, want %s", n, end.Output, output)
			}
			if got := w.blobs("payload/"); len(got) != blobs {
				t.Errorf("output of %d bytes is in the blobs %q, want %d", n, got, blobs)
			}
		})
	}
}

// The results may be many or large: the aggregator gets each of them once.
func TestRun_LargeResults(t *testing.T) {
	for _, test := range []struct{ branches, size int }{{60, 1 << 20}, {3, 10_000_000}} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			p := w.process(nil)
			pl := pipeline(t,
				processor.Step{Name: "Split", Handler: splitNumbers},
				processor.Step{Name: "Square", Handler: func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
					result := text(test.size)
					copy(result[1:], task.Input) // by which it is known again
					return processor.Complete(result), nil
				}},
				processor.Step{Name: "Sum", Handler: func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
					n := 0
					for r, err := range task.Results() {
						n++
						if err != nil || len(r.Output) != test.size || !bytes.HasPrefix(r.Output[1:], fmt.Append(nil, n, "x")) {
							return processor.Abort(fmt.Sprintf("result %d is %.9q of %d bytes, %v", n, r.Output, len(r.Output), err)), nil
						}
					}
					return processor.Complete(text(test.size + n)), nil
				}},
			)
			p.work(&processor.WorkOptions{Slots: 4}, pl)
			end := p.run(pl, "r", test.branches)
			if len(end.Output) != test.size+test.branches {
				t.Errorf("the run ended %v: %s, with %d bytes, want %d", end.Status, end.Msg, len(end.Output), test.size+test.branches)
			}
			if got := w.blobs("payload/"); len(got) != test.branches+1 {
				t.Errorf("there are %d payloads, want one for each result and one for the end", len(got))
			}
		})
	}
}

// slowPayloads is a store that takes most of the time that a payload may take.
type slowPayloads struct{ store.Store }

func (s slowPayloads) Local() bool { return true }

func (s slowPayloads) Put(ctx context.Context, name string, body []byte, o *store.PutOptions) (*store.Info, error) {
	if strings.HasPrefix(name, "payload/") {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Second):
		}
	}
	return s.Store.Put(ctx, name, body, o)
}

// The more payloads an outcome has, the longer it may take.
func TestPayload_EachHasItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.processOn(slowPayloads{w.st}, nil)
		big := text(10_000)
		pl := pipeline(t,
			processor.Step{Name: "A", Handler: handler(processor.Split("B", big, big, big).Join("C"))},
			processor.Step{Name: "B", Handler: handler(processor.Complete(1))},
			processor.Step{Name: "C", Handler: handler(processor.Complete("done"))},
		)
		p.work(nil, pl)
		wantEnd(t, p.run(pl, "r", nil), eventstream.Completed, false, `"done"`)
		if attempt := p.stream("r").Root().Attempt(); attempt != 1 {
			t.Errorf("the split was tried %d times, want once", attempt)
		}
	})
}
