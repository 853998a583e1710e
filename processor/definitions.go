package processor

import (
	"context"
	"iter"
	"strings"
)

// Definitions yields the definitions whose source lies in the container, for
// Source to read. Each was left there by the first start of a run of it.
func (p *Processor) Definitions(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for blob, err := range p.scope.Store().List(ctx, definitionPrefix) {
			if err != nil {
				yield("", err)
				return
			}
			hash, _ := strings.CutSuffix(strings.TrimPrefix(blob.Name, definitionPrefix), ".yaml")
			definition := "sha256:" + hash
			if definitionForm.MatchString(definition) && definitionBlob(definition) == blob.Name && !yield(definition, nil) {
				return
			}
		}
	}
}
