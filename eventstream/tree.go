package eventstream

import (
	"encoding/xml"
	"iter"
	"maps"
	"strings"

	"github.com/antchfx/xmlquery"
)

// Tree gives the whole document as a tree of nodes, for callers who want to walk
// it as XML. The tree is a copy: changes to it do not reach the stream, and it
// takes several times the memory of the stream.
//
// The nodes are made of what the scanner has read, since xmlquery's own parser
// takes quadratic time over comments and loses prefixes that are not declared.
func (s *Stream) Tree() *xmlquery.Node {
	doc := &xmlquery.Node{Type: xmlquery.DocumentNode}
	declaration := &xmlquery.Node{Type: xmlquery.DeclarationNode, Data: "xml"}
	xmlquery.AddAttr(declaration, "version", "1.0")
	xmlquery.AddChild(doc, declaration)
	addFragment(doc, s.Prolog(), nil)
	root, names := elementNode(rootName, s.Attrs(), nil)
	xmlquery.AddChild(doc, root)
	for i, e := range s.events {
		addFragment(root, s.Gap(i), names)
		e.addTo(root, names)
	}
	addFragment(root, s.Gap(len(s.events)), names)
	addFragment(doc, s.Epilog(), nil)
	return doc
}

// Tree gives the event's element, with what it contains, as a tree of nodes.
// Prefixes that the root element declares have no namespace in it.
func (e *Event) Tree() *xmlquery.Node {
	return e.addTo(&xmlquery.Node{Type: xmlquery.DocumentNode}, nil)
}

func (e *Event) addTo(parent *xmlquery.Node, names namespaces) *xmlquery.Node {
	node, names := elementNode(eventName, e.Attrs(), names)
	xmlquery.AddChild(parent, node)
	addFragment(node, e.Content(), names)
	return node
}

// namespaces are the declarations in scope, by prefix.
type namespaces map[string]string

func (names namespaces) of(prefix string) string {
	switch prefix {
	case "xml":
		return "http://www.w3.org/XML/1998/namespace"
	case "xmlns":
		return prefix
	}
	return names[prefix]
}

func addFragment(parent *xmlquery.Node, f Fragment, names namespaces) {
	type made struct {
		node  *xmlquery.Node
		names namespaces
	}
	nodes := make([]made, len(f))
	for i := range f {
		above := made{parent, names}
		if p := f[i].Parent; p >= 0 {
			above = nodes[p]
		}
		node, inside := treeNode(&f[i], above.names)
		nodes[i] = made{node, inside}
		xmlquery.AddChild(above.node, node)
	}
}

func treeNode(n *Node, names namespaces) (*xmlquery.Node, namespaces) {
	switch n.Kind {
	case ElementNode:
		return elementNode(n.Name, n.Attrs(), names)
	case CommentNode:
		return &xmlquery.Node{Type: xmlquery.CommentNode, Data: n.Text}, nil
	case InstructionNode:
		inst := &xmlquery.ProcInstData{Target: n.Name, Inst: n.Text}
		return &xmlquery.Node{Type: xmlquery.ProcessingInstruction, Data: n.Name, ProcInst: inst}, nil
	}
	return &xmlquery.Node{Type: xmlquery.TextNode, Data: n.Text}, nil
}

// elementNode makes an element, and the namespaces that are in scope inside it.
func elementNode(name string, attrs iter.Seq2[string, string], names namespaces) (*xmlquery.Node, namespaces) {
	node := &xmlquery.Node{Type: xmlquery.ElementNode}
	inside := names
	for name, value := range attrs {
		prefix, local := splitName(name)
		if prefix == "xmlns" || name == "xmlns" {
			if inside = maps.Clone(inside); inside == nil {
				inside = namespaces{}
			}
			inside[strings.TrimPrefix(local, "xmlns")] = value
		}
		node.Attr = append(node.Attr, xmlquery.Attr{Name: xml.Name{Space: prefix, Local: local}, Value: value})
	}
	for i := range node.Attr {
		if prefix := node.Attr[i].Name.Space; prefix != "" {
			node.Attr[i].NamespaceURI = inside.of(prefix)
		}
	}
	node.Prefix, node.Data = splitName(name)
	node.NamespaceURI = inside.of(node.Prefix)
	return node, inside
}

func splitName(name string) (prefix, local string) {
	if prefix, local, ok := strings.Cut(name, ":"); ok {
		return prefix, local
	}
	return "", name
}
