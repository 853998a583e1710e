// Package webbus carries doorbells over HTTP, as CloudEvents: no broker is needed
// where workers can reach each other. The same endpoint takes Azure Event Grid's
// Microsoft.Storage.BlobCreated, so that a storage account rings the workers by
// itself.
//
// # Between workers
//
// A [Bus] is an http.Handler. A worker mounts it, publishes the URL in its blob
// (WorkOptions.URL of package processor), and finds the others by Options.Peers,
// for which Processor.Peers is made:
//
//	var p *processor.Processor
//	b, err := webbus.New(token, &webbus.Options{
//		Peers: func(ctx context.Context, bell bus.Doorbell) ([]string, error) { return p.Peers(ctx, bell) },
//		Own:   func(etag string) bool { return p.Wrote(etag) },
//	})
//	…
//	p = processor.New(sc, &processor.Options{Bus: b})
//
// [Bus.Ring] posts a batch of CloudEvents of type [EventType] to each worker that
// it chose: each doorbell to one of those that can do something about it, one
// without a step to all. It tries once; who is not reached finds the events by
// polling.
//
// # The token
//
// Every POST carries the token that all workers share, as "Authorization: Bearer
// TOKEN". It is compared in constant time, taken from that header alone, sent to
// peers alone (redirects are not followed), and stands in no error. Who has it
// can make workers look at streams, and nothing else. Whoever can write into the
// container can publish a URL, and so be sent the token.
//
// # Azure Event Grid
//
// Subscribe the storage account to the URL of a worker, or of a balancer before
// them, in either schema:
//
//	az eventgrid event-subscription create --name leasestream \
//	  --source-resource-id STORAGE-ACCOUNT --endpoint https://HOST/PATH \
//	  --included-event-types Microsoft.Storage.BlobCreated \
//	  --subject-begins-with /blobServices/default/containers/CONTAINER/blobs/streams/ \
//	  --subject-ends-with .xml \
//	  --delivery-attribute-mapping Authorization static 'Bearer TOKEN' true
//
// Both handshakes are answered: the OPTIONS request of CloudEvents, which carries
// no token and grants nothing but the right to try, and the validation event of
// the Event Grid schema, which must have the token. No URL that a request names
// is ever called.
//
// A blob streams/NAME.xml that somebody else wrote becomes a doorbell without a
// step for stream NAME, heard by all that listen on this bus. The first of a
// burst rings at once, what follows at most once per Options.Quiet. All other
// blobs and events are taken and ignored.
package webbus
