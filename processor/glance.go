package processor

import "github.com/leasestream/leasestream/scope/store"

// glance is what a listing shows of a stream that this worker runs something of.
type glance struct {
	etag, run, steer, commits string
}

func glanceAt(blob *store.Info) glance {
	return glance{blob.ETag, blob.Metadata["run"], blob.Metadata["steer"], blob.Metadata["commits"]}
}

// calls reports whether the stream has to be read, since an event may have been
// taken away from whoever runs it: somebody steered, it is another run, or a
// foreign hand wrote, which leaves no metadata or the ones that were there.
func (g glance) calls(before glance) bool {
	return g.etag != before.etag &&
		(g.run == "" || g.run != before.run || g.steer != before.steer || g.commits == before.commits)
}
