package azurestore

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

// The environment variables that hold credentials.
const (
	connectionStringVar = "AZURE_STORAGE_CONNECTION_STRING"
	keyVar              = "AZURE_STORAGE_KEY"
)

// emulatorKey is the published key of the emulator's account. It guards nothing.
const emulatorKey = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

// credentials are one of a signature, a key and a token, and a word on where
// they came from, for errors.
type credentials struct {
	signature string
	key       string
	token     azcore.TokenCredential
	hint      string
}

// connect makes the client of a container with the credentials that there are.
func connect(a address, token azcore.TokenCredential, o *container.ClientOptions) (*container.Client, string, error) {
	c, err := findCredentials(a, token)
	if err != nil {
		return nil, "", err
	}
	client, err := c.client(a, o)
	return client, c.hint, err
}

func (c credentials) client(a address, o *container.ClientOptions) (*container.Client, error) {
	switch {
	case c.signature != "":
		return container.NewClientWithNoCredential(a.container+"?"+c.signature, o)
	case c.token != nil:
		return container.NewClient(a.container, signIn{c.token}, o)
	}
	shared, err := c.sharedKey(a)
	if err != nil {
		return nil, err
	}
	return container.NewClientWithSharedKeyCredential(a.container, shared, o)
}

func (c credentials) sharedKey(a address) (*container.SharedKeyCredential, error) {
	shared, err := container.NewSharedKeyCredential(a.account, c.key)
	if err != nil {
		return nil, fmt.Errorf("the key of account %q is not base64: look at %s and %s", a.account, keyVar, connectionStringVar)
	}
	return shared, nil
}

func findCredentials(a address, token azcore.TokenCredential) (credentials, error) {
	if a.signature != "" {
		return credentials{signature: a.signature, hint: signatureHint("the store URL")}, nil
	}
	if token != nil {
		return credentials{token: token, hint: tokenHint(a)}, nil
	}
	if text := os.Getenv(connectionStringVar); text != "" {
		c, account, err := parseConnectionString(text)
		if err != nil || account == a.account {
			return c, err
		}
		if !a.emulator {
			return c, fmt.Errorf("%s is of account %q and the store URL of account %q: make them agree or unset the variable",
				connectionStringVar, account, a.account)
		}
	}
	if a.emulator {
		return credentials{key: emulatorKey, hint: "has this Azurite accounts of its own? Then give the key in " + connectionStringVar}, nil
	}
	if key := os.Getenv(keyVar); key != "" {
		return credentials{key: key, hint: keyHint(keyVar, a.account)}, nil
	}
	if strings.HasPrefix(a.container, "http://") {
		return credentials{}, fmt.Errorf("no key for account %q: a login of Azure needs https://, and over http:// set %s or %s",
			a.account, connectionStringVar, keyVar)
	}
	token, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return credentials{}, fmt.Errorf("no credentials for account %q: %w; set %s or %s, or sign in with az login",
			a.account, err, connectionStringVar, keyVar)
	}
	return credentials{token: token, hint: tokenHint(a)}, nil
}

// parseConnectionString reads the parts that matter here: the account, and its
// key or signature. Its errors show nothing of the text.
func parseConnectionString(text string) (c credentials, account string, err error) {
	parts := map[string]string{}
	for part := range strings.SplitSeq(text, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		parts[strings.ToLower(name)] = value
	}
	if strings.EqualFold(parts["usedevelopmentstorage"], "true") {
		parts["accountname"], parts["accountkey"] = emulatorAccount, emulatorKey
	}
	if account = parts["accountname"]; account == "" {
		account = accountOf(parts["blobendpoint"])
	}
	signature, key := strings.TrimPrefix(parts["sharedaccesssignature"], "?"), parts["accountkey"]
	switch {
	case account == "" || signature == "" && key == "":
		err = errors.New(connectionStringVar + " has no account with a key or a signature: " +
			"it needs AccountName and AccountKey, or BlobEndpoint and SharedAccessSignature")
	case key != "":
		c = credentials{key: key, hint: keyHint(connectionStringVar, account)}
	default:
		c = credentials{signature: signature, hint: signatureHint(connectionStringVar)}
	}
	return c, account, err
}

// accountOf is the account of a blob endpoint, "" if it has none.
func accountOf(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return ""
	}
	account, _, _ := cutPath(u.JoinPath("container"))
	return account
}

func signatureHint(where string) string {
	return "the shared access signature in " + where + " may have expired or lack a permission: it needs read, write, delete and list"
}

func keyHint(where, account string) string {
	return fmt.Sprintf("is the key in %s that of account %q, and does the account allow keys?", where, account)
}

func tokenHint(a address) string {
	return fmt.Sprintf("who signs in needs the role Storage Blob Data Contributor on account %q", a.account)
}

// signIn marks the errors of a token credential, so that they are not taken for
// those of a request.
type signIn struct{ azcore.TokenCredential }

func (c signIn) GetToken(ctx context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	token, err := c.TokenCredential.GetToken(ctx, o)
	if err != nil {
		err = &signInError{err}
	}
	return token, err
}

// signInError is a request that was not sent, since there was no token for it.
type signInError struct{ error }

func (e *signInError) Unwrap() error { return e.error }

// refused tells that the credential gave up or its authority said no; otherwise
// the authority could not be reached.
func (e *signInError) refused() bool {
	if failed, ok := errors.AsType[*azidentity.AuthenticationFailedError](e.error); ok {
		return failed.RawResponse != nil
	}
	_, final := errors.AsType[interface {
		error
		NonRetriable()
	}](e.error)
	return final
}
