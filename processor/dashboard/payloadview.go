package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"unicode/utf8"

	"github.com/leasestream/leasestream/eventstream"
)

// shownPayload is how many bytes of a payload a page shows.
const shownPayload = 64 << 10

// readPayload is the size in bytes up to which a payload that lies in a blob is
// read for a page.
const readPayload = 1 << 20

// payloadView is a payload as a page shows it.
type payloadView struct {
	Text  string
	Bytes int64
	Cut   bool   // the page does not show all of it
	Error string // why it cannot be read; "" if it can
}

// Line is the begin of it on one line.
func (p *payloadView) Line() string { return shortened(160, p.Text) }

// payload shows the payload that get finds; nil if there is none.
func (d *Dashboard) payload(ctx context.Context, get func() (eventstream.Payload, bool)) *payloadView {
	p, ok := get()
	switch {
	case !ok:
		return nil
	case p.Ref != "" && p.Bytes > readPayload:
		return &payloadView{Bytes: p.Bytes, Cut: true}
	}
	data, err := d.p.Payload(ctx, p)
	if err != nil {
		return &payloadView{Bytes: p.Bytes, Error: err.Error()}
	}
	return viewOf(data)
}

// viewOf shows JSON indented, with numbers digit by digit as they stand, and
// anything else as it is.
func viewOf(data []byte) *payloadView {
	v := &payloadView{Bytes: int64(len(data))}
	var pretty bytes.Buffer
	if len(data) <= readPayload && json.Indent(&pretty, data, "", "  ") == nil {
		data = pretty.Bytes()
	}
	v.Text, v.Cut = cut(data, shownPayload)
	return v
}

// cut is a text of at most limit bytes, and whether that is not all of it.
func cut(data []byte, limit int) (string, bool) {
	if len(data) <= limit {
		return string(bytes.ToValidUTF8(data, []byte("\uFFFD"))), false
	}
	for limit > 0 && !utf8.RuneStart(data[limit]) {
		limit--
	}
	return string(bytes.ToValidUTF8(data[:limit], []byte("\uFFFD"))), true
}
