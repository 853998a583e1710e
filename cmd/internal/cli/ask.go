package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ask asks for a yes; anything else is an error.
func (a *app) ask(ctx context.Context, question string) error {
	fmt.Fprintf(a.stderr, "%s [y/N] ", question)
	answer := make(chan string, 1)
	// Nothing can break off the read of a terminal: after an interrupt it ends with
	// the process.
	go func() {
		line, _ := bufio.NewReader(a.stdin).ReadString('\n') // its error is a no, too
		answer <- line
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(a.stderr)
		return context.Cause(ctx)
	case line := <-answer:
		if !slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(line))) {
			return errors.New("the answer was not yes: nothing was done")
		}
		return nil
	}
}
