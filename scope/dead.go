package scope

import "github.com/leasestream/leasestream/scope/store"

// IsDead reports whether the process that acquired a lease has certainly ended.
// That can be known only of processes of this machine, this boot and this pid
// namespace, and only where the store keeps holders; of all others it is false.
func (s *Scope) IsDead(h *store.Holder) bool { return s.procs.dead(h) }
