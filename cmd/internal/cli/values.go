package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/leasestream/leasestream/scope/store"
)

// choice is the value of a flag that takes one of a few words.
type choice struct {
	value   string
	allowed []string
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return "string" }

func (c *choice) Set(value string) error {
	if !slices.Contains(c.allowed, value) {
		return fmt.Errorf("want %s", strings.Join(c.allowed, ", "))
	}
	c.value = value
	return nil
}

// formatFlag adds --format with the formats allowed, the first of them the
// default.
func formatFlag(cmd *cobra.Command, format *choice, allowed ...string) {
	*format = choice{allowed[0], allowed}
	choiceFlag(cmd, format, "format", "`FORMAT` of the output: "+strings.Join(allowed, ", "))
}

func choiceFlag(cmd *cobra.Command, c *choice, name, usage string) {
	cmd.Flags().Var(c, name, usage)
	// It fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(c.allowed, cobra.ShellCompDirectiveNoFileComp))
}

// pairs is the value of a flag that takes KEY=VALUE and may be repeated.
type pairs map[string]string

var _ pflag.Value = (*pairs)(nil)

func (p *pairs) String() string { return "" }
func (p *pairs) Type() string   { return "KEY=VALUE" }

func (p *pairs) Set(text string) error {
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" {
		return errors.New("want KEY=VALUE")
	}
	if *p == nil {
		*p = pairs{}
	}
	(*p)[key] = value
	return nil
}

// period is the value of a flag that takes a duration or a word for one that no
// number expresses.
type period struct {
	value   time.Duration
	word    string // "" for none
	meaning time.Duration
}

func (p *period) Type() string { return "duration" }

func (p *period) String() string {
	if p.value == p.meaning {
		return p.word
	}
	return p.value.String()
}

func (p *period) Set(text string) error {
	if text == p.word && p.word != "" {
		p.value = p.meaning
		return nil
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil && p.word != "":
		return fmt.Errorf("want a duration such as 15s, or %s", p.word)
	case err != nil:
		return errors.New("want a duration such as 15s")
	case d < 0:
		return errors.New("it is negative")
	}
	p.value = d
	return nil
}

// leasePeriod is how long a lease lasts.
func leasePeriod() period { return period{store.MinLease, "infinite", store.LeaseInfinite} }

// breakPeriod is how long a broken lease still locks.
func breakPeriod() period { return period{value: store.BreakNaturally, meaning: store.BreakNaturally} }

// age is the value of a flag that takes a duration of hours or days.
type age struct{ value time.Duration }

var _ pflag.Value = (*age)(nil)

func (d *age) Type() string { return "duration" }
func (d *age) String() string {
	if d.value == 0 {
		return "" // help does not show it as the default
	}
	return d.value.String()
}

// Set takes Go's durations and, before one or alone, days: 12h, 30d, 1d12h.
func (d *age) Set(text string) error {
	value, err := parseAge(text)
	if err != nil || strings.Contains(text, "-") {
		return errors.New("want an age such as 12h or 30d")
	}
	d.value = value
	return nil
}

func parseAge(text string) (time.Duration, error) {
	days, rest, ok := strings.Cut(text, "d")
	if !ok {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseUint(days, 10, 16) // far from an overflow
	if err != nil {
		return 0, err
	}
	value := time.Duration(n) * 24 * time.Hour
	if rest == "" {
		return value, nil
	}
	more, err := time.ParseDuration(rest)
	return value + more, err
}
