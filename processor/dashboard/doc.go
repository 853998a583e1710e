// Package dashboard shows the runs of a container in a browser, and steers them
// from there.
//
//	d := dashboard.New(p, dashboard.Token(token, "operator"), &dashboard.Options{Prefix: "/flows"})
//	defer d.Close()
//	mux.Handle("/flows/", d)
//
// Pages are made on the server and work without scripts; a script of a few lines
// adds live updates and local times. All assets are embedded, nothing is loaded
// from elsewhere.
//
// # Who may see it
//
// Nothing at all — no page, no event stream, no asset — is answered before the
// Auth that New was given has let the request in. Token is the one for a dashboard
// that stands alone; whoever mounts it in a server with users brings their own.
// Writes from other origins are refused, and so is every write of a dashboard that
// is ReadOnly.
//
// # What it costs
//
// Streams are read without a lease, so that nobody waits for who looks. A document
// is read once for each of its versions, however many look at it. Open pages are
// kept up to date by one look for each subject, shared by all who watch it: for a
// run a request every 50 ms on a local store and every 2 s elsewhere, for lists a
// listing every 200 ms and 2 s, for workers and leases every 1 s and 5 s, and none
// when the last page is closed. A local store that nobody writes is looked at once
// a second.
//
// # What it trusts
//
// Names, attributes and payloads in a store may be anybody's. They are shown as
// text, and what is long is cut, with a link to all of it. A definition is read
// and drawn; no step of it ever runs here.
package dashboard
