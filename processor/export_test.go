package processor

// SetLimits makes the limits of payloads ones that tests reach with less work. It
// comes before all else.
func (p *Processor) SetLimits(payload, outcome int) { p.limits = limits{payload, outcome} }

// SetWide makes splits wide that have more branches than this, or more bytes of
// messages, and so brings wide splits within the reach of tests.
func (p *Processor) SetWide(branches, bytes int) { p.wide = wideLimits{branches, bytes} }
