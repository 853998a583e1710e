package azurestore_test

import (
	"fmt"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/azurestore"
)

func ExampleOpen() {
	s, err := azurestore.Open("http://127.0.0.1:10000/devstoreaccount1/runs", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	fmt.Println("local:", store.IsLocal(s))

	_, err = azurestore.Open("http://127.0.0.1:10000/runs", nil)
	fmt.Println(err)
	// Output:
	// local: false
	// wrong URL of a container: its path is neither /CONTAINER nor, on a bare address, /ACCOUNT/CONTAINER (examples: https://ACCOUNT.blob.core.windows.net/CONTAINER, http://127.0.0.1:10000/devstoreaccount1/CONTAINER)
}
