package xpath_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/xpath"
)

// retriedXML has events that a retry has replaced.
const retriedXML = `<EventStream name="retried">
<Event id="00" status="inprocess" next="01.00|02.00|03.00"/>
<Event id="01.00" status="canceled" prev="00" superseded="2026-11-30T07:33:51.120Z"/>
<Event id="02.00" status="canceled" prev="00" key="a"/>
<Event id="03.00" status="init" prev="00"/>
<Event id="01.01" status="canceled" prev="00" superseded="2026-11-30T07:33:51.120Z" key="a"/>
</EventStream>`

func parse(t testing.TB, document string) *eventstream.Stream {
	t.Helper()
	s, err := eventstream.Parse([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestIndex asks each question once so that the index answers it and once so
// that the engine does.
func TestIndex(t *testing.T) {
	streams := map[string]*eventstream.Stream{
		"order":   orderStream(t),
		"retried": parse(t, strings.ReplaceAll(retriedXML, "01.00|", "")),
		"big":     bigStream(t, 500),
		"empty":   parse(t, ""),
		"bare":    parse(t, "<EventStream/>"),
	}
	for _, tests := range []string{
		"[@id='01.00']", "[@id='00']", "[@id='']", "[@id='x']", "['02.00'=@id]", "[@id=\"01.02.00\"]",
		"[@status='init']", "[@status='inprocess']", "[@status='completed']", "[@status='canceled']", "[@status='']", "[@status='INIT']",
		"[@id='01.00' and @status='inprocess']", "[@status='inprocess' and @id='01.00']", "[@id='01.00'][@status='init']",
		"[@id='01.00'][@id='02.00']", "[@status='init'][@status='aborted']", "[@status='init' and @topic='Deep' and @prev='01.00']",
		"[@status='canceled'][@key='a']", "[@status='init'][@due='']", "[@status='init'][@missing='x']", "[@status='init'][not(@due)]",
		"[@status='init'][1]", "[@status='init'][last()]", "[@status='init'][position()=2]", "[@status='init' and position()=2]",
		"[1][@status='init']", "[2][@id='01.00']", "[@status='aborted'][2][@msg]", "[@status='init'][@due][1]", "[@status='init' or @id='00']",
		"[@status='completed']/Output", "[@id='03.00']/Attempt[last()]/@error", "[@id='03.00']/..", "[@id='01.00']/following-sibling::Event[1]",
		"[@id='01.00' and (@status='init' or @status='inprocess')]", "[@status='init'][Input]", "[@status='init']/@*",
	} {
		// concat keeps the meaning and hides the form from the index.
		slow := strings.NewReplacer("@id", "concat(@id,'')", "@status", "concat(@status,'')").Replace(tests)
		for name, s := range streams {
			for _, path := range []string{"./Event", "Event", "/EventStream/Event", "././Event"} {
				got, err1 := evaluate(t, s, path+tests)
				want, err2 := evaluate(t, s, "/EventStream/child::Event"+slow)
				if err1 != nil || err2 != nil || printed(got) != printed(want) {
					t.Errorf("%s: Evaluate(%s) = %q, %v, want %q, %v", name, path+tests, printed(got), err1, printed(want), err2)
				}
			}
		}
	}
}

func TestIndex_Superseded(t *testing.T) {
	s := parse(t, strings.ReplaceAll(retriedXML, "01.00|", ""))
	for expr, want := range map[string]string{
		"./Event[@status='canceled']":                      "01.00 02.00 01.01",
		"./Event[@status='canceled'][not(@superseded)]":    "02.00",
		"./Event[@id='01.00']":                             "01.00",
		"./Event[@status='init']":                          "03.00",
		"./Event[@status='canceled' and @key='a'][last()]": "01.01",
	} {
		events, err := xpath.SelectAll(s, expr)
		if err != nil || ids(events) != want {
			t.Errorf("SelectAll(%s) = %s, %v, want %s", expr, ids(events), err, want)
		}
	}
}

// TestIndex_Cost shows by the steps allowed that no more is looked at than what
// the index gives.
func TestIndex_Cost(t *testing.T) {
	s := bigStream(t, 10_000)
	for _, expr := range []string{
		"./Event[@id='9000.00']", "./Event[@id='9000.00' and @status='completed']", "./Event['9000.00'=@id]/@status",
		"/EventStream/Event[@status='init'][1]", "./Event[@status='nonsense']", "./Event[@status='init'][@attempt='1'][3]/Input/text()",
	} {
		x, err := xpath.Compile(expr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.Evaluate(t.Context(), s, nil, &xpath.Options{Steps: 100}); err != nil {
			t.Errorf("Evaluate(%s) with 100 steps = %v", expr, err)
		}
	}
}

func TestSelect(t *testing.T) {
	s := orderStream(t)
	e, err := xpath.Select(s, "./Event[@status='init']")
	if err != nil || e == nil || e.ID() != "01.01.00" {
		t.Errorf("Select = %v, %v, want event 01.01.00", e, err)
	}
	if e, err := xpath.Select(s, "./Event[@status='canceled']"); e != nil || err != nil {
		t.Errorf("Select of nothing = %v, %v, want nil, nil", e, err)
	}
	if e, err := xpath.MustSelect(s, "./Event[@id=$id]", xpath.Vars{"id": "00"}); err != nil || e.ID() != "00" {
		t.Errorf("MustSelect = %v, %v, want event 00", e, err)
	}
	if _, err := xpath.MustSelect(s, "./Event[@id='09']"); !errors.Is(err, xpath.ErrNoMatch) {
		t.Errorf("MustSelect of nothing = %v, want %v", err, xpath.ErrNoMatch)
	}
	events, err := xpath.SelectAll(s, "./Event[@name=$n and @attempt=$a]", xpath.Vars{"n": "Deep"}, xpath.Vars{"a": 0})
	if err != nil || ids(events) != "01.01.00 01.02.00" {
		t.Errorf("SelectAll = %s, %v", ids(events), err)
	}
	if _, err := xpath.SelectAll(s, "./Event["); !errors.Is(err, xpath.ErrSyntax) {
		t.Errorf("SelectAll of nonsense = %v, want %v", err, xpath.ErrSyntax)
	}
}

func TestSelect_NotEvents(t *testing.T) {
	s := orderStream(t)
	for expr, want := range map[string]string{
		"./Event/@id":     "it gives attribute id of event 00",
		"//Input":         "it gives element Input of event 01.00",
		"//item/Event":    "it gives element Event of event 02.01",
		"//note":          "it gives element note",
		".":               "it gives element EventStream",
		"/":               "it gives the document",
		"//Input/text()":  "it gives a text of event 01.00",
		"/comment()":      "it gives a comment",
		"count(//Event)":  "it gives a number",
		"string(//Event)": "it gives a string",
		"1 = 1":           "it gives true or false",
	} {
		_, err := xpath.Select(s, expr)
		if !errors.Is(err, xpath.ErrNotEvent) || !strings.Contains(err.Error(), want) {
			t.Errorf("Select(%s) = %v, want %s", expr, err, want)
		}
	}
}

func TestExpr_SelectStops(t *testing.T) {
	s := orderStream(t)
	x, err := xpath.Compile("//Event")
	if err != nil {
		t.Fatal(err)
	}
	if x.String() != "//Event" {
		t.Errorf("String() = %s, want //Event", x)
	}
	n := 0
	for _, err := range x.Select(t.Context(), s, nil, nil) {
		if n++; err != nil || n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("the loop ran %d times, want 2", n)
	}
}

// TestExpr_PanicOfTheCaller makes sure that a panic in the loop over the events
// is not taken for one of the engine.
func TestExpr_PanicOfTheCaller(t *testing.T) {
	s := orderStream(t)
	for _, expr := range []string{"//Event", "./Event[@status='init']", "//Event[last()]"} {
		func() {
			defer func() {
				if got := recover(); got != "mine" {
					t.Errorf("%s: recovered %v, want the panic of the loop", expr, got)
				}
			}()
			x, err := xpath.Compile(expr)
			if err != nil {
				t.Fatal(err)
			}
			for range x.Select(t.Context(), s, nil, nil) {
				panic("mine")
			}
		}()
	}
}

func TestExpr_Concurrent(t *testing.T) {
	s := orderStream(t)
	var wg sync.WaitGroup
	for _, expr := range []string{
		"count(//Event[@status=$v])", "./Event[@status=$v]", "//Event[@status=$v][last()]", "string(//Event[@status=$v]/@id)",
		"//Event[contains(@status, $v)] | //Input", "//Event[substring-after(concat(@status, '!'), $v) = '!']",
	} {
		x, err := xpath.Compile(expr)
		if err != nil {
			t.Fatal(err)
		}
		want, err := x.Evaluate(t.Context(), s, xpath.Vars{"v": "init"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			wg.Go(func() {
				for range 50 {
					got, err := x.Evaluate(context.Background(), s, xpath.Vars{"v": "init"}, nil)
					if err != nil || printed(got) != printed(want) {
						t.Errorf("Evaluate(%s) = %v, %v, want %v", expr, printed(got), err, printed(want))
						return
					}
				}
			})
		}
	}
	wg.Wait()
}

func TestEvaluate_Types(t *testing.T) {
	s := orderStream(t)
	for expr, want := range map[string]xpath.Value{
		"count(//Event)":           {Kind: xpath.Number, Number: 8},
		"string(./@run)":           {Kind: xpath.String, Text: "k3v9x2"},
		"//Event/@id = '01.00'":    {Kind: xpath.Boolean, Bool: true},
		"//nothing":                {Kind: xpath.NodeSet},
		"substring('12', 0 div 0)": {Kind: xpath.String},
	} {
		got, err := evaluate(t, s, expr)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Evaluate(%s) = %+v, %v, want %+v", expr, got, err, want)
		}
	}
}

func TestValue_String(t *testing.T) {
	s := orderStream(t)
	for expr, want := range map[string]string{
		"//Attempt/@error": "timeout", "//nothing": "", "'a'": "a", "1 = 1": "true", "1 = 2": "false", "2.50": "2.5", "-0": "0",
		"1 div 0": "Infinity", "-1 div 0": "-Infinity", "0 div 0": "NaN", "10000000000000000000000": "10000000000000000000000",
	} {
		got, err := evaluate(t, s, expr)
		if err != nil || got.String() != want {
			t.Errorf("Evaluate(%s) = %s, %v, want %s", expr, got, err, want)
		}
	}
}
