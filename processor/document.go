package processor

import (
	"fmt"
	"strings"

	"github.com/leasestream/leasestream/eventstream"
)

// A run has one document or, where splits are wide, a tree of them. A document is
// named by the run, order-42, or by the batch event that it is the child of,
// order-42/01.00; child streams may have children, order-42/01.00/05.01.00. An
// event of a run is addressed by what follows the run's name, and its id:
// 01.00/05.00 is event 05.00 in the child of event 01.00.

// documentOf is the document that has the given blob; false for other blobs.
func documentOf(blob string) (doc string, ok bool) {
	doc, ok = strings.CutPrefix(blob, streamPrefix)
	if !ok {
		return "", false
	}
	doc, ok = strings.CutSuffix(doc, streamSuffix)
	return doc, ok && isDocument(doc)
}

// isDocument reports whether a document can have this name.
func isDocument(doc string) bool {
	name, path, isChild := strings.Cut(doc, "/")
	return isName(name) && (!isChild || isPath(path))
}

// isPath reports whether a text is ids with slashes between them.
func isPath(path string) bool {
	for id := range strings.SplitSeq(path, "/") {
		if eventstream.CheckID(id) != nil {
			return false
		}
	}
	return true
}

// runNameOf is the name of the run that a document belongs to.
func runNameOf(doc string) string {
	name, _, _ := strings.Cut(doc, "/")
	return name
}

// childOf is the child stream of a batch event.
func childOf(doc, id string) string { return doc + "/" + id }

// parentDocument is the document and the event that a document is the child of; false
// for that of a run.
func parentDocument(doc string) (parent, id string, isChild bool) {
	i := strings.LastIndexByte(doc, '/')
	if i < 0 {
		return "", "", false
	}
	return doc[:i], doc[i+1:], true
}

// addressOf is an event, or a thread, of a document as users address it.
func addressOf(doc, id string) string {
	_, path, isChild := strings.Cut(doc, "/")
	if !isChild {
		return id
	}
	return path + "/" + id
}

// addressed takes an address apart: into the document, and the event or thread in
// it.
func addressed(name, at string) (doc, local string, err error) {
	i := strings.LastIndexByte(at, '/')
	if i < 0 {
		return name, at, nil
	}
	if !isPath(at[:i]) || at[i+1:] == "" {
		return "", "", fmt.Errorf("run %q: %w: %q", name, ErrNoEvent, at)
	}
	return childOf(name, at[:i]), at[i+1:], nil
}

// archiveBlob is where a document goes when its run has ended. It has the run in
// its name, so that the document of a name that is used again finds its place.
func archiveBlob(doc, run string) string {
	name, path, isChild := strings.Cut(doc, "/")
	if isChild {
		path = "/" + path
	}
	return archivePrefix + name + archiveMark + run + path + streamSuffix
}

// anyDocumentOf is documentOf for blobs in the archive too.
func anyDocumentOf(blob string) (doc string, ok bool) {
	rest, isArchived := strings.CutPrefix(blob, archivePrefix)
	if !isArchived {
		return documentOf(blob)
	}
	name, rest, _ := strings.Cut(strings.TrimSuffix(rest, streamSuffix), archiveMark)
	_, path, isChild := strings.Cut(rest, "/")
	if !isChild {
		return name, isDocument(name)
	}
	return childOf(name, path), isDocument(childOf(name, path))
}

// childPrefixes are what the blobs of a run's child streams begin with, among the
// open ones and in the archive.
func childPrefixes(name, run string) []string {
	return []string{streamPrefix + name + "/", archivePrefix + name + archiveMark + run + "/"}
}
