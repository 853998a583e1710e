package xpath_test

import (
	"bytes"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/xpath"
)

const document = "testdata/order.xml"

func orderStream(t testing.TB) *eventstream.Stream {
	t.Helper()
	data, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	s, err := eventstream.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// xmllint evaluates an expression with libxml2, from the document node.
func xmllint(t *testing.T, expr string) (result string, ok bool) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command("xmllint", "--xpath", expr, document)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		t.Fatal("xmllint is missing: apt-get install -y libxml2-utils")
	case err != nil && strings.Contains(stderr.String(), "XPath set is empty"):
		return "", true
	case err != nil:
		return stderr.String(), false
	}
	return strings.TrimSuffix(stdout.String(), "\n"), true
}

// printed writes a value as xmllint does.
func printed(v xpath.Value) string {
	if v.Kind != xpath.NodeSet {
		return v.String()
	}
	var lines []string
	for _, n := range v.Nodes {
		xml := n.XML()
		if n.Kind() == xpath.AttributeNode {
			xml = " " + xml
		}
		lines = append(lines, xml)
	}
	return strings.Join(lines, "\n")
}

// alike compares what we and xmllint print, which cuts numbers after six digits.
func alike(got, want string) bool {
	if got == want {
		return true
	}
	a, err1 := strconv.ParseFloat(got, 64)
	b, err2 := strconv.ParseFloat(want, 64)
	return err1 == nil && err2 == nil && math.Abs(a-b) <= 1e-5*math.Abs(b)
}

// fromDocument rewrites relative paths, written REL, for xmllint, which starts at
// the document where we start at <EventStream>.
func fromDocument(expr string) string { return strings.ReplaceAll(expr, "REL", "/EventStream/") }

func relative(expr string) string { return strings.ReplaceAll(expr, "REL", "") }

