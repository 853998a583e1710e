package eventstream_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
)

// TestEdit_Fidelity compares the whole document after an edit: what was not
// changed stays as it was, byte for byte.
func TestEdit_Fidelity(t *testing.T) {
	const stamp = "2026-11-30T07:33:52.000Z"
	update := func(pairs ...string) func(*run, *eventstream.Event) error {
		return func(r *run, e *eventstream.Event) error { return r.Update(e, pairs...) }
	}
	input := func(json string) func(*run, *eventstream.Event) error {
		return func(r *run, e *eventstream.Event) error { return r.SetInput(e, eventstream.JSON([]byte(json))) }
	}
	tests := []struct {
		name, doc string
		f         func(*run, *eventstream.Event) error
		want      string
	}{
		{
			"attributes in their place, new ones last",
			`<EventStream><Event id="00" b="1" status="init" a='2'/></EventStream>`,
			update("a", `"'`, "b", `"'`, "c", `"'`),
			`<EventStream><Event id="00" b="&quot;'" status="init" a='"&apos;' c="&quot;'" timestamp="` + stamp + `"/></EventStream>`,
		},
		{
			"odd white space and line ends",
			"\uFEFF<?xml version='1.0'?>\r\n<EventStream\r\n>\r\n\t<Event\r\n\tid = '00'\r\n\tstatus\t=\t'init'\r\n\ttimestamp='' >\r\n</Event\t>\r\n</EventStream >\r\n",
			update("tag", "x"),
			"\uFEFF<?xml version='1.0'?>\r\n<EventStream\r\n>\r\n\t<Event\r\n\tid = '00'\r\n\tstatus\t=\t'init'\r\n\ttimestamp='" + stamp + "' tag=\"x\" >\r\n</Event\t>\r\n</EventStream >\r\n",
		},
		{
			"what is around events",
			`<!--a--><?b c?><EventStream x:y="z" xmlns:x="u"><!-- <Event id="7"/> --><x:z/>text<Event id="00" status="init"/><![CDATA[<Event>]]><Events><Event/></Events></EventStream><!--d-->`,
			update("timestamp2", ""),
			`<!--a--><?b c?><EventStream x:y="z" xmlns:x="u"><!-- <Event id="7"/> --><x:z/>text<Event id="00" status="init" timestamp2="" timestamp="` + stamp + `"/><![CDATA[<Event>]]><Events><Event/></Events></EventStream><!--d-->`,
		},
		{
			"an attribute is removed with the white space before it",
			"<EventStream><Event id=\"00\" \n a='1' status=\"init\"\tb='>' timestamp=''/></EventStream>",
			func(r *run, e *eventstream.Event) error { return r.Remove(e, "a", "b", "missing") },
			"<EventStream><Event id=\"00\" status=\"init\" timestamp='" + stamp + "'/></EventStream>",
		},
		{
			"white space that an attribute would lose",
			`<EventStream><Event id="00" status="init" timestamp=""/></EventStream>`,
			update("msg", "a\tb\nc\rd & <e>"),
			`<EventStream><Event id="00" status="init" timestamp="` + stamp + `" msg="a&#x9;b&#xA;c&#xD;d &amp; &lt;e>"/></EventStream>`,
		},
		{
			"a first child",
			`<EventStream><Event id="00" status="init" timestamp=""/></EventStream>`,
			input(`{"a": "<]]>&"}`),
			`<EventStream><Event id="00" status="init" timestamp="` + stamp + `"><Input>{"a":"&lt;]]&gt;&amp;"}</Input></Event></EventStream>`,
		},
		{
			"a child takes the place of the one before",
			`<EventStream><Event id="00" status="init" timestamp="">a<Other><Input>no</Input></Other><!--<Input/>--><Input x="y">1</Input><Input>2</Input>b</Event ></EventStream>`,
			input(`3`),
			`<EventStream><Event id="00" status="init" timestamp="` + stamp + `">a<Other><Input>no</Input></Other><!--<Input/>--><Input>3</Input><Input>2</Input>b</Event ></EventStream>`,
		},
		{
			"a child that was empty",
			`<EventStream><Event id="00" status="init" timestamp=""><Input/></Event></EventStream>`,
			input(`[]`),
			`<EventStream><Event id="00" status="init" timestamp="` + stamp + `"><Input>[]</Input></Event></EventStream>`,
		},
		{
			"the last child goes",
			`<EventStream><Event id="00" status="init" timestamp="" ><Input><![CDATA[</Input>]]></Input></Event></EventStream>`,
			func(r *run, e *eventstream.Event) error { return r.SetInput(e, nil) },
			`<EventStream><Event id="00" status="init" timestamp="` + stamp + `" /></EventStream>`,
		},
		{
			"a failed attempt comes last",
			`<EventStream><Event id="00" status="inprocess" timestamp=""><Attempt n="1" error="x"/>t</Event></EventStream>`,
			func(r *run, e *eventstream.Event) error {
				return r.Fail(e, eventstream.Attempt{N: 2, Error: "a\x00\"b\xff", Detail: "<\r\n"})
			},
			`<EventStream><Event id="00" status="inprocess" timestamp="` + stamp + `" failures="1"><Attempt n="1" error="x"/>t<Attempt n="2" error="a` +
				"\uFFFD&quot;b\uFFFD" + `">&lt;&#xD;` + "\n" + `</Attempt></Event></EventStream>`,
		},
		{
			"the root element",
			`<EventStream name='a"' paused="" ><Event id="00" status="init"/></EventStream>`,
			func(r *run, _ *eventstream.Event) error { return r.SetAttrs("name", `'"`, "paused", "", "tag", "<") },
			`<EventStream name='&apos;"' tag="&lt;" ><Event id="00" status="init"/></EventStream>`,
		},
		{
			"a new event stands in a line of its own",
			`<EventStream><Event id="00" status="init" timestamp=""/><!-- end --></EventStream>`,
			func(r *run, e *eventstream.Event) error {
				_, err := r.Next(e, eventstream.NewEvent{Name: "N"})
				return err
			},
			`<EventStream><Event id="00" status="inprocess" timestamp="` + stamp + `" next="01"/>` + "\n" +
				`<Event id="01" name="N" topic="N" status="init" prev="00" created="` + stamp + `" timestamp="` + stamp + `"/><!-- end --></EventStream>`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := parse(t, test.doc)
			changes := r.edit(func() error { return test.f(r, r.Root()) })
			if got := string(r.Bytes()); got != test.want {
				t.Errorf("the document is\n%q\nwant\n%q", got, test.want)
			}
			if changes.Changed == 0 {
				t.Error("Changes.Changed = 0")
			}
		})
	}
}

