package storetest

import "slices"

// Codes of the tables, by their short names.
const (
	blobNone    = "LeaseNotPresentWithBlobOperation"
	blobOther   = "LeaseIdMismatchWithBlobOperation"
	contNone    = "LeaseNotPresentWithContainerOperation"
	contOther   = "LeaseIdMismatchWithContainerOperation"
	noID        = "LeaseIdMissing"
	lost        = "LeaseLost"
	opNone      = "LeaseNotPresentWithLeaseOperation"
	opOther     = "LeaseIdMismatchWithLeaseOperation"
	held        = "LeaseAlreadyPresent"
	noAcquire   = "LeaseIsBreakingAndCannotBeAcquired"
	noChange    = "LeaseIsBreakingAndCannotBeChanged"
	noRenew     = "LeaseIsBrokenAndCannotBeRenewed"
	okAvailable = "ok available"
	okLeasedA   = "ok leased(A)"
	okLeasedB   = "ok leased(B)"
	okLeasedX   = "ok leased(X)"
	okBreakingA = "ok breaking(A)"
	okBroken    = "ok broken"
	okExpired   = "ok expired"
	okGone      = "ok gone"
)

// ended is a cell for which the service documents a 412 and no code.
func ended(kind string) cell {
	if kind == "container" {
		return cell{lost, contOther, contNone}
	}
	return cell{lost, blobOther, blobNone}
}

// useTables are what may be done with a blob or the container in each state of
// its lease.
func useTables() []table {
	return []table{
		{key: "use/blob", rows: blobUse()},
		{key: "use/container", container: true, rows: containerUse()},
	}
}

func blobUse() []row {
	return slices.Concat(
		writeRows(putVerb, okAvailable, okLeasedA, okBreakingA),
		writeRows(deleteVerb, okGone, okGone, okGone),
		readRows(getVerb),
		readRows(statVerb),
	)
}

// writeRows are the uses of a blob by a write that goes through, with what is
// there afterwards: of a blob that nobody holds, or under its lease.
func writeRows(v verb, free, inLeased, inBreaking string) []row {
	return []row{
		{v.name + "(A)", v.ask(under(idA)), [states]cell{{blobNone}, {inLeased}, {inBreaking}, ended("blob"), {lost}}},
		{v.name + "(B)", v.ask(under(idB)), [states]cell{{blobNone}, {blobOther}, {blobOther}, ended("blob"), ended("blob")}},
		{v.name + "()", v.ask(always), [states]cell{{free}, {noID}, {noID}, {free}, {free}}},
	}
}

func readRows(v verb) []row {
	return []row{
		{v.name + "(A)", v.ask(under(idA)), [states]cell{{blobNone}, {okLeasedA}, {okBreakingA}, ended("blob"), ended("blob")}},
		{v.name + "(B)", v.ask(under(idB)), [states]cell{{blobNone}, {blobOther}, {blobOther}, ended("blob"), ended("blob")}},
		{v.name + "()", v.ask(always), [states]cell{{okAvailable}, {okLeasedA}, {okBreakingA}, {okBroken}, {okExpired}}},
	}
}

// containerUse guards nothing but the deletion; the one other request there is
// may prove its lease and does not need to.
func containerUse() []row {
	none := ended("container")
	return []row{
		{"delete(A)", deleteVerb.ask(under(idA)), [states]cell{{contNone}, {okGone}, {okGone}, none, none}},
		{"delete(B)", deleteVerb.ask(under(idB)), [states]cell{{contNone}, {contOther}, {contOther}, none, none}},
		{"delete()", deleteVerb.ask(always), [states]cell{{okGone}, {noID}, {noID}, {okGone}, {okGone}}},
		{"stat(A)", statVerb.ask(under(idA)), [states]cell{{contNone}, {okLeasedA}, {okBreakingA}, none, none}},
		{"stat(B)", statVerb.ask(under(idB)), [states]cell{{contNone}, {contOther}, {contOther}, none, none}},
		{"stat()", statVerb.ask(always), [states]cell{{okAvailable}, {okLeasedA}, {okBreakingA}, {okBroken}, {okExpired}}},
	}
}
