package storetest

import (
	"fmt"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// past is a wait after which a shortest lease has ended for sure; later is one
// that a service sees and that leaves most of such a lease.
const (
	past  = store.MinLease + slack
	later = 2 * time.Second
)

// look answers with the state only.
func look() step { return step{act: (*world).state} }

// early answers with the state of a lease of the shortest duration that has not
// ended yet, and as if it had not where the look came too late to tell.
func early() step {
	return step{act: func(w *world) string {
		state := w.state()
		if tooLate := time.Since(w.granted) > store.MinLease-slack; tooLate && state == "expired" {
			return "leased(A)"
		}
		return state
	}}
}

// leaseTimeScenarios are what becomes of leases as time passes and blobs are
// modified.
func leaseTimeScenarios() []scenario {
	var all []scenario
	add := func(key, want string, steps ...step) {
		all = append(all, scenario{key: "time/" + key, steps: append([]step{{act: create}}, steps...), want: []string{want}})
	}
	short, forever := acquire(idA, store.MinLease), acquire(idA, store.LeaseInfinite)
	add("leased passes to expired", "expired", do(short), look().after(past))
	add("breaking passes to broken", "broken", do(acquire(idA, store.MaxLease), breakAfter(store.MinLease)), look().after(past))
	add("infinite stays", "leased(A)", do(forever), look().after(past))
	add("broken stays", "broken", do(short, breakAfter(0)), look().after(past))

	add("renewal begins the time anew", "leased(A)", do(short), do(renew(idA)).after(past-2*later), early().after(2*later))
	add("renewal does not last for ever", "expired", do(short), do(renew(idA)).after(later), look().after(past))
	add("renewal grants the same duration", "leased(A)", do(acquire(idA, store.MaxLease), renew(idA)), look().after(past))
	add("renewal of an infinite lease", "leased(A)", do(forever, renew(idA)), look().after(past))
	add("change does not renew", "expired", do(short), do(change(idA, idB)).after(later), look().after(past-later))
	add("acquire anew makes it longer", "leased(A)", do(short, forever), look().after(past))
	add("acquire anew makes it shorter", "expired", do(forever, short), look().after(past))
	add("renewal after expiry lasts again", "leased(A)", do(short), do(renew(idA)).after(past), early().after(later))
	add("break with a longer period changes nothing", "broken", do(short, breakAfter(store.MaxBreakPeriod)), look().after(past))

	all = append(all, breakScenarios()...)
	return append(all, fateScenarios()...)
}

// fateScenarios ask who may still renew or release after what happened to the
// blob.
func fateScenarios() []scenario {
	var all []scenario
	short := acquire(idA, store.MinLease)
	fates := []struct {
		name    string
		happens []step
		fresh   bool // it is still the blob that A left
	}{
		{"nothing", nil, true},
		{"a read", []step{must(getVerb, always)}, true},
		{"a write", []step{must(putVerb, always)}, false},
		{"delete and create", []step{must(deleteVerb, always), {act: create}}, false},
		{"lease of B, released", []step{do(acquire(idB, store.MinLease), release(idB))}, false},
		{"a release", []step{do(release(idA))}, false},
		{"a refused write of A", []step{refused(putVerb, under(idA))}, true},
		{"a refused write of B", []step{refused(putVerb, under(idB))}, true},
	}
	for _, f := range fates {
		renewed, released := opOther+" available", opOther+" available"
		if f.fresh {
			renewed, released = okLeasedA, okAvailable
		}
		for _, last := range []struct {
			r    store.LeaseRequest
			want string
		}{{renew(idA), renewed}, {release(idA), released}} {
			steps := []step{{act: create}, do(short), nothing().after(past)}
			steps = append(append(steps, f.happens...), askLease(last.r))
			key := fmt.Sprintf("fate/expired, then %s, then %s", f.name, last.r.Action)
			all = append(all, scenario{key: key, steps: steps, want: []string{last.want}})
		}
	}
	leasedDelete := []step{{act: create}, do(short), must(deleteVerb, under(idA)), {act: create}, look()}
	return append(all,
		scenario{key: "fate/deleted under the lease, created again", steps: leasedDelete, want: []string{"available"}},
		scenario{key: "fate/changed, then the old ID writes", want: []string{blobOther + " leased(B)"},
			steps: []step{{act: create}, do(short, change(idA, idB)), putVerb.ask(under(idA))}},
		scenario{key: "fate/broken, then a write, then renew", want: []string{opOther + " available"},
			steps: []step{{act: create}, do(short, breakAfter(0)), must(putVerb, always), askLease(renew(idA))}},
	)
}

func nothing() step { return step{act: func(*world) string { return "" }} }

// must makes a step of a request that has to succeed.
func must(v verb, c when) step {
	return step{act: func(w *world) string {
		if err := v.do(w, c(w)); err != nil {
			return v.name + ": " + code(err)
		}
		return ""
	}}
}

// refused makes a step of a request that has to fail.
func refused(v verb, c when) step {
	return step{act: func(w *world) string {
		if v.do(w, c(w)) == nil {
			return v.name + " went through"
		}
		return ""
	}}
}

// breakScenarios are the arithmetic of break periods. The answer is the time
// that remains, which a service tells in whole seconds.
func breakScenarios() []scenario {
	const s = time.Second
	natural := store.BreakNaturally
	cases := []struct {
		name    string
		lease   time.Duration
		periods []time.Duration
		want    time.Duration
	}{
		{"15s lease, period 60s", 15 * s, []time.Duration{60 * s}, 15 * s},
		{"15s lease, periods 60s and 5s", 15 * s, []time.Duration{60 * s, 5 * s}, 5 * s},
		{"15s lease, periods 60s, 5s and 40s", 15 * s, []time.Duration{60 * s, 5 * s, 40 * s}, 5 * s},
		{"60s lease, period 20s", 60 * s, []time.Duration{20 * s}, 20 * s},
		{"60s lease, no period", 60 * s, []time.Duration{natural}, 60 * s},
		{"60s lease, period 20s and none", 60 * s, []time.Duration{20 * s, natural}, 20 * s},
		{"60s lease, period 0s", 60 * s, []time.Duration{0}, 0},
		{"60s lease, periods 0s and 20s", 60 * s, []time.Duration{0, 20 * s}, 0},
		{"infinite lease, no period", store.LeaseInfinite, []time.Duration{natural}, 0},
		{"infinite lease, period 60s", store.LeaseInfinite, []time.Duration{60 * s}, 60 * s},
		{"infinite lease, periods 60s and none", store.LeaseInfinite, []time.Duration{60 * s, natural}, 60 * s},
	}
	var all []scenario
	for _, c := range cases {
		steps := []step{{act: create}, breaks(c.lease, c.periods, c.want)}
		all = append(all, scenario{key: "break/" + c.name, steps: steps, want: []string{c.want.String() + " left"}})
	}
	passed := []step{{act: create}, do(acquire(idA, store.LeaseInfinite), breakAfter(5*s)),
		askLease(acquire(idB, 15*s)).after(5*s + slack)}
	return append(all, scenario{key: "break/acquirable after the period", steps: passed, want: []string{okLeasedB}})
}

// breaks takes a lease and breaks it again and again. It answers what remains in
// the end; if that is right but for the time that has passed meanwhile, and for
// the seconds in which a service counts, then with the right value.
func breaks(lease time.Duration, periods []time.Duration, want time.Duration) step {
	return step{act: func(w *world) string {
		began := time.Now()
		result, err := w.lease(acquire(idA, lease))
		for _, period := range periods {
			if err == nil {
				result, err = w.lease(breakAfter(period))
			}
		}
		if err != nil {
			return code(err)
		}
		missing, passed := want-result.Remaining, time.Since(began)
		if -w.slack() <= missing && missing <= passed+w.slack() {
			return want.String() + " left"
		}
		return fmt.Sprintf("%v left after %v", result.Remaining, passed)
	}}
}
