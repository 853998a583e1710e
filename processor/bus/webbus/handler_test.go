package webbus_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/leasestream/leasestream/processor/bus"
	"github.com/leasestream/leasestream/processor/bus/webbus"
)

const doorbellEvent = `{"specversion":"1.0","id":"1","source":"leasestream","type":"` + webbus.EventType + `","data":` + doorbellData + `}`

const doorbellData = `{"stream":"order-42","event":"01.00","step":"Search"}`

var doorbell = bus.Doorbell{Stream: "order-42", Event: "01.00", Step: "Search"}

// binaryMode are the attributes of a CloudEvent in the header.
var binaryMode = []string{"ce-specversion", "1.0", "ce-id", "1", "ce-source", "leasestream", "ce-type", webbus.EventType}

// Doorbells come in each mode of the HTTP binding of CloudEvents.
func TestHandler_Modes(t *testing.T) {
	base64 := strings.Replace(doorbellEvent, `"data":`+doorbellData,
		`"datacontenttype":"application/json","data_base64":"eyJzdHJlYW0iOiJvcmRlci00MiIsImV2ZW50IjoiMDEuMDAiLCJzdGVwIjoiU2VhcmNoIn0="`, 1)
	for _, c := range []struct {
		name, contentType, body string
		header                  []string
		want                    int // doorbells
	}{
		{"structured", cloudJSON, doorbellEvent, nil, 1},
		{"structured in base64", cloudJSON, base64, nil, 1},
		{"structured as mere JSON", "application/json", doorbellEvent, nil, 1},
		{"structured with white space", "Application/CloudEvents+JSON", " \r\n\t" + doorbellEvent + "\n", nil, 1},
		{"batch", batchJSON, " \n[" + doorbellEvent + "," + strings.Replace(doorbellEvent, "01.00", "02.00", 1) + "]", nil, 2},
		{"empty batch", batchJSON, "[]", nil, 0},
		{"binary", "application/json", doorbellData, binaryMode, 1},
		{"binary with a subject", "application/json", doorbellData, append([]string{"ce-subject", "order-42"}, binaryMode...), 1},
		{"another type", cloudJSON, strings.Replace(doorbellEvent, webbus.EventType, "com.example.other", 1), nil, 0},
		{"a step that nobody here serves", cloudJSON, strings.Replace(doorbellEvent, "Search", "Other", 1), nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBus(t, nil)
				e := listen(t, b, "Search")
				if w := post(b, c.contentType, c.body, c.header...); w.Code != http.StatusNoContent {
					t.Errorf("answer = %d %s, want 204", w.Code, w.Body)
				}
				synctest.Wait()
				got := e.take()
				if len(got) != c.want || c.want > 0 && got[0] != doorbell {
					t.Errorf("heard %+v, want %d doorbells such as %+v", got, c.want, doorbell)
				}
			})
		})
	}
}

// Whoever has not the token is told so, whatever else is wrong, and rings nothing.
func TestHandler_Token(t *testing.T) {
	for _, c := range []struct {
		authorization string
		want          int
	}{
		{"Bearer " + token, http.StatusNoContent},
		{"BEARER " + token, http.StatusNoContent}, // as Event Grid's documentation writes it
		{"bearer  " + token + " ", http.StatusNoContent},
		{"", http.StatusUnauthorized},
		{"Bearer", http.StatusUnauthorized},
		{"Bearer ", http.StatusUnauthorized},
		{token, http.StatusUnauthorized},
		{"Basic " + token, http.StatusUnauthorized},
		{"Bearer " + token + "x", http.StatusUnauthorized},
		{"Bearer x" + token, http.StatusUnauthorized},
		{"Bearer " + token[1:], http.StatusUnauthorized},
		{"Bearer " + strings.ToUpper(token), http.StatusUnauthorized},
		{"Bearer " + strings.Repeat("x", 1<<16), http.StatusUnauthorized},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBus(t, nil)
			e := listen(t, b, "Search")
			for _, url := range []string{"/", "/?access_token=" + token + "&code=" + token} {
				r := httptest.NewRequest(http.MethodPost, url, strings.NewReader(doorbellEvent))
				r.Header.Set("Authorization", c.authorization)
				r.Header.Set("Content-Type", cloudJSON)
				w := httptest.NewRecorder()
				b.ServeHTTP(w, r)
				if w.Code != c.want {
					t.Errorf("answer to %.40q = %d %s, want %d", c.authorization, w.Code, w.Body, c.want)
				}
				if got := w.Header().Get("WWW-Authenticate"); (got == "Bearer") != (c.want == http.StatusUnauthorized) {
					t.Errorf("WWW-Authenticate of the answer to %.40q = %q", c.authorization, got)
				}
			}
			synctest.Wait()
			if got := e.take(); (len(got) > 0) != (c.want == http.StatusNoContent) {
				t.Errorf("heard %v with %.40q", got, c.authorization)
			}
		})
	}
}

