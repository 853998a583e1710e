package processor_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/scope/store"
)

// complaint is what users of another engine made public, and how we know that ours
// does not do it.
type complaint struct {
	urls  string // one report, or several of one fault
	fault string // what went wrong there
	// tests that fail if it goes wrong here: folder.TestName, with a text of the test
	// where one case is meant.
	tests []string
}

const (
	durabletask = "https://github.com/microsoft/durabletask-go/"
	goworkflows = "https://github.com/cschleiden/go-workflows/"
	durable     = "https://github.com/Azure/azure-functions-durable-extension/issues/"
	asynq       = "https://github.com/hibiken/asynq/issues/"
	machinery   = "https://github.com/RichardKnop/machinery/issues/"
)

var complaints = []complaint{
	// durabletask-go
	{urls: durabletask + "issues/137", fault: "locks were not renewed, and long jobs lost theirs",
		tests: []string{"processor.TestPeers_LongerThanThreeLeases"}},
	{urls: durabletask + "issues/136", fault: "an option that limits the time of a job did nothing",
		tests: []string{"processor.TestTimeout_IsAFailure", "processor.TestRun_RetrySucceeds", "processor.TestWork_ConcurrencyOfAStep",
			"processor.TestAttempt_ClocksThatAreWrong", "processor.TestRun_NextOnFailureAndAbort", "processor.TestSweep_EndsRunsPastTheirDeadline"}},
	{urls: durabletask + "pull/140", fault: "a child that was created twice left its parent running for ever",
		tests: []string{"processor.TestCrash_EachPoint"}},
	{urls: durabletask + "issues/59 " + durabletask + "pull/108", fault: "several workers took the same job",
		tests: []string{"processor.TestAttempt_EightWorkersOneEvent", "processor.TestRun_SharedByProcesses"}},
	{urls: durabletask + "issues/101", fault: "workers with other handlers on the same store made jobs fail at random",
		tests: []string{"processor.TestPeers_WorkersOfOtherPipelines", "processor.TestWork_LeavesFruitlessStreamsAlone/impossible step"}},
	{urls: durabletask + "issues/70", fault: "the listener died with its connection and never came back",
		tests: []string{"processor.TestAttempt_StoreAwayForAMinute"}},
	{urls: durabletask + "issues/27", fault: "a busy database was met by sleeps of five seconds",
		tests: []string{"scope/store/sqlitestore.TestStore_WriteWaitsForTheLock", "scope.TestHold_HundredWaiters"}},
	{urls: durabletask + "pull/63", fault: "a purge of children that had been retried crashed",
		tests: []string{"processor.TestPeers_PurgeOfARetriedRun"}},
	{urls: durabletask + "issues/141", fault: "there was no way to list the runs",
		tests: []string{"processor.TestPeers_ListIsStableUnderLoad"}},

	// go-workflows
	{urls: goworkflows + "issues/144", fault: "a task that took longer than its lock ran twice",
		tests: []string{"processor.TestPeers_LongerThanThreeLeases", "processor.TestAttempt_ZombieReportsWhileAnotherWorks"}},
	{urls: goworkflows + "issues/207 " + goworkflows + "pull/373", fault: "a limit of 10,000 events was found out when it was reached",
		tests: []string{"processor.TestPeers_MoreBranchesThanVariables", "scope.TestEdit_TooLarge"}},
	{urls: goworkflows + "issues/237 " + goworkflows + "pull/491", fault: "idle workers kept the processor and the database busy",
		tests: []string{"processor.TestIdle_RequestsPerMinute", "processor.TestIdle_LongHandlers"}},
	{urls: goworkflows + "issues/258", fault: "a busy database was a panic",
		tests: []string{"scope/store/sqlitestore.TestStore_WriteWaitsForTheLock"}},
	{urls: goworkflows + "issues/226", fault: "it was a panic to end while jobs were still running",
		tests: []string{"processor.TestCrash_EachPoint", "processor.TestPeers_LateResultAfterTheClose"}},
	{urls: goworkflows + "issues/69", fault: "a second start with the same id wrote over the first",
		tests: []string{"processor.TestStart_IsIdempotent"}},

	// Durable Functions
	{urls: durable + "38 " + durable + "382 https://github.com/Azure/durabletask/issues/410", fault: "a lease was stolen, and two owners went on",
		tests: []string{"cmd/leasestream.TestWork_StoppedPastItsLease", "processor.TestAttempt_WorkerLeaseBrokenByHand"}},
	{urls: durable + "1748", fault: "renewals got no processor for a minute and a half",
		tests: []string{"scope.TestProcess_StoppedPastItsLease", "cmd/leasestream.TestWork_StoppedPastItsLease"}},
	{urls: durable + "3375 https://github.com/Azure/durabletask/issues/1046", fault: "status and history were written apart, and differed for ever after a conflict",
		tests: []string{"processor.TestCrash_EachPoint", "processor.TestAttempt_HandEdits"}},
	{urls: "https://github.com/Azure/durabletask/issues/860", fault: "a lease was not released at shutdown",
		tests: []string{"processor.TestPeers_ShutdownLeavesNoLease"}},
	{urls: durable + "81", fault: "each batch of results read the history again",
		tests: []string{"processor.TestWork_CommitsAreShared"}},
	{urls: durable + "780", fault: "large results made a fan-in hang",
		tests: []string{"processor.TestPeers_ManyBigResults"}},
	{urls: durable + "2161 " + durable + "2659 " + durable + "2020", fault: "memory ran out at some thousand heavy jobs",
		tests: []string{"processor.TestPeers_ManyBigResults", "processor.TestPeers_MoreBranchesThanVariables"}},
	{urls: durable + "1878", fault: "one poisoned run held up all others",
		tests: []string{"processor.TestWork_LeavesFruitlessStreamsAlone/malformed"}},
	{urls: durable + "506 " + durable + "2996", fault: "terminating a run did not stop what ran for it",
		tests: []string{"processor.TestCancel_StopsHandlers", "cmd/leasestream.TestSteer_ByEditingTheDocument/canceled"}},
	{urls: durable + "2264", fault: "terminating a run during another transition spoilt it",
		tests: []string{"processor.TestPeers_CancelAtEachMoment", "processor.TestAttempt_CancelRacesTheLastBranch"}},
	{urls: durable + "1214", fault: "the same listing gave different counts",
		tests: []string{"processor.TestPeers_ListIsStableUnderLoad"}},
	{urls: "https://github.com/MicrosoftDocs/azure-docs/blob/main/articles/azure-functions/durable/durable-task-scheduler/durable-task-scheduler-large-payloads.md",
		fault: "a purge left the payloads",
		tests: []string{"processor.TestPurge_RemovesEverything", "processor.TestPeers_PurgeOfARetriedRun"}},
	{urls: "https://github.com/Azure-Samples/Durable-Task-Scheduler/issues/331", fault: "scaling in dropped the locks of what ran, and a quarter of it ran twice",
		tests: []string{"processor.TestShutdown_GivesBack", "cmd/leasestream.TestRun_Interrupted"}},

	// asynq
	{urls: asynq + "729 " + asynq + "737 " + asynq + "1080 " + asynq + "640", fault: "there was neither a chain nor a fan-in",
		tests: []string{"processor.TestRun_SplitsAndAggregates", "processor.TestRun_NextOnFailureAndAbort"}},
	{urls: asynq + "429", fault: "a failure did not stop the rest",
		tests: []string{"processor.TestCrash_EachPoint"}},

	// machinery
	{urls: machinery + "179", fault: "looking for the end of a group took a core at 8,000 tasks",
		tests: []string{"processor.TestPeers_MoreBranchesThanVariables"}},
	{urls: machinery + "30 " + machinery + "25", fault: "the callback of a group ran many times, or never",
		tests: []string{"processor.TestCrash_Seeds", "processor.TestAttempt_LastTwoBranchesAtOnce"}},
	{urls: machinery + "352", fault: "the record of a group expired before its last task ended",
		tests: []string{"processor.TestPeers_RetentionLeavesOpenRunsAlone"}},
	{urls: machinery + "413", fault: "the callback was marked as sent before it was",
		tests: []string{"processor.TestCrash_EachPoint"}},
	{urls: machinery + "253 " + machinery + "765", fault: "the task of a worker that was killed stayed started",
		tests: []string{"cmd/leasestream.TestWork_KilledBesideAnother", "processor.TestTakeover_WithinALeaseAndASweep"}},
	{urls: machinery + "268 " + machinery + "418", fault: "the result could not be found again later",
		tests: []string{"processor.TestArchive_MovesEndedRuns"}},

	// Apache Camel
	{urls: "http://camel.apache.org/camel-23-overhaul-of-aggregator-eip.html", fault: "a group ended by a condition or by time, not by whichever came first",
		tests: []string{"processor.TestPeers_FirstAndTimeoutTogether"}},
	{urls: "https://github.com/apache/camel-kafka-connector/issues/290", fault: "a group that stayed one short never ended",
		tests: []string{"processor.TestSweep_ClosesSplits"}},
	{urls: "http://camel.apache.org/aggregator2", fault: "what came late began another group",
		tests: []string{"processor.TestPeers_LateResultAfterTheClose"}},

	// AWS Step Functions
	{urls: "https://github.com/aws/aws-cdk/issues/24799", fault: "results that nobody wants could not be left out",
		tests: []string{"processor/pipeline.TestExec_Join/results: none"}},
	{urls: "https://github.com/cdklabs/construct-hub/pull/1885", fault: "a result of almost the allowed size was too large with what was put around it",
		tests: []string{"scope.TestEdit_TooLarge"}},
	{urls: "https://github.com/aws-samples/aws-organizations-tag-inventory/issues/16 https://github.com/chanzuckerberg/single-cell-data-portal/issues/6541",
		fault: "25,000 events were the end", tests: []string{"processor.TestPeers_MoreBranchesThanVariables"}},
	{urls: "https://github.com/awslabs/aws-securityhub-multiaccount-scripts/issues/63", fault: "it was right in the test and wrong at ten times the size",
		tests: []string{"processor.TestTimeout_NotWhileQueued"}},
	{urls: "https://github.com/aws-samples/aws-stepfunctions-examples/issues/4", fault: "it stuck at some forty in parallel",
		tests: []string{"processor.TestTimeout_NotWhileQueued"}},
}

