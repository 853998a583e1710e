package xpath

import (
	"fmt"
	"reflect"

	"github.com/leasestream/leasestream/eventstream"
)

// Vars has the values of the variables of an expression, by their names without
// the $. A value is a string, a bool, an [eventstream.Status] or a number of any
// type. It reaches the query as that value and never as text of the query.
//
// Each variable needs a value and each value a variable, so that a misspelled
// name does not pass unnoticed: ErrVariable otherwise.
type Vars map[string]any

// values are Vars as XPath has them: string, float64 or bool.
type values map[string]any

func (x *Expr) bind(vars Vars) (values, error) {
	bound := make(values, len(x.vars))
	for _, v := range x.vars {
		value, ok := vars[v.name]
		if !ok {
			return nil, &Error{ErrVariable, x.text, v.column(), fmt.Sprintf("$%s has no value", v.name)}
		}
		if bound[v.name] = variableValue(value); bound[v.name] == nil {
			return nil, &Error{ErrVariable, x.text, v.column(), fmt.Sprintf(
				"$%s is a %T, want a string, a number, a bool or a status", v.name, value)}
		}
	}
	for name := range vars {
		if _, used := bound[name]; !used {
			return nil, &Error{ErrVariable, x.text, 0, fmt.Sprintf("there is no $%s in it", name)}
		}
	}
	return bound, nil
}

func variableValue(value any) any {
	if status, ok := value.(eventstream.Status); ok {
		return status.String()
	}
	switch v := reflect.ValueOf(value); {
	case v.Kind() == reflect.String:
		return v.String()
	case v.Kind() == reflect.Bool:
		return v.Bool()
	case v.CanInt():
		return float64(v.Int())
	case v.CanUint():
		return float64(v.Uint())
	case v.CanFloat():
		return v.Float()
	}
	return nil
}
