package storetest

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/leasestream/leasestream/scope/store"
)

// racers is how many try at once where each does so once.
const racers = 32

// load is how many racers go on until each has succeeded so many times. A service
// gets fewer, since each success costs it a request of all of them.
func load(s store.Store) (racers, each int) {
	if store.IsLocal(s) {
		return 16, 3
	}
	return 8, 2
}

func raceChecks() []check {
	return []check{
		{key: "race/one acquires", run: raceAcquire},
		{key: "race/one puts with IfMatch", run: racePut},
		{key: "race/one creates", run: raceCreate},
		{key: "race/one takes over a broken lease", run: raceTakeOver},
		{key: "race/no update is lost by IfMatch", run: raceIncrement},
		{key: "race/no update is lost by leases", run: raceLeasedIncrement},
		{key: "race/reads see whole blobs", run: raceReads},
		{key: "race/all create the container", run: raceContainer, bare: true},
	}
}

// race runs f in n goroutines at once and returns the errors by code.
func race(n int, f func(i int) error) map[string]int {
	codes := make([]string, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { codes[i] = code(f(i)) })
	}
	wg.Wait()
	counts := map[string]int{}
	for _, c := range codes {
		counts[c]++
	}
	return counts
}

// oneWinner checks that one got through and all others were told the same.
func oneWinner(t *testing.T, got map[string]int, loser string) {
	t.Helper()
	if got["ok"] != 1 || got[loser] != racers-1 {
		t.Errorf("race of %d = %v, want one ok and %s for the rest", racers, got, loser)
	}
}

func guid(i int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012x", i) }

func raceAcquire(t *testing.T, s store.Store) {
	mustPut(t, s, "a", "", nil)
	oneWinner(t, race(racers, func(i int) error {
		_, err := s.Lease(t.Context(), "a", new(acquire(guid(i), store.MaxLease)))
		return err
	}), held)
}

func racePut(t *testing.T, s store.Store) {
	for range 5 {
		info := mustPut(t, s, "a", "", nil)
		oneWinner(t, race(racers, func(i int) error {
			c := store.Conditions{IfMatch: info.ETag}
			_, err := s.Put(t.Context(), "a", []byte(guid(i)), &store.PutOptions{Conditions: c})
			return err
		}), notMet)
	}
}

func raceCreate(t *testing.T, s store.Store) {
	oneWinner(t, race(racers, func(i int) error {
		c := store.Conditions{IfNoneMatch: store.AnyETag}
		_, err := s.Put(t.Context(), "a", []byte(guid(i)), &store.PutOptions{Conditions: c})
		return err
	}), "BlobAlreadyExists")
}

// raceTakeOver lets the last holder and all others try at once, and write.
func raceTakeOver(t *testing.T, s store.Store) {
	mustPut(t, s, "a", "", nil)
	if _, err := s.Lease(t.Context(), "a", new(acquire(guid(0), store.LeaseInfinite))); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lease(t.Context(), "a", new(breakAfter(0))); err != nil {
		t.Fatal(err)
	}
	counts := race(racers, func(i int) error {
		_, err := s.Lease(t.Context(), "a", new(acquire(guid(i), store.MaxLease)))
		if err != nil {
			return err
		}
		c := store.Conditions{LeaseID: guid(i)}
		_, err = s.Put(t.Context(), "a", []byte(guid(i)), &store.PutOptions{Conditions: c})
		return err
	})
	oneWinner(t, counts, held)
}

func raceIncrement(t *testing.T, s store.Store) {
	racers, each := load(s)
	mustPut(t, s, "n", "0", nil)
	race(racers, func(int) error {
		for done := 0; done < each; {
			err := increment(t, s, "", true)
			if err == nil {
				done++
			} else if !errors.Is(err, store.ErrConditionNotMet) {
				t.Errorf("increment = %v", err)
				return err
			}
		}
		return nil
	})
	if got, want := string(mustGet(t, s, "n").Body), strconv.Itoa(racers*each); got != want {
		t.Errorf("%d increments give %s", racers*each, got)
	}
}

// raceLeasedIncrement takes turns by a lease and writes without an ETag.
func raceLeasedIncrement(t *testing.T, s store.Store) {
	racers, each := load(s)
	mustPut(t, s, "n", "0", nil)
	race(racers, func(i int) error {
		for done := 0; done < each; {
			_, err := s.Lease(t.Context(), "n", new(acquire(guid(i), store.MaxLease)))
			if errors.Is(err, store.ErrLeaseHeld) {
				continue
			}
			if err == nil {
				err = increment(t, s, guid(i), false)
			}
			if err == nil {
				_, err = s.Lease(t.Context(), "n", new(release(guid(i))))
			}
			if err != nil {
				t.Errorf("leased increment = %v", err)
				return err
			}
			done++
		}
		return nil
	})
	if got, want := string(mustGet(t, s, "n").Body), strconv.Itoa(racers*each); got != want {
		t.Errorf("%d increments give %s", racers*each, got)
	}
}

// increment adds one to the number in the blob n.
func increment(t *testing.T, s store.Store, leaseID string, match bool) error {
	object, err := s.Get(t.Context(), "n", nil)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(string(object.Body))
	if err != nil {
		return err
	}
	c := store.Conditions{LeaseID: leaseID}
	if match {
		c.IfMatch = object.ETag
	}
	_, err = s.Put(t.Context(), "n", []byte(strconv.Itoa(n+1)), &store.PutOptions{Conditions: c})
	return err
}

// raceReads writes blobs of one letter and of a size that tells the letter.
func raceReads(t *testing.T, s store.Store) {
	const size = 20_000
	body := func(i int) []byte {
		b := make([]byte, size+i)
		for j := range b {
			b[j] = byte('a' + i%26)
		}
		return b
	}
	if _, err := s.Put(t.Context(), "a", body(0), nil); err != nil {
		t.Fatal(err)
	}
	race(racers, func(i int) error {
		if i%4 == 0 {
			_, err := s.Put(t.Context(), "a", body(i), nil)
			return err
		}
		object, err := s.Get(t.Context(), "a", nil)
		if err != nil {
			t.Errorf("Get() = %v", err)
			return err
		}
		if want := body(len(object.Body) - size); string(object.Body) != string(want) || object.Size != int64(len(want)) {
			t.Errorf("Get() = a body of %d bytes, size %d, that was never put", len(object.Body), object.Size)
		}
		return nil
	})
}

func raceContainer(t *testing.T, s store.Store) {
	got := race(racers, func(int) error { return s.Create(t.Context()) })
	if got["ok"] != racers {
		t.Errorf("race of %d to create the container = %v, want ok for all", racers, got)
	}
}
