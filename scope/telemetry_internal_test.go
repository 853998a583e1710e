package scope

import "testing"

func TestTelemetry_CostsNothingWhenOff(t *testing.T) {
	var c counter
	var h histograms
	allocs := testing.AllocsPerRun(100, func() {
		c.Add(1)
		h.committed(1)
		h.acquired(1, 0)
		h.ended(instant{}, instant{})
	})
	if allocs != 0 {
		t.Errorf("what is not measured costs %v allocations, want 0", allocs)
	}
}
