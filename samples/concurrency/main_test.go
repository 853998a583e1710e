package main

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/sqlitestore"
)

const want = `
The last writer wins: nobody names a condition, nobody is told
  Ada makes the page                      written                              ok
  Ada and Bob read it                     both see the same                    ok
  Ada adds green                          written                              ok
  Bob adds blue to what he read           written over Ada's, which is gone    ok
  The page is now                         red blue                             ok

Optimistic: a write says which version it replaces, by the ETag
  Ada makes the page, if there is none    refused: there is one                BlobAlreadyExists
  Ada and Bob read it                     both get the same ETag               ok
  Ada adds green, if it is that version   written, with a new ETag             ok
  Bob adds yellow, if it is that version  refused: Ada's came in between       ConditionNotMet
  Bob reads again                         Ada's version and its ETag           ok
  Bob adds yellow, if it is that version  written over Ada's, with hers in it  ok
  The page is now                         red blue green yellow                ok

Pessimistic: while a lease is held, a write needs its ID
  Ada acquires the lease                  granted for 15 s                     ok
  Bob acquires it, too                    refused: there is one holder         LeaseAlreadyPresent
  Ada writes with the lease ID            written, the lease stays             ok
  Bob writes with no lease ID             refused: the page is locked          LeaseIdMissing
  Bob writes with an ID of his own        refused: it is not the lease's       LeaseIdMismatchWithBlobOperation
  Ada releases the lease                  free at once                         ok
  Ada writes with the ID she released     refused: there is no lease           LeaseNotPresentWithBlobOperation
  Bob writes with no lease ID             written                              ok
  The page is now                         four                                 ok

Reads: shared without a lease ID, exclusive with one
  Ada acquires the lease                  granted for 15 s                     ok
  Bob reads with no lease ID              shared: a lease does not lock reads  ok
  Ada reads with the lease ID             exclusive: she is the holder         ok
  Bob reads with an ID of his own         refused: it is not the lease's       LeaseIdMismatchWithBlobOperation
  Ada releases the lease                  free at once                         ok
  Ada reads with the ID she released      refused: there is no lease           LeaseNotPresentWithBlobOperation

The lease of a container: it guards the deletion of it, and nothing else
  Ada acquires the container's lease      granted for 15 s                     ok
  Bob writes with no lease ID             written: the page has no lease       ok
  Bob deletes the page                    deleted                              ok
  Bob makes it anew                       written                              ok
  Bob acquires its lease                  granted for 15 s                     ok
  Bob deletes the container               refused: it is locked                LeaseIdMissing
  Bob does, with the page's lease ID      refused: it is not the container's   LeaseIdMismatchWithContainerOperation
  Ada does, with the container's          deleted, the leased page with it     ok
  Bob reads the page                      refused: there is no container       ContainerNotFound
`

func TestOutput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "wiki.db")
	for _, c := range []struct {
		name string
		args []string
	}{
		{"in memory", nil},
		{"in a new file", []string{"-store", file}},
		{"again in the same file", []string{"-store", file}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := run(t.Context(), c.args, &out); err != nil {
				t.Fatal(err)
			}
			if got := out.String(); got != want {
				t.Errorf("run printed%s\nwant%s", got, want)
			}
		})
	}
}

func TestStoreWithBlobsIsLeftAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "used.db")
	st, err := sqlitestore.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if err := st.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	before, err := st.Put(t.Context(), "streams/order-42.xml", []byte("precious"), nil)
	if err != nil {
		t.Fatal(err)
	}
	err = run(t.Context(), []string{"-store", file}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), `"streams/order-42.xml"`) {
		t.Errorf("run = %v, want an error that names the blob", err)
	}
	after, err := st.Stat(t.Context(), "streams/order-42.xml", nil)
	if err != nil || after.ETag != before.ETag {
		t.Errorf("the blob is %v, %v; want it unchanged", after, err)
	}
}

func TestReport(t *testing.T) {
	missing := &store.Error{Op: "put", Name: page, Code: "LeaseIdMissing", Sentinel: store.ErrLeaseMissing}
	for _, c := range []struct {
		name   string
		report func(r *report)
		line   string // how it ends
		wrong  bool
	}{
		{"success", func(r *report) { r.accepted("Ada writes", "written", nil) }, "ok", false},
		{"refusal", func(r *report) { r.refused("Bob writes", "refused", "LeaseIdMissing", missing) }, "LeaseIdMissing", false},
		{"refusal for success", func(r *report) { r.accepted("Ada writes", "written", missing) }, "LeaseIdMissing", true},
		{"success for refusal", func(r *report) { r.refused("Bob writes", "refused", "LeaseIdMissing", nil) }, "ok", true},
		{"another code", func(r *report) { r.refused("Bob writes", "refused", "LeaseLost", missing) }, "LeaseIdMissing", true},
		{"no code", func(r *report) { r.refused("Bob writes", "refused", "LeaseLost", errors.New("no answer")) }, "no answer", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			r := &report{out: &out}
			c.report(r)
			if (r.err != nil) != c.wrong {
				t.Errorf("err = %v, want one: %t", r.err, c.wrong)
			}
			if line := strings.TrimSpace(out.String()); !strings.HasSuffix(line, " "+c.line) {
				t.Errorf("it printed %q, want it to end in %q", line, c.line)
			}
		})
	}
}
