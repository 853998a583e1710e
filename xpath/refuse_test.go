package xpath_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/xpath"
)

// refused are expressions that must not be evaluated.
var refused = []struct {
	expr   string
	err    error
	column int
	msg    string
}{
	// not XPath 1.0
	{"", xpath.ErrSyntax, 1, "the end where a name"},
	{"//Event)", xpath.ErrSyntax, 8, ") where the expression is already complete"},
	{"//Event[1]]", xpath.ErrSyntax, 11, "already complete"},
	{"//Event[", xpath.ErrSyntax, 9, "the end"},
	{"//Event[@id='01.00'", xpath.ErrSyntax, 20, "the end where ] is wanted"},
	{"//Event[@id='01.00]", xpath.ErrSyntax, 13, "not closed with '"},
	{"//Event[]", xpath.ErrSyntax, 9, "] where a name or * is wanted"},
	{"//Event[@a=='b']", xpath.ErrSyntax, 12, "="},
	{"//Event @id", xpath.ErrSyntax, 9, "@ where the expression is already complete"},
	{"//Event Event", xpath.ErrSyntax, 9, "Event where an operator is wanted"},
	{"//Event[@id eq '00']", xpath.ErrSyntax, 13, "eq where an operator is wanted"},
	{"//Event[@id!'00']", xpath.ErrSyntax, 12, "unexpected '!'"},
	{"//Event;//Event", xpath.ErrSyntax, 8, "unexpected ';'"},
	{"//Event[position() = 1e5]", xpath.ErrSyntax, 22, "a number as 12 or 12.5"},
	{"1.2.3", xpath.ErrSyntax, 1, "a number as 12 or 12.5"},
	{"//", xpath.ErrSyntax, 3, "the end"},
	{"//Event/", xpath.ErrSyntax, 9, "the end"},
	{"///Event", xpath.ErrSyntax, 3, "/ where a name"},
	{"Event::id", xpath.ErrSyntax, 1, "there is no axis Event::"},
	{"//Event[@]", xpath.ErrSyntax, 10, "]"},
	{"$", xpath.ErrSyntax, 1, "$ without the name"},
	{"//ů:", xpath.ErrSyntax, 3, "ů: is no name"},
	{"//Event[ůň=]", xpath.ErrSyntax, 12, "]"},
	{"count()", xpath.ErrSyntax, 1, "want at least 1"},
	{"count(//a, //b)", xpath.ErrSyntax, 1, "want at most 1"},
	{"contains('a')", xpath.ErrSyntax, 1, "want at least 2"},
	{"true(1)", xpath.ErrSyntax, 1, "want at most 0"},
	{"count(1)", xpath.ErrSyntax, 7, "a number where nodes are wanted"},
	{"sum('a')", xpath.ErrSyntax, 5, "a string where nodes are wanted"},
	{"name('a')", xpath.ErrSyntax, 6, "nodes are wanted"},
	{"1 | 2", xpath.ErrSyntax, 1, "nodes are wanted"},
	{"//Event | 1", xpath.ErrSyntax, 11, "nodes are wanted"},
	{"'a'/b", xpath.ErrSyntax, 1, "nodes are wanted"},
	{"(1)[1]", xpath.ErrSyntax, 2, "nodes are wanted"},
	{"//Event[" + strings.Repeat("(", 50) + "1" + strings.Repeat(")", 50) + "]", xpath.ErrSyntax, 48, "deeper than 40"},
	{"//Event[@id='" + strings.Repeat("x", 4096) + "']", xpath.ErrSyntax, 0, "the limit is 4096"},
	{"//Event[@id='\xff']", xpath.ErrSyntax, 0, "not UTF-8"},
	{"//text('a')", xpath.ErrSyntax, 8, "a where ) is wanted"},
	{"//a\u2028", xpath.ErrSyntax, 4, "unexpected '\\u2028'"},
	{"//×", xpath.ErrSyntax, 3, "unexpected '×'"},
	{"//\ue000", xpath.ErrSyntax, 3, "unexpected"},
	{"$x y", xpath.ErrSyntax, 4, "y where an operator is wanted"},
	{"1 $x", xpath.ErrSyntax, 3, "$x where the expression is already complete"},
	{"1 self::a", xpath.ErrSyntax, 3, "self where an operator is wanted"},
	{"@self::a", xpath.ErrSyntax, 2, "self:: where a name or * is wanted"},
	{"//nothing()", xpath.ErrSyntax, 3, "nothing() where a name"},

	// XPath 1.0 that is refused, and XPath 2.0
	{"id('01.00')", xpath.ErrUnsupported, 1, "./Event[@id='01.00']"},
	{"//Event[lang('cs')]", xpath.ErrUnsupported, 9, "@xml:lang"},
	{"namespace-uri()", xpath.ErrUnsupported, 1, "compare name()"},
	{"//namespace::*", xpath.ErrUnsupported, 3, "namespaces are not resolved"},
	{"//processing-instruction()", xpath.ErrUnsupported, 3, "select node()"},
	{"//ancestor-or-self::node()", xpath.ErrUnsupported, 3, "ancestor-or-self::*"},
	{"//x:Event", xpath.ErrUnsupported, 3, "*[name()='x:Event']"},
	{"//@x:*", xpath.ErrUnsupported, 4, "prefix x"},
	{"x:f()", xpath.ErrUnsupported, 1, "no function x:f()"},
	{"ends-with(@id, '0')", xpath.ErrUnsupported, 1, "XPath 2.0"},
	{"//Event[matches(@id, '0')]", xpath.ErrUnsupported, 9, "contains()"},
	{"replace('a', 'b', 'c')", xpath.ErrUnsupported, 1, "translate()"},
	{"reverse(//Event)", xpath.ErrUnsupported, 1, "XPath 2.0"},
	{"string-join(//@id, ',')", xpath.ErrUnsupported, 1, "XPath 2.0"},
	{"lower-case('A')", xpath.ErrUnsupported, 1, "translate(x"},
	{"document('x')", xpath.ErrUnsupported, 1, "there is no function document()"},
	{"position()", xpath.ErrUnsupported, 1, "at the beginning of a predicate"},
	{"count(//Event[@id=position()])", xpath.ErrUnsupported, 15, "numbers, position() and last() alone"},
	{"//Event[position() = 1 or @id]", xpath.ErrUnsupported, 27, "in a predicate of their own"},
	{"//preceding::Event[1]", xpath.ErrUnsupported, 3, "preceding-sibling::"},
	{"//Event[Attempt[@n][1]]", xpath.ErrUnsupported, 21, "put the position first"},
	{"//Event[following::Event[1]]", xpath.ErrUnsupported, 26, "counts only children"},
	{"//Event[string-length() = position()]", xpath.ErrUnsupported, 9, "in a predicate of their own"},
	{"//Event[Attempt[string-length() = position()]]", xpath.ErrUnsupported, 17, "in a predicate of their own"},
	{"//Event[Attempt[@n and position() = 1]]", xpath.ErrUnsupported, 17, "in a predicate of their own"},
	{"//Event[(Attempt)[1]]", xpath.ErrUnsupported, 9, "string((…)[1])"},
	{"//Event[sum(Attempt/@n) > 1]", xpath.ErrUnsupported, 9, "not a number"},
	{"//Event[count(Input/..) > 1]", xpath.ErrUnsupported, 9, "count from the other side"},
	{"//Event[string(preceding-sibling::Event/@id) = '00']", xpath.ErrUnsupported, 16, "add [1]"},
	{"//Event[(Input | Output) = 'x']", xpath.ErrUnsupported, 16, "joined by or"},
	{"//Event[concat(Attempt[@n=1], @id) = 'x']", xpath.ErrUnsupported, 31, "put what has the predicate last"},
	{"//Event[Input = string(Attempt[@n=1])]", xpath.ErrUnsupported, 9, "put what has the predicate last"},
	{"//Event[Attempt[@n]/@n = Input[.]/@x]", xpath.ErrUnsupported, 24, "put what has the predicate last"},
	{"//Event[string(Attempt[1][@n]) = string(Input[.])]", xpath.ErrUnsupported, 32, "put what has the predicate last"},
	{"//Event[substring-after(@id, @prev)]", xpath.ErrUnsupported, 30, "not empty"},
	{"substring-before('a', '')", xpath.ErrUnsupported, 23, "not empty"},
}

