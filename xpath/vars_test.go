package xpath_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/xpath"
)

// hostile are values that would change a query which they became text of.
var hostile = []string{
	`' or '1'='1`, `" or "1"="1`, `or 1=1`, `it's "both"`, `'`, `"`, `''`, `'"'"`, `]`, `]] | //*[`, `']|//*|x['`, `')`,
	`concat('a',"b")`, `$id`, `&quot;`, `&apos;`, `--`, `/*`, "a\nb\tc", "\u00a0", "\x00", "\xff", "", `\'`, `{"city":"Brno"}`, "žluť 馬",
}

// TestVars_Hostile asks for an event by each value, through the index, through
// the engine, and in the value of an expression.
func TestVars_Hostile(t *testing.T) {
	for _, value := range hostile {
		s := streamWithMsg(t, strings.ToValidUTF8(strings.ReplaceAll(value, "\x00", "?"), "?"))
		found := strings.Contains(value, "\x00") || strings.Contains(value, "\xff")
		for _, expr := range []string{
			"./Event[@status='init' and @msg=$v]", // index
			"./Event[@msg=$v]",
			"./Event[$v=@msg]",
			"//Event[contains(@msg, $v) and string-length(@msg) = string-length($v)]",
			"//Event[concat(@msg, 'x') = concat($v, 'x')]",
			"//Event[@msg=string($v)][last()]",
		} {
			events, err := xpath.SelectAll(s, expr, xpath.Vars{"v": value})
			want := 1
			if found {
				want = 0 // XML cannot carry the value, so nothing has it
			}
			if err != nil || len(events) != want || want == 1 && events[0].ID() != "01.00" {
				t.Errorf("SelectAll(%s) with %q = %v, %v, want %d events", expr, value, events, err, want)
			}
		}
		x, err := xpath.Compile("concat($v, '')")
		if err != nil {
			t.Fatal(err)
		}
		if v, err := x.Evaluate(t.Context(), s, xpath.Vars{"v": value}, nil); err != nil || v.Text != value {
			t.Errorf("concat($v, '') with %q = %q, %v", value, v.Text, err)
		}
	}
}

func streamWithMsg(t *testing.T, msg string) *eventstream.Stream {
	t.Helper()
	escaped := strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&quot;", "\n", "&#10;", "\t", "&#9;").Replace(msg)
	s, err := eventstream.Parse([]byte(`<EventStream><Event id="00" status="inprocess" next="01.00|02.00" msg="other"/>` +
		`<Event id="01.00" prev="00" status="init" msg="` + escaped + `"/>` +
		`<Event id="02.00" prev="00" status="init" msg="another"/></EventStream>`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestVars_Types(t *testing.T) {
	type name string
	s := orderStream(t)
	for _, test := range []struct {
		expr  string
		value any
		want  string
	}{
		{"./Event[@id=$v]", "01.00", "01.00"},
		{"./Event[@topic=$v]", name("Search"), "01.00 02.00 03.00"},
		{"./Event[@status=$v]", eventstream.Init, "01.01.00 01.02.00"},
		{"./Event[@attempt=$v]", 3, "03.00"},
		{"./Event[@attempt=$v]", uint8(3), "03.00"},
		{"./Event[@attempt=$v]", 3.0, "03.00"},
		{"./Event[@attempt>$v]", float32(2.5), "03.00 02.01"},
		{"./Event[Input=$v]", -5, "01.01.00"},
		{"./Event[@attempt=$v]", math.NaN(), ""},
		{"./Event[@attempt<$v][@due]", math.Inf(1), "01.02.00"},
		{"./Event[@attempt>$v][@due]", math.Inf(-1), "01.02.00"},
		{"./Event[boolean(@due)=$v]", true, "01.02.00"},
		{"./Event[$v][@due]", false, ""},
		{"./Event[$v]", 2, "01.00"},            // a number is a position
		{"./Event[$v]", 2.5, ""},               //
		{"./Event[$v][@due]", "2", "01.02.00"}, // a string is true
		{"./Event[@status='init'][$v]", 2, "01.02.00"},
		{"./Event[Attempt[$v]]", 3, "03.00"},
		{"./Event[@id='01.00' and $v]", "x", "01.00"},
		{"./Event[starts-with(@id, $v)]", "01.0", "01.00 01.01.00 01.02.00"},
		{"./Event[substring-before(@id, $v) = '02']", ".", "02.00 02.01"},
	} {
		events, err := xpath.SelectAll(s, test.expr, xpath.Vars{"v": test.value})
		if got := ids(events); err != nil || got != test.want {
			t.Errorf("SelectAll(%s) with %v = %s, %v, want %s", test.expr, test.value, got, err, test.want)
		}
	}
}

func ids(events []*eventstream.Event) string {
	var out []string
	for _, e := range events {
		out = append(out, e.ID())
	}
	return strings.Join(out, " ")
}

func TestVars_Errors(t *testing.T) {
	s := orderStream(t)
	for _, test := range []struct {
		expr string
		vars []xpath.Vars
		want string
	}{
		{"./Event[@id=$id]", nil, `xpath variable "./Event[@id=$id]", column 13: $id has no value`},
		{"./Event[@id=$id]", []xpath.Vars{{"Id": "00"}}, "$id has no value"},
		{"./Event", []xpath.Vars{{"id": "00"}}, `xpath variable "./Event": there is no $id in it`},
		{"./Event[@id=$id]", []xpath.Vars{{"id": "00"}, {"key": 1}}, "there is no $key in it"},
		{"./Event[@id=$id]", []xpath.Vars{{"id": nil}}, "$id is a <nil>, want a string"},
		{"./Event[@id=$id]", []xpath.Vars{{"id": []string{"00"}}}, "$id is a []string"},
	} {
		_, err := xpath.Select(s, test.expr, test.vars...)
		if !errors.Is(err, xpath.ErrVariable) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Select(%s, %v) = %v, want %s", test.expr, test.vars, err, test.want)
		}
	}
}

// TestVars_Refused makes sure that the type of a value can still get an
// expression refused.
func TestVars_Refused(t *testing.T) {
	s := orderStream(t)
	for expr, value := range map[string]any{
		"./Event[substring-after(@id, $v)]": "",
		"count($v)":                         "x",
		"./Event[Attempt[@n][$v]]":          1,
	} {
		x, err := xpath.Compile(expr)
		if err != nil {
			t.Fatal(err)
		}
		_, err = x.Evaluate(t.Context(), s, xpath.Vars{"v": value}, nil)
		if !errors.Is(err, xpath.ErrUnsupported) && !errors.Is(err, xpath.ErrSyntax) {
			t.Errorf("Evaluate(%s) with %v = %v, want a refusal", expr, value, err)
		}
	}
}
