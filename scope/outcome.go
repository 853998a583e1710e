package scope

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// settle finds out what became of a Put that was not answered, or that the store
// was too busy for. It never runs an edit again whose Put may still arrive.
//
//	ETag as before          the Put has not taken effect, but it may be under way:
//	                        the same bytes again, with the same number and If-Match,
//	                        so that whichever comes second is refused
//	another ETag, and the   our number is there: committed, even if others have
//	metadata have commits   written since. It is not: not applied, and never will be,
//	                        since the ETag it names is gone: run the edits again
//	anything else           the blob, the run, the metadata or our entry is gone, or
//	                        the store does not answer: told as ErrOutcomeUnknown
func (l *line) settle(t *tenure, p *pending, cause error) (etag string, v verdict, err error) {
	l.s.stats.unknown.Add(1)
	l.s.set.logger.Warn("upload not answered", "blob", l.blob, "lease", t.id(), "err", cause)
	p.unknown = p.unknown || !known(cause)
	retry := backoff{waits: l.s.set.retry}
	for began := time.Now(); time.Since(began) < l.s.set.giveUp; {
		_ = sleep(context.Background(), retry.next())
		info, err := l.look()
		switch {
		case missing(err):
			return l.gone(p, err)
		case err != nil:
			cause = err
		case info.ETag != p.etag:
			return l.find(p, info)
		default:
			held := t.lease
			if err := t.ensure(); err != nil {
				return l.unsettled(p, err)
			}
			if t.lease != held {
				began = time.Now() // others had the lease meanwhile
			}
			info, err := l.put(t, p)
			if err == nil {
				return info.ETag, committed, nil
			}
			if v, err, done := l.putAgain(t, p, err); done {
				return "", v, err
			}
			cause = err
		}
	}
	return l.unsettled(p, cause)
}

// putAgain decides about a repeated Put that failed: done, or to be looked at.
func (l *line) putAgain(t *tenure, p *pending, err error) (v verdict, outcome error, done bool) {
	switch {
	case !known(err):
		p.unknown = true
	case notOurs(err):
		t.lose(err)
	case missing(err) || passing(err) || errors.Is(err, store.ErrConditionNotMet):
	case !p.unknown:
		v, outcome = l.refused(t, p, err)
		return v, outcome, true
	}
	return again, nil, false
}

func (l *line) look() (info *store.Info, err error) {
	err = within(context.Background(), l.s.set.terms.try, func(ctx context.Context) (err error) {
		info, err = l.s.st.Stat(ctx, l.blob, nil)
		return err
	})
	return info, err
}

// find decides by the metadata of a blob that has changed since.
func (l *line) find(p *pending, info *store.Info) (etag string, v verdict, err error) {
	if !p.unknown {
		return "", again, nil
	}
	switch findCommit(info.Metadata, p) {
	case absent:
		return "", again, nil
	case present:
		if maps.Equal(info.Metadata, p.meta) {
			etag = info.ETag
		}
		return etag, committed, nil
	}
	return l.unsettled(p, errors.New("someone else has rewritten the blob"))
}

// gone decides about a commit whose blob was deleted.
func (l *line) gone(p *pending, err error) (string, verdict, error) {
	if !p.unknown {
		return "", again, nil
	}
	return l.unsettled(p, err)
}

// unsettled gives up on a commit.
func (l *line) unsettled(p *pending, cause error) (string, verdict, error) {
	if !p.unknown {
		return "", failed, &Error{"edit", l.blob, cause}
	}
	l.s.stats.unsettled.Add(1)
	return "", failed, &OutcomeError{"edit", l.blob, cause}
}
