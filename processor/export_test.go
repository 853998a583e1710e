package processor

// SetLimits makes the limits of payloads ones that tests reach with less work. It
// comes before all else.
func (p *Processor) SetLimits(payload, outcome int) { p.limits = limits{payload, outcome} }
