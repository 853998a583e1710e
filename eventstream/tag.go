package eventstream

import (
	"iter"
	"strings"
)

// attrSpan is where an attribute lies in a tag: [start, end) with the white
// space before it, and its parts.
type attrSpan struct {
	start, end  int
	name, value string // the value as written
	quote       byte
}

// nextAttr finds the attribute at or after i in a tag that the scanner has
// accepted.
func nextAttr(tag string, i int) (a attrSpan, ok bool) {
	a.start = i
	for isSpace(tag[i]) {
		i++
	}
	if tag[i] == '>' || tag[i] == '/' {
		return a, false
	}
	nameStart := i
	for tag[i] != '=' && !isSpace(tag[i]) {
		i++
	}
	a.name = tag[nameStart:i]
	for tag[i] != '"' && tag[i] != '\'' {
		i++
	}
	a.quote = tag[i]
	n := strings.IndexByte(tag[i+1:], a.quote)
	a.value = tag[i+1 : i+1+n]
	a.end = i + n + 2
	return a, true
}

// tagNameEnd is where the element's name ends.
func tagNameEnd(tag string) int { return 1 + nameLen(tag[1:]) }

// tagAttr returns the value of an attribute, unescaped.
func tagAttr(tag, name string) (string, bool) {
	if value, ok, sure := searchAttr(tag, name); sure {
		return unescapeAttr(value), ok
	}
	for i := tagNameEnd(tag); ; {
		a, ok := nextAttr(tag, i)
		if !ok {
			return "", false
		}
		if a.name == name {
			return unescapeAttr(a.value), true
		}
		i = a.end
	}
}

// searchAttr looks for an attribute by its name alone, which is several times as
// fast as going through the tag. It is not sure where the name stands in the tag
// otherwise than we write it, or single quotes might mislead it.
func searchAttr(tag, name string) (value string, ok, sure bool) {
	for from := 0; ; {
		i := strings.Index(tag[from:], name)
		if i < 0 {
			return "", false, true
		}
		i += from
		end := i + len(name)
		if tag[i-1] == ' ' && strings.HasPrefix(tag[end:], `="`) {
			value = tag[end+2:]
			n := strings.IndexByte(value, '"')
			// Outside of a value there is an even number of quotes before it.
			sure = n >= 0 && strings.IndexByte(tag[:i], '\'') < 0 && strings.Count(tag[:i], `"`)%2 == 0
			return value[:max(n, 0)], true, sure
		}
		if c := tag[end]; tag[i-1] <= ' ' && (c == '=' || c <= ' ') {
			return "", false, false
		}
		from = end
	}
}

func tagAttrs(tag string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for i := tagNameEnd(tag); ; {
			a, ok := nextAttr(tag, i)
			if !ok || !yield(a.name, unescapeAttr(a.value)) {
				return
			}
			i = a.end
		}
	}
}

// change is a new value of an attribute, or its removal.
type change struct {
	name, value string
	remove      bool
}

func set(name, value string) change { return change{name: name, value: value} }
func unset(name string) change      { return change{name: name, remove: true} }

// setOrUnset removes the attribute where the value is empty.
func setOrUnset(name, value string) change { return change{name, value, value == ""} }

// spliceTag writes tag with the changes made; every other byte stays as it is,
// and new attributes come last. The last of several changes of one attribute
// counts.
func spliceTag(b *strings.Builder, tag string, changes []change) {
	i := tagNameEnd(tag)
	b.WriteString(tag[:i])
	kept := i // everything before it is written
	known := make([]bool, len(changes))
	for {
		a, ok := nextAttr(tag, i)
		if !ok {
			break
		}
		i = a.end
		c := lastChange(changes, a.name)
		if c < 0 {
			continue
		}
		known[c] = true
		if changes[c].remove {
			b.WriteString(tag[kept:a.start])
		} else {
			b.WriteString(tag[kept : a.end-1-len(a.value)])
			writeAttrValue(b, changes[c].value, a.quote)
			b.WriteByte(a.quote)
		}
		kept = a.end
	}
	b.WriteString(tag[kept:i])
	for c := range changes {
		if !known[c] && !changes[c].remove && c == lastChange(changes, changes[c].name) {
			writeAttr(b, changes[c].name, changes[c].value)
		}
	}
	b.WriteString(tag[i:])
}

func writeAttr(b *strings.Builder, name, value string) {
	b.WriteByte(' ')
	b.WriteString(name)
	b.WriteString(`="`)
	writeAttrValue(b, value, '"')
	b.WriteByte('"')
}

func lastChange(changes []change, name string) int {
	for i := len(changes) - 1; i >= 0; i-- {
		if changes[i].name == name {
			return i
		}
	}
	return -1
}