// TestAppendRoot_Frame appends the first event to documents that have none.
func TestAppendRoot_Frame(t *testing.T) {
	const event = `<Event id="00" name="A" topic="A" status="init" created="2026-11-30T07:33:52.000Z" timestamp="2026-11-30T07:33:52.000Z"/>`
	tests := []struct{ name, doc, want string }{
		{"nothing at all", "", "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<EventStream>\n" + event + "\n</EventStream>\n"},
		{"a root that is closed by itself", "<EventStream a='b' />\n<!--c-->", "<EventStream a='b' >\n" + event + "\n</EventStream>\n<!--c-->"},
		{"a root without content", "<EventStream></EventStream>", "<EventStream>\n" + event + "\n</EventStream>"},
		{"white space and an end tag with some", "<EventStream>\n</EventStream >\n", "<EventStream>\n" + event + "\n</EventStream >\n"},
		{"a comment", "<EventStream><!--a-->\n</EventStream>", "<EventStream>\n" + event + "<!--a-->\n</EventStream>"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := parse(t, test.doc)
			if r.Root() != nil || r.Last() != nil || r.IsDone() || r.Size() != len(test.doc) {
				t.Errorf("an empty stream has root %v, last %v, done %v, size %d", r.Root(), r.Last(), r.IsDone(), r.Size())
			}
			if status, _ := r.Status(); status != eventstream.Init {
				t.Errorf("Status() = %v, want init", status)
			}
			fails := errors.New("fails")
			if _, err := r.Edit(epoch, func() error {
				if _, err := r.AppendRoot(eventstream.NewEvent{Name: "A"}); err != nil {
					t.Error(err)
				}
				return fails
			}); !errors.Is(err, fails) || string(r.Bytes()) != test.doc {
				t.Errorf("a failed edit: %v, left %q", err, r.Bytes())
			}
			r.edit(func() error {
				_, err := r.AppendRoot(eventstream.NewEvent{Name: "A"})
				return err
			})
			if got := string(r.Bytes()); got != test.want {
				t.Errorf("the document is\n%q\nwant\n%q", got, test.want)
			}
			r.refused(eventstream.ErrRoot, func() error {
				_, err := r.AppendRoot(eventstream.NewEvent{Name: "A"})
				return err
			})
		})
	}
}

