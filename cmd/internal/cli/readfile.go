package cli

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// readFile reads a file whole, or standard input for -. Either may have no end: with
// more bytes than the limit it is not taken.
func (a *app) readFile(name string, limit int64) ([]byte, error) {
	if name != "-" {
		return readAtMost(name, limit)
	}
	data, err := atMost(a.stdin, limit)
	if err != nil {
		return nil, fmt.Errorf("read standard input: %w", err)
	}
	return data, nil
}

// readAtMost reads a file of the file system.
func readAtMost(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := atMost(f, limit)
	if _, overLimit := err.(tooLong); overLimit {
		err = &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return data, err
}

// tooLong: there is more than so many bytes.
type tooLong int64

func (limit tooLong) Error() string {
	return fmt.Sprintf("it has more than %d bytes, the most that is taken here", int64(limit))
}

func atMost(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, tooLong(limit)
	}
	return data, err
}
