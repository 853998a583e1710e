package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// token is the secret of the dashboard: the one in the file, or a random one.
func (s *serving) token() (string, error) {
	if s.tokenFile == "" {
		return rand.Text(), nil
	}
	token, err := tokenIn("--token-file", s.tokenFile)
	if errors.Is(err, fs.ErrNotExist) {
		return s.makeToken()
	}
	return token, err
}

// makeToken leaves a new token in the file, for nobody else to read.
func (s *serving) makeToken() (string, error) {
	token := rand.Text()
	file, err := os.OpenFile(s.tokenFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	_, err = fmt.Fprintln(file, token)
	return token, errors.Join(err, file.Close())
}
