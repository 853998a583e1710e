package pipeline

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"text/template"
	"text/template/parse"
)

var errURL = errors.New("want http://HOST/PATH or https://HOST/PATH")

// address is the URL of a request.
type address struct {
	*argument
	// fixed: the host is written in the file, so that no message decides where a
	// request goes. Then what templates put in is escaped.
	fixed bool
}

func (v value) address() *address {
	a := v.argument(v.key)
	if a == nil {
		return nil
	}
	if a.template == nil {
		if _, err := parseAddress(a.text); err != nil {
			v.wrong("%v", err)
		}
		return &address{argument: a, fixed: true}
	}
	leading, _, _ := strings.Cut(a.text, "{{")
	if !beginsAddress(leading) {
		v.wrong("%v", errURL)
	}
	fixed := endsHost(leading)
	if fixed {
		escapeValues(a.template)
	}
	return &address{argument: a, fixed: fixed}
}

// beginsAddress reports whether a text can be the beginning of a URL. A text that
// goes past the host has to be a URL by itself.
func beginsAddress(text string) bool {
	for _, scheme := range []string{"http://", "https://"} {
		if strings.HasPrefix(scheme, text) {
			return true
		}
		if strings.HasPrefix(text, scheme) {
			_, err := parseAddress(text)
			return err == nil || !endsHost(text)
		}
	}
	return false
}

// endsHost reports whether nothing that is added to a text can change the host
// in it.
func endsHost(text string) bool {
	_, rest, ok := strings.Cut(text, "://")
	return ok && strings.ContainsAny(rest, "/?#")
}

// parseAddress reads a URL that requests can go to. The error does not show it: it
// may hold a password.
func parseAddress(text string) (*url.URL, error) {
	if strings.Contains(text, " ") {
		return nil, fmt.Errorf("%w, with %%20 for a space", errURL)
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, errURL
	}
	for folder := range strings.SplitSeq(u.Path, "/") {
		if folder == "." || folder == ".." {
			return nil, fmt.Errorf("%w, without %q in the path: it leads a server elsewhere", errURL, folder)
		}
	}
	return u, nil
}

// of is the URL for a task. It fails for good, as a template does.
func (a *address) of(data *argumentData) (*url.URL, error) {
	text, err := a.expand(data)
	if err != nil {
		return nil, err
	}
	u, err := parseAddress(text)
	if err != nil {
		return nil, hopeless{fmt.Errorf("%s: %s: %w", a.where, a.what, err)}
	}
	return u, nil
}

// shown is a URL as it may stand in an error: without user info and query, which
// may hold secrets.
func shown(u *url.URL) string {
	plain := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	text := fmt.Sprintf("%.200s", plain.String())
	if u.RawQuery != "" {
		text += "?…"
	}
	return text
}

// escaper is the function that a template of a URL ends its values with. It is
// unknown when the template is parsed, so that no file can use it.
const escaper = "_escaped"

// escapeValues makes a template escape each value that it prints.
func escapeValues(t *template.Template) {
	t.Funcs(template.FuncMap{escaper: escaped})
	for _, each := range t.Templates() {
		escapeNodes(each.Root)
	}
}

func escapeNodes(list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.ActionNode:
			escapePipe(n.Pipe)
		case *parse.IfNode:
			escapeBranches(&n.BranchNode)
		case *parse.RangeNode:
			escapeBranches(&n.BranchNode)
		case *parse.WithNode:
			escapeBranches(&n.BranchNode)
		}
	}
}

func escapeBranches(n *parse.BranchNode) {
	escapeNodes(n.List)
	escapeNodes(n.ElseList)
}

// escapePipe leaves alone what prints nothing, since it sets a variable, and what
// is escaped already.
func escapePipe(pipe *parse.PipeNode) {
	last := pipe.Cmds[len(pipe.Cmds)-1].Args[0]
	if n, ok := last.(*parse.IdentifierNode); len(pipe.Decl) > 0 || ok && n.Ident == "urlquery" {
		return
	}
	pipe.Cmds = append(pipe.Cmds, &parse.CommandNode{
		NodeType: parse.NodeCommand,
		Pos:      pipe.Pos,
		Args:     []parse.Node{parse.NewIdentifier(escaper).SetPos(pipe.Pos)},
	})
}

// escaped is a value as one part of a path and as one value of a query: of all
// that has a meaning in either, nothing is left.
func escaped(value any) string {
	return strings.ReplaceAll(url.QueryEscape(fmt.Sprint(value)), "+", "%20")
}