func TestHandler_Methods(t *testing.T) {
	b := newBus(t, nil)
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodTrace, http.MethodConnect, "BREW"} {
		for _, auth := range []string{"", "Bearer " + token} {
			r := httptest.NewRequest(method, "/", strings.NewReader(doorbellEvent))
			r.Header.Set("Authorization", auth)
			w := httptest.NewRecorder()
			b.ServeHTTP(w, r)
			if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "OPTIONS, POST" {
				t.Errorf("answer to %s = %d, Allow %q, want 405, OPTIONS, POST", method, w.Code, w.Header().Get("Allow"))
			}
		}
	}
}

func TestHandler_HostileInput(t *testing.T) {
	grid := func(kind, data string) string {
		return `[{"id":"1","eventType":"` + kind + `","subject":"` + streamSubject + `","data":` + data + `}]`
	}
	const blob, validation = "Microsoft.Storage.BlobCreated", "Microsoft.EventGrid.SubscriptionValidationEvent"
	for _, c := range []struct {
		name, contentType, body string
		header                  []string
		want                    int
	}{
		{"no content type", "", doorbellEvent, nil, 415},
		{"text", "text/plain", doorbellEvent, nil, 415},
		{"form", "application/x-www-form-urlencoded", doorbellEvent, nil, 415},
		{"XML", "application/cloudevents+xml", doorbellEvent, nil, 415},
		{"broken content type", "application/json; =", doorbellEvent, nil, 415},
		{"binary in XML", "text/xml", doorbellEvent, binaryMode, 415},
		{"too large", cloudJSON, strings.Repeat(" ", 2<<20) + doorbellEvent, nil, 413},
		{"too large a batch", batchJSON, "[" + strings.Repeat(doorbellEvent+",", 20_000) + doorbellEvent + "]", nil, 413},
		{"empty", cloudJSON, "", nil, 400},
		{"white space", cloudJSON, "  \n", nil, 400},
		{"not JSON", cloudJSON, "<event/>", nil, 400},
		{"not UTF-8", cloudJSON, "\xff\xfe", nil, 400},
		{"cut off", cloudJSON, doorbellEvent[:40], nil, 400},
		{"two events without a list", cloudJSON, doorbellEvent + doorbellEvent, nil, 400},
		{"cut off batch", batchJSON, "[" + doorbellEvent + ",", nil, 400},
		{"deep", batchJSON, strings.Repeat("[", 100_000), nil, 400},
		{"deep data", cloudJSON, strings.Replace(doorbellEvent, doorbellData, strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000), 1), nil, 400},
		{"null", cloudJSON, "null", nil, 400},
		{"number", cloudJSON, "42", nil, 400},
		{"list of numbers", batchJSON, "[1,2]", nil, 400},
		{"list of lists", batchJSON, "[[" + doorbellEvent + "]]", nil, 400},
		{"object of no schema", "application/json", `{"stream":"order-42"}`, nil, 400},
		{"CloudEvent without ID", cloudJSON, strings.Replace(doorbellEvent, `"id":"1",`, "", 1), nil, 400},
		{"CloudEvent of version 7", cloudJSON, strings.Replace(doorbellEvent, "1.0", "7.0", 1), nil, 400},
		{"CloudEvent with a wrong time", cloudJSON, strings.Replace(doorbellEvent, `"id"`, `"time":"yesterday","id"`, 1), nil, 400},
		{"CloudEvent with a wrong type", cloudJSON, strings.Replace(doorbellEvent, `"1.0"`, `1.0`, 1), nil, 400},
		{"one bad event of many", batchJSON, "[" + doorbellEvent + ",{}]", nil, 400},
		{"binary without attributes", "application/json", doorbellData, []string{"ce-specversion", "1.0"}, 400},
		{"binary of version 7", "application/json", doorbellData, append([]string{"ce-specversion", "7.0"}, binaryMode[2:]...), 400},
		{"binary without data", "application/json", "", binaryMode, 400},
		{"doorbell without data", cloudJSON, strings.Replace(doorbellEvent, doorbellData, "null", 1), nil, 400},
		{"doorbell of numbers", cloudJSON, strings.Replace(doorbellEvent, `"order-42"`, "42", 1), nil, 400},
		{"doorbell without stream", cloudJSON, strings.Replace(doorbellEvent, "order-42", "", 1), nil, 400},
		{"blob without data", gridJSON, strings.Replace(grid(blob, "1"), `,"data":1`, "", 1), nil, 400},
		{"blob with other data", gridJSON, grid(blob, `"text"`), nil, 400},
		{"blob with another ETag", gridJSON, grid(blob, `{"eTag":1}`), nil, 400},
		{"validation without code", gridJSON, grid(validation, `{}`), nil, 400},
		{"validation with a number", gridJSON, grid(validation, `{"validationCode":1}`), nil, 400},
		{"validation without data", gridJSON, grid(validation, `null`), nil, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBus(t, nil)
				e := listen(t, b, "Search")
				w := post(b, c.contentType, c.body, c.header...)
				if w.Code != c.want {
					t.Errorf("answer = %d %s, want %d", w.Code, w.Body, c.want)
				}
				if w.Body.Len() == 0 || w.Body.Len() > 200 || strings.Contains(w.Body.String(), token) {
					t.Errorf("answer = %.300s, want one short line without the token", w.Body)
				}
				synctest.Wait()
				if got := e.take(); got != nil {
					t.Errorf("heard %v, want nothing", got)
				}
			})
		})
	}
}

