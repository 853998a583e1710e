package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/xpath"
)

func (a *app) newQuery() *cobra.Command {
	var (
		format choice
		vars   pairs
	)
	cmd := &cobra.Command{
		Use:   "query NAME XPATH",
		Short: "Print the events of a run that an XPath expression selects",
		Long: `Print the events of a run that an XPath 1.0 expression selects, those that a retry
replaced included. A relative path starts at the root element, and $NAME stands
for the text that --var gives it. What is no event is printed as text.

The expression is evaluated in each document of the run: its own, and those of child
streams, which have the branches of a wide split. A number or a text is a line for
each of them.`,
		Args: cobra.ExactArgs(2),
	}
	formatFlag(cmd, &format, "json", "xml")
	cmd.Flags().Var(&vars, "var", "the value of a variable, a text; may be repeated")
	cmd.RunE = a.do(func(ctx context.Context, args []string) error {
		expr, err := xpath.Compile(args[1])
		if err != nil {
			return queryError(err)
		}
		return a.withRuns(ctx, func(p *processor.Processor) error {
			return a.queryRun(ctx, p, args[0], expr, queryVars(vars), format)
		})
	})
	return cmd
}

// queryError makes an error of usage of an expression that is wrong by itself.
func queryError(err error) error {
	for _, wrong := range []error{xpath.ErrSyntax, xpath.ErrUnsupported, xpath.ErrVariable} {
		if errors.Is(err, wrong) {
			return &exitError{codeUsage, err}
		}
	}
	return err
}

func queryVars(p pairs) xpath.Vars {
	vars := make(xpath.Vars, len(p))
	for name, value := range p {
		vars[name] = value
	}
	return vars
}

// queryRun evaluates an expression in each document of a run, in the order of its
// tree. All events that it selects are one list; other values have a line each.
func (a *app) queryRun(ctx context.Context, p *processor.Processor, name string, expr *xpath.Expr, vars xpath.Vars, format choice) error {
	array := newJSONArray(a.stdout)
	hasNodes := false
	for d, err := range p.Documents(ctx, name) {
		if err != nil {
			return err
		}
		value, err := expr.Evaluate(ctx, d.Stream, vars, nil)
		if err != nil {
			return queryError(err)
		}
		switch {
		case value.Kind != xpath.NodeSet:
			_, err = fmt.Fprintln(a.stdout, value)
		case format.value == "xml":
			err = a.showNodesXML(value.Nodes)
		default:
			hasNodes = true
			err = addNodes(array, d, value.Nodes)
		}
		if err != nil {
			return err
		}
	}
	if !hasNodes {
		return nil
	}
	return array.end("")
}

func addNodes(array *jsonArray, d *processor.Document, nodes []xpath.Node) error {
	for _, n := range nodes {
		if err := array.add(nodeJSON(d, n)); err != nil {
			return err
		}
	}
	return nil
}

// nodeJSON is an event as show gives it, and any other node as its text.
func nodeJSON(d *processor.Document, n xpath.Node) any {
	if e := n.Event(); e != nil {
		return eventJSON(d, e)
	}
	return n.Value()
}

func (a *app) showNodesXML(nodes []xpath.Node) error {
	w := bufio.NewWriter(a.stdout)
	for _, n := range nodes {
		w.WriteString(n.XML())
		w.WriteByte('\n')
	}
	return w.Flush()
}
