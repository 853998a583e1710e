package sqlitestore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/s2"

	"github.com/leasestream/leasestream/scope/store"
)

// codec is how a body is stored. The numbers are in files: none is used again.
type codec int64

const (
	plain  codec = 0 // as it is
	packed codec = 1 // as one block of S2 and its CRC, if that is smaller
)

// minPacked is the least body in bytes that is worth packing: below, there is
// hardly a page less to write.
const minPacked = 2 << 10

// content is a body as it is stored.
type content struct {
	codec codec
	data  []byte
}

// unpack returns the body, which the record says is of this size.
func (c content) unpack(size int64) ([]byte, error) {
	switch {
	case c.codec == packed:
		body, err := unpackBlock(c.data, size)
		if err != nil {
			return nil, c.damaged(size, err)
		}
		return body, nil
	case c.codec == plain && int64(len(c.data)) == size:
		return c.data, nil
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

// unpackBlock unpacks a block and its CRC: S2 by itself would take one wrong byte
// for a letter, and repeat it wherever that is referred to.
func unpackBlock(data []byte, size int64) ([]byte, error) {
	end := len(data) - crcSize
	if end < 0 || crc32.Checksum(data[:end], castagnoli) != binary.LittleEndian.Uint32(data[end:]) {
		return nil, errBlock
	}
	if n, err := s2.DecodedLen(data[:end]); err != nil || int64(n) != size {
		return nil, errBlock
	}
	return s2.Decode(nil, data[:end])
}

// packer makes contents of bodies. It keeps buffers, which are as large as the
// bodies, to use them again.
type packer struct {
	buffers sync.Pool // of *[]byte
}

// with calls f with the content of a body, which is good until f returns.
func (p *packer) with(body []byte, f func(content) error) error {
	if len(body) < minPacked {
		return f(content{plain, notNull(body)})
	}
	buffer, ok := p.buffers.Get().(*[]byte)
	if !ok {
		buffer = new([]byte)
	}
	defer p.buffers.Put(buffer)
	*buffer = packBlock(*buffer, body)
	if len(*buffer) >= len(body) {
		return f(content{plain, body})
	}
	return f(content{packed, *buffer})
}

// packBlock packs a body in the memory of buffer, if that suffices.
func packBlock(buffer, body []byte) []byte {
	need := s2.MaxEncodedLen(len(body)) + crcSize
	if cap(buffer) < need {
		buffer = make([]byte, need+need/4) // bodies grow, and to clear it takes as long as to pack
	}
	data := s2.Encode(buffer[:cap(buffer)], body)
	return binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, castagnoli))
}

// notNull keeps an empty body from being stored as NULL.
func notNull(body []byte) []byte {
	if body == nil {
		return []byte{}
	}
	return body
}
