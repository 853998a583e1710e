package storetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/leasestream/leasestream/scope/store"
)

// maxMetadata is the limit of names and percent-encoded values, in bytes.
const maxMetadata = 8 << 10

// texts are values that a header cannot carry as they are.
var texts = map[string]string{
	"plain":    "w1:18:1764487931 w2:4:1764487932",
	"percent":  "100%25 %zz",
	"spaces":   "  both ends  ",
	"lines":    "one\r\ntwo\ttabbed",
	"unicode":  "Brno–Žabovřesky 東京 🚀",
	"quotes":   `"double" 'single' \ / & = + ; ,`,
	"controls": "\x00\x01\x7f\u0085",
}

func metadataScenarios() []scenario {
	var all []scenario
	add := func(key string, m map[string]string, want string) {
		all = append(all, scenario{key: "metadata/" + key, steps: []step{putMetadata(m)}, want: []string{want}})
	}
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		add("value of "+key, map[string]string{"m": texts[key]}, "ok as put")
	}
	add("all together", texts, "ok as put")
	add("empty value", map[string]string{"empty": "", "full": "x"}, "ok as put")
	add("names", map[string]string{"a": "1", "a_1": "2", "_9z": "3", "__": "4"}, "ok as put")
	add("name _", map[string]string{"_": "1"}, "ok as put")
	for _, name := range []string{"", "1a", "a-b", "a b", "Upper", "ä", "a.b"} {
		add(fmt.Sprintf("name %q", name), map[string]string{name: "x"}, "InvalidMetadata gone")
	}
	add("value not UTF-8", map[string]string{"m": "\xff"}, "InvalidMetadata gone")
	add("just in the limit", map[string]string{"m": strings.Repeat("x", maxMetadata-1)}, "ok as put")
	add("over the limit", map[string]string{"m": strings.Repeat("x", maxMetadata)}, "MetadataTooLarge gone")
	add("over the limit when encoded", map[string]string{"m": strings.Repeat(" ", maxMetadata/3+1)}, "MetadataTooLarge gone")
	return all
}

// putMetadata answers whether Get, Stat and List show what was put.
func putMetadata(m map[string]string) step {
	return step{act: func(w *world) string {
		_, err := w.store.Put(w.ctx, w.blob, nil, &store.PutOptions{Metadata: m})
		if err != nil {
			return w.answer(err)
		}
		shown, err := w.metadata()
		if err != nil {
			return "ok, but " + err.Error()
		}
		for _, from := range []string{"Get", "Stat", "List"} {
			if !sameMetadata(shown[from], m) {
				return fmt.Sprintf("ok, but %s() has %q", from, shown[from])
			}
		}
		return "ok as put"
	}}
}

// metadata are those of the blob, by the method that shows them.
func (w *world) metadata() (map[string]map[string]string, error) {
	object, getErr := w.store.Get(w.ctx, w.blob, nil)
	info, statErr := w.store.Stat(w.ctx, w.blob, nil)
	if err := errors.Join(getErr, statErr); err != nil {
		return nil, err
	}
	shown := map[string]map[string]string{"Get": object.Metadata, "Stat": info.Metadata}
	for info, err := range w.store.List(w.ctx, w.blob) {
		if err != nil {
			return nil, err
		}
		shown["List"] = info.Metadata
	}
	return shown, nil
}

// sameMetadata takes an empty value for none.
func sameMetadata(got, want map[string]string) bool {
	present := func(m map[string]string) map[string]string {
		c := maps.Clone(m)
		maps.DeleteFunc(c, func(_, v string) bool { return v == "" })
		return c
	}
	return maps.Equal(present(got), present(want))
}
