package scope_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// report is a fault that others made public, and how we know that it is none of
// ours.
type report struct {
	urls  string // one report, or several of one fault
	fault string // what went wrong there
	// tests that fail if it goes wrong here: folder.TestName, with the key of the
	// subtest where one is meant.
	tests []string
	// why no test of ours can show it.
	why string
}

var reports = []report{
	// A lost lease that is not noticed; renewals.
	{urls: "https://github.com/Azure/azure-webjobs-sdk/issues/2454",
		fault: "one renewal failed, and the next was due only after the lease had run out",
		tests: []string{"scope.TestLease_RenewalOutcomes/one 503", "scope.TestHold_RefusedBeforeAnyRequest/renewed too late"}},
	{urls: "https://github.com/akkadotnet/Akka.Management/issues/3404",
		fault: "one busy answer to a renewal gave up a good lease",
		tests: []string{"scope.TestLease_RenewalOutcomes/one 503", "scope.TestLease_RenewalOutcomes/seven in a row"}},
	{urls: "https://github.com/yeongseon/azure-functions-langgraph-python/issues/384",
		fault: "the renewing thread ended with its first exception, and the work went on",
		tests: []string{"scope.TestLease_RenewalOutcomes/one reset", "scope.TestLease_RenewalOutcomes/passed on",
			"scope.TestLease_RenewalOutcomes/blob gone", "scope.TestLease_RenewalOutcomes/all hang longer than the lease"}},
	{urls: "https://github.com/yeongseon/azure-functions-langgraph-python/issues/249",
		fault: "nothing was renewed, and work that took longer lost its lease in silence",
		tests: []string{"scope.TestRun_LongerThanTheLease", "scope.TestEdit_SlowFunctionKeepsItsLease", "scope.TestRun_LostLease"}},
	{urls: "https://github.com/Azure/azure-functions-host/issues/7143",
		fault: "the process got no CPU for longer than its lease, and went on as its holder",
		tests: []string{"scope.TestProcess_StoppedPastItsLease", "scope.TestLease_ErrLooksAtTheClock"}},
	{urls: "https://github.com/Azure/azure-functions-durable-extension/issues/1892",
		fault: "a lease that was lost before its first renewal was reported as last renewed in the year 1",
		tests: []string{"scope.TestReports_LostBeforeAnyRenewal"}},
	{urls: "https://github.com/NuGet/NuGet.Jobs/pull/746",
		fault: "the pause before a renewal could be as long as the lease",
		tests: []string{"scope.TestHold_RefusedBeforeAnyRequest/renewed too late"}},
	{urls: "https://github.com/openshift/library-go/pull/1104",
		fault: "renewals were allowed to go on for longer than the lease lasts",
		tests: []string{"scope.TestHold_RefusedBeforeAnyRequest/no time for a renewal", "scope.TestHold_RefusedBeforeAnyRequest/no margin",
			"scope.TestLease_TrustEndsBeforeTheStoresLease"}},
	{urls: "https://github.com/kubernetes/kubernetes/issues/44887",
		fault: "a leader that could not renew went on leading",
		tests: []string{"scope.TestRun_LostLease", "scope.TestLease_NeverRevived", "scope.TestTwoHolders_DelayedRenewal"}},
	{urls: "https://github.com/pingcap/tidb/pull/68648",
		fault: "what was read under a lease was used although the lease was lost while it was read",
		tests: []string{"scope.TestEdit_LeaseLostDuringTheDownload"}},

	// Identity.
	{urls: "https://github.com/Azure/azure-functions-host/issues/1864",
		fault: "the lease ID was the machine's: a second host acquired the lease of the first, and lost it with the first one's release",
		tests: []string{"scope.TestLease_FreshIDEachTime", "scope.TestLease_TwoHoldersInOneProcess",
			"scope/store/azurestore.TestStore_FreshLeaseIDs", "scope.TestTwoHolders_SameID"}},
	{urls: "https://github.com/Azure/azure-event-hubs-dotnet/issues/115",
		fault: "the lease ID was read again before each write, so that the old holder wrote with the ID of the new one",
		tests: []string{"scope.TestRun_PassedOnUnnoticed", "scope.TestTwoHolders_ChangedID", "scope.TestReports_WritesAreFenced"}},
	{urls: "https://github.com/akkadotnet/Akka.Management/issues/3402",
		fault: "the caller was told that he had the lease before the second try, after a conflict, had succeeded",
		tests: []string{"scope.TestReports_AnotherOwnerAfterTheConflict", "scope.TestRun_WaitOption"}},
	{urls: "https://github.com/Azure/azure-sdk-for-java/issues/20620 https://github.com/Azure/azure-sdk-for-java/issues/23140",
		fault: "a new client had an ID of its own, and could not release what the old one held",
		tests: []string{"scope/store/memstore.TestStore/lease/blob/release(B)/leased", "scope.TestTwoHolders_DelayedRelease", "scope.TestHold_Adopt"}},

	// Release.
	{urls: "https://github.com/madelson/DistributedLock/issues/132 https://github.com/Azure/azure-sdk-for-net/issues/29944",
		fault: "the answer to a release was lost, and its repetition failed with a conflict",
		tests: []string{"scope.TestLease_ReleaseOutcomes/answer lost", "scope.TestLease_ReleaseOutcomes/released already"}},
	{urls: "https://github.com/madelson/DistributedLock/issues/141",
		fault: "the release of a lease that had run out threw, and hid how the work had ended",
		tests: []string{"scope.TestReports_ReleaseAfterTheEnd", "scope.TestRun_ErrorOfTheFunctionStaysWithTheLoss", "scope.TestRun_ReleaseFailureIsNoError"}},
	{urls: "https://github.com/microsoft/durabletask-netherite/pull/335",
		fault: "the release was not sent since the context was canceled already, and the next holder waited for 40 s",
		tests: []string{"scope.TestRun_ReleasesOnEveryWayOut/canceled", "scope.TestLease_ReleaseIsSentWhateverTheContext", "scope.TestHold_CanceledInFlight"}},
	{urls: "https://github.com/madelson/DistributedLock/issues/226",
		fault: "locks stayed behind, and the next acquire failed",
		tests: []string{"scope.TestLease_FreshIDEachTime", "scope.TestRun_ReleasesOnEveryWayOut", "scope.TestScope_CloseReleasesEverything"}},
	{urls: "https://github.com/cirello-io/dynamolock/issues/14",
		fault: "a lease that was acquired soon after a release was not renewed",
		tests: []string{"scope.TestLease_ReacquiredSoonAfterRelease"}},

	// Acquire, what is missing, and crowds.
	{urls: "https://github.com/akkadotnet/Akka.Management/issues/3397",
		fault: "that another one had made the container was taken for a failure, and brought the cluster down",
		tests: []string{"scope.TestProcess_FiftyAtOnce", "scope/store/memstore.TestStore/race/all create the container",
			"scope/store/azurestore.TestStore_CreateExisting"}},
	{urls: "https://github.com/Azure/Azurite/issues/2637",
		fault: "creating a blob that is there and leased fails with a code of its own, by which the service and its emulator differ",
		tests: []string{"scope.TestHold_MakesAnEmptyBlobThatAppearsMeanwhile", "scope.TestHold_FiftyCreators", "scope.TestCreate"}},
	{urls: "https://github.com/Azure/azure-sdk-for-java/issues/12030",
		fault: "an acquire that seemed to fail had succeeded, and the caller locked himself out",
		tests: []string{"scope.TestHold_AcquireOutcomes/answer lost", "scope.TestHold_CanceledInFlight",
			"scope.TestTwoHolders_AcquireGrantedAfterItWasGivenUp"}},
	{urls: "https://github.com/Azure/azure-sdk-for-java/issues/23294",
		fault: "the blob was shown as unlocked, and acquiring its lease was refused all the same for a while",
		tests: []string{"scope.TestReports_RefusedAlthoughUnlocked"}},
	{urls: "https://github.com/Azure/azure-webjobs-sdk/issues/2318",
		fault: "conflicts that are part of waiting flooded the log",
		tests: []string{"scope.TestReports_ContentionIsNotLogged", "scope.TestHold_CountsContention"}},
	{urls: "https://github.com/Azure/azure-storage-net/issues/931",
		fault: "the retries of the client do not wait for a lease",
		tests: []string{"scope.TestHold_HundredWaiters", "scope.TestHold_WaitsForTheLease", "scope.TestHold_WaitSurvivesTrouble"}},
	{urls: "https://github.com/madelson/DistributedLock/pull/227",
		fault: "each try that found the lease held cost an exception",
		tests: []string{"scope.TestReports_RefusalIsCheap"}},
	{urls: "https://github.com/Azure/durabletask/issues/575 https://github.com/Azure/azure-event-hubs-java/issues/336",
		fault: "a lease that had been lost was never taken again",
		tests: []string{"scope.TestKeeper_LostIsAcquiredAnew", "scope.TestEdit_LeaseLostBeforeTheUpload", "processor.TestDeath_EventsRunElsewhere"}},
	{urls: "https://github.com/Azure/durabletask/issues/1389",
		fault: "work had no owner for days, and nobody was told",
		tests: []string{"processor.TestDeath_EventsRunElsewhere", "processor.TestBus_MayDoWhatItLikes"}},

	// Orphans and breaks.
	{urls: "https://github.com/hashicorp/terraform/issues/17046",
		fault: "unlocking by force wrote to the leased blob without the lease ID, and so never worked",
		tests: []string{"cmd/leasestream.TestScripts/lease", "scope/store/azurestore.TestStore_LeaseHeaders/break at once",
			"scope/store/memstore.TestStore/lease/blob/break(0)/leased"}},
	{urls: "https://github.com/hashicorp/terraform-provider-azurerm/issues/19043 https://github.com/hashicorp/terraform-provider-azurerm/issues/997",
		fault: "a lease without an end outlived its process",
		tests: []string{"scope.TestProcess_KilledDuringEdits", "scope.TestHold_InfiniteOnlyWhenAsked",
			"scope.TestHold_RefusedBeforeAnyRequest/infinite by default", "scope.TestHold_BreaksTheLeaseOfADeadProcess/dead"}},
	{urls: "https://github.com/Azure/azure-sdk-for-java/issues/20621",
		fault: "a break without a period left the blob locked, and its deletion failed",
		tests: []string{"scope/store/memstore.TestStore/break/60s lease, no period", "scope/store/memstore.TestStore/break/60s lease, period 0s",
			"scope/store/memstore.TestStore/use/blob/delete()/breaking"}},
	{urls: "https://github.com/Azure/azure-storage-blob-go/issues/216",
		fault: "a break at once was sent as a break without a period",
		tests: []string{"scope/store/azurestore.TestStore_LeaseHeaders/break at once", "scope/store/azurestore.TestStore_LeaseHeaders/break naturally"}},

	// Writes, ETags, blocks.
	{urls: "https://github.com/Azure/azure-sdk-for-net/issues/35632",
		fault: "the answer to a commit was lost, and its repetition failed on the condition that it had met itself",
		tests: []string{"scope.TestEdit_UnansweredUpload/applied", "scope.TestCrash_EditGoesOn", "scope.TestHeld_WriteOutcomes/answer lost",
			"scope/store/azurestore.TestStore_SendsOnce"}},
	{urls: "https://github.com/folo-rs/folo/issues/528 https://github.com/Azure/azure-sdk-for-python/issues/19486",
		fault: "the answer to a creation was lost, and its repetition found that the blob existed",
		tests: []string{"scope.TestCreate_Outcomes/answer lost", "scope.TestCrash_CreateGoesOn"}},
	{urls: "https://github.com/Azure/azure-sdk-for-go/issues/27031",
		fault: "the upload of more than 256 MiB dropped all conditions",
		why: "the fault is in the upload helper that cuts a buffer into blocks; the driver sends every document, " +
			"whatever its size, by one request, and a document is 256 MiB at most"},
	{urls: "https://github.com/Azure/azure-storage-net/issues/38",
		fault: "a write that had a valid lease ID ignored that it was to create the blob only",
		tests: []string{"scope.TestReports_WritesAreFenced"}},
	{urls: "https://github.com/Azure/azure-sdk-for-net/issues/11407 https://github.com/blobfile/blobfile/issues/84",
		fault: "two who wrote in blocks destroyed each other's uncommitted blocks",
		why:   "no blocks are written: one request puts the whole document, or nothing"},
	{urls: "https://github.com/Azure/azure-sdk-for-net/issues/33668",
		fault: "a condition that fails has more than one code",
		tests: []string{"scope/store/azurestore.TestStore_Sentinels"}},
	{urls: "https://github.com/aloneguid/storage/issues/188 https://github.com/Azure/AzureStor/issues/78",
		fault: "the lease was taken, and the write did not name it",
		tests: []string{"scope.TestReports_WritesAreFenced", "scope.TestRun_WritesNameLeaseAndETag", "scope/store/azurestore.TestStore_WritesNameTheLease"}},

	// Rights, tiers, other services.
	{urls: "https://github.com/Azure/GPT-RAG/issues/225",
		fault: "the account took no keys, and the lease was asked for without an end",
		tests: []string{"scope.TestHold_AcquireOutcomes/no right", "scope/store/azurestore.TestStore_SignInSaysWhatToDo"}},
	{urls: "https://github.com/microsoft/AzureStorageExplorer/issues/1746",
		fault: "a signature that may only read and list made leases fail without a word",
		tests: []string{"scope.TestHold_AcquireOutcomes/no right", "scope/store/azurestore.TestStore_ErrorText"}},
	{urls: "https://github.com/microsoft/AzureStorageExplorer/issues/2513",
		fault: "the snapshot of a leased blob was shown as leased",
		why:   "no snapshots are made or listed: a store has no way to name one"},
	{urls: "https://github.com/microsoft/AzureStorageExplorer/issues/2173 https://github.com/microsoft/AzureStorageExplorer/issues/1655",
		fault: "renaming or deleting leased files of a hierarchical account failed half-way",
		why:   "nothing is renamed: a store has no rename, and each write and each deletion is of one blob, whole or not at all"},
	{urls: "https://github.com/Azure/azure-storage-net/issues/653",
		fault: "with soft delete each overwrite keeps a copy, which has its price",
		why: "a copy for each write is what soft delete is for; edits that share an upload and edits that " +
			"change nothing, which TestEdit_GroupCommit and TestEdit_NoChangeNoPut see to, keep their number low"},
	{urls: "https://learn.microsoft.com/rest/api/storageservices/lease-blob",
		fault: "a container can be deleted although blobs in it are leased",
		tests: []string{"scope.TestTwoHolders_ContainerDeleted", "scope/store/memstore.TestStore/container/leased blobs do not guard it"}},

	// Clocks, and other designs.
	{urls: "https://github.com/kubernetes/kubernetes/pull/114872",
		fault: "a waiter judged the lease by his own duration, not by the holder's",
		tests: []string{"scope.TestReports_DurationsOfTheirOwn", "scope.TestHold_AdoptedIsTrustedForTheShortestLease"}},
	{urls: "https://github.com/benbjohnson/litestream/pull/1073 https://github.com/ClickHouse/ClickHouse/pull/101039",
		fault: "a lease that is a time in an object needs clocks that agree",
		tests: []string{"scope.TestTwoHolders_StoreClockRunsFaster", "scope.TestTwoHolders_NoneBelievesItTooLong"}},

	// Stores that are no better than an emulator.
	{urls: "https://github.com/stackshy/cloudemu/pull/699",
		fault: "conditions were judged in one kind of write only",
		tests: []string{"scope/store/memstore.TestStore/conditions/put/IfMatch wrong", "scope/store/memstore.TestStore/conditions/delete/IfMatch wrong",
			"scope/store/sqlitestore.TestStore/conditions/put/IfMatch wrong", "scope/store/sqlitestore.TestStore/conditions/delete/IfMatch wrong",
			"scope/store/memstore.TestStore/conditions/release/IfMatch wrong"}},
	{urls: "https://github.com/Azure/Azurite/tree/main/src/blob/lease",
		fault: "a renewal with any ID revives a lease that has run out",
		tests: []string{"scope/store/memstore.TestStore/lease/blob/renew(B)/expired", "scope/store/sqlitestore.TestStore/lease/blob/renew(B)/expired"}},
}