// Each complaint names tests that are there.
func TestPeers(t *testing.T) {
	packages, seen := map[string]testPackage{}, map[string]bool{}
	for _, c := range complaints {
		for url := range strings.FieldsSeq(c.urls) {
			if seen[url] || !strings.HasPrefix(url, "http") {
				t.Errorf("%s: no address, or there twice", url)
			}
			seen[url] = true
		}
		if len(c.tests) == 0 || c.fault == "" {
			t.Errorf("%s: want the fault, and the tests", c.urls)
		}
		for _, name := range c.tests {
			folder, test, _ := strings.Cut(name, ".")
			if packages[folder] == nil {
				packages[folder] = parseTests(t, folder)
			}
			if !packages[folder].has(test) {
				t.Errorf("%s: there is no test %s", c.urls, name)
			}
		}
	}
	for _, name := range []string{"TestNobody", "TestPeers/no such text"} {
		if (testPackage{"TestPeers": {"text"}}).has(name) {
			t.Errorf("has(%q) found something", name)
		}
	}
}

// testPackage maps the tests of a package to the texts in them.
type testPackage map[string][]string

func parseTests(t *testing.T, folder string) testPackage {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(folder), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	tests := testPackage{}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				tests[f.Name.Name] = literals(f)
			}
		}
	}
	return tests
}