func TestRefused(t *testing.T) {
	for _, test := range refused {
		_, err := xpath.Compile(test.expr)
		e, ok := errors.AsType[*xpath.Error](err)
		if !ok {
			t.Errorf("Compile(%s) = %v, want an *Error", test.expr, err)
			continue
		}
		if !errors.Is(err, test.err) || e.Column != test.column || !strings.Contains(e.Msg, test.msg) || e.Expr != test.expr {
			t.Errorf("Compile(%s) = %v (column %d), want %v at column %d with %q",
				test.expr, err, e.Column, test.err, test.column, test.msg)
		}
	}
}

// TestRefused_ByXmllint makes sure that what we call invalid is.
func TestRefused_ByXmllint(t *testing.T) {
	// What the specification forbids and libxml2 lets pass.
	lenient := map[string]bool{
		"//Event[position() = 1e5]": true, // an exponent
		"///Event":                  true,
	}
	for _, test := range refused {
		if test.err != xpath.ErrSyntax || test.column == 0 || test.expr == "" || strings.Contains(test.msg, "deeper") {
			continue
		}
		if got, ok := xmllint(t, test.expr); ok != lenient[test.expr] {
			t.Errorf("xmllint %s = %s, %v, want %v", test.expr, got, ok, lenient[test.expr])
		}
	}
}

