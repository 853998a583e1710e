package doctor

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// lowSpace is what a disk should have free.
const lowSpace = 1 << 30

// disk is what is known of a file system.
type disk struct {
	kind    string
	remark  string // why it is no place for a store; "" if it is one
	free    uint64 // bytes
	noSpace bool   // free is not known
}

// file looks at the file of a local store and at the disk that it is on.
func file(path string) []Finding {
	return []Finding{journal(path), place(path)}
}

// journal reads the mode out of the file's header, which other processes that
// have it open do not mind.
func journal(path string) Finding {
	info, err := os.Stat(path)
	if err != nil {
		return Finding{Fail, "file", err.Error(), ""}
	}
	wal, err := isWAL(path)
	switch {
	case err != nil:
		return Finding{Warn, "file", fmt.Sprintf("%s: its header cannot be read: %v", path, err), "let this user read the file"}
	case !wal:
		return Finding{Warn, "file", path + " is not in WAL mode", "open it with leasestream only; the next write sets the mode"}
	}
	return Finding{OK, "file", fmt.Sprintf("%s, %s, journal mode WAL", path, bytesOf(uint64(info.Size()))), ""}
}

// walVersion is what bytes 18 and 19 of a SQLite file are in WAL mode.
const walVersion = 2

func isWAL(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	header := make([]byte, 20)
	if _, err := io.ReadFull(f, header); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return false, errors.New("it is too short")
		}
		return false, err
	}
	return header[18] == walVersion && header[19] == walVersion, nil
}

func place(path string) Finding {
	d, err := diskOf(path)
	if err != nil {
		return Finding{Warn, "disk", err.Error(), ""}
	}
	text := "file system " + d.kind
	if !d.noSpace {
		text += ", " + bytesOf(d.free) + " free"
	}
	switch {
	case d.remark != "":
		return Finding{Warn, "disk", text + ": " + d.remark, "put the file on a disk of this machine"}
	case !d.noSpace && d.free < lowSpace:
		return Finding{Warn, "disk", text, "make room: a write that finds none fails"}
	}
	return Finding{OK, "disk", text, ""}
}

func bytesOf(n uint64) string {
	const units = "KMGTPE"
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	value, i := float64(n)/(1<<10), 0
	for value >= 1<<10 && i < len(units)-1 {
		value /= 1 << 10
		i++
	}
	return fmt.Sprintf("%.1f %ciB", value, units[i])
}
