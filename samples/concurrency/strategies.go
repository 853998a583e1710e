package main

import (
	"context"

	"github.com/leasestream/leasestream/scope/store"
)

// The conditions of a request, by what they say.

func anyhow() store.Conditions             { return store.Conditions{} }
func ifNone() store.Conditions             { return store.Conditions{IfNoneMatch: store.AnyETag} }
func ifMatch(etag string) store.Conditions { return store.Conditions{IfMatch: etag} }
func withLease(id string) store.Conditions { return store.Conditions{LeaseID: id} }

func lastWriterWins(ctx context.Context, w wiki, r *report) {
	r.title("The last writer wins: nobody names a condition, nobody is told")
	r.accepted("Ada makes the page", "written",
		w.save(ctx, "red", anyhow()))
	text, _, err := w.read(ctx, anyhow())
	r.accepted("Ada and Bob read it", "both see the same", err)
	r.accepted("Ada adds green", "written",
		w.save(ctx, text+" green", anyhow()))
	r.accepted("Bob adds blue to what he read", "written over Ada's, which is gone",
		w.save(ctx, text+" blue", anyhow()))
	w.show(ctx, r)
}

func optimistic(ctx context.Context, w wiki, r *report) {
	r.title("Optimistic: a write says which version it replaces, by the ETag")
	r.refused("Ada makes the page, if there is none", "refused: there is one", "BlobAlreadyExists",
		w.save(ctx, "red", ifNone()))
	text, etag, err := w.read(ctx, anyhow())
	r.accepted("Ada and Bob read it", "both get the same ETag", err)
	r.accepted("Ada adds green, if it is that version", "written, with a new ETag",
		w.save(ctx, text+" green", ifMatch(etag)))
	r.refused("Bob adds yellow, if it is that version", "refused: Ada's came in between", "ConditionNotMet",
		w.save(ctx, text+" yellow", ifMatch(etag)))
	text, etag, err = w.read(ctx, anyhow())
	r.accepted("Bob reads again", "Ada's version and its ETag", err)
	r.accepted("Bob adds yellow, if it is that version", "written over Ada's, with hers in it",
		w.save(ctx, text+" yellow", ifMatch(etag)))
	w.show(ctx, r)
}

func pessimistic(ctx context.Context, w wiki, r *report) {
	r.title("Pessimistic: while a lease is held, a write needs its ID")
	r.accepted("Ada acquires the lease", "granted for 15 s",
		w.acquire(ctx, page, adasLease))
	r.refused("Bob acquires it, too", "refused: there is one holder", "LeaseAlreadyPresent",
		w.acquire(ctx, page, bobsLease))
	r.accepted("Ada writes with the lease ID", "written, the lease stays",
		w.save(ctx, "one", withLease(adasLease)))
	r.refused("Bob writes with no lease ID", "refused: the page is locked", "LeaseIdMissing",
		w.save(ctx, "two", anyhow()))
	r.refused("Bob writes with an ID of his own", "refused: it is not the lease's", "LeaseIdMismatchWithBlobOperation",
		w.save(ctx, "two", withLease(bobsLease)))
	r.accepted("Ada releases the lease", "free at once",
		w.release(ctx, page, adasLease))
	r.refused("Ada writes with the ID she released", "refused: there is no lease", "LeaseNotPresentWithBlobOperation",
		w.save(ctx, "three", withLease(adasLease)))
	r.accepted("Bob writes with no lease ID", "written",
		w.save(ctx, "four", anyhow()))
	w.show(ctx, r)
}

func reads(ctx context.Context, w wiki, r *report) {
	r.title("Reads: shared without a lease ID, exclusive with one")
	read := func(c store.Conditions) error {
		_, _, err := w.read(ctx, c)
		return err
	}
	r.accepted("Ada acquires the lease", "granted for 15 s",
		w.acquire(ctx, page, adasLease))
	r.accepted("Bob reads with no lease ID", "shared: a lease does not lock reads",
		read(anyhow()))
	r.accepted("Ada reads with the lease ID", "exclusive: she is the holder",
		read(withLease(adasLease)))
	r.refused("Bob reads with an ID of his own", "refused: it is not the lease's", "LeaseIdMismatchWithBlobOperation",
		read(withLease(bobsLease)))
	r.accepted("Ada releases the lease", "free at once",
		w.release(ctx, page, adasLease))
	r.refused("Ada reads with the ID she released", "refused: there is no lease", "LeaseNotPresentWithBlobOperation",
		read(withLease(adasLease)))
}

func container(ctx context.Context, w wiki, r *report) {
	r.title("The lease of a container: it guards the deletion of it, and nothing else")
	r.accepted("Ada acquires the container's lease", "granted for 15 s",
		w.acquire(ctx, wholeContainer, adasLease))
	r.accepted("Bob writes with no lease ID", "written: the page has no lease",
		w.save(ctx, "five", anyhow()))
	r.accepted("Bob deletes the page", "deleted",
		w.st.Delete(ctx, page, nil))
	r.accepted("Bob makes it anew", "written",
		w.save(ctx, "six", ifNone()))
	r.accepted("Bob acquires its lease", "granted for 15 s",
		w.acquire(ctx, page, bobsLease))
	r.refused("Bob deletes the container", "refused: it is locked", "LeaseIdMissing",
		w.drop(ctx, anyhow()))
	r.refused("Bob does, with the page's lease ID", "refused: it is not the container's", "LeaseIdMismatchWithContainerOperation",
		w.drop(ctx, withLease(bobsLease)))
	r.accepted("Ada does, with the container's", "deleted, the leased page with it",
		w.drop(ctx, withLease(adasLease)))
	_, _, err := w.read(ctx, anyhow())
	r.refused("Bob reads the page", "refused: there is no container", "ContainerNotFound", err)
}
