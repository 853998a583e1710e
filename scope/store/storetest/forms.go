package storetest

import (
	"strings"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// formScenarios are requests that are wrong in themselves or about something
// that is not there, and the forms in which a lease ID may come.
func formScenarios() []scenario {
	const invalid, missing = "InvalidHeaderValue", "MissingRequiredHeader"
	var all []scenario
	add := func(key string, state int, last step, want string) {
		steps := append([]step{{act: create}}, reach(state)...)
		all = append(all, scenario{key: "form/" + key, steps: append(steps, last), want: []string{want}})
	}
	for _, d := range []time.Duration{0, time.Second, 14 * time.Second, 15500 * time.Millisecond, 61 * time.Second, -2} {
		add("acquire for "+d.String(), available, askLease(acquire(idA, d)), invalid+" available")
	}
	for _, d := range []time.Duration{1500 * time.Millisecond, 61 * time.Second, -time.Second} {
		add("break after "+d.String(), leased, askLease(breakAfter(d)), invalid+" leased(A)")
	}
	for _, id := range []string{"hello", idA[1:], idA + "0", strings.Replace(idA, "-", "0", 1), "{" + idA, "(" + idA + "}"} {
		add("acquire with ID "+id, available, askLease(acquire(id, store.MinLease)), invalid+" available")
		add("put with ID "+id, leased, putVerb.ask(under(id)), invalid+" leased(A)")
	}
	add("change to no GUID", leased, askLease(change(idA, "hello")), invalid+" leased(A)")
	add("change to no ID", leased, askLease(change(idA, "")), missing+" leased(A)")
	add("change from no ID", leased, askLease(change("", idB)), missing+" leased(A)")
	add("renew without ID", leased, askLease(renew("")), missing+" leased(A)")
	add("release without ID", leased, askLease(release("")), missing+" leased(A)")
	add("unknown action", leased, askLease(store.LeaseRequest{Action: "steal"}), invalid+" leased(A)")
	for _, id := range spellingsOfA {
		add("acquire with ID "+id, available, askLease(acquire(id, store.MinLease)), okLeasedA)
		add("renew with ID "+id, leased, askLease(renew(id)), okLeasedA)
		add("put with ID "+id, leased, putVerb.ask(under(id)), okLeasedA)
	}
	return append(all, missingScenarios()...)
}

// spellingsOfA are the forms of idA.
var spellingsOfA = []string{
	strings.ToUpper(idA),
	strings.ReplaceAll(idA, "-", ""),
	"{" + idA + "}",
	"(" + idA + ")",
	"{0xaaaaaaaa,0x0000,0x4000,{0x80,0x00,0x00,0x00,0x00,0x00,0x00,0x0a}}",
}

// missingScenarios are about a blob that does not exist.
func missingScenarios() []scenario {
	var all []scenario
	for _, v := range []verb{getVerb, statVerb, deleteVerb, leaseVerb(acquire(idA, store.MinLease)), leaseVerb(renew(idA)),
		leaseVerb(change(idA, idB)), leaseVerb(release(idA)), leaseVerb(breakAfter(0))} {
		all = append(all, scenario{key: "missing/" + v.name, steps: []step{v.ask(always)}, want: []string{"BlobNotFound gone"}})
	}
	withID := scenario{key: "missing/put under a lease", steps: []step{putVerb.ask(under(idA))}, want: []string{blobNone + " gone"}}
	return append(all, withID)
}