// endless is a body that never ends, and counts what was read of it.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return copy(p, bytes.Repeat([]byte(" "), len(p))), nil
}

func TestHandler_EndlessBody(t *testing.T) {
	var body endless
	r := httptest.NewRequest(http.MethodPost, "/", &body)
	r.Header.Set("Content-Type", cloudJSON)
	b := newBus(t, nil)
	b.ServeHTTP(httptest.NewRecorder(), r)
	if body.read != 0 {
		t.Errorf("%d bytes were read of a request without the token", body.read)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	if w.Code != http.StatusRequestEntityTooLarge || body.read > 5<<20 {
		t.Errorf("answer = %d after %d bytes, want 413 after about 2 MiB", w.Code, body.read)
	}
}

// A real server and client between: the headers of the handshake go over the
// wire, and a refused body costs the connection only.
func TestHandler_OverSockets(t *testing.T) {
	s := httptest.NewServer(newBus(t, nil))
	defer s.Close()
	do := func(method, body string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), method, s.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", gridJSON)
		r.Header.Set("WebHook-Request-Origin", "eventgrid.azure.net")
		res, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Fatal(err)
		}
		return res
	}
	if got := do(http.MethodOptions, "").Header.Get("WebHook-Allowed-Origin"); got != "eventgrid.azure.net" {
		t.Errorf("allowed origin = %q, want eventgrid.azure.net", got)
	}
	for _, c := range []struct {
		method, body string
		want         int
	}{
		{http.MethodPost, documented(t, "grid-validation.json"), 200},
		{http.MethodPost, documented(t, "grid-blob-created.json"), 204},
		{http.MethodPost, strings.Repeat(" ", 2<<20+1), 413},
		{http.MethodGet, "", 405},
	} {
		if got := do(c.method, c.body).StatusCode; got != c.want {
			t.Errorf("answer to %s %.20q = %d, want %d", c.method, c.body, got, c.want)
		}
	}
}

func FuzzHandler(f *testing.F) {
	for _, name := range []string{"grid-blob-created.json", "grid-validation.json", "cloudevents-blob-created.json", "cloudevents-blob-created-batch.json"} {
		f.Add("POST", "Bearer "+token, gridJSON, "", "", documented(f, name))
	}
	f.Add("POST", "Bearer "+token, cloudJSON, "", "", doorbellEvent)
	f.Add("POST", "Bearer "+token, "application/json", "1.0", webbus.EventType, doorbellData)
	f.Add("OPTIONS", "", "", "", "", "")
	f.Add("GET", "Basic x", "text/plain", "0.3", "x", "<a/>")
	var owned bool
	b, err := webbus.New(token, &webbus.Options{Own: func(string) bool { owned = true; return true }})
	if err != nil {
		f.Fatal(err)
	}
	defer b.Close()
	f.Fuzz(func(t *testing.T, method, authorization, contentType, version, kind, body string) {
		owned = false
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Method = method
		for name, value := range map[string]string{
			"Authorization": authorization, "Content-Type": contentType, "WebHook-Request-Origin": contentType,
			"Ce-Specversion": version, "Ce-Type": kind, "Ce-Id": "1", "Ce-Source": "x",
		} {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		b.ServeHTTP(w, r)
		if !slices.Contains([]int{200, 204, 400, 401, 405, 413, 415}, w.Code) {
			t.Errorf("answer = %d %s", w.Code, w.Body)
		}
		authorized := strings.Contains(authorization, token)
		if method == http.MethodPost && !authorized && (w.Code != http.StatusUnauthorized || owned) {
			t.Errorf("answer without the token = %d, want 401", w.Code)
		}
		if strings.Contains(fmt.Sprint(w.Header(), w.Body), token) && !strings.Contains(contentType+body, token) {
			t.Errorf("answer %v %s tells the token", w.Header(), w.Body)
		}
	})
}
