package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInput_Read(t *testing.T) {
	file := filepath.Join(t.TempDir(), "input.json")
	if err := os.WriteFile(file, []byte("{ \"from\": \"file\" }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, input string
		set         []string
		want        string
	}{
		{"nothing", "", nil, ""},
		{"JSON", `{"b": 1, "a": [2, 3]}`, nil, `{"b":1,"a":[2,3]}`},
		{"no object", `"text"`, nil, `"text"`},
		{"exact numbers", `[12345678901234567890.10, 1e400]`, nil, `[12345678901234567890.10,1e400]`},
		{"file", "@" + file, nil, `{"from":"file"}`},
		{"standard input", "-", nil, `{"from":"stdin"}`},
		{"set alone", "", []string{"root=/x"}, `{"root":"/x"}`},
		{"set a number", "", []string{"n=3"}, `{"n":3}`},
		{"set an exact number", "", []string{"n=12345678901234567890"}, `{"n":12345678901234567890}`},
		{"set a text of digits", "", []string{`n="3"`}, `{"n":"3"}`},
		{"set what is nearly a number", "", []string{"n=007"}, `{"n":"007"}`},
		{"set true and null", "", []string{"a=true", "b=null"}, `{"a":true,"b":null}`},
		{"set an object", "", []string{`a={"b":[1]}`}, `{"a":{"b":[1]}}`},
		{"set to nothing", "", []string{"a="}, `{"a":""}`},
		{"set with =", "", []string{"a=b=c"}, `{"a":"b=c"}`},
		{"set <&>", "", []string{"a=<&>"}, `{"a":"<&>"}`},
		{"set over input", `{"a":1,"b":<>}`, nil, "error"},
		{"override", `{"a":1,"b":2}`, []string{"b=x", "c=3"}, `{"a":1,"b":"x","c":3}`},
		{"last one counts", "", []string{"a=1", "a=2"}, `{"a":2}`},
		{"set on no object", `[1]`, []string{"a=1"}, "error"},
		{"set on null", `null`, []string{"a=1"}, "error"},
		{"not JSON", `{a:1}`, nil, "error"},
		{"two values", `1 2`, nil, "error"},
		{"no such file", "@" + file + "x", nil, "error"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := &app{stdin: strings.NewReader(`{"from":"stdin"}`)}
			in := input{text: test.input}
			for _, s := range test.set {
				if err := in.set.Set(s); err != nil {
					t.Fatal(err)
				}
			}
			got, err := in.read(a)
			if test.want == "error" {
				if exit, ok := errors.AsType[*exitError](err); !ok || exit.code != codeUsage {
					t.Errorf("read(%s, %q) = %s, %v, want an error of usage", test.input, test.set, got, err)
				}
				return
			}
			if err != nil || string(got) != test.want {
				t.Errorf("read(%s, %q) = %s, %v, want %s", test.input, test.set, got, err, test.want)
			}
		})
	}
}

func TestPairs_Set(t *testing.T) {
	for _, text := range []string{"", "key", "=value"} {
		var p pairs
		if err := p.Set(text); err == nil {
			t.Errorf("Set(%q) = nil, want an error", text)
		}
	}
}