// Each report has a test that exists, or a reason why it cannot have one.
func TestReports(t *testing.T) {
	packages := map[string]testPackage{}
	seen := map[string]bool{}
	for _, r := range reports {
		for url := range strings.FieldsSeq(r.urls) {
			if seen[url] || !strings.HasPrefix(url, "https://") {
				t.Errorf("%s: no address, or there twice", url)
			}
			seen[url] = true
		}
		if (len(r.tests) == 0) != (r.why != "") || r.fault == "" {
			t.Errorf("%s: want the fault, and either tests or the reason why there is none", r.urls)
		}
		for _, name := range r.tests {
			folder, test, _ := strings.Cut(name, ".")
			if packages[folder] == nil {
				packages[folder] = parseTests(t, folder)
			}
			if err := packages[folder].find(folder, test); err != nil {
				t.Errorf("%s: %s: %v", r.urls, name, err)
			}
		}
	}
}

// testPackage maps the test functions of a package to the string literals in them.
type testPackage map[string][]string

// parseTests reads the tests of a folder of the module. The subtests of a driver
// are those of the suite that it runs.
func parseTests(t *testing.T, folder string) testPackage {
	t.Helper()
	tests := testPackage{}
	for _, file := range parseFolder(t, folder, "_test.go") {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				tests[f.Name.Name] = literals(f)
				if runsSuite(f) {
					for _, file := range parseFolder(t, "scope/store/storetest", ".go") {
						tests[f.Name.Name] = append(tests[f.Name.Name], literals(file)...)
					}
				}
			}
		}
	}
	return tests
}

