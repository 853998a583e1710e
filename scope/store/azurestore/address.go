package azurestore

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
)

// emulatorAccount is the account that an Azurite has as it comes.
const emulatorAccount = "devstoreaccount1"

// address is what the URL of a container says. Its signature is a secret.
type address struct {
	container string // the URL without the signature
	account   string
	signature string // the query that is the shared access signature; may be empty
	emulator  bool   // an Azurite on this machine, with its own account
}

var containerName = regexp.MustCompile(`^([a-z0-9](-?[a-z0-9])+|\$root|\$web|\$logs)$`)

// parseAddress reads the URL of a container. Its errors show nothing of the
// query.
func parseAddress(raw string) (address, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return address{}, wrongAddress("it is not a URL")
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	account, name, pathStyle := cutPath(u)
	a := address{
		container: (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String(),
		account:   account,
		signature: u.RawQuery,
		emulator:  pathStyle && loopback(u.Hostname()) && account == emulatorAccount,
	}
	switch {
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		err = wrongAddress("it does not begin with https:// or http:// and a host")
	case u.User != nil || u.Fragment != "":
		err = wrongAddress("it has a user name or a fragment")
	case account == "" || name == "":
		err = wrongAddress("its path is neither /CONTAINER nor, on a bare address, /ACCOUNT/CONTAINER")
	case !containerName.MatchString(name) || len(name) < 3 || len(name) > 63:
		err = wrongAddress(fmt.Sprintf(
			"%q is no name of a container: 3 to 63 lower-case letters, digits and single hyphens", name))
	case a.signature != "" && u.Query().Get("sig") == "":
		err = wrongAddress("what follows the ? is not a shared access signature")
	}
	return a, err
}

// cutPath finds the account and the container: in the host and in the path, or,
// where the host is an emulator's, both in the path. A path of two parts behind an
// account of Azure is that of a blob.
func cutPath(u *url.URL) (account, name string, pathStyle bool) {
	segments := strings.Split(strings.TrimPrefix(u.Path, "/"), "/")
	switch {
	case len(segments) == 2 && !strings.Contains(u.Hostname(), ".blob."):
		return segments[0], segments[1], true
	case len(segments) == 1 && strings.Contains(u.Hostname(), ".") && net.ParseIP(u.Hostname()) == nil:
		account, _, _ = strings.Cut(u.Hostname(), ".")
		return account, segments[0], false
	}
	return "", "", false
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func wrongAddress(reason string) error {
	return errors.New("wrong URL of a container: " + reason +
		" (examples: https://ACCOUNT.blob.core.windows.net/CONTAINER, http://127.0.0.1:10000/devstoreaccount1/CONTAINER)")
}
