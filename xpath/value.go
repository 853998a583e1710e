package xpath

import (
	"math"
	"strconv"
	"strings"
)

// Value is what an expression gives: one of the four types of XPath.
type Value struct {
	Kind   Kind
	Nodes  []Node  // of NodeSet: in document order, each once
	Text   string  // of String
	Number float64 // of Number
	Bool   bool    // of Boolean
}

// Kind is the type of a [Value].
type Kind uint8

// The types of XPath.
const (
	NodeSet Kind = iota
	String
	Number
	Boolean
)

// String is the value as the XPath function string() gives it: of nodes, the
// value of the first.
func (v Value) String() string {
	switch v.Kind {
	case NodeSet:
		if len(v.Nodes) == 0 {
			return ""
		}
		return v.Nodes[0].Value()
	case Number:
		return formatNumber(v.Number)
	case Boolean:
		return strconv.FormatBool(v.Bool)
	}
	return v.Text
}

func newValue(value any) Value {
	switch value := value.(type) {
	case float64:
		return Value{Kind: Number, Number: value}
	case bool:
		return Value{Kind: Boolean, Bool: value}
	}
	s, _ := value.(string)
	return Value{Kind: String, Text: s}
}

func formatNumber(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f == 0:
		return "0" // -0 too
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// toNumber is the XPath function number(): digits with an optional minus and
// point between white space, NaN for all else.
func toNumber(s string) float64 {
	s = strings.Trim(s, " \t\r\n")
	if strings.Trim(s, "-.0123456789") != "" {
		return math.NaN()
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}
