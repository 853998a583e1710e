package meter_test

import (
	"context"
	"fmt"
	"log"

	"github.com/leasestream/leasestream/cmd/leasebench/internal/meter"
	"github.com/leasestream/leasestream/scope/store/memstore"
)

func Example() {
	ctx := context.Background()
	m := meter.Meter{Prefix: "streams/"}
	st := m.Wrap(memstore.New(nil))
	if err := st.Create(ctx); err != nil {
		log.Fatal(err)
	}
	if _, err := st.Put(ctx, "streams/a.xml", []byte("<EventStream/>"), nil); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%+v\n", m.Counts())
	// Output: {Requests:2 Written:14 Read:0 Puts:[{Blob:streams/a.xml Size:14 Changed:14}]}
}
