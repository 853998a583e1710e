package pipeline_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/cloudevents/sdk-go/v2/event"
	"go.opentelemetry.io/otel/propagation"
)

const (
	parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	state  = "vendor=1"
)

// traced is a context of a handler in a trace.
func traced(t *testing.T) context.Context {
	return propagation.TraceContext{}.Extract(t.Context(), propagation.MapCarrier{"traceparent": parent, "tracestate": state})
}

func TestExec_Trace(t *testing.T) {
	t.Setenv("TRACEPARENT", "00-11111111111111111111111111111111-2222222222222222-01")
	t.Setenv("TRACESTATE", "of=theworker")
	source := single(`exec: [sh, -c, 'echo "${TRACEPARENT-none} ${TRACESTATE-none}"']`, "output: text")
	for _, c := range []struct {
		name string
		ctx  context.Context
		want string
	}{
		{"traced", traced(t), `"` + parent + " " + state + `\n"`},
		{"not traced", t.Context(), `"none none\n"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parse(t, source, nil).Step("A").Handler(c.ctx, task("A", ""))
			check(t, got, err, complete(c.want))
		})
	}
}

func TestHTTP_Trace(t *testing.T) {
	for _, c := range []struct {
		name          string
		ctx           context.Context
		parent, state string
	}{
		{"traced", traced(t), parent, state},
		{"not traced", t.Context(), "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				var e event.Event
				if err := json.Unmarshal(body, &e); err != nil {
					t.Errorf("event %s: %v", body, err)
				}
				for name, want := range map[string]string{"traceparent": c.parent, "tracestate": c.state} {
					extension, _ := e.Extensions()[name].(string)
					if header := r.Header.Get(name); header != want || extension != want {
						t.Errorf("%s = %q as header, %q as extension, want %q", name, header, extension, want)
					}
				}
			})
			got, err := parse(t, posting(url, ""), nil).Step("A").Handler(c.ctx, task("A", ""))
			check(t, got, err, complete("null"))
		})
	}
}
