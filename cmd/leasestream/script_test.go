package main

import (
	"encoding/json"
	"errors"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/itchyny/gojq"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"leasestream": main})
}

func TestScripts(t *testing.T) {
	plain, nobody := plainBuild(t), closedAddress(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", plain+string(filepath.ListSeparator)+env.Getenv("PATH"))
			env.Setenv("NOBODY", nobody)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"capture": capture,
			"jq":      jq,
		},
		RequireUniqueNames: true,
	})
}

// plainBuild is a folder with the command, built without the race detector: scripts
// start it hundreds of times, one after the other, and give it large inputs. The
// processes of all other tests have the detector if the tests have it.
func plainBuild(t *testing.T) string {
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", dir, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build.Args, err, out)
	}
	return dir
}

// closedAddress is one that nobody listens at.
func closedAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

// exits CODE PROGRAM ARG... runs a program that must end with this exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// capture NAME puts what was printed last into a variable.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: capture NAME")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// jq FILTER WANT applies a jq filter to what was printed last, which must be
// JSON, and compares the result with WANT, JSON as well.
func jq(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: jq FILTER WANT")
	}
	var input any
	exact := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	exact.UseNumber()
	ts.Check(exact.Decode(&input))
	query, err := gojq.Parse(args[0])
	ts.Check(err)
	value, _ := query.Run(input).Next()
	if err, ok := value.(error); ok {
		ts.Fatalf("jq %s: %v", args[0], err)
	}
	got, err := gojq.Marshal(value)
	ts.Check(err)
	if string(got) != args[1] {
		ts.Fatalf("jq %s = %s, want %s", args[0], got, args[1])
	}
}