// supported are expressions that must be evaluated, and as xmllint does. REL
// begins a relative path.
var supported = []string{
	// paths
	"REL.", "REL*", "RELEvent", "REL./Event", "/", "/*", "/EventStream", "/EventStream/Event", "//Event",
	"//Event/@id", "//@*", "//Input", "//Input/text()", "//comment()", "/comment()", "/node()", "//text()[. = 'kniha']",
	"/EventStream/note", "/EventStream/node()[4]", "//order/item", "//order//text()", "//a//b", "//a/a/b", "//a[b]//b",
	"//Input/..", "//item/ancestor::Event", "//item/ancestor-or-self::*", "//Event/self::Event[@key]", "//b/parent::a",
	"/EventStream/Event[1]/following-sibling::*", "/EventStream/Event[3]/preceding-sibling::Event",
	"/EventStream/Event[3]/preceding-sibling::Event[1]", "/EventStream/Event[@id='02.00']/following-sibling::Event[1]/@id",
	"//note/following::item", "//note/preceding::Attempt", "//item/following-sibling::item", "//@n/..", "//@id/parent::Event",
	"//item[@n=2]/descendant-or-self::node()", "//Event/descendant::Event", "//order/@xml:lang", "//*[name()='note']",
	"//Event/Event", "//nothing", "//Event//@id",
	// positions
	"RELEvent[2]", "RELEvent[last()]", "RELEvent[last() - 1]", "RELEvent[position() < 3]", "RELEvent[position() = 2]",
	"RELEvent[position() mod 2 = 0]", "RELEvent[0]", "RELEvent[1.5]", "RELEvent[-1]", "RELEvent[99]", "//Event[1]", "//Event[last()]",
	"(//Event)[1]", "(//Event)[last()]", "(//Event)[position() > 2]", "(//Event)[@status='init'][2]",
	"RELEvent[@status='init'][last()]", "RELEvent[@status='init'][position() = 2]", "RELEvent[@status='init'][position() = last()]",
	"RELEvent[@status='aborted'][1]/@id", "RELEvent[1][@id='00']", "RELEvent[2][@id='00']", "//@*[2]", "//@*[last()]",
	"RELEvent[position() = last() and @id]", "(//item | //b)[2]", "(//item)[2]/Event", "//item[2]/Event[1]/@status",
	"RELEvent[Attempt[2]]", "RELEvent[Attempt[last()]/@error='timeout']", "RELEvent[Attempt[position() = 2]/@n = 2]",
	"RELEvent/Attempt[last()]", "RELEvent/Attempt[1]", "//Attempt[@error='timeout'][last()]", "//item/ancestor::*[1]", "//item/ancestor::*[last()]",
	"RELEvent[not(position() = 1)]", "RELEvent[position() = 1 or position() = last()]", "RELEvent[floor(last() div 2)]",
	"RELEvent[ceiling(last() div 2)]", "RELEvent[round(last() div 2)]", "RELEvent[position() != 2]", "RELEvent[-position() + 4]",
	"RELEvent[position() >= 3 and position() <= 4]", "RELEvent[last() > 100]", "RELEvent[true() = (position() = 1)]",
	"RELEvent[(position() = 1) != true()]", "RELEvent[number(position() = 1)]", "RELEvent[boolean(position() - 1)]",
	"RELEvent[position() * 2 = last() - 1]", "RELEvent[position() = (last() > 3) and not(false())]", "RELEvent[position() > 1][1]",
	"/EventStream/Event[2]/preceding-sibling::node()[1]", "RELnote/preceding-sibling::comment()", "/comment()[2]/preceding-sibling::node()",
	"/EventStream/preceding-sibling::node()[last()]", "RELcomment()[last()]/preceding-sibling::Event[1]", "//Event[1]/@id/..",
	// tests
	"RELEvent[@id='01.00']", "RELEvent[@id='01.00' and @status='inprocess']", "RELEvent[@id='01.00'][@status='init']",
	"RELEvent['init'=@status]", "RELEvent['init'!=@status]", "RELEvent[@status='init' or @status='aborted']",
	"RELEvent[not(@prev)]", "RELEvent[@prev and not(@key)]", "RELEvent[@attempt > 1]", "RELEvent[1 < @attempt]",
	"RELEvent[@attempt = 1 + 1]", "RELEvent[@attempt * 2 >= 6]", "RELEvent[@due]", "RELEvent[@status = 'nonsense']", "RELEvent[@id='']",
	"RELEvent[Attempt]", "RELEvent[Input and Output]", "RELEvent[Attempt/@error = 'refused']", "RELEvent[Attempt/@error != 'timeout']",
	"RELEvent[not(Attempt/@error = 'timeout')]", "RELEvent[count(Attempt) > 1]", "RELEvent[count(Attempt) = @failures]",
	"RELEvent[@prev = /EventStream/Event[@status='inprocess']/@id]", "RELEvent[@prev = ../Event[@id='02.00']/@id]",
	"RELEvent[@msg = //note/@kind]", "RELEvent[contains(@msg, 'over')]", "RELEvent[starts-with(@id, '01.')]",
	"RELEvent[starts-with(@missing, '')]", "RELEvent[contains(., 'Brno')]", "RELEvent[contains(concat(@id, '/', @status), '0/i')]",
	"RELEvent[string-length(@id) > 5]", "RELEvent[substring-before(@id, '.') = '01']", "RELEvent[@status = true()]",
	"RELEvent[@id = true()]", "RELEvent[@key != false()]", "RELEvent[true()]", "RELEvent[false()]", "RELEvent['']", "RELEvent['x']",
	"RELEvent[.//item[@price > 10]]", "RELEvent[Input//a[@m = 2]]", "RELEvent[Input | Output]", "RELEvent[name() = 'Event']",
	"RELEvent[number(Input) = -5]", "RELEvent[Input = -5]", "RELEvent[Input < 0]", "//*[@n = '1']", "//item[. = 'kniha']",
	"//item[normalize-space() = 'mnoho mezer']", "//Event[@status='init']", "//*[@id='02.01'][@name]", "//Event[@status='init'][@due]",
	"RELEvent[substring(@id, 4) = '00']", "RELEvent[substring(@id, 1, 2) = '02']", "RELEvent[translate(@status, 'it', 'IT') = 'InIT']",
	"RELEvent[@msg = \"or 1=1\"]", "RELEvent[contains(@msg, \"it's\")]", "RELEvent[contains(@msg, '\"over\"')]", "RELEvent[contains(@msg, 'žlu')]",
	"RELEvent[(@status = 'init') = (@attempt = 0)]", "RELEvent[round(@attempt div 3) = 1]", "RELEvent[@attempt = string(3)]",
	"RELEvent[string(Attempt[@n=1]/@error) = 'timeout']", "RELEvent[string(Attempt[@n=3]/@n) = string(@failures)]",
	"RELEvent[string(@failures) = string(Attempt[@n=3]/@n)]", "RELEvent[count(Attempt[@n]) = @attempt]", "RELEvent[@attempt = count(Attempt[@n])]",
	"RELEvent[count(Attempt[@n]) + 1 > count(Input[.])]", "RELEvent[boolean(Attempt[@n=2]) = boolean(Input[. != ''])]",
	"RELEvent[substring(@msg, count(Attempt[@n]), 4) = \"it's\"]", "RELEvent[Attempt[@n=1]/@error = /EventStream/Event/Attempt[@n=3]/@error]",
	// unions
	"//note | //item", "//item | //note", "RELEvent[1] | RELEvent[last()] | RELEvent[1]", "//Event/@id | //comment()", "(//a | //b)[@m]",
	// values
	"count(//Event)", "count(RELEvent[@status='init'])", "count(//Attempt) + count(//item)", "count(//Attempt/..)", "sum(//Attempt/@n)",
	"sum(//Event/@msg)", "sum(//item/@price) div count(//item/@price)", "string(//Event[2]/@name)", "string(//Attempt[@n=3])", "string(//nothing)",
	"string(RELEvent[@id='00']/@msg)", "number(//item[2]/@price) * 2", "name(//*[@kind])", "local-name(//@xml:lang)", "concat('a', 1 + 1, true())",
	"boolean(//nothing)", "not(//nothing)", "//Event/@status = 'aborted'", "'aborted' = //Event/@status", "//Attempt/@n > 2", "count(//Event) > 3 and //note",
	"1 div 0", "-1 div 0", "0 div 0", "7 mod 3", "-7 mod 3", "- - 3", "floor(-2.5)", "ceiling(2.1)", "round(-2.5)", "round(2.5)",
	"substring('12345', 2, 3)", "substring('12345', 1.5, 2.6)", "substring('12345', 0, 3)", "substring('12345', 2)", "substring('12345', 0 div 0)",
	"substring-after('2026-11-30', '-')", "translate('bar', 'abc', 'AB')", "string-length('žlutý')", "normalize-space('  a   b ')",
	"'a' = 'a'", "'a' != 'b'", "1 = '1'", "true() = 'x'", "'2' < '10'", "2 > 1 = true()", "string(1000000)", "1" + strings.Repeat("0", 400), "string(0.5)", "string(-0)",
	"boolean(0 div 0)", "boolean('false')", "number('  12  ')", "number('')", "number('1a')", "string(2 > 1)",
	// names that are also operators, and space wherever it is allowed
	" / EventStream / Event [ @id = '00' ] ", "//Event/child :: Input", "//*[. = 'x']", "//*[* and @m]", "//order/*[2]", "2 * 3", "//div | //mod | //and | //or",
}

