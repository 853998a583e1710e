// Package doctor examines a store: whether it is there, allows what Leasestream
// does, and answers in time. It proves the rights on a blob of its own, which it
// removes.
package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// Verdict is how bad a finding is.
type Verdict string

// OK is as it should be, Warn works for now or may not work well, Fail does not
// work.
const (
	OK   Verdict = "ok"
	Warn Verdict = "warn"
	Fail Verdict = "fail"
)

// Finding is the result of one check.
type Finding struct {
	Verdict Verdict
	Check   string // what was looked at, in a word
	Text    string // what was found
	Remedy  string // what to do about it; "" if nothing
}

// Answer is what came back for one request to a store behind HTTP.
type Answer struct {
	Sent, Received time.Time
	Header         http.Header
}

// Patient is the store to examine.
type Patient struct {
	Store store.Store
	// File is the file of a local store; "" for others.
	File string
	// Answers returns what came back so far; nil for a store that is not behind
	// HTTP.
	Answers func() []Answer
	// Signature is the shared access signature in use, "" for none.
	Signature string
	// Missing is what to do if the container is not there.
	Missing string
}

// Examine tells of each check as soon as it is done. It returns an error only if
// ctx ended before all were.
func Examine(ctx context.Context, p *Patient, tell func(Finding)) error {
	e := &examination{Patient: p, tell: tell}
	if p.Signature != "" {
		e.tellAll(Signature(p.Signature, time.Now()))
	}
	if e.container(ctx) {
		e.rights(ctx)
	}
	e.clock()
	e.service()
	if p.File != "" {
		e.tellAll(file(p.File))
	}
	return ctx.Err()
}

type examination struct {
	*Patient
	tell  func(Finding)
	dates []dated // of a store whose infos have its time
}

func (e *examination) tellAll(findings []Finding) {
	for _, f := range findings {
		e.tell(f)
	}
}

func (e *examination) ok(check, text string) { e.tell(Finding{OK, check, text, ""}) }

// failed tells of a request that went wrong, unless that is because the
// examination was broken off.
func (e *examination) failed(ctx context.Context, check string, err error, remedy string) {
	if errors.Is(err, store.ErrStoreLocked) || store.IsRemedied(err) {
		remedy = "" // the error says what helps, and nothing else does
	}
	if ctx.Err() == nil {
		e.tell(Finding{Fail, check, oneLine(err), remedy})
	}
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// folder is where the blobs of examinations lie, and nothing else.
const folder = "doctor/"

// container looks whether the container is there and may be listed. It asks for a
// listing, since that is what a signature of a container allows.
func (e *examination) container(ctx context.Context) bool {
	for _, err := range e.Store.List(ctx, folder) {
		if err == nil {
			break
		}
		check, remedy := "list", "allow listing: polls and ls need it"
		switch {
		case errors.Is(err, store.ErrContainerNotFound):
			check, remedy = "container", e.Missing
		case !errors.Is(err, store.ErrUnauthorized):
			check, remedy = "reach", "check the network and the address of the store"
		}
		e.failed(ctx, check, err, remedy)
		return false
	}
	e.ok("container", "there, and can be listed")
	return true
}

func newName() string { return folder + strings.ToLower(rand.Text()) }
