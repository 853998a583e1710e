package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/itchyny/gojq"
)

// query is a jq expression with one result.
type query struct {
	where string
	code  *gojq.Code
}

// query compiles a jq expression. It sees its message and nothing else: no
// environment, no files, no other inputs.
func (v value) query() *query {
	w := v.expression()
	if w.at == (place{}) {
		return nil
	}
	parsed, err := gojq.Parse(w.text)
	if err != nil {
		at := v.at
		if e, ok := errors.AsType[*gojq.ParseError](err); ok {
			at = v.r.within(w, e.Offset-len(e.Token))
		}
		v.r.add(at, "%s: %v", v.key, err)
		return nil
	}
	// The loader is asked at compile time, and only if the expression uses env.
	environment := false
	code, err := gojq.Compile(parsed, gojq.WithEnvironLoader(func() []string {
		environment = true
		return nil
	}))
	switch {
	case err != nil:
		v.wrong("%v", err)
	case environment:
		v.wrong("env and $ENV are not available: an expression depends on its message alone")
	}
	return &query{where: v.r.where(v.at), code: code}
}

// run evaluates the expression; no result is null.
func (q *query) run(ctx context.Context, m *message) (json.RawMessage, error) {
	value, err := m.value()
	if err != nil {
		return nil, err
	}
	results := q.code.RunWithContext(ctx, value)
	result, ok := results.Next()
	if !ok {
		return null, nil
	}
	if err, failed := result.(error); failed {
		return nil, q.failed(ctx, err)
	}
	another, more := results.Next()
	if err, failed := another.(error); failed {
		return nil, q.failed(ctx, err)
	}
	if more {
		return nil, hopeless{fmt.Errorf("%s: jq has more than one result: %s, %s; collect them: [ … ]",
			q.where, gojq.Preview(result), gojq.Preview(another))}
	}
	return gojq.Marshal(result)
}

// failed is hopeless: the same expression fails on the same message again.
func (q *query) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return hopeless{fmt.Errorf("%s: jq: %w", q.where, err)}
}

// hopeless is an error that no further attempt can mend.
type hopeless struct{ error }
