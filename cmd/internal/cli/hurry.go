package cli

import "context"

type hurryKey struct{}

// WithHurry gives a context for [Run] a channel that is closed when what still
// runs after an interrupt is to stop at once.
func WithHurry(ctx context.Context, hurry <-chan struct{}) context.Context {
	return context.WithValue(ctx, hurryKey{}, hurry)
}

// hurryOf is nil, and so never closed, if there is none.
func hurryOf(ctx context.Context) <-chan struct{} {
	hurry, _ := ctx.Value(hurryKey{}).(<-chan struct{})
	return hurry
}
