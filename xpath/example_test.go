package xpath_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/xpath"
)

var search = `<EventStream name="order-42">
<Event id="00" name="OrderStart" status="inprocess" next="01.00|02.00|03.00"/>
<Event id="01.00" name="SearchStart" status="init" prev="00"/>
<Event id="02.00" name="SearchStart" status="aborted" prev="00"><Attempt n="1" error="timeout"/><Attempt n="2" error="refused"/></Event>
<Event id="03.00" name="SearchStart" status="init" prev="00"/>
</EventStream>`

func Example() {
	s, err := eventstream.Parse([]byte(search))
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := xpath.Select(s, "./Event[@id=$id and @status='inprocess']", xpath.Vars{"id": "00"})
	fmt.Println(e.ID(), e.Name(), err)

	events, err := xpath.SelectAll(s, "./Event[@status=$status]", xpath.Vars{"status": eventstream.Init})
	for _, e := range events {
		fmt.Println(e.ID(), e.Name(), err)
	}

	_, err = xpath.MustSelect(s, "./Event[@id='04.00']")
	fmt.Println(errors.Is(err, xpath.ErrNoMatch))
	// Output:
	// 00 OrderStart <nil>
	// 01.00 SearchStart <nil>
	// 03.00 SearchStart <nil>
	// true
}

// A compiled expression is kept and used by many goroutines; each evaluation has
// its own context and variables.
func ExampleExpr_Select() {
	s, err := eventstream.Parse([]byte(search))
	if err != nil {
		fmt.Println(err)
		return
	}
	failed, err := xpath.Compile("//Event[Attempt[last()]/@error = $error]")
	if err != nil {
		fmt.Println(err)
		return
	}
	for e, err := range failed.Select(context.Background(), s, xpath.Vars{"error": "refused"}, nil) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(e.ID())
	}
	// Output: 02.00
}

func ExampleExpr_Evaluate() {
	s, err := eventstream.Parse([]byte(search))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, expr := range []string{
		"count(//Event[@status='init'])",
		"string(./@name)",
		"//Attempt/@error",
		"./Event[last()]",
	} {
		x, err := xpath.Compile(expr)
		if err != nil {
			fmt.Println(err)
			return
		}
		v, err := x.Evaluate(context.Background(), s, nil, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		if v.Kind != xpath.NodeSet {
			fmt.Println(v)
		}
		for _, n := range v.Nodes {
			fmt.Println(n.XML())
		}
	}
	// Output:
	// 2
	// order-42
	// error="timeout"
	// error="refused"
	// <Event id="03.00" name="SearchStart" status="init" prev="00"/>
}

func ExampleCompile() {
	for _, expr := range []string{"//Event[@id='01.00']]", "//Event[lower-case(@name)='x']"} {
		_, err := xpath.Compile(expr)
		fmt.Println(err)
	}
	// Output:
	// invalid xpath "//Event[@id='01.00']]", column 21: ] where the expression is already complete
	// unsupported xpath "//Event[lower-case(@name)='x']", column 9: lower-case(): it is XPath 2.0; write translate(x, 'ABC…', 'abc…')
}
