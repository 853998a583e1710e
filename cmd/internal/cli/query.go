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
for the text that --var gives it. What is no event is printed as text.`,
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
			snapshot, err := p.Read(ctx, args[0])
			if err != nil {
				return err
			}
			value, err := expr.Evaluate(ctx, snapshot.Stream, queryVars(vars), nil)
			if err != nil {
				return queryError(err)
			}
			return a.showValue(value, format)
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

func (a *app) showValue(v xpath.Value, format choice) error {
	switch {
	case v.Kind != xpath.NodeSet:
		_, err := fmt.Fprintln(a.stdout, v)
		return err
	case format.value == "xml":
		return a.showNodesXML(v.Nodes)
	}
	array := newJSONArray(a.stdout)
	for _, n := range v.Nodes {
		if err := array.add(nodeJSON(n)); err != nil {
			return err
		}
	}
	return array.end("")
}

// nodeJSON is an event as show gives it, and any other node as its text.
func nodeJSON(n xpath.Node) any {
	if e := n.Event(); e != nil {
		return eventJSON(e)
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