func TestError_Text(t *testing.T) {
	_, err := xpath.Compile("//Event[1]]")
	const want = `invalid xpath "//Event[1]]", column 11: ] where the expression is already complete`
	if err == nil || err.Error() != want {
		t.Errorf("Compile = %v, want %s", err, want)
	}
}

func FuzzCompile(f *testing.F) {
	for _, expr := range supported {
		f.Add(relative(expr))
	}
	for _, test := range refused {
		f.Add(test.expr)
	}
	f.Add("//Event[@id=$id and $n]")
	s := orderStream(f)
	f.Fuzz(func(t *testing.T, expr string) {
		x, err := xpath.Compile(expr)
		if err != nil {
			if _, ok := errors.AsType[*xpath.Error](err); !ok {
				t.Fatalf("Compile(%q) = %v, want an *Error", expr, err)
			}
			return
		}
		_, err = x.Evaluate(t.Context(), s, nil, &xpath.Options{Steps: 20_000})
		if err != nil && strings.Contains(err.Error(), "gave up") {
			t.Errorf("Evaluate(%q) = %v", expr, err)
		}
	})
}

// TestCompile_Extremes makes sure that what is nested as deep or is as long as
// allowed costs no more than its length, and never panics.
func TestCompile_Extremes(t *testing.T) {
	s := orderStream(t)
	nested := []string{
		"(%s)", "not(%s)", "not(1 + %s)", "boolean(%s)", "string(%s)", "number(%s)", "concat(%s, 'a')", "concat('a', %s)",
		"//Event[%s]", "Event[1 = %s]", "Event[%s = %s]", "*[%s]/@id", "(//Event)[%s]", "(//a | %s)", "count(//a[%s])", "-(%s)", "'a' = (%s)",
		"substring('a', %s)", "//a[b[1]/@c = %s]", "./Event[@id='00' and %s]",
	}
	for _, form := range nested {
		expr := "//x"
		for range 35 {
			if next := strings.Replace(form, "%s", expr, 1); len(next) < 4000 {
				expr = strings.ReplaceAll(next, "%s", "1")
			}
		}
		extreme(t, s, expr)
	}
	for _, repeated := range []string{
		"a or ", "a and ", "1 + ", "1 - ", "1=", "a | ", "a/", "a//", "./", "../", "a[1]/", "//a[b]", "-", "- ", "a[1][b]/", "(a)/", "self::a[.='b'] or ",
	} {
		extreme(t, s, strings.Repeat(repeated, 4000/len(repeated))+"a")
	}
	extreme(t, s, "//a"+strings.Repeat("[b]", 1300))
	extreme(t, s, "//a"+strings.Repeat("[2]", 1300))
	extreme(t, s, "concat("+strings.Repeat("'a',", 900)+"'a')")
	extreme(t, s, "'"+strings.Repeat(`'"`, 100)+"'")
}

func extreme(t *testing.T, s *eventstream.Stream, expr string) {
	t.Helper()
	_, err := evaluate(t, s, expr)
	if err == nil {
		return
	}
	if _, ok := errors.AsType[*xpath.Error](err); !ok || strings.Contains(err.Error(), "gave up") {
		t.Errorf("Evaluate(%.80s…) = %v", expr, err)
	}
}
