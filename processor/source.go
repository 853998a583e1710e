package processor

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ErrDefinition is matched when what lies in the container as the source of a
// definition is not that: somebody wrote something else there.
var ErrDefinition = errors.New("the source does not have the hash that it is named by")

var definitionForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// definitionOf is what identifies a source.
func definitionOf(source []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(source)) }

// definitionBlob is where the source of a definition lies.
func definitionBlob(definition string) string {
	return definitionPrefix + strings.TrimPrefix(definition, "sha256:") + ".yaml"
}

// Source returns the source of a definition, which Start leaves in the container.
// It has the hash that the definition names, or the error is ErrDefinition;
// store.ErrNotFound if there is none. Whoever runs what is only found there trusts
// all who can write into the container.
func (p *Processor) Source(ctx context.Context, definition string) ([]byte, error) {
	if !definitionForm.MatchString(definition) {
		return nil, fmt.Errorf("definition %.80q: want sha256: and a hash: %w", definition, ErrDefinition)
	}
	object, err := p.scope.Store().Get(ctx, definitionBlob(definition), nil)
	if err != nil {
		return nil, fmt.Errorf("read the definition: %w", err)
	}
	if definitionOf(object.Body) != definition {
		return nil, fmt.Errorf("blob %q: %w", definitionBlob(definition), ErrDefinition)
	}
	return object.Body, nil
}