// TestEvent_Payload reads inputs in all the forms they can have.
func TestEvent_Payload(t *testing.T) {
	tests := []struct{ name, content, want string }{
		{"text", `<Input>{"a":"&lt;"}</Input>`, `{"a":"<"}`},
		{"CDATA", `<Input><![CDATA[{"a":]]><![CDATA["<"}]]></Input>`, `{"a":"<"}`},
		{"text and CDATA", "<Input> 1<![CDATA[2\r\n&amp;]]>&amp;\r</Input >", " 12\n&amp;&\n"},
		{"comments and instructions", `<Input>1<!-- 2 -->3<?x 4?>5</Input>`, "135"},
		{"nested XML", `<Input>1<a>2<b/><c>3</c></a>4</Input>`, "14"},
		{"an empty element", `<Input/>`, ""},
		{"the first of two", `<Output>0</Output><Input>1</Input><Input>2</Input>`, "1"},
		{"end tag with white space", "<Input>1</Input\n>", "1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			input, ok := parse(t, inEvent(test.content)).Root().Input()
			if !ok || string(input.JSON) != test.want {
				t.Errorf("Input() = %q, %v, want %q", input.JSON, ok, test.want)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		e := parse(t, inEvent("<Other/>")).Root()
		if input, ok := e.Input(); ok {
			t.Errorf("Input() = %v, want none", input)
		}
		if cursor := e.Cursor(); cursor != nil {
			t.Errorf("Cursor() = %q, want none", cursor)
		}
	})
	t.Run("claim check", func(t *testing.T) {
		want := eventstream.Payload{Ref: "payload/r/00.<x>.in", Bytes: 5000, SHA256: "ab"}
		r := start(t)
		r.edit(func() error { return r.SetInput(r.Root(), &want) })
		got, ok := r.Root().Input()
		if !ok || got.Ref != want.Ref || got.Bytes != want.Bytes || got.SHA256 != want.SHA256 || got.JSON != nil {
			t.Errorf("Input() = %+v, want %+v", got, want)
		}
	})
	t.Run("cursor and attempts", func(t *testing.T) {
		r := start(t)
		r.edit(func() error {
			return errors.Join(
				r.SetCursor(r.Root(), eventstream.JSON([]byte(`{"line": 7}`))),
				r.Fail(r.Root(), eventstream.Attempt{N: 1, Error: "a", Detail: "b"}),
				r.Fail(r.Root(), eventstream.Attempt{N: 2, Error: "c\td"}),
				r.Fail(r.Root(), eventstream.Attempt{N: 3, Error: "e", Detail: "f", Ref: "payload/r/00.log", Bytes: 9, SHA256: "ab"}))
		})
		if got := string(r.Root().Cursor()); got != `{"line":7}` {
			t.Errorf("Cursor() = %s", got)
		}
		want := []eventstream.Attempt{
			{N: 1, Error: "a", Detail: "b"},
			{N: 2, Error: "c\td"},
			{N: 3, Error: "e", Detail: "f", Ref: "payload/r/00.log", Bytes: 9, SHA256: "ab"},
		}
		if got := r.Root().Attempts(); !slices.Equal(got, want) {
			t.Errorf("Attempts() = %v, want %v", got, want)
		}
	})
}

// TestPayload_Refused has messages that cannot be written; what XML cannot carry
// but JSON can is escaped.
func TestPayload_Refused(t *testing.T) {
	r := start(t)
	for _, bad := range []*eventstream.Payload{
		eventstream.JSON([]byte("{")), eventstream.JSON(nil), eventstream.JSON([]byte("\"\xff\"")), eventstream.JSON([]byte("\"\x01\"")),
		{Ref: "\x00"}, {Ref: "a", SHA256: "\ufffe"},
	} {
		r.refused(eventstream.ErrValue, func() error { return r.SetInput(r.Root(), bad) })
		r.refused(eventstream.ErrValue, func() error { return r.Complete(r.Root(), bad) })
		r.refused(eventstream.ErrValue, func() error {
			_, err := r.Next(r.Root(), eventstream.NewEvent{Name: "N", Input: bad})
			return err
		})
		r.refused(eventstream.ErrValue, func() error {
			_, err := r.Reopen(&eventstream.ReopenOptions{From: r.Root(), Input: bad})
			return err
		})
	}
	r.edit(func() error {
		return r.SetInput(r.Root(), eventstream.JSON([]byte("\"\uFFFE\uFFFF\\u0000\U0001F600\"")))
	})
	if got, _ := r.Root().Input(); string(got.JSON) != "\"\\ufffe\\uffff\\u0000\U0001F600\"" {
		t.Errorf("Input() = %s", got.JSON)
	}
}
