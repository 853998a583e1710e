package sqlitestore_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is a user without rights; root, as whom tests may run, has all.
const nobody = 65534

func TestOpen_NoPermission(t *testing.T) {
	dir, err := os.MkdirTemp("", "store") // unlike t.TempDir, in a folder that others may enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, name := range []string{"readonly.db", "unreadable.db"} {
		if err := create(t, filepath.Join(dir, name)).Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, mode := range map[string]os.FileMode{"readonly.db": 0o444, "unreadable.db": 0, "": 0o555} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"missing.db", "readonly.db", "unreadable.db"} {
		path := filepath.Join(dir, name)
		p := prepare(t, "create", path)
		if os.Geteuid() == 0 {
			p.Path = "/proc/self/exe" // past the folders of the binary, which are root's own
			p.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
		p.begin(t)
		p.in.Close()
		err := p.Wait()
		said := p.stderr.String()
		if err == nil || !strings.Contains(said, path) || !strings.Contains(said, "writable for this user") {
			t.Errorf("%s: Open() without permission = %v, %s, want the path and what to do", name, err, said)
		}
	}
}
