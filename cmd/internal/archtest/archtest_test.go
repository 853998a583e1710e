// Package archtest guards the direction of the imports between the packages of
// this module, and who may import what from outside.
package archtest

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/leasestream/leasestream"

// allowed maps each package, or each tree of packages where the key ends in
// /..., to what it may import of this module. A new arrow is a decision: think
// twice before you add one.
var allowed = map[string][]string{
	"eventstream":              {},
	"scope/store":              {},
	"scope/store/internal/...": {"scope/store"},
	"scope/store/memstore":     {"scope/store", "scope/store/internal/..."},
	"scope/store/sqlitestore":  {"scope/store", "scope/store/internal/..."},
	"scope/store/azurestore":   {"scope/store", "scope/store/internal/..."},
	"scope/store/storetest":    {"scope/store"},
	"xpath":                    {"eventstream"},
	"scope":                    {"eventstream", "scope/store"},
	"processor/bus":            {},
	"processor/bus/...":        {"processor/bus/..."},
	"processor":                {"eventstream", "scope", "scope/store", "processor/bus", "xpath"},
	"processor/processortest":  {"eventstream", "processor", "processor/bus/membus", "scope", "scope/store", "scope/store/memstore"},
	"processor/pipeline":       {"eventstream", "processor", "internal/nearest"},
	"processor/dashboard":      {"eventstream", "processor", "scope", "scope/store", "xpath"},
	"internal/azurite":         {},
	"internal/nearest":         {},
	"cmd/internal/config":      {"internal/nearest"},
	"cmd/internal/wire":        {"scope/store/...", "scope/store", "processor/bus/...", "processor/bus"},
	"cmd/internal/telemetry":   {},
	"cmd/internal/cli":         {"..."},
	"cmd/internal/doctor":      {"scope/store"},
	"cmd/internal/archtest":    {},
	"cmd/leasestream":          {"cmd/internal/cli"},
	"cmd/leasebench/...":       {"..."},
	"samples/...":              {"..."},
}

// only maps packages from outside to the only places that may import them.
var only = map[string][]string{
	"github.com/Azure/azure-sdk-for-go/...":  {"scope/store/azurestore"},
	"modernc.org/sqlite/...":                 {"scope/store/sqlitestore"},
	"github.com/klauspost/compress/...":      {"scope/store/sqlitestore"},
	"github.com/spf13/cobra/...":             {"cmd/internal/cli", "cmd/leasebench"},
	"github.com/antchfx/...":                 {"eventstream", "xpath", "cmd/leasebench/..."},
	"github.com/itchyny/gojq/...":            {"processor/pipeline"},
	"github.com/goccy/go-yaml/...":           {"processor/pipeline", "cmd/internal/config"},
	"go.opentelemetry.io/otel/sdk/...":       {"cmd/internal/telemetry"},
	"go.opentelemetry.io/otel/exporters/...": {"cmd/internal/telemetry"},
	"go.opentelemetry.io/contrib/...":        {"cmd/internal/telemetry"},
	"github.com/prometheus/...":              {"cmd/internal/telemetry"},
}

func TestImports(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	files := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "node_modules", "testdata"}, d.Name()):
			return filepath.SkipDir
		case d.IsDir() && name != root && isModule(name):
			return filepath.SkipDir
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			files++
			checkFile(t, root, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 20 {
		t.Fatalf("saw %d Go files below %s; the walk misses the module", files, root)
	}
}

// isModule reports whether a folder is a module of its own.
func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func checkFile(t *testing.T, root, name string) {
	t.Helper()
	rel, err := filepath.Rel(root, name)
	if err != nil {
		t.Fatal(err)
	}
	pkg := path.Dir(filepath.ToSlash(rel))
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	may, known := lookup(allowed, pkg)
	if !known {
		t.Errorf("package %s has no line in the table of allowed imports", pkg)
	}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if ours, ok := strings.CutPrefix(imported, module+"/"); ok && !matchAny(may, ours) {
			t.Errorf("%s imports %s: not an allowed arrow", rel, ours)
		}
		if places, restricted := lookup(only, imported); restricted && !matchAny(places, pkg) {
			t.Errorf("%s imports %s: only %s may", rel, imported, strings.Join(places, ", "))
		}
	}
}

// lookup finds the most exact key that matches.
func lookup(table map[string][]string, pkg string) ([]string, bool) {
	best, found := "", false
	for key := range table {
		if match(key, pkg) && len(key) >= len(best) {
			best, found = key, true
		}
	}
	return table[best], found
}

func matchAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, pkg) })
}

// match is p == pkg, or, where p ends in /..., that pkg is p or below it.
func match(p, pkg string) bool {
	if p == "..." {
		return true
	}
	tree, ok := strings.CutSuffix(p, "/...")
	if !ok {
		return p == pkg
	}
	return pkg == tree || strings.HasPrefix(pkg, tree+"/")
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		p, pkg string
		want   bool
	}{
		{"scope", "scope", true},
		{"scope", "scope/store", false},
		{"scope/...", "scope", true},
		{"scope/...", "scope/store/memstore", true},
		{"scope/...", "scopes", false},
		{"...", "anything", true},
	} {
		if got := match(c.p, c.pkg); got != c.want {
			t.Errorf("match(%q, %q) = %v, want %v", c.p, c.pkg, got, c.want)
		}
	}
}