// has looks for TestName, or for TestName/text.
func (p testPackage) has(test string) bool {
	name, text, _ := strings.Cut(test, "/")
	texts, ok := p[name]
	return ok && (text == "" || slices.Contains(texts, text))
}

// literals are the texts in a function.
func literals(f *ast.FuncDecl) (texts []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				texts = append(texts, text)
			}
		}
		return true
	})
	return texts
}

// The rest are the tests of complaints that have none elsewhere.

// Handlers and aggregators that take longer than three leases run once.
func TestPeers_LongerThanThreeLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var ran atomic.Int32
		slow := func(h processor.Handler) processor.Handler {
			return func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
				ran.Add(1)
				time.Sleep(50 * time.Second)
				return h(ctx, task)
			}
		}
		steps := threeWays(slow(square), all, 0)
		steps[2].Handler = slow(steps[2].Handler)
		pl := pipeline(t, steps...)
		p, other := w.process(nil), w.process(nil)
		p.work(nil, pl)
		other.work(nil, pl)
		wantEnd(t, p.run(pl, "r", 3), eventstream.Completed, false, "14")
		if ran.Load() != 4 {
			t.Errorf("handlers ran %d times, want 4", ran.Load())
		}
	})
}

// A worker of one pipeline does not touch the runs of another, nor those of the
// same name in another definition.
func TestPeers_WorkersOfOtherPipelines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		pl := squares(t, square)
		abort := func(context.Context, *processor.Task) (processor.Outcome, error) {
			return processor.Abort("not mine"), nil
		}
		other := pipeline(t, processor.Step{Name: "Split", Handler: abort}, processor.Step{Name: "Square", Handler: abort})
		w.process(nil).work(nil, other)
		p := w.process(nil)
		p.start(pl, "r", 3)
		time.Sleep(10 * time.Minute)
		if e := p.stream("r").Root(); e.Status() != eventstream.Init || e.Attempt() != 0 {
			t.Errorf("the root is %v after %d attempts, want it untouched", e.Status(), e.Attempt())
		}
		p.work(nil, pl)
		wantEnd(t, p.await("r"), eventstream.Completed, false, "14")
	})
}

