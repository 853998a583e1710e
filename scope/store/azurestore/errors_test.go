package azurestore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/leasestream/leasestream/scope/store"
	"github.com/leasestream/leasestream/scope/store/azurestore"
)

func TestStore_Sentinels(t *testing.T) {
	for _, test := range []struct {
		status int
		code   string
		want   error // nil: unknown outcome
	}{
		{404, "BlobNotFound", store.ErrNotFound},
		{404, "ContainerNotFound", store.ErrContainerNotFound},
		{404, "ResourceNotFound", store.ErrInvalid},
		{409, "BlobAlreadyExists", store.ErrExists},
		{409, "LeaseAlreadyPresent", store.ErrLeaseHeld},
		{409, "SnapshotsPresent", store.ErrInvalid},
		{412, "LeaseIdMissing", store.ErrLeaseMissing},
		{409, "LeaseIdMismatchWithBlobOperation", store.ErrLeaseMismatch},
		{412, "LeaseLost", store.ErrLeaseLost},
		{412, "SourceConditionNotMet", store.ErrConditionNotMet},
		{400, "InvalidHeaderValue", store.ErrInvalid},
		{400, "", store.ErrInvalid},
		{401, "", store.ErrUnauthorized},
		{403, "AuthenticationFailed", store.ErrUnauthorized},
		{403, "SomethingNew", store.ErrUnauthorized},
		{413, "", store.ErrTooLarge},
		{408, "", nil},
		{429, "", store.ErrThrottled},
		{500, "InternalError", nil},
		{500, "OperationTimedOut", nil},
		{502, "", nil},
		{503, "ServerBusy", store.ErrThrottled},
		{503, "", nil},
		{500, "BlobNotFound", nil},
		{307, "", nil},
	} {
		s, _ := serve(t, status(test.status, test.code))
		_, err := s.Put(t.Context(), "a", nil, nil)
		e, ok := errors.AsType[*store.Error](err)
		if !ok || e.Sentinel != test.want || e.Code != test.code || e.RequestID != "request-7" || e.Op != "put" || e.Name != "a" {
			t.Errorf("%d %s = %#v, want sentinel %v", test.status, test.code, e, test.want)
		}
		if answer, ok := errors.AsType[*azcore.ResponseError](err); !ok || answer.StatusCode != test.status {
			t.Errorf("%d %s: the SDK's error cannot be reached", test.status, test.code)
		}
	}
}

func TestStore_ErrorText(t *testing.T) {
	for _, test := range []struct {
		answer http.HandlerFunc
		want   string
	}{
		{status(404, "BlobNotFound"), `get "a": blob not found (BlobNotFound, request request-7)`},
		{status(403, "AuthenticationFailed"), `get "a": not authorized: the shared access signature in the store URL may have expired ` +
			`or lack a permission: it needs read, write, delete and list (AuthenticationFailed, request request-7)`},
		{status(501, ""), `get "a": HTTP 501 Not Implemented`},
	} {
		s, _ := serve(t, test.answer)
		if _, err := s.Get(t.Context(), "a", nil); err == nil || err.Error() != test.want {
			t.Errorf("Get() = %v, want %s", err, test.want)
		}
	}
}

func TestStore_CreateExisting(t *testing.T) {
	s, _ := serve(t, status(http.StatusConflict, "ContainerAlreadyExists"))
	if err := s.Create(t.Context()); err != nil {
		t.Errorf("Create() of a container that is there = %v", err)
	}
}

// printed is an error in all ways in which one gets printed.
func printed(err error) string {
	var b strings.Builder
	slog.New(slog.NewJSONHandler(&b, nil)).Error("failed", "err", err)
	slog.New(slog.NewTextHandler(&b, nil)).Error("failed", "err", err)
	fmt.Fprintf(&b, "%v %+v %#v %s %q", err, err, err, err, err)
	for _, inner := range unwrapped(err) {
		fmt.Fprintf(&b, "%v %+v %#v", inner, inner, inner)
	}
	return b.String()
}

// unwrapped is the whole tree beneath an error.
func unwrapped(err error) []error {
	var all []error
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		all = append(all, e.Unwrap())
	case interface{ Unwrap() []error }:
		all = e.Unwrap()
	}
	for _, inner := range all {
		all = append(all, unwrapped(inner)...)
	}
	return all
}

func TestStore_ErrorsHaveNoSecret(t *testing.T) {
	for name, broken := range map[string]*service{
		"no connection": {answer: succeed, err: errors.New("connection reset")},
		"server error":  {answer: status(http.StatusBadGateway, "")},
		"wrong signature": {answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, "<Error><Code>AuthenticationFailed</Code><AuthenticationErrorDetail>%s</AuthenticationErrorDetail></Error>", testSignature)
		}},
	} {
		for _, c := range calls() {
			synctest.Test(t, func(t *testing.T) {
				s := open(t, signedURL, &azurestore.Options{Transport: &service{answer: broken.answer, err: broken.err}})
				err := c.do(t.Context(), s)
				if err == nil {
					t.Fatalf("%s: %s succeeded", name, c.name)
				}
				if strings.Contains(printed(err), testSignature) {
					t.Errorf("%s: %s shows the signature: %v", name, c.name, err)
				}
			})
		}
	}
}

func TestStore_TransportErrorsStayReachable(t *testing.T) {
	s, svc := serve(t, succeed)
	svc.err = io.ErrUnexpectedEOF
	_, err := s.Put(t.Context(), "a", nil, nil)
	if sent, ok := errors.AsType[*url.Error](err); !ok || sent.Err != io.ErrUnexpectedEOF {
		t.Errorf("Put() = %v: the error of the transport cannot be reached", err)
	}
}

// tokens is a credential that fails.
type tokens struct{ err error }

func (c tokens) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{}, c.err
}

func TestStore_SignInFails(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		want error
	}{
		{"nobody is signed in", azidentity.NewCredentialUnavailableError("run az login"), store.ErrUnauthorized},
		{"refused", &azidentity.AuthenticationFailedError{RawResponse: refusal()}, store.ErrUnauthorized},
		{"unreachable", errors.New("no such host"), nil},
	} {
		svc := &service{answer: succeed}
		s := open(t, "https://orders.blob.core.windows.net/runs", &azurestore.Options{Transport: svc, Credential: tokens{test.err}})
		_, err := s.Put(t.Context(), "a", nil, nil)
		e, ok := errors.AsType[*store.Error](err)
		if !ok || e.Sentinel != test.want || len(svc.sent()) != 0 {
			t.Errorf("%s: Put() = %v with %d requests, want %v with none", test.name, err, len(svc.sent()), test.want)
		}
	}
}

func refusal() *http.Response {
	return &http.Response{
		StatusCode: http.StatusUnauthorized,
		Request:    &http.Request{Method: http.MethodPost, URL: &url.URL{Scheme: "https", Host: "login.example.com"}},
		Body:       io.NopCloser(bytes.NewReader(nil)),
	}
}

func TestStore_SignInSaysWhatToDo(t *testing.T) {
	s := open(t, "https://orders.blob.core.windows.net/runs", &azurestore.Options{
		Transport:  &service{answer: succeed},
		Credential: tokens{azidentity.NewCredentialUnavailableError("run az login")},
	})
	_, err := s.Stat(t.Context(), "", nil)
	if err == nil || !strings.Contains(err.Error(), "run az login") || !strings.Contains(err.Error(), "Storage Blob Data Contributor") {
		t.Errorf("Stat() = %v, want what to do", err)
	}
}
