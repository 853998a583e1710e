package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
)

// argument is a text that is given to a program or put into a request: as it
// stands, or as a template over [argumentData] makes it.
type argument struct {
	where    string
	what     string // it is, for errors
	text     string
	template *template.Template // nil for a text
}

// argumentData is what a template sees.
type argumentData struct {
	Stream, Run, Event, Key string
	Attempt                 int

	message *message
	input   any // what Input has returned
}

var argumentFields = []string{"Input", "Stream", "Run", "Event", "Key", "Attempt"}

func (v value) arguments() []*argument {
	var list []*argument
	for _, item := range v.list() {
		list = append(list, item.argument("argument"))
	}
	return list
}

func (v value) argument(what string) *argument {
	w := v.expression()
	if w.at == (place{}) {
		return nil
	}
	a := &argument{where: v.r.where(v.at), what: what, text: w.text}
	if !strings.Contains(w.text, "{{") {
		return a
	}
	t, err := template.New("").Option("missingkey=error").Parse(w.text)
	if err != nil {
		v.wrong("template: %s", templateText(err))
		return nil
	}
	v.checkNodes(t.Root)
	a.template = t
	return a
}

// templateText is what an error of a template says, without the name and line,
// which have been said better.
func templateText(err error) string {
	text := err.Error()
	if _, rest, ok := strings.Cut(text, `executing "" `); ok {
		return rest
	}
	parts := strings.SplitN(text, ":", 4) // template: NAME:LINE: text
	return strings.TrimSpace(parts[len(parts)-1])
}

// checkNodes reports fields that do not exist wherever the dot is known to be the
// template's data, which inside range and with it is not.
func (v value) checkNodes(list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.ActionNode:
			v.checkPipe(n.Pipe)
		case *parse.IfNode:
			v.checkPipe(n.Pipe)
			v.checkNodes(n.List)
			v.checkNodes(n.ElseList)
		case *parse.RangeNode:
			v.checkPipe(n.Pipe)
		case *parse.WithNode:
			v.checkPipe(n.Pipe)
		}
	}
}

func (v value) checkPipe(pipe *parse.PipeNode) {
	for _, command := range pipe.Cmds {
		for _, n := range command.Args {
			switch n := n.(type) {
			case *parse.FieldNode:
				v.checkField(n.Ident[0])
			case *parse.PipeNode:
				v.checkPipe(n)
			}
		}
	}
}

func (v value) checkField(name string) {
	if !slices.Contains(argumentFields, name) {
		v.wrong("template: unknown field %q; %s", name, suggest(name, argumentFields))
	}
}

// expand is the argument for a task. It fails for good: the same template fails
// on the same message again.
func (a *argument) expand(data *argumentData) (string, error) {
	if a.template == nil {
		return a.text, nil
	}
	var text strings.Builder
	if err := a.template.Execute(&text, data); err != nil {
		return "", hopeless{fmt.Errorf("%s: %s %s", a.where, a.what, templateText(err))}
	}
	return text.String(), nil
}

func newArgumentData(m *message) *argumentData {
	t := m.task
	return &argumentData{Stream: t.Stream, Run: t.Run, Event: t.Event, Key: t.Key(), Attempt: t.Attempt, message: m}
}

// Input is the message without results. It is decoded only for templates that use
// it.
func (d *argumentData) Input() (any, error) {
	if d.input == nil {
		input, err := decode(d.message.input())
		if err != nil {
			return nil, err
		}
		d.input = presentable(input)
	}
	return d.input, nil
}

// Values of JSON that a template prints as JSON.
type (
	object  map[string]any
	list    []any
	nothing map[string]any // null: false in conditions, without fields
)

func (o object) String() string { return printed(map[string]any(o)) }
func (l list) String() string   { return printed([]any(l)) }
func (nothing) String() string  { return "null" }

func printed(v any) string {
	text, err := encode(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// presentable makes of decoded JSON what templates print and compare well.
// Integers become numbers for comparisons if they print as they were written;
// other numbers stay as they were written.
func presentable(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = presentable(v[k])
		}
		return object(v)
	case []any:
		for i := range v {
			v[i] = presentable(v[i])
		}
		return list(v)
	case json.Number:
		if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil && strconv.FormatInt(n, 10) == v.String() {
			return n
		}
	case nil:
		return nothing(nil)
	}
	return v
}
