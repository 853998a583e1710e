package scope

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/leasestream/leasestream/scope/store"
)

// processes tells who this process is, and whether another one of the same
// machine is dead. It reads /proc; where there is none, nobody is taken for dead.
type processes struct {
	self   store.Holder
	proc   fs.FS
	exists func(pid int) bool
}

func newProcesses() *processes {
	return readProcesses(os.DirFS("/proc"), os.Getpid(), processExists)
}

func readProcesses(proc fs.FS, pid int, exists func(pid int) bool) *processes {
	p := &processes{proc: proc, exists: exists}
	p.self.PID = pid
	p.self.Host, _ = os.Hostname()
	if boot, err := fs.ReadFile(proc, "sys/kernel/random/boot_id"); err == nil {
		p.self.BootID = strings.TrimSpace(string(boot))
	}
	if ns, err := fs.ReadLink(proc, "self/ns/pid"); err == nil {
		p.self.PIDNS = ns
	}
	p.self.Started, _ = p.started(pid)
	return p
}

// dead reports whether h is certainly a process of this machine that has ended:
// of the same host, boot and pid namespace, and either there is no such process
// or another one has its number by now.
func (p *processes) dead(h *store.Holder) bool {
	if h == nil || *h == p.self || h.PID <= 0 || h.Started == "" || h.BootID == "" || h.PIDNS == "" ||
		h.Host != p.self.Host || h.BootID != p.self.BootID || h.PIDNS != p.self.PIDNS {
		return false
	}
	if !p.exists(h.PID) {
		return true
	}
	started, zombie := p.started(h.PID)
	return zombie || started != "" && started != h.Started
}

// started reads when a process began, in ticks since the boot; "" if it cannot
// be seen. A zombie runs no more code.
func (p *processes) started(pid int) (started string, zombie bool) {
	stat, err := fs.ReadFile(p.proc, strconv.Itoa(pid)+"/stat")
	if err != nil {
		return "", false
	}
	// The name of the program, in parentheses, may have blanks and parentheses.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const state, start = 0, 19
	if len(fields) <= start {
		return "", false
	}
	return string(fields[start]), fields[state][0] == 'Z' || fields[state][0] == 'X'
}

// processExists asks by a signal that does nothing, since /proc may be mounted so
// that it hides what belongs to others.
func processExists(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return true
	}
	defer p.Release()
	return !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// IsDead reports whether the process that acquired a lease has certainly ended.
// That can be known only of processes of this machine, this boot and this pid
// namespace, and only where the store keeps holders; of all others it is false.
func (s *Scope) IsDead(h *store.Holder) bool { return s.procs.dead(h) }
