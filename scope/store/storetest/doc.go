// Package storetest is the suite that every driver of package store passes: the
// conformance cases ([Run]), histories of many clients ([RunHistories]), and
// benchmarks ([RunBenchmarks]). For those who build on stores it has what makes
// calls fail ([Faults]), and requests and answers over HTTP ([Transport], [Proxy]).
//
// # How to add a driver
//
// Write a [Harness] that opens a new, empty store for each call:
//
//	var harness = storetest.Harness{
//		Open: func(t testing.TB) store.Store {
//			s, err := mystore.Open(t.TempDir(), nil)
//			if err != nil {
//				t.Fatal(err)
//			}
//			t.Cleanup(func() { s.Close() })
//			return s
//		},
//		FakeTime: true,
//	}
//
//	func TestStore(t *testing.T)     { storetest.Run(t, harness) }
//	func TestHistories(t *testing.T) { storetest.RunHistories(t, harness, 40) }
//
// Say FakeTime if the driver judges leases by the Go clock and can live in a
// testing/synctest bubble; then no test waits. A driver of a remote service
// leaves it false: the suite then prepares all leases that have to expire, waits
// once for all of them (some 20 s), and checks. However slow the service is, the
// outcome is the same. Run the suite once for each combination of options that
// the driver has, and, if it is a store.Piecewise, once more with an Open that returns
// [InPieces] of it: then all bodies are written and read in pieces.
//
// # Two kinds of cases
//
// A scenario is data: what is prepared, how much time passes, one request, and
// the answers that are right. The tables of lease states are scenarios, and so
// is whatever a service is known to answer differently. An answer is a line such
// as "ok leased(A)" or "LeaseIdMissing leased(A)": the error code, or ok, and the
// state of the lease afterwards, with the letter of the ID that holds it. All
// scenarios are played on one clock, and then each is reported as a subtest with
// its key as the name (go test prints its spaces as underscores).
//
// Everything else (order, concurrency, cancelation, large bodies) is code: a
// function that gets a store of its own.
//
// # Histories
//
// A [Game] lets 8 clients do random things to 3 blobs at once, with calls that get
// lost on the way there or on the way back, and records what they were answered.
// Each history must be linearizable: there must be an order of the calls in which
// a small model, which knows the interface and nothing of any store, gives the
// same answers. In a bubble leases end, too. Where several processes share a
// store, each plays some of the clients ([Game.Play]), and the histories are put
// together and checked ([Game.Check]). [Rounds] says how many games there are by
// day, and how many in the long mode.
//
// # Deviations
//
// If the service answers a scenario in a way that the driver cannot and should
// not mend, the harness lists it as a [Deviation] by key, with the exact answer.
// The scenario then fails if the answer is any other one, the right one
// included, so that the list stays true. Numbers refer to the driver's own list
// of reasons; several keys may share one.
package storetest
