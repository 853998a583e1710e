package scope

import (
	"io/fs"
	"os"
	"os/exec"
	"testing"
	"testing/fstest"

	"github.com/leasestream/leasestream/scope/store"
)

func statFile(state, started string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte("1 (a) (b c) " + state + " 1 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 " + started + " 0 0\n")}
}

func TestProcesses_Dead(t *testing.T) {
	proc := fstest.MapFS{
		"sys/kernel/random/boot_id": {Data: []byte("boot-1\n")},
		"self/ns/pid":               {Data: []byte("pid:[1]"), Mode: fs.ModeSymlink},
		"7/stat":                    statFile("S", "1000"),
		"8/stat":                    statFile("S", "2000"),
		"9/stat":                    statFile("Z", "3000"),
		"10/stat":                   {Data: []byte("10 (cut")},
	}
	exists := func(pid int) bool { return pid != 99 }
	p := readProcesses(proc, 7, exists)
	if want := (store.Holder{Host: p.self.Host, BootID: "boot-1", PIDNS: "pid:[1]", PID: 7, Started: "1000"}); p.self != want {
		t.Fatalf("self = %+v, want %+v", p.self, want)
	}
	holder := func(change func(*store.Holder)) *store.Holder {
		h := p.self
		change(&h)
		return &h
	}
	for _, test := range []struct {
		name string
		h    *store.Holder
		want bool
	}{
		{"not told", nil, false},
		{"ourselves", holder(func(*store.Holder) {}), false},
		{"alive", holder(func(h *store.Holder) { h.PID, h.Started = 8, "2000" }), false},
		{"gone", holder(func(h *store.Holder) { h.PID = 99 }), true},
		{"its number is another's now", holder(func(h *store.Holder) { h.PID = 8 }), true},
		{"zombie", holder(func(h *store.Holder) { h.PID, h.Started = 9, "3000" }), true},
		{"not to be seen", holder(func(h *store.Holder) { h.PID = 11 }), false},
		{"not to be read", holder(func(h *store.Holder) { h.PID = 10 }), false},
		{"another host", holder(func(h *store.Holder) { h.PID, h.Host = 99, "x" }), false},
		{"another boot", holder(func(h *store.Holder) { h.PID, h.BootID = 99, "boot-2" }), false},
		{"boot not told", holder(func(h *store.Holder) { h.PID, h.BootID = 99, "" }), false},
		{"another pid namespace", holder(func(h *store.Holder) { h.PID, h.PIDNS = 99, "pid:[2]" }), false},
		{"start not told", holder(func(h *store.Holder) { h.PID, h.Started = 99, "" }), false},
		{"no process number", holder(func(h *store.Holder) { h.PID = -1 }), false},
	} {
		if got := p.dead(test.h); got != test.want {
			t.Errorf("%s: dead() = %t, want %t", test.name, got, test.want)
		}
	}
}

// Where there is no /proc, two holders of which nothing is known look alike, and
// neither may be taken for dead.
func TestProcesses_WithoutProc(t *testing.T) {
	p := readProcesses(fstest.MapFS{}, 7, func(int) bool { return false })
	h := p.self
	h.PID = 8
	if p.dead(&h) {
		t.Error("dead() = true without /proc")
	}
}

func TestProcessExists(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if !processExists(os.Getpid()) || processExists(cmd.Process.Pid) {
		t.Errorf("processExists() of ourselves and of one that has ended = %t, %t; want true, false",
			processExists(os.Getpid()), processExists(cmd.Process.Pid))
	}
}
