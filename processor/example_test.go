package processor_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"

	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store/memstore"
)

// Count the letters of some words in parallel, and add them up.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	st := memstore.New(nil)
	if err := st.Create(ctx); err != nil {
		log.Fatal(err)
	}
	sc := scope.New(st, nil)
	defer sc.Close()

	pipeline, err := processor.NewPipeline("letters", nil,
		processor.Step{Name: "Words", Handler: words},
		processor.Step{Name: "Count", Handler: processor.Func(count)},
		processor.Step{Name: "Total", Handler: processor.Aggregate(sum)},
	)
	if err != nil {
		log.Fatal(err)
	}
	p := processor.New(sc, nil)
	run, err := p.Start(ctx, pipeline, json.RawMessage(`"split process aggregate"`), nil)
	if err != nil {
		log.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- p.Work(ctx, nil, pipeline) }()

	end, err := p.Await(ctx, run.Name, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(end.Status, string(end.Output))

	stop()
	if err := <-done; err != nil {
		log.Fatal(err)
	}
	// Output: completed 21
}

func words(_ context.Context, t *processor.Task) (processor.Outcome, error) {
	var text string
	if err := t.Decode(&text); err != nil {
		return processor.Outcome{}, err
	}
	var messages []any
	for word := range strings.FieldsSeq(text) {
		messages = append(messages, word)
	}
	return processor.Split("Count", messages...).Join("Total"), nil
}

func count(_ context.Context, word string) (int, error) { return len(word), nil }
