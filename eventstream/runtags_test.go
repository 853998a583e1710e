package eventstream_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/eventstream"
)

// manyTags are n tags whose values have size bytes.
func manyTags(n, size int) map[string]string {
	tags := map[string]string{}
	for i := range n {
		tags[fmt.Sprintf("k%02d", i)] = strings.Repeat("x", size)
	}
	return tags
}

func TestCheckTags(t *testing.T) {
	key63 := "a" + strings.Repeat(".", 62)
	for name, tags := range map[string]map[string]string{
		"none":         nil,
		"empty value":  {"urgent": ""},
		"longest":      {key63: strings.Repeat("x", 256)},
		"any letters":  {"A-b_c.9": "Müller & Söhne = 50%+ ☂"},
		"full in all":  manyTags(16, 123), // 16·(3+1+123) and 15 times &
		"one and even": {"0": "1"},
	} {
		if err := eventstream.CheckTags(tags); err != nil {
			t.Errorf("CheckTags(%s) = %v, want none", name, err)
		}
	}
	for want, tags := range map[string]map[string]string{
		`key ""`:                     {"": "x"},
		`key "-a"`:                   {"-a": "x"},
		`key "a b"`:                  {"a b": "x"},
		`key "ä"`:                    {"ä": "x"},
		`key "a\n"`:                  {"a\n": "x"},
		`letters, digits`:            {key63 + "x": "x"},
		`"a" has 257 bytes`:          {"a": strings.Repeat("x", 257)},
		`be printed: "x\n"`:          {"a": "x\n"},
		`be printed: "\x1b[31m"`:     {"a": "\x1b[31m"},
		`be printed: "\u202e"`:       {"a": "\u202e"},
		`be printed: "\xff"`:         {"a": "\xff"},
		"17 tags, the limit is 16":   manyTags(17, 1),
		"2063 bytes when they are e": manyTags(16, 124),
		"2060 bytes when they are":   {"a": strings.Repeat("☂", 85), "b": strings.Repeat("☂", 52)},
	} {
		err := eventstream.CheckTags(tags)
		if !errors.Is(err, eventstream.ErrTag) || !strings.Contains(err.Error(), want) {
			t.Errorf("CheckTags(%.60q) = %v, want an ErrTag with %s", tags, err, want)
		}
	}
}

func TestNew_Tags(t *testing.T) {
	tags := map[string]string{"customer": "Müller & Söhne", "batch": "7", "urgent": ""}
	s, err := eventstream.New(epoch, eventstream.Start{Name: "n", Tags: tags, Root: eventstream.NewEvent{Name: "A"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := "batch=7&customer=M%C3%BCller+%26+S%C3%B6hne&urgent="; s.Attr("tags") != want {
		t.Errorf("tags = %q, want %q", s.Attr("tags"), want)
	}
	read, err := eventstream.Parse(s.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	sum, ok := eventstream.ParseSummary(read.Summary().Metadata())
	if !ok || !maps.Equal(sum.Tags, tags) || !maps.Equal(read.Tags(), tags) {
		t.Errorf("tags = %q in the document, %q in the metadata, want %q", read.Tags(), sum.Tags, tags)
	}
	if s, err := eventstream.New(epoch, eventstream.Start{Tags: map[string]string{"a b": ""}}); !errors.Is(err, eventstream.ErrTag) {
		t.Errorf("New() with a wrong tag = %v, %v, want ErrTag", s, err)
	}
}

// A foreign hand may write anything; it stays, and counts for nothing.
func TestTags_OfAForeignHand(t *testing.T) {
	for _, text := range []string{"a=%zz", "a=1&a=2", "a b=1", "a=" + strings.Repeat("x", 9000), "a=%0A", "&"} {
		document := fmt.Sprintf(`<EventStream tags="%s"><Event id="00" status="init"/></EventStream>`, strings.ReplaceAll(text, "&", "&amp;"))
		r := parse(t, document)
		sum, ok := eventstream.ParseSummary(r.Summary().Metadata())
		if tags := r.Tags(); tags != nil || !ok || sum.Tags != nil {
			t.Errorf("Tags() with %.20q = %v, summary %v, want none", text, tags, sum.Tags)
		}
		if problems := r.Validate(); len(problems) != 1 || !strings.Contains(problems[0].String(), "attribute tags") {
			t.Errorf("Validate() with %.20q = %v, want one about the tags", text, problems)
		}
		if got := string(r.Bytes()); got != document {
			t.Errorf("Bytes() = %s, want %s", got, document)
		}
	}
}