func parseFolder(t *testing.T, folder, suffix string) (files []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(folder), "*"+suffix))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no %s in %s: %v", suffix, folder, err)
	}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

func literals(n ast.Node) (texts []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				texts = append(texts, strings.Trim(text, "/"))
			}
		}
		return true
	})
	return texts
}

func runsSuite(f *ast.FuncDecl) (runs bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.SelectorExpr); ok && call.Sel.Name == "Run" {
			x, ok := call.X.(*ast.Ident)
			runs = runs || ok && x.Name == "storetest"
		}
		return true
	})
	return runs
}

// find looks for TestName or TestName/key. A key is found if its test has it as
// data, whole or in parts between slashes, or if it is that of a script.
func (p testPackage) find(folder, test string) error {
	name, key, sub := strings.Cut(test, "/")
	texts, ok := p[name]
	switch scripts := filepath.Join("..", filepath.FromSlash(folder), "testdata", "script", key+".txtar"); {
	case !ok:
		return errors.New("there is no such test")
	case !sub || composed(key, texts):
		return nil
	default:
		if _, err := os.Stat(scripts); err != nil {
			return fmt.Errorf("the test has no %q", key)
		}
		return nil
	}
}

func composed(key string, texts []string) bool {
	if slices.Contains(texts, key) {
		return true
	}
	for i, c := range key {
		if c == '/' && slices.Contains(texts, key[:i]) && composed(key[i+1:], texts) {
			return true
		}
	}
	return false
}