// big is a text that needs a blob of its own.
func big(n int) string { return strings.Repeat("x", n) }

// A run with branches that were retried, and others that were canceled, goes with
// all of its payloads.
func TestPeers_PurgeOfARetriedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.process(nil)
		pl := pipeline(t,
			patient("Split", func(context.Context, *processor.Task) (processor.Outcome, error) {
				return processor.Split("Work", big(9000), big(9001), big(9002)).Join("Sum"), nil
			}),
			patient("Work", func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
				switch {
				case task.Event == "03.00":
					return processor.Wait(0), nil
				case task.Event == "02.00" && task.Attempt == 1:
					return processor.Abort("broken"), nil
				}
				return processor.Complete(task.Input), nil
			}),
			patient("Sum", func(context.Context, *processor.Task) (processor.Outcome, error) {
				return processor.Complete(big(9003)), nil
			}),
		)
		p.work(nil, pl)
		p.start(pl, "r", big(9004))
		time.Sleep(time.Second)
		for range 2 { // once for what was aborted, once for what was canceled
			if err := p.Cancel(t.Context(), "r", "03.*", "ann", ""); err != nil {
				t.Fatal(err)
			}
			p.await("r")
			if _, err := p.Retry(t.Context(), "r", nil); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		if err := p.Cancel(t.Context(), "r", "", "ann", ""); err != nil {
			t.Fatal(err)
		}
		before := len(w.blobs("payload/"))
		purged, err := p.Purge(t.Context(), "r")
		if left := w.blobs("payload/"); err != nil || purged.Payloads != before || before < 6 || len(left) != 0 {
			t.Errorf("Purge() = %+v, %v, with %d payloads before it and %q after it", purged, err, before, left)
		}
	})
}

