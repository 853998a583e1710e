package storetest

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/leasestream/leasestream/scope/store"
)

// move is an act as the model sees it: with the versions that ETags stand for.
type move struct {
	*Act
	matched           int  // version that it named as If-Match; 0: none that was ever there
	answered          int  // version whose ETag it was answered; 0: not known
	createsUnderLease bool // deviation: a write under a lease creates a blob
}

// patience is how long one history may take to judge. They take milliseconds.
const patience = 2 * time.Minute

// Check fails the test unless the history of the game is linearizable: unless
// there is an order of its acts, each at some time between its call and its
// return, in which a single client would have got the same answers. It then keeps
// a picture of the history in the test's artifact directory.
func (g Game) Check(t testing.TB, h History, deviations ...Deviation) {
	t.Helper()
	if took := h.took(); !g.FakeTime && took > store.MaxLease/2 {
		t.Errorf("game %d took %v, in which leases may have ended that the model takes for held", g.Seed, took)
		return
	}
	versions, err := h.versions()
	if err != nil {
		t.Errorf("game %d: %v\n%s", g.Seed, err, h)
		return
	}
	for blob, acts := range h.byBlob() { // each by itself: no act is about two
		moves := acts.moves(versions, deviations)
		if result := porcupine.CheckOperationsTimeout(model, moves, patience); result != porcupine.Ok {
			file := filepath.Join(t.ArtifactDir(), strings.ReplaceAll(blob, "/", "-")+".html")
			t.Errorf("game %d is not linearizable (%s); %s has a picture, which go test -artifacts keeps\n%s",
				g.Seed, result, file, acts)
			draw(t, moves, file)
		}
	}
}

func draw(t testing.TB, moves []porcupine.Operation, file string) {
	t.Helper()
	_, info := porcupine.CheckOperationsVerbose(model, moves, patience)
	if err := porcupine.VisualizePath(model, info, file); err != nil {
		t.Error(err)
	}
}

func (h History) byBlob() map[string]History {
	blobs := map[string]History{}
	for _, a := range h {
		blobs[a.Blob] = append(blobs[a.Blob], a)
	}
	return blobs
}

// moves are the acts that the model has to explain. A read that failed says
// nothing.
func (h History) moves(versions map[string]int, deviations []Deviation) []porcupine.Operation {
	creates := slices.ContainsFunc(deviations, func(d Deviation) bool { return d.Case == "missing/put under a lease" })
	var all []porcupine.Operation
	for i := range h {
		a := &h[i]
		if a.Op == "get" && a.Outcome == Unknown {
			continue
		}
		returned := a.Return
		if a.Outcome == Unknown {
			returned = math.MaxInt64
		}
		m := &move{Act: a, matched: versions[a.IfMatch], answered: versions[a.ETag], createsUnderLease: creates}
		all = append(all, porcupine.Operation{ClientId: a.Client, Input: m, Call: a.Call, Return: returned})
	}
	return all
}

// String tells the acts in the order of their calls.
func (h History) String() string {
	ordered := slices.SortedFunc(slices.Values(h), func(a, b Act) int { return cmp.Compare(a.Call, b.Call) })
	var b strings.Builder
	for i := range ordered {
		fmt.Fprintf(&b, "%d-%d %s\n", ordered[i].Call-ordered[0].Call, ordered[i].Return-ordered[0].Call, &ordered[i])
	}
	return b.String()
}

// model is what explains the acts on one blob.
var model = porcupine.Model{
	Init: func() any { return blobModel{} },
	Step: func(state, input, _ any) (bool, any) {
		return state.(blobModel).explains(input.(*move))
	},
	DescribeOperation: func(input, _ any) string { return input.(*move).String() },
	DescribeState:     func(state any) string { return fmt.Sprintf("%+v", state) },
}
