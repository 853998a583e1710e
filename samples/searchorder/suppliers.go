package main

import (
	"context"
	"fmt"
)

// ask is what the suppliers answer. The one in the west is closed, the one in the
// east never answers.
func ask(ctx context.Context, s search) ([]offer, error) {
	if s.Supplier == "east" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	offers, ok := catalogue[s]
	if !ok {
		return nil, fmt.Errorf("supplier %s is closed", s.Supplier)
	}
	return offers, nil
}

var catalogue = map[search][]offer{
	{"north", "bicycle"}: {
		{"north", "city bicycle", 420, ""},
		{"north", "bicycle kit", 250, "frame"},
		{"north", "racing bicycle", 990, ""},
		{"north", "bicycle without wheels", 180, "wheels"},
	},
	{"south", "bicycle"}: {
		{"south", "old bicycle", 340, ""},
		{"south", "new bicycle", 510, ""},
		{"south", "bicycle without saddle", 290, "saddle"},
	},
	{"north", "frame"}:  {{"north", "frame", 140, ""}},
	{"north", "wheels"}: {{"north", "wheels", 130, ""}},
	{"south", "saddle"}: {{"south", "saddle", 35, ""}},
}