func TestReports_FindsWhatIsThereOnly(t *testing.T) {
	p := testPackage{"TestA": {"lease/blob", "renew(B)", "expired"}}
	for test, want := range map[string]bool{
		"TestA": true, "TestA/renew(B)": true, "TestA/lease/blob/renew(B)/expired": true,
		"TestB": false, "TestA/lease": false, "TestA/lease/blob/renew(C)/expired": false, "TestA/": false,
	} {
		if err := p.find("scope", test); (err == nil) != want {
			t.Errorf("find(%q) = %v, want it found: %t", test, err, want)
		}
	}
}

// The rest are the tests of reports that have none elsewhere.

func TestReports_LostBeforeAnyRenewal(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.cutRenewals()
		acquired := time.Now().UTC().Format(time.RFC3339)
		l := hold(t, w.newScope(nil), nil)
		<-l.Context().Done()
		text := l.Err().Error()
		if !strings.Contains(text, "acquired "+acquired+", last granted "+acquired) || strings.Contains(text, "0001-") {
			t.Errorf("Err() = %q, want when it was acquired", text)
		}
	})
}

// The lease is held, then free for a look, then another one's.
func TestReports_AnotherOwnerAfterTheConflict(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		first := hold(t, w.newScope(nil), nil)
		next := newScope(t, w.in, nil)
		w.once("stat", func() (bool, error) { return true, first.Release(context.Background()) })
		freed := w.hook
		w.onCall(func(c storetest.Call) (bool, error) {
			if c.Op == "acquire" && w.leaseState() == store.LeaseAvailable {
				hold(t, next, nil)
			}
			return freed(c)
		})
		err := w.newScope(nil).Run(t.Context(), blob, func(context.Context, *scope.Held) error {
			t.Error("entered without the lease")
			return nil
		}, &scope.RunOptions{Wait: time.Second})
		wantErr(t, "Run()", err, store.ErrLeaseHeld)
		if got := w.count("acquire"); got < 3 {
			t.Errorf("%d acquires, want the first holder's, a conflict, and one after it", got)
		}
	})
}

