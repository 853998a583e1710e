package cli_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/leasestream/leasestream/cmd/internal/cli"
)

// A command line runs against a store in a file; results go to standard output.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	store := "sqlite:" + filepath.Join(dir, "example.db")
	leasestream := func(stdin string, args ...string) int {
		args = append(args, "--store", store)
		return cli.Run(context.Background(), args, strings.NewReader(stdin), os.Stdout, os.Stderr, os.Getenv)
	}

	pipeline := filepath.Join(dir, "squares.yaml")
	if err := os.WriteFile(pipeline, []byte(`
name: squares
steps:
  - name: Numbers
    jq: '[range(.n)]'
    split: {to: Square, join: Sum}
  - name: Square
    jq: '. * .'
  - name: Sum
    jq: '[.results[].output] | add'
`), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("exit code", leasestream("", "run", pipeline, "--set", "n=4", "--name", "four"))
	fmt.Println("exit code", leasestream("", "query", "four", `count(./Event[@name="Square"])`))
	// Output:
	// 14
	// exit code 0
	// 4
	// exit code 0
}
