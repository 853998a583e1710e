package sqlitestore

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// writeLock is the byte of the shared memory file that whoever writes has locked, in
// the format of SQLite's log.
const writeLock = 120

// findCulprit looks who has the write lock of the file at path; nil if it cannot be
// seen. It reads what the kernel tells of all locks: to ask about the file itself, it
// would have to be opened, and closing it again would drop this process's own locks.
func findCulprit(path string) *culprit {
	info, err := os.Stat(path + "-shm")
	if err != nil {
		return nil
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(locks)) {
		if pid := lockedBy(line, stat.Ino); pid > 0 {
			return culpritOf(pid)
		}
	}
	return nil
}

// lockedBy reads who has the write lock from a line as
//
//	1: POSIX  ADVISORY  WRITE 4711 fe:01:1835037 120 120
//
// 0 if it is of another lock. The device is left out, since some file systems show
// another one here.
func lockedBy(line string, inode uint64) int {
	fields := strings.Fields(line)
	const kind, pid, file, first, last = 3, 4, 5, 6, 7
	if len(fields) <= last || fields[kind] != "WRITE" || !strings.HasSuffix(fields[file], fmt.Sprintf(":%d", inode)) {
		return 0
	}
	from, errFrom := strconv.Atoi(fields[first])
	to, errTo := strconv.Atoi(fields[last])
	n, err := strconv.Atoi(fields[pid])
	if errFrom != nil || errTo != nil || err != nil || writeLock < from || writeLock > to {
		return 0
	}
	return n
}

func culpritOf(pid int) *culprit {
	c := &culprit{pid: pid, program: "unknown"}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// The name of the program, in parentheses, may have blanks and parentheses.
	begin, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if err == nil && 0 <= begin && begin < end {
		c.program = string(stat[begin+1 : end])
		c.stopped = bytes.HasPrefix(stat[end+1:], []byte(" T")) || bytes.HasPrefix(stat[end+1:], []byte(" t"))
	}
	return c
}
