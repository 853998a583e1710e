package paper

import "time"

// Azure is what is assumed of an account: hot, locally redundant, general purpose
// v2. Prices are US dollars for 10,000 requests.
type Azure struct {
	// WriteLatency is how long a Put of an empty body or a listing takes. Assumed:
	// Microsoft publishes no figure.
	WriteLatency time.Duration
	// Latency is how long any other request takes. Assumed, too.
	Latency time.Duration
	// Bandwidth is how many bytes of bodies a second one worker moves, in both
	// directions together. Assumed: half a gigabit.
	Bandwidth float64
	// BlobRate is how many requests a second one blob takes: 500 in the scalability
	// targets of most years. Newer pages say up to 3,000.
	BlobRate float64
	// AccountRate is how many requests a second all blobs take together: 20,000 for
	// a standard account, more in some regions.
	AccountRate float64
	// WritePrice is that of a Put, by the samples with which Microsoft explains how
	// to estimate costs. They have none for listings and the making of containers,
	// which other price lists put at that of a write, as is done here.
	WritePrice float64
	// ReadPrice is that of a Get, from the same samples.
	ReadPrice float64
	// OtherPrice is that of a Stat or a lease operation, from the same samples.
	OtherPrice float64
}

// Assumed is what the table in azure.md was made with.
func Assumed() Azure {
	return Azure{
		WriteLatency: 10 * time.Millisecond,
		Latency:      5 * time.Millisecond,
		Bandwidth:    60e6,
		BlobRate:     500,
		AccountRate:  20_000,
		WritePrice:   0.055,
		ReadPrice:    0.0044,
		OtherPrice:   0.0044,
	}
}

// Bill has the number of requests by what they cost.
type Bill struct {
	Writes int64 // Put, List (for each page) and Create
	Reads  int64 // Get
	Others int64 // Stat and Lease
	Free   int64 // Delete
	// Throttled are those of all classes that were over a limit. They are counted
	// in their class as well.
	Throttled int64
}

// Cost is what the requests cost in US dollars.
func (a Azure) Cost(b Bill) float64 {
	return (float64(b.Writes)*a.WritePrice + float64(b.Reads)*a.ReadPrice + float64(b.Others)*a.OtherPrice) / 10_000
}

// Requests is how many there were in all.
func (b Bill) Requests() int64 { return b.Writes + b.Reads + b.Others + b.Free }

// Since is what came after before.
func (b Bill) Since(before Bill) Bill {
	return Bill{
		Writes:    b.Writes - before.Writes,
		Reads:     b.Reads - before.Reads,
		Others:    b.Others - before.Others,
		Free:      b.Free - before.Free,
		Throttled: b.Throttled - before.Throttled,
	}
}
