package sqlitestore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"sync"

	"github.com/klauspost/compress/s2"

	"github.com/leasestream/leasestream/scope/store"
)

// codec is how a body is stored. The numbers are in files: none is used again.
type codec int64

const (
	plain   codec = 0 // as it is
	packed  codec = 1 // as one block of S2 and its CRC, if that is smaller
	listed  codec = 2 // as a manifest of pieces, each of which is stored packed or checked
	checked codec = 3 // as it is, and its CRC
)

// minPacked is the least body in bytes that is worth packing: below, there is
// hardly a page less to write.
const minPacked = 2 << 10

// content is a body, or a piece of one, as it is stored.
type content struct {
	codec codec
	data  []byte
}

// unpack returns the body, which the record says is of this size.
func (c content) unpack(size int64) ([]byte, error) {
	if c.codec == plain && int64(len(c.data)) == size {
		return c.data, nil
	}
	return c.appendTo(nil, size)
}

// appendTo appends what is stored, which is to be of this size, to dst.
func (c content) appendTo(dst []byte, size int64) ([]byte, error) {
	switch {
	case c.codec == packed:
		whole, err := appendBlock(dst, c.data, size)
		if err != nil {
			return nil, c.damaged(size, err)
		}
		return whole, nil
	case c.codec == plain && int64(len(c.data)) == size:
		return append(dst, c.data...), nil
	case c.codec == checked && int64(len(c.data)) == size+crcSize && isChecked(c.data):
		return append(dst, c.data[:size]...), nil
	}
	return nil, c.damaged(size, nil)
}

func (c content) damaged(size int64, err error) error {
	return &store.Error{
		Sentinel: store.ErrDamaged,
		Detail:   fmt.Sprintf("%d bytes of method %d are no body of %d bytes: restore the file from a copy", len(c.data), c.codec, size),
		Err:      err,
	}
}

const crcSize = 4 // bytes

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errBlock = errors.New("damaged block")

// isChecked reports whether data ends with the CRC of what stands before it.
func isChecked(data []byte) bool {
	end := len(data) - crcSize
	return end >= 0 && crc32.Checksum(data[:end], castagnoli) == binary.LittleEndian.Uint32(data[end:])
}

// check appends its CRC to data.
func check(data []byte) []byte {
	return binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, castagnoli))
}

// appendBlock unpacks a block and its CRC behind dst: S2 by itself would take one wrong
// byte for a letter, and repeat it wherever that is referred to.
func appendBlock(dst, data []byte, size int64) ([]byte, error) {
	if !isChecked(data) {
		return nil, errBlock
	}
	end := len(data) - crcSize
	if n, err := s2.DecodedLen(data[:end]); err != nil || int64(n) != size {
		return nil, errBlock
	}
	dst = slices.Grow(dst, int(size))
	block, err := s2.Decode(dst[len(dst):cap(dst)], data[:end])
	return dst[:len(dst)+len(block)], err
}

// packer makes contents of bodies. It keeps buffers, which are as large as the
// bodies, to use them again.
type packer struct {
	buffers sync.Pool // of *[]byte, for what is packed
	texts   sync.Pool // of *[]byte, for what is to be
}

// with calls f with the content of a body, which is good until f returns.
func (p *packer) with(body []byte, f func(content) error) error {
	buffer := bufferOf(&p.buffers)
	defer p.buffers.Put(buffer)
	return f(pack(buffer, body))
}

// withPieces is with for a body in pieces that is to be stored whole.
func (p *packer) withPieces(body *store.Body, f func(content) error) error {
	text := bufferOf(&p.texts)
	defer p.texts.Put(text)
	*text = body.AppendTo(slices.Grow((*text)[:0], body.Size()))
	return p.with(*text, f)
}

// piece returns the content of a piece.
func (p *packer) piece(piece string) content {
	text, buffer := bufferOf(&p.texts), bufferOf(&p.buffers)
	defer p.texts.Put(text)
	defer p.buffers.Put(buffer)
	*text = append((*text)[:0], piece...)
	stored := pack(buffer, *text)
	if stored.codec == plain {
		return content{checked, check([]byte(piece))}
	}
	return content{stored.codec, bytes.Clone(stored.data)}
}

// whole returns a body that is stored whole.
func (p *packer) whole(stored content, size int64) (*store.Body, error) {
	text := bufferOf(&p.texts)
	defer p.texts.Put(text)
	data, err := stored.appendTo((*text)[:0], size)
	if err != nil {
		return nil, err
	}
	*text = data
	return &store.Body{Pieces: []string{string(data)}}, nil
}

func bufferOf(pool *sync.Pool) *[]byte {
	if buffer, ok := pool.Get().(*[]byte); ok {
		return buffer
	}
	return new([]byte)
}

// pack returns the content of a body, which is kept in the buffer if it is packed.
func pack(buffer *[]byte, body []byte) content {
	if len(body) < minPacked {
		return content{plain, notNull(body)}
	}
	*buffer = packBlock(*buffer, body)
	if len(*buffer) >= len(body) {
		return content{plain, body}
	}
	return content{packed, *buffer}
}

// packBlock packs a body in the memory of buffer, if that suffices.
func packBlock(buffer, body []byte) []byte {
	need := s2.MaxEncodedLen(len(body)) + crcSize
	if cap(buffer) < need {
		buffer = make([]byte, need+need/4) // bodies grow, and to clear it takes as long as to pack
	}
	return check(s2.Encode(buffer[:cap(buffer)], body))
}

// notNull keeps an empty body from being stored as NULL.
func notNull(body []byte) []byte {
	if body == nil {
		return []byte{}
	}
	return body
}