// A listing has every run once, whatever becomes of the runs meanwhile: they end,
// are moved to the archive and brought back.
func TestPeers_ListIsStableUnderLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const runs = 30
		w := newWorld(t)
		p := w.processOn(slowStore{w.st}, nil)
		pl := pipeline(t, threeWays(onceMore, all, 0)...)
		p.work(nil, pl)
		for i := range runs {
			p.start(pl, fmt.Sprintf("r%d", i), 3)
		}
		for look := range 100 {
			names := map[string]int{}
			for info, err := range p.List(t.Context(), nil) {
				if err != nil {
					t.Fatal(err)
				}
				names[info.Name]++
			}
			if len(names) != runs {
				t.Fatalf("look %d has %d runs, want %d", look, len(names), runs)
			}
			for name, n := range names {
				if n != 1 {
					t.Errorf("look %d has run %q %d times", look, name, n)
				}
			}
			if look%10 == 9 { // those in the archive come back
				if _, err := p.Retry(t.Context(), fmt.Sprintf("r%d", look/10), nil); err != nil {
					t.Error(err)
				}
			}
			time.Sleep(time.Minute)
		}
	})
}

// A split into more branches than a database of rows has variables for, with their
// sum.
func TestPeers_MoreBranchesThanVariables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newSQLiteWorld(t).process(nil)
		pl := squares(t, processor.Func(func(_ context.Context, n int) (int, error) {
			time.Sleep(time.Millisecond) // or one slot would work on and on while all others wait for time to pass
			return n, nil
		}))
		p.work(&processor.WorkOptions{Slots: 1000}, pl)
		wantEnd(t, p.run(pl, "r", 11_000), eventstream.Completed, false, "60505500")
	})
}

// A worker that ends at any moment leaves no lease behind.
func TestPeers_ShutdownLeavesNoLease(t *testing.T) {
	for after := range 20 {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			p := w.process(nil)
			pl := squares(t, func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
				time.Sleep(10 * time.Millisecond)
				return square(ctx, task)
			})
			p.work(&processor.WorkOptions{Slots: 1, Grace: -1}, pl)
			p.start(pl, "r", 5)
			time.Sleep(time.Duration(after) * 4 * time.Millisecond)
			p.stop()
			p.done.Wait()
			if err := p.scope.Close(); err != nil {
				t.Error(err)
			}
			for info, err := range w.st.List(t.Context(), "") {
				if err != nil || info.Lease.State.Locked() {
					t.Errorf("stopped after %d ms: %q is %v, %v", 4*after, info.Name, info.Lease.State, err)
				}
			}
		})
	}
}

// Twenty results of a megabyte each.
func TestPeers_ManyBigResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newWorld(t).process(nil)
		pl := pipeline(t,
			processor.Step{Name: "Split", Handler: splitNumbers},
			processor.Step{Name: "Square", Handler: func(context.Context, *processor.Task) (processor.Outcome, error) {
				return processor.Complete(big(1 << 20)), nil
			}},
			processor.Step{Name: "Sum", Handler: processor.Aggregate(func(_ context.Context, results iter.Seq2[string, error]) (int, error) {
				total := 0
				for text, err := range results {
					if err != nil {
						return 0, err
					}
					total += len(text)
				}
				return total, nil
			})},
		)
		p.work(nil, pl)
		wantEnd(t, p.run(pl, "r", 20), eventstream.Completed, false, strconv.Itoa(20<<20))
		if size := p.stream("r").Size(); size > 20_000 {
			t.Errorf("the document has %d bytes", size)
		}
	})
}

// Somebody cancels the run at each moment of its life.
func TestPeers_CancelAtEachMoment(t *testing.T) {
	eachMoment(t, func(t *testing.T, w *world, hooked store.Store, meanwhile func(func()) (wait func())) {
		p := w.processOn(hooked, nil)
		other := w.process(nil)
		pl := pipeline(t, nestedSteps()...)
		var canceled error
		other.start(pl, "r", 3)
		wait := meanwhile(func() { canceled = other.Cancel(t.Context(), "r", "", "ann", "enough") })
		p.work(&processor.WorkOptions{Slots: 2}, pl)
		end := other.await("r")
		p.stop()
		p.done.Wait()
		wait()
		checkEnded(t, other.stream("r"))
		if end.Status == eventstream.Completed && string(end.Output) != "28" || canceled == nil && end.Status != eventstream.Completed && end.Status != eventstream.Canceled {
			t.Errorf("Cancel() = %v, and the run ended %v with %s", canceled, end.Status, end.Output)
		}
	})
}

