package processor_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/leasestream/leasestream/processor"
)

func TestCheckName(t *testing.T) {
	for _, name := range []string{"a", "Z", "0", "order-42", "a.b_c-d..", "9-", strings.Repeat("x", 200)} {
		if err := processor.CheckName(name); err != nil {
			t.Errorf("CheckName(%q) = %v", name, err)
		}
	}
	for _, name := range []string{"", ".", "-a", "_", "a b", "a/b", "a\n", "a\x00", "é", "aé", "a~b", "a@b", "a[b", "a`b", "a{b", "a:b", strings.Repeat("x", 201)} {
		if err := processor.CheckName(name); !errors.Is(err, processor.ErrName) {
			t.Errorf("CheckName(%q) = %v, want ErrName", name, err)
		}
	}
}