// The lease has run out, and passed on, when an edit that was written releases it.
func TestReports_ReleaseAfterTheEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s, next := w.newScope(nil), newScope(t, w.in, nil)
		w.once("release", func() (bool, error) {
			w.breakLease()
			hold(t, next, nil)
			return true, nil
		})
		edit(t, s, add("ours"))
		w.wantNames("ours")
		if err := s.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
		if got := w.leaseState(); got != store.LeaseLeased {
			t.Errorf("state = %v, want leased by the next holder", got)
		}
	})
}

// The store shows the lease as free, and refuses it, for up to a minute.
func TestReports_RefusedAlthoughUnlocked(t *testing.T) {
	for _, st := range []string{"local", "remote"} {
		inBubble(t, func(t *testing.T, w *world) {
			began := time.Now()
			w.onCall(func(c storetest.Call) (bool, error) {
				if c.Op == "acquire" && time.Since(began) < time.Minute {
					return false, store.ErrLeaseHeld
				}
				return true, nil
			})
			s := w.newScope(nil)
			if st == "remote" {
				s = newScope(t, remote{w.st}, nil)
			}
			_, err := s.Hold(t.Context(), blob, nil)
			wantErr(t, "Hold() without a wait", err, store.ErrLeaseHeld)
			l := hold(t, s, &scope.HoldOptions{Wait: 2 * time.Minute})
			if late := l.Waited() - time.Minute; late > 2*time.Second {
				t.Errorf("%s: had it %v after it was free", st, late)
			}
		})
	}
}

