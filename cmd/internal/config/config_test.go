package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/cmd/internal/config"
)

var schema = &config.Schema{
	Keys: []string{"store", "log-level"},
	Sections: map[string]*config.Schema{
		"work": {Keys: []string{"workers", "set", "log-level"}},
		"lease": {Sections: map[string]*config.Schema{
			"acquire": {Keys: []string{"duration"}},
		}},
	},
}

func Example() {
	settings, err := config.Parse("leasestream.yaml", []byte("store: sqlite:runs.db\nwork: {workers: 8}\n"), schema)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range settings {
		fmt.Println(s.Section, s.Key, s.Values, s.Place)
	}
	_, err = config.Parse("leasestream.yaml", []byte("work:\n  wokers: 8\n"), schema)
	fmt.Println(err)
	// Output:
	// [] store [sqlite:runs.db] leasestream.yaml:1:1
	// [work] workers [8] leasestream.yaml:2:8
	// leasestream.yaml:2:3: unknown key "wokers"; did you mean "workers"?
}

func TestParse(t *testing.T) {
	for _, test := range []struct{ source, want string }{
		{"", "[]"},
		{"# nothing\n", "[]"},
		{"---\n", "[]"},
		{"work:\nlog-level: debug\n", "[{[] log-level [debug] f:2:1}]"},
		{"\ufeffstore: a\r\n# b\r\nlog-level: c\r\n", "[{[] store [a] f:1:1} {[] log-level [c] f:3:1}]"},
		{"lease:\n  acquire:\n    duration: 60s\n", "[{[lease acquire] duration [60s] f:3:5}]"},
		{"work: {workers: 0x10, set: [a=1, 'b={\"x\": 2}', true]}", `[{[work] workers [0x10] f:1:8} {[work] set [a=1 b={"x": 2} true] f:1:23}]`},
		{"store: |\n  sqlite:a\n", "[{[] store [sqlite:a\n] f:1:1}]"},
		{"store: $HOME/x\n", "[{[] store [$HOME/x] f:1:1}]"},
	} {
		got, err := config.Parse("f", []byte(test.source), schema)
		if fmt.Sprint(got) != test.want || err != nil {
			t.Errorf("Parse(%q) = %v, %v, want %s", test.source, got, err, test.want)
		}
	}
}

func TestParse_Problems(t *testing.T) {
	for _, test := range []struct{ source, want string }{
		{"stroe: a", `f:1:1: unknown key "stroe"; did you mean "store"?`},
		{"store: a\nwrok: {}", `f:2:1: unknown key "wrok"; did you mean "work"?`},
		{"nothing-like-it: a", `f:1:1: unknown key "nothing-like-it"; known here: store, log-level, lease, work`},
		{"workers: 8", `f:1:1: unknown key "workers"; it belongs in a section: work`},
		{"duration: 8", `f:1:1: unknown key "duration"; it belongs in a section: lease acquire`},
		{"work:\n  acquire: {}\n  wokers: 3", "f:2:3: unknown key \"acquire\"; known here: workers, set, log-level\nf:3:3: unknown key \"wokers\"; did you mean \"workers\"?"},
		{"store: a\nstore: b", `f:2:1: key "store" is given twice, the first time in line 1`},
		{"store:", `f:1:8: store: want a value, got nothing`},
		{"store: {a: b}", `store: want a value, got keys and values`},
		{"store: [[a]]", `store: want a value, got a list`},
		{"store: &a b", `store: want a value, got an anchor, an alias or a tag`},
		{"store: *a", `f:1:8: `},
		{"store: !!str b", `store: want a value, got an anchor, an alias or a tag`},
		{"<<: {store: a}", `unknown key "<<"`},
		{"work: 8", `f:1:7: want settings as KEY: VALUE, got text`},
		{"- store", `want settings as KEY: VALUE, got a list`},
		{"store", `f:1:1: want settings as KEY: VALUE, got text`},
		{"store: a\n---\nstore: b", `f:3:1: a second document begins here`},
		{"store: 'a", `f:1:`},
		{"store: a\n\tlog-level: b", `f:2:`},
		{"store: \xff", `f:1:1: the file is not UTF-8 text`},
		{"store: \x00", `f:1:1: the file is not UTF-8 text`},
		{strings.Repeat("#", 64<<10+1), `f:1:1: the file is larger than 64 KiB`},
	} {
		got, err := config.Parse("f", []byte(test.source), schema)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Parse(%.60q) = %v, %v, want the problem %s", test.source, got, err, test.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, source := range []string{"", "store: a", "work: {set: [a, b]}", "a: &x [*x]", "? a\n: b", "store: >\n a\n b", "\t", "{", "- - a"} {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		settings, err := config.Parse("f", []byte(source), schema)
		if err != nil && settings != nil {
			t.Errorf("Parse() = %v with %v", settings, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("Parse() = %v, want a place", err)
		}
		for _, s := range settings {
			if s.Key == "" || !strings.HasPrefix(s.Place, "f:") {
				t.Errorf("Parse() gives %+v, want a key and a place", s)
			}
		}
	})
}