// Nothing of a run that is open is taken for left over, however long it waits.
func TestPeers_RetentionLeavesOpenRunsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.processOn(slowStore{w.st}, nil)
		pl := pipeline(t, processor.Step{Name: "Ask", Handler: func(context.Context, *processor.Task) (processor.Outcome, error) {
			return processor.Split("Answer", big(9000)).Join("Both"), nil
		}}, processor.Step{Name: "Answer", Handler: func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
			return processor.Split("Wait", nil).Join("Echo"), nil
		}}, processor.Step{Name: "Wait", Handler: func(context.Context, *processor.Task) (processor.Outcome, error) {
			return processor.Wait(0), nil
		}}, processor.Step{Name: "Echo", Handler: func(_ context.Context, task *processor.Task) (processor.Outcome, error) {
			return processor.Complete(len(task.Input)), nil
		}}, processor.Step{Name: "Both", Handler: processor.Aggregate(sum)})
		p.work(nil, pl)
		p.start(pl, "r", nil)
		time.Sleep(4 * 24 * time.Hour)
		if err := p.Complete(t.Context(), "r", "", []byte("1"), "ann"); err != nil {
			t.Fatal(err)
		}
		wantEnd(t, p.await("r"), eventstream.Completed, false, "9002")
	})
}

// Of three conditions that end a split — all have ended, enough have, time is up —
// the first that is met counts.
func TestPeers_FirstAndTimeoutTogether(t *testing.T) {
	for name, c := range map[string]struct {
		waits int // branches that nobody answers
		want  string
		after time.Duration
	}{
		"all have ended":    {0, "completed", time.Second},
		"enough have ended": {1, "completed", time.Second},
		"time is up":        {3, "aborted", time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newWorld(t).process(nil)
				pl := pipeline(t, threeWays(func(ctx context.Context, task *processor.Task) (processor.Outcome, error) {
					if n, _ := strconv.Atoi(string(task.Input)); n <= c.waits {
						return processor.Wait(0), nil
					}
					return square(ctx, task)
				}, eventstream.First(2), time.Minute)...)
				p.work(nil, pl)
				began := time.Now()
				end := p.run(pl, "r", 3)
				took := time.Since(began)
				if end.Status.String() != c.want || took < c.after-time.Second || took > c.after+5*time.Second {
					t.Errorf("the run ended %v after %v, want %s after %v", end.Status, took, c.want, c.after)
				}
				checkEnded(t, p.stream("r"))
			})
		})
	}
}

// A result that comes after its split was closed is refused, and changes nothing.
func TestPeers_LateResultAfterTheClose(t *testing.T) {
	for name, c := range map[string]struct {
		policy  eventstream.Policy
		timeout time.Duration
		want    string
	}{
		"enough have ended": {eventstream.First(2), 0, "completed true 10"},
		"time is up":        {all, time.Minute, "completed true 10"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newWorld(t).process(nil)
				g := newGate("02.00", 1000)
				pl := pipeline(t, threeWays(g.handle, c.policy, c.timeout)...)
				p.work(nil, pl)
				end := p.run(pl, "r", 3)
				if got := fmt.Sprintf("%v %v %s", end.Status, end.WithError, end.Output); got != c.want {
					t.Errorf("the run ended %s, want %s", got, c.want)
				}
				before := string(p.stream("r").Bytes())
				close(g.open)
				time.Sleep(time.Minute)
				if after := string(p.stream("r").Bytes()); after != before {
					t.Errorf("the late result changed the document\n%s\nto\n%s", before, after)
				}
			})
		})
	}
}