func TestReports_ContentionIsNotLogged(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		var log bytes.Buffer
		s := w.newScope(&scope.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		first := hold(t, w.newScope(nil), nil)
		time.AfterFunc(5*time.Second, func() { first.Release(context.Background()) })
		_, err := s.Hold(t.Context(), blob, nil)
		wantErr(t, "Hold()", err, store.ErrLeaseHeld)
		edit(t, s, add("a"))
		if log.Len() > 0 {
			t.Errorf("a wait has logged\n%s", &log)
		}

		// One that lasts is worth a word, and no more.
		time.Sleep(time.Second) // until the lease of the edit is released
		stuck := hold(t, w.newScope(nil), nil)
		time.AfterFunc(time.Minute, func() { stuck.Release(context.Background()) })
		edit(t, s, add("b"))
		if text := log.String(); strings.Count(text, "still waiting") != 1 || !strings.Contains(text, "is held by process") {
			t.Errorf("a wait of a minute has logged\n%s\nwant once that the lease is held, and by whom", text)
		}
	})
}

// A try that finds the lease held costs little: most of this is the error text's.
func TestReports_RefusalIsCheap(t *testing.T) {
	w := newWorld(t)
	w.put(nil)
	s := w.newScope(nil)
	hold(t, s, nil)
	const limit = 100
	allocations := testing.AllocsPerRun(100, func() {
		if _, err := s.Hold(t.Context(), blob, nil); !errors.Is(err, store.ErrLeaseHeld) {
			t.Errorf("Hold() = %v, want that it is held", err)
		}
	})
	t.Logf("%v allocations", allocations)
	if allocations > limit {
		t.Errorf("a refused Hold takes %v allocations, want %d at most", allocations, limit)
	}
}

