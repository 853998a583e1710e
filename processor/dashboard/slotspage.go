package dashboard

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/leasestream/leasestream/processor"
)

// maxSlots is the most that the form takes: more are a slip of the finger.
const maxSlots = 10_000

// slotsPage asks how many handlers a worker is to run at a time.
func (d *Dashboard) slotsPage(r *http.Request) (*view, error) {
	id := r.URL.Query().Get("id")
	for w, err := range d.p.Workers(r.Context()) {
		if err != nil {
			return nil, err
		}
		if w.ID == id {
			return &view{template: "slots", Title: "Slots of " + id, Section: "workers", Body: w}, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", processor.ErrNoWorker, id)
}

// setSlots changes how many handlers a worker runs at a time.
func (d *Dashboard) setSlots(r *http.Request) (string, error) {
	if err := r.ParseForm(); err != nil {
		return "", fmt.Errorf("%w: %w", errInput, err)
	}
	id := r.PostForm.Get("id")
	slots, err := strconv.Atoi(r.PostForm.Get("slots"))
	if err != nil || slots < 0 || slots > maxSlots {
		return "", fmt.Errorf("%w: slots are 0 to %d", errInput, maxSlots)
	}
	if err := d.p.SetSlots(r.Context(), id, slots, whoOf(r.Context())); err != nil {
		return "", err
	}
	d.did(r.Context(), "set slots", "worker", id, "slots", slots)
	return "/workers?done=slots", nil
}
