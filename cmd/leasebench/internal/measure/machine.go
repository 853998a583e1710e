package measure

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"
)

// Machine is where figures were measured.
type Machine struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPUs int    `json:"cpus"`
	Go   string `json:"go"`
	// Load is the load average of the last minute before the measurement, of which
	// the machine's other work is a part; 0 where the system does not tell.
	Load float64 `json:"load"`
	// FsyncMS is the median time of an fsync after 4 KiB were written, in the folder
	// of the store, or the one for temporary files where the store is elsewhere.
	FsyncMS float64 `json:"fsync_ms"`
}

// ThisMachine describes the machine and the disk with the folder dir.
func ThisMachine(dir string) (Machine, error) {
	m := Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.GOMAXPROCS(0), Go: runtime.Version(), Load: load()}
	fsync, err := Fsync(dir)
	m.FsyncMS = Milliseconds(fsync)
	return m, err
}

func load() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := bytes.Cut(text, []byte(" "))
	average, err := strconv.ParseFloat(string(first), 64)
	if err != nil {
		return 0
	}
	return average
}

// Fsync is the median time that the disk with the folder dir takes to make 4 KiB
// durable that were added to a file.
func Fsync(dir string) (time.Duration, error) {
	f, err := os.CreateTemp(dir, "fsync")
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name())
	var times []float64
	page := make([]byte, 4096)
	for range 50 {
		_, err := f.Write(page)
		began := time.Now()
		if err := errors.Join(err, f.Sync()); err != nil {
			return 0, errors.Join(err, f.Close())
		}
		times = append(times, float64(time.Since(began)))
	}
	return time.Duration(Median(times)), f.Close()
}

// PeakMemory is the most memory in bytes that this process has had resident at
// one time; 0 where the system does not tell.
func PeakMemory() int64 { return 1024 * status("VmHWM") }

// Resources are what a process must not use more and more of.
type Resources struct {
	Goroutines int `json:"goroutines"`
	Threads    int `json:"threads"` // 0 where the system does not tell
	Files      int `json:"files"`   // open ones, pipes among them; 0 where the system does not tell
}

// Used are the resources of this process.
func Used() Resources {
	files, _ := filepath.Glob("/proc/self/fd/*") // its only error is a bad pattern
	return Resources{runtime.NumGoroutine(), int(status("Threads")), len(files)}
}

// status is a number in what Linux tells of this process; 0 on other systems.
func status(name string) int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		value, ok := bytes.CutPrefix(line, []byte(name+":"))
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(value), []byte("kB")))), 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	return 0
}