func TestSupported(t *testing.T) {
	s := orderStream(t)
	for _, expr := range supported {
		x, err := xpath.Compile(relative(expr))
		if err != nil {
			t.Errorf("Compile(%s) = %v", relative(expr), err)
			continue
		}
		v, err := x.Evaluate(t.Context(), s, nil, nil)
		want, ok := xmllint(t, fromDocument(expr))
		switch {
		case !ok:
			t.Errorf("xmllint refuses %s: %s", fromDocument(expr), want)
		case err != nil:
			t.Errorf("Evaluate(%s) = %v, want %s", x, err, want)
		case !alike(printed(v), want):
			t.Errorf("Evaluate(%s) =\n%s\nwant\n%s", x, printed(v), want)
		}
	}
}

var (
	random = flag.Int("random", 300, "how many random expressions to hold against xmllint")
	seed   = flag.Uint64("seed", 1, "of the random expressions")
)

func TestRandom(t *testing.T) {
	s := orderStream(t)
	refused := 0
	for i := range *random {
		g := &generator{rand.New(rand.NewPCG(*seed, uint64(i)))}
		expr := g.whole()
		v, err := evaluate(t, s, relative(expr))
		if errors.Is(err, xpath.ErrBudget) || isRefusal(err) {
			refused++
			continue
		}
		want, ok := xmllint(t, fromDocument(expr))
		switch {
		case !ok:
			t.Fatalf("xmllint refuses %s: %s", fromDocument(expr), want)
		case err != nil:
			t.Errorf("Evaluate(%s) = %v, want %s", relative(expr), err, want)
		case !alike(printed(v), want):
			t.Errorf("Evaluate(%s) =\n%s\nwant\n%s", relative(expr), printed(v), want)
		}
	}
	if refused > *random/5 {
		t.Errorf("%d of %d expressions are refused; the test has become blind", refused, *random)
	}
}

func evaluate(t *testing.T, s *eventstream.Stream, expr string) (xpath.Value, error) {
	x, err := xpath.Compile(expr)
	if err != nil {
		return xpath.Value{}, err
	}
	return x.Evaluate(t.Context(), s, nil, nil)
}

// isRefusal reports whether an expression was refused on purpose: with a place,
// which a panic of the engine does not have.
func isRefusal(err error) bool {
	e, ok := errors.AsType[*xpath.Error](err)
	return ok && e.Err == xpath.ErrUnsupported && e.Column > 0
}
