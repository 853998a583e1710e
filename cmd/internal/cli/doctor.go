package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/leasestream/leasestream/cmd/internal/doctor"
	"github.com/leasestream/leasestream/cmd/internal/wire"
)

func (a *app) newDoctor() *cobra.Command {
	var format choice
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Examine the store and say what is wrong with it",
		Long: `Examine the store: whether it is there, whether it allows all that a worker does
(proven on a blob doctor/RANDOM, which is removed again), what a shared access
signature lacks, how far the clocks are apart, how long requests take, and on what
kind of disk a local store lies. A line for each check, with what to do about it.

The exit code is 1 if something is wrong, 0 if there are only warnings.`,
		Args: cobra.NoArgs,
	}
	formatFlag(cmd, &format, "text", "json")
	cmd.RunE = a.do(func(ctx context.Context, _ []string) error {
		r := a.newFindings(format)
		r.tell(doctor.Finding{Verdict: doctor.OK, Check: "version", Text: versionLine(buildInfo())})
		err := a.examine(ctx, r.tell)
		if err := errors.Join(err, r.end()); err != nil {
			return err
		}
		if r.wrong {
			return &exitError{code: codeError}
		}
		return nil
	})
	return cmd
}

// examine opens the store and examines it. An error is what kept it from that.
func (a *app) examine(ctx context.Context, tell func(doctor.Finding)) error {
	var seen answers
	st, err := wire.OpenStore(ctx, a.storeURL, &wire.StoreOptions{Create: a.storeURL == inMemory, Observe: seen.add})
	if err != nil {
		tell(doctor.Finding{Verdict: doctor.Fail, Check: "store", Text: err.Error()})
		return nil
	}
	where, signature := a.credentialsInUse()
	tell(doctor.Finding{Verdict: doctor.OK, Check: "store", Text: wire.Redact(a.storeURL) + where})
	p := &doctor.Patient{Store: st, File: wire.FileOf(a.storeURL), Signature: signature, Missing: missingRemedy}
	if wire.InAzure(a.storeURL) {
		p.Answers = seen.all
	}
	return errors.Join(doctor.Examine(ctx, p, tell), st.Close())
}

const missingRemedy = "leasestream run, start or blob put creates it"

// credentialsInUse says where the credentials come from, in the order in which the
// store looks for them, and which signature they are, if they are one.
func (a *app) credentialsInUse() (where, signature string) {
	connection := a.getenv("AZURE_STORAGE_CONNECTION_STRING")
	switch {
	case !wire.InAzure(a.storeURL):
		return "", ""
	case wire.SignatureOf(a.storeURL) != "":
		return ", with the signature in the URL", wire.SignatureOf(a.storeURL)
	case connection != "":
		return ", with AZURE_STORAGE_CONNECTION_STRING", signatureIn(connection)
	case a.getenv("AZURE_STORAGE_KEY") != "":
		return ", with AZURE_STORAGE_KEY", ""
	}
	return ", with a sign-in or the emulator's key", ""
}

// signatureIn is the signature of a connection string that has no key.
func signatureIn(connection string) string {
	signature := ""
	for part := range strings.SplitSeq(connection, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch strings.ToLower(name) {
		case "accountkey":
			return ""
		case "sharedaccesssignature":
			signature = value
		}
	}
	return signature
}

// answers collects what a store behind HTTP answered.
type answers struct {
	mu   sync.Mutex // guards the field below
	list []doctor.Answer
}

func (a *answers) add(sent, received time.Time, header http.Header) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, doctor.Answer{Sent: sent, Received: received, Header: header})
}

func (a *answers) all() []doctor.Answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.list
}

// findings writes what the doctor tells, as it comes.
type findings struct {
	a     *app
	array *jsonArray // nil for text
	wrong bool
	err   error // the first one of writing
}

func (a *app) newFindings(format choice) *findings {
	r := &findings{a: a}
	if format.value == "json" {
		r.array = newJSONArray(a.stdout)
	}
	return r
}

func (r *findings) tell(f doctor.Finding) {
	r.wrong = r.wrong || f.Verdict == doctor.Fail
	text, remedy := r.a.redact(printable(f.Text)), r.a.redact(printable(f.Remedy))
	if r.array != nil {
		r.err = errors.Join(r.err, r.array.add(object{{"check", f.Check}, {"verdict", f.Verdict}, {"text", text}, {"remedy", remedy}}))
		return
	}
	if remedy != "" {
		text += "; " + remedy
	}
	_, err := fmt.Fprintf(r.a.stdout, "%-4s  %-9s  %s\n", f.Verdict, f.Check, text)
	r.err = errors.Join(r.err, err)
}

func (r *findings) end() error {
	if r.array != nil {
		return errors.Join(r.err, r.array.end(""))
	}
	return r.err
}
