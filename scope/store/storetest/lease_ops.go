package storetest

import (
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// leaseTables are the lease operations in each state of the lease. Blob and
// container have the same table: the one difference in the documentation, that
// an expired container lease can always be renewed, is about containers that
// were modified, and nothing in this interface modifies one.
func leaseTables() []table {
	return []table{
		{key: "lease/blob", rows: leaseOperations()},
		{key: "lease/container", container: true, rows: leaseOperations()},
	}
}

func leaseOperations() []row {
	const period = 30 * time.Second
	return []row{
		{"acquire()", askLease(acquire("", store.MinLease)), [states]cell{{okLeasedX}, {held}, {held}, {okLeasedX}, {okLeasedX}}},
		{"acquire(A)", askLease(acquire(idA, store.MinLease)), [states]cell{{okLeasedA}, {okLeasedA}, {noAcquire}, {okLeasedA}, {okLeasedA}}},
		{"acquire(B)", askLease(acquire(idB, store.MinLease)), [states]cell{{okLeasedB}, {held}, {held}, {okLeasedB}, {okLeasedB}}},
		{"break(0)", askLease(breakAfter(0)), [states]cell{{opNone}, {okBroken}, {okBroken}, {okBroken}, {okBroken}}},
		{"break(30s)", askLease(breakAfter(period)), [states]cell{{opNone}, {okBreakingA}, {okBreakingA}, {okBroken}, {okBroken}}},
		{"break()", askLease(breakAfter(store.BreakNaturally)), [states]cell{{opNone}, {okBreakingA}, {okBreakingA}, {okBroken}, {okBroken}}},
		{"change(A,B)", askLease(change(idA, idB)), [states]cell{{opNone}, {okLeasedB}, {noChange}, {opNone}, {opNone}}},
		{"change(B,A)", askLease(change(idB, idA)), [states]cell{{opNone}, {okLeasedA}, {opOther}, {opNone}, {opNone, opOther}}},
		{"change(B,C)", askLease(change(idB, idC)), [states]cell{{opNone}, {opOther}, {opOther}, {opNone}, {opNone, opOther}}},
		{"renew(A)", askLease(renew(idA)), [states]cell{{opOther}, {okLeasedA}, {noRenew}, {noRenew}, {okLeasedA}}},
		{"renew(B)", askLease(renew(idB)), [states]cell{{opOther}, {opOther}, {opOther}, {opOther}, {opOther}}},
		{"release(A)", askLease(release(idA)), [states]cell{{opOther}, {okAvailable}, {okAvailable}, {okAvailable}, {okAvailable}}},
		{"release(B)", askLease(release(idB)), [states]cell{{opOther}, {opOther}, {opOther}, {opOther}, {opOther}}},
	}
}