// Whatever is written: either it creates the blob and names no lease, or it names
// the lease and what it replaces.
func TestReports_WritesAreFenced(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		leases := map[string]bool{}
		var writes, creates int
		w.onCall(func(c storetest.Call) (bool, error) {
			switch created := c.Conditions.IfNoneMatch == store.AnyETag; {
			case c.Op == "acquire":
				leases[c.LeaseID] = true
			case c.Op != "put" && c.Op != "delete":
			case created && c.LeaseID == "" && c.Conditions.IfMatch == "":
				creates++
			case !created && leases[c.LeaseID] && c.Conditions.IfMatch != "":
				writes++
			default:
				t.Errorf("%s of %q with lease %q and %+v", c.Op, c.Name, c.LeaseID, c.Conditions)
			}
			return true, nil
		})
		s := w.newScope(nil)
		if _, err := s.Hold(t.Context(), "locks/sweep", &scope.HoldOptions{Create: true}); err != nil {
			t.Error(err)
		}
		if _, err := s.Create(t.Context(), "streams/new.xml", newStream(t, "a")); err != nil {
			t.Error(err)
		}
		edit(t, s, add("a"))
		err := s.Run(t.Context(), blob, func(ctx context.Context, h *scope.Held) error {
			return errors.Join(h.Put(ctx, nil, nil), h.Put(ctx, []byte("x"), nil), h.Delete(ctx))
		}, nil)
		if err != nil || creates != 2 || writes != 4 {
			t.Errorf("%v with %d creations and %d writes, want 2 and 4", err, creates, writes)
		}
	})
}

// Holders with different durations take turns, and none is judged by another's.
func TestReports_DurationsOfTheirOwn(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		long, short := w.newScope(&scope.Options{Lease: store.MaxLease}), newScope(t, w.in, &scope.Options{Lease: store.MinLease, PollMax: 100 * time.Millisecond})
		hold(t, long, nil)
		w.cut() // its holder is gone
		began := time.Now()
		second := hold(t, short, &scope.HoldOptions{WaitForever: true})
		if got := time.Since(began); got < store.MaxLease || got > store.MaxLease+time.Second {
			t.Errorf("the short one waited %v for a lease of %v", got, store.MaxLease)
		}
		time.Sleep(store.MaxLease)
		if err := second.Err(); err != nil {
			t.Errorf("the short one, renewed for a minute: %v", err)
		}
		w.onCall(nil)
		if err := second.Release(t.Context()); err != nil {
			t.Error(err)
		}
		hold(t, long, nil)
	})
}
