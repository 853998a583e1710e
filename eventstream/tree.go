package eventstream

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/antchfx/xmlquery"
)

// Tree parses the whole document into a tree of nodes, for callers who want to
// walk it as XML. The tree is a copy: changes to it do not reach the stream, and
// it takes several times the memory of the stream.
func (s *Stream) Tree() (*xmlquery.Node, error) {
	document := s.Bytes()
	if len(document) == 0 {
		return &xmlquery.Node{Type: xmlquery.DocumentNode}, nil
	}
	tree, err := xmlquery.ParseWithOptions(bytes.NewReader(document), treeOptions())
	if err != nil {
		return nil, fmt.Errorf("tree of %v: %w", s, err)
	}
	return tree, nil
}

// Tree parses the event's element, with what it contains, into a tree of nodes.
func (e *Event) Tree() (*xmlquery.Node, error) {
	doc, err := xmlquery.ParseWithOptions(strings.NewReader(e.raw), treeOptions())
	if err != nil {
		return nil, fmt.Errorf("tree of event %s: %w", e.id, err)
	}
	root := doc.SelectElement("*")
	return root, nil
}

// treeOptions lets undeclared prefixes pass, as XML 1.0 without namespaces does.
func treeOptions() xmlquery.ParserOptions {
	return xmlquery.ParserOptions{Decoder: &xmlquery.DecoderOptions{Strict: false}}
}
