package storetest

import (
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// wrongETag is in the right form and belongs to nothing.
const wrongETag = `"0x0000000000000000"`

// when makes the conditions of a request from what the world remembers.
type when func(w *world) store.Conditions

func always(*world) store.Conditions { return store.Conditions{} }

func ifMatch(etag string) when {
	return func(*world) store.Conditions { return store.Conditions{IfMatch: etag} }
}

func ifNoneMatch(etag string) when {
	return func(*world) store.Conditions { return store.Conditions{IfNoneMatch: etag} }
}

func ifMatchCurrent(w *world) store.Conditions { return store.Conditions{IfMatch: w.etag} }

func ifNoneMatchCurrent(w *world) store.Conditions { return store.Conditions{IfNoneMatch: w.etag} }

// ifModified is since the given time after the last modification, in whole
// seconds as HTTP has them.
func ifModified(since time.Duration) when {
	return func(w *world) store.Conditions {
		return store.Conditions{IfModifiedSince: w.modified.Add(since).Truncate(time.Second)}
	}
}

func ifUnmodified(since time.Duration) when {
	return func(w *world) store.Conditions {
		return store.Conditions{IfUnmodifiedSince: w.modified.Add(since).Truncate(time.Second)}
	}
}

// fraction is a wait that makes a time of modification not a whole second.
const fraction = 300 * time.Millisecond

// both puts two conditions together.
func both(a, b when) when {
	return func(w *world) store.Conditions {
		first, second := a(w), b(w)
		if second.LeaseID != "" {
			first.LeaseID = second.LeaseID
		}
		if second.IfMatch != "" {
			first.IfMatch = second.IfMatch
		}
		if second.IfNoneMatch != "" {
			first.IfNoneMatch = second.IfNoneMatch
		}
		if !second.IfModifiedSince.IsZero() {
			first.IfModifiedSince = second.IfModifiedSince
		}
		if !second.IfUnmodifiedSince.IsZero() {
			first.IfUnmodifiedSince = second.IfUnmodifiedSince
		}
		return first
	}
}

func under(id string) when {
	return func(*world) store.Conditions { return store.Conditions{LeaseID: id} }
}

// verb is a request that takes conditions.
type verb struct {
	name string
	do   func(w *world, c store.Conditions) error
}

var (
	putVerb    = verb{"put", (*world).put}
	getVerb    = verb{"get", (*world).get}
	statVerb   = verb{"stat", (*world).stat}
	deleteVerb = verb{"delete", (*world).remove}
)

// leaseVerb is a lease operation as a verb.
func leaseVerb(r store.LeaseRequest) verb {
	return verb{string(r.Action), func(w *world, c store.Conditions) error {
		r := r
		r.Conditions = c
		_, err := w.lease(r)
		return err
	}}
}

// ask makes the step that sends the request.
func (v verb) ask(c when) step {
	return ask(func(w *world) error { return v.do(w, c(w)) })
}

const (
	notMet   = "ConditionNotMet"
	multiple = "MultipleConditionHeadersNotSupported"
)

// conditionCase is one combination of conditions and whether each kind of
// request goes through with it.
type conditionCase struct {
	name   string
	c      when
	put    string // code; "" for ok
	get    string // of Stat too
	remove string
	onNone string // of a Put that finds no blob; "-" if there is nothing to ask
}

func conditionScenarios() []scenario {
	const hour = time.Hour
	cases := []conditionCase{
		{name: "IfMatch right", c: ifMatchCurrent, onNone: "-"},
		{name: "IfMatch wrong", c: ifMatch(wrongETag), put: notMet, get: notMet, remove: notMet, onNone: notMet},
		{name: "IfMatch any", c: ifMatch(store.AnyETag), onNone: notMet},
		{name: "IfNoneMatch same", c: ifNoneMatchCurrent, put: notMet, get: notMet, remove: notMet, onNone: "-"},
		{name: "IfNoneMatch other", c: ifNoneMatch(wrongETag)},
		{name: "IfNoneMatch any", c: ifNoneMatch(store.AnyETag), put: "BlobAlreadyExists",
			get: "UnsatisfiableCondition", remove: "UnsatisfiableCondition"},
		{name: "IfModifiedSince before", c: ifModified(-hour), onNone: "-"},
		{name: "IfModifiedSince same second", c: ifModified(0), put: notMet, get: notMet, remove: notMet, onNone: "-"},
		{name: "IfUnmodifiedSince same second", c: ifUnmodified(0), onNone: "-"},
		{name: "IfUnmodifiedSince before", c: ifUnmodified(-hour), put: notMet, get: notMet, remove: notMet, onNone: "-"},
		{name: "IfMatch right, IfUnmodifiedSince before", c: both(ifMatchCurrent, ifUnmodified(-hour)), get: notMet, onNone: "-"},
		{name: "IfMatch wrong, IfUnmodifiedSince same", c: both(ifMatch(wrongETag), ifUnmodified(0)),
			put: notMet, get: notMet, remove: notMet, onNone: "-"},
		{name: "IfNoneMatch same, IfModifiedSince before", c: both(ifNoneMatchCurrent, ifModified(-hour)),
			put: notMet, remove: notMet, onNone: "-"},
		{name: "IfNoneMatch other, IfModifiedSince same", c: both(ifNoneMatch(wrongETag), ifModified(0)), onNone: "-"},
		{name: "IfMatch right, IfNoneMatch other", c: both(ifMatchCurrent, ifNoneMatch(wrongETag)),
			put: multiple, remove: multiple, onNone: "-"},
		{name: "IfMatch right, IfModifiedSince before", c: both(ifMatchCurrent, ifModified(-hour)),
			put: multiple, remove: multiple, onNone: "-"},
	}
	var all []scenario
	for _, c := range cases {
		all = append(all, c.scenarios()...)
	}
	return append(all, leaseConditionScenarios()...)
}

func (c conditionCase) scenarios() []scenario {
	expect := func(v verb, code, okState string) scenario {
		want := "ok " + okState
		if code != "" {
			want = code + " available"
		}
		steps := []step{{wait: fraction, act: create}, v.ask(c.c)}
		return scenario{key: "conditions/" + v.name + "/" + c.name, steps: steps, want: []string{want}}
	}
	all := []scenario{
		expect(putVerb, c.put, "available"),
		expect(getVerb, c.get, "available"),
		expect(statVerb, c.get, "available"),
		expect(deleteVerb, c.remove, "gone"),
	}
	if c.onNone != "-" {
		want := "ok available"
		if c.onNone != "" {
			want = c.onNone + " gone"
		}
		all = append(all, scenario{key: "conditions/put on none/" + c.name, steps: []step{putVerb.ask(c.c)}, want: []string{want}})
	}
	return all
}

// leaseConditionScenarios are conditions where leases are: on lease operations,
// and together with a lease ID.
func leaseConditionScenarios() []scenario {
	var all []scenario
	add := func(key string, state int, last step, want ...string) {
		steps := append([]step{{act: create}}, reach(state)...)
		all = append(all, scenario{key: "conditions/" + key, steps: append(steps, last), want: want})
	}
	for _, op := range []struct {
		r     store.LeaseRequest
		state int
		ok    string
	}{
		{acquire(idA, store.MinLease), available, okLeasedA},
		{renew(idA), leased, okLeasedA},
		{change(idA, idB), leased, okLeasedB},
		{release(idA), leased, okAvailable},
		{breakAfter(0), leased, okBroken},
	} {
		v := leaseVerb(op.r)
		add(v.name+"/IfMatch right", op.state, v.ask(ifMatchCurrent), op.ok)
		add(v.name+"/IfMatch wrong", op.state, v.ask(ifMatch(wrongETag)), notMet+" "+unchanged[op.state])
		add(v.name+"/IfUnmodifiedSince before", op.state, v.ask(ifUnmodified(-time.Hour)), notMet+" "+unchanged[op.state])
	}
	still := " leased(A)"
	add("lease right, IfMatch right", leased, putVerb.ask(both(under(idA), ifMatchCurrent)), okLeasedA)
	add("lease right, IfMatch wrong", leased, putVerb.ask(both(under(idA), ifMatch(wrongETag))), notMet+still)
	add("lease wrong, IfMatch right", leased, putVerb.ask(both(under(idB), ifMatchCurrent)), blobOther+still)
	add("lease wrong, IfMatch wrong", leased, putVerb.ask(both(under(idB), ifMatch(wrongETag))), blobOther+still, notMet+still)
	add("lease missing, IfNoneMatch any", leased, putVerb.ask(ifNoneMatch(store.AnyETag)), noID+still)
	add("read under lease, IfNoneMatch same", leased, getVerb.ask(both(under(idA), ifNoneMatchCurrent)), notMet+still)
	return all
}
