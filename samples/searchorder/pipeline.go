package main

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/leasestream/leasestream/processor"
)

// order is what comes in.
type order struct {
	Item string `json:"item"`
}

// search is one question to one supplier.
type search struct {
	Supplier string `json:"supplier"`
	Item     string `json:"item"`
}

// offer is what a supplier has.
type offer struct {
	Supplier string `json:"supplier"`
	Item     string `json:"item"`
	Price    int    `json:"price"`
	// Needs is something the offer does not include and that has to be searched
	// for; "" if it is complete.
	Needs string `json:"needs,omitempty"`
}

// asker asks a supplier. It may take as long as it likes, and fail.
type asker func(context.Context, search) ([]offer, error)

// newPipeline makes the pipeline. Which step comes next is what each handler says.
// An answer of a supplier may take as long as patience, and is tried for twice.
func newPipeline(ask asker, patience time.Duration) (*processor.Pipeline, error) {
	return processor.NewPipeline("search-order", nil,
		processor.Step{Name: "OrderStart", Handler: orderStart},
		processor.Step{Name: "SearchStart", Handler: searchStart(ask), Timeout: patience,
			Retry: processor.Retry{Attempts: 2, Backoff: 100 * time.Millisecond}},
		processor.Step{Name: "SearchDone", Handler: searchDone},
		processor.Step{Name: "SearchMerge", Handler: searchMerge},
		processor.Step{Name: "OrderDone", Handler: orderDone},
	)
}

// orderStart is the splitter: one search for each supplier.
func orderStart(_ context.Context, t *processor.Task) (processor.Outcome, error) {
	var o order
	if err := t.Decode(&o); err != nil {
		return processor.Outcome{}, err
	}
	var searches []any
	for _, supplier := range []string{"north", "south", "west", "east"} {
		searches = append(searches, search{supplier, o.Item})
	}
	return processor.Split("SearchStart", searches...).Join("OrderDone"), nil
}

// searchStart asks the supplier and hands on what it has.
func searchStart(ask asker) processor.Handler {
	return func(ctx context.Context, t *processor.Task) (processor.Outcome, error) {
		var s search
		if err := t.Decode(&s); err != nil {
			return processor.Outcome{}, err
		}
		offers, err := ask(ctx, s)
		if err != nil {
			return processor.Outcome{}, err
		}
		return processor.Next("SearchDone", offers), nil
	}
}

// searchDone looks at the results. For each that needs something, a nested search
// follows, whose thread has the number of the result.
func searchDone(_ context.Context, t *processor.Task) (processor.Outcome, error) {
	var offers []offer
	if err := t.Decode(&offers); err != nil {
		return processor.Outcome{}, err
	}
	var nested []processor.Branch
	for i, o := range offers {
		if o.Needs != "" {
			nested = append(nested, processor.Branch{
				Step: "SearchStart", Message: search{o.Supplier, o.Needs}, Number: i + 1,
			})
		}
	}
	if len(nested) == 0 {
		return processor.Complete(offers), nil
	}
	return processor.SplitTo(nested...).Join("SearchMerge"), nil
}

// searchMerge adds what the nested searches found to the offers that need it.
func searchMerge(_ context.Context, t *processor.Task) (processor.Outcome, error) {
	var offers []offer
	if err := t.Decode(&offers); err != nil {
		return processor.Outcome{}, err
	}
	found, err := collect(t)
	if err != nil {
		return processor.Outcome{}, err
	}
	for i := range offers {
		for _, part := range found {
			if part.Item == offers[i].Needs {
				offers[i].Price += part.Price
				offers[i].Needs = ""
			}
		}
	}
	return processor.Complete(offers), nil
}

// orderDone is the aggregator: the cheapest complete offer of those suppliers
// that answered.
func orderDone(_ context.Context, t *processor.Task) (processor.Outcome, error) {
	offers, err := collect(t)
	if err != nil {
		return processor.Outcome{}, err
	}
	offers = slices.DeleteFunc(offers, func(o offer) bool { return o.Needs != "" })
	if len(offers) == 0 {
		return processor.Abort("nobody has it"), nil
	}
	return processor.Complete(slices.MinFunc(offers, func(a, b offer) int { return cmp.Compare(a.Price, b.Price) })), nil
}

// collect puts the offers of all branches that ended well together.
func collect(t *processor.Task) ([]offer, error) {
	var all []offer
	for r, err := range t.Results() {
		if err != nil {
			return nil, err
		}
		if !r.OK() {
			continue
		}
		var offers []offer
		if err := r.Decode(&offers); err != nil {
			return nil, err
		}
		all = append(all, offers...)
	}
	return all, nil
}
