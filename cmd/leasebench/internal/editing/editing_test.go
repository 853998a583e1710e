package editing_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/editing"
	"github.com/leasestream/leasestream/internal/azurite"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/sqlitestore"
)

func TestMeasure_SQLite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bench.db")
	measureAll(t, "sqlite:"+file)
	st, err := sqlitestore.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for info, err := range store.Store(st).List(t.Context(), "") {
		t.Errorf("%+v, %v was left in the store", info, err)
	}
}

func TestMeasure_Azurite(t *testing.T) {
	measureAll(t, azurite.Start(t).Container())
}

func measureAll(t *testing.T, url string) {
	t.Helper()
	for _, style := range []editing.Style{editing.Article, editing.ArticleNoWait, editing.Ours} {
		// Long enough for an edit on a machine that does other things.
		c := editing.Config{Store: url, Workers: 3, Events: 20, Time: 2 * time.Second}
		r, err := editing.Measure(t.Context(), c, style)
		if err != nil {
			t.Fatalf("%s: %v", style, err)
		}
		if !r.OK || r.Edits < 1 || r.EditsPerS <= 0 {
			t.Errorf("%s: %+v, want edits, and none lost", style, r)
		}
		if r.WaitP50MS > r.WaitP95MS || r.WaitP95MS > r.WaitP99MS || r.WaitP99MS > r.WaitMaxMS || r.WaitMaxMS <= 0 {
			t.Errorf("%s: waits do not grow: %+v", style, r)
		}
		// The loop of the article is four requests for an edit, at the least.
		if style != editing.Ours && r.RequestsPerEdit < 4 {
			t.Errorf("%s: %v requests for an edit, want 4 or more", style, r.RequestsPerEdit)
		}
	}
}

func TestMeasure_NoStore(t *testing.T) {
	c := editing.Config{Store: "sqlite:" + filepath.Join(t.TempDir(), "none", "bench.db"), Workers: 1, Events: 1, Time: time.Second}
	if _, err := editing.Measure(t.Context(), c, editing.Ours); err == nil {
		t.Error("Measure() in a folder that is not there: no error")
	}
}
