package dashboard_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/leasestream/leasestream/processor"
	"github.com/leasestream/leasestream/processor/dashboard"
	"github.com/leasestream/leasestream/scope"
	"github.com/leasestream/leasestream/scope/store/memstore"
)

// A server that knows its users mounts the dashboard under a path of its own, and
// says who they are.
func Example() {
	st := memstore.New(nil)
	if err := st.Create(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	sc := scope.New(st, nil)
	defer sc.Close()

	users := func(w http.ResponseWriter, r *http.Request) (string, bool) {
		user, password, _ := r.BasicAuth()
		if user != "ada" || password != "lovelace" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return "", false
		}
		return user, true
	}
	board := dashboard.New(processor.New(sc, nil), users, &dashboard.Options{Prefix: "/flows", Title: "orders"})
	defer board.Close()

	mux := http.NewServeMux()
	mux.Handle("/flows/", board)

	for _, password := range []string{"", "lovelace"} {
		r := httptest.NewRequest("GET", "/flows/", nil)
		r.SetBasicAuth("ada", password)
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, r)
		fmt.Println(answer.Code, strings.Contains(answer.Body.String(), "<h1>Runs</h1>"))
	}
	// Output:
	// 401 false
	// 200 true
}
