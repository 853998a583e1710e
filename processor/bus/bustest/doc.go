// Package bustest is the suite that every driver of package bus passes ([Run]),
// and a bus that treats doorbells as badly as a network may ([Chaos]).
//
// # How to add a driver
//
// Write a [Harness] that opens a network and joins buses to it, and call [Run]
// from a test:
//
//	func TestBus(t *testing.T) {
//		bustest.Run(t, bustest.Harness{
//			Open: func(t testing.TB) func() bus.Bus {
//				broker := startBroker(t)
//				return func() bus.Bus {
//					b, err := mybus.Connect(broker.URL, nil)
//					if err != nil {
//						t.Fatal(err)
//					}
//					return b
//				}
//			},
//		})
//	}
//
// The suite closes the buses. What they joined is closed by the harness, with
// t.Cleanup.
//
// # How it waits
//
// Listen cannot say when it has begun. So every listener of the suite listens
// for one more step, its own, and is taken to be listening once it has heard a
// doorbell for that; a driver must therefore begin to listen for all steps of a
// call at once, or for the last one last. That something is not delivered is
// checked by ringing another doorbell after it and waiting for that one. Nothing
// sleeps, and nothing that a driver may lose is rung only once before a listener
// is known to be there.
package bustest
