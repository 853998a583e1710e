// Package processortest helps to test pipelines: they run in memory and in fake
// time, so that a retry after an hour costs nothing, while the test makes handlers
// and stores fail and workers die, and then looks at the event stream.
//
//	func TestOrder(t *testing.T) {
//		processortest.Run(t, func(e *processortest.Env) {
//			flaky := processortest.FailFirst(2, charge)
//			pl := e.Pipeline(processor.Step{Name: "Charge", Handler: flaky, Retry: processor.Retry{Attempts: 3, Backoff: time.Hour, Max: time.Hour}})
//			e.Work(nil, pl)
//			name := e.Start(pl, order)
//			e.Await(name)
//			e.WantOutline(name, `00 Charge completed attempt=3 "paid"`)
//		})
//	}
//
// All of it is the real engine: what holds here holds on every store. Time is that
// of testing/synctest: it passes when everybody waits, and handlers must not wait for
// anything outside, such as the network or a program.
package processortest
