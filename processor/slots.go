package processor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/leasestream/leasestream/scope/store"
)

// ErrNoWorker is matched when no live worker has an ID.
var ErrNoWorker = errors.New("no such worker")

// errSetting: somebody else wrote where the setting of a worker is.
var errSetting = errors.New("it is no setting of a worker's slots")

// SlotSetting is what a worker was told about its slots while it works.
type SlotSetting struct {
	Slots int       `json:"slots"`
	By    string    `json:"by,omitempty"`
	At    time.Time `json:"at"`
}

// SetSlots changes how many handlers a live worker runs at a time, in the name of
// by, as long as it lives. With fewer, those that run are left to finish; with 0
// it takes nothing new. The worker follows within a third of its lease, once it
// has work; one without slots looks less often, on a remote store once a minute.
// ErrNoWorker if none of that ID is alive.
func (p *Processor) SetSlots(ctx context.Context, worker string, slots int, by string) error {
	if slots < 0 {
		return fmt.Errorf("worker %q cannot have %d slots; 0 lets it take nothing new", worker, slots)
	}
	if err := checkWorkerID(worker); err != nil {
		return err
	}
	info, err := p.scope.Store().Stat(ctx, workerBlob(worker), nil)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("%w: %q", ErrNoWorker, worker)
	case err != nil:
		return err
	case !p.isAlive(info):
		return fmt.Errorf("%w: %q has died", ErrNoWorker, worker)
	}
	body, err := json.Marshal(SlotSetting{slots, by, p.scope.Now()})
	if err != nil {
		return err
	}
	_, err = p.scope.Store().Put(ctx, settingsBlob(worker), body, &store.PutOptions{ContentType: "application/json"})
	return err
}

// slotSetting is what the worker was told last; nil if it never was.
func (p *Processor) slotSetting(ctx context.Context, worker string) (*SlotSetting, error) {
	object, err := p.scope.Store().Get(ctx, settingsBlob(worker), nil)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var set SlotSetting
	if err := json.Unmarshal(object.Body, &set); err != nil || set.Slots < 0 {
		return nil, fmt.Errorf("blob %q: %w: %.80q", settingsBlob(worker), errSetting, object.Body)
	}
	return &set, nil
}

// followSlots looks for a new setting while all slots are taken, until ctx ends. As
// long as one is free, whoever claims looks: an idle worker costs no more for it.
func (w *worker) followSlots(ctx context.Context) {
	ticker := time.NewTicker(w.slotsEvery())
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if w.full() {
			w.lookForSlots(ctx)
		}
	}
}

// slotsEvery is the time between two looks: that between two renewals.
func (w *worker) slotsEvery() time.Duration { return w.p.timing.lease / 3 }

// lookForSlots reads the setting, unless that was done not long ago. If it cannot
// be read, what was read last holds.
func (w *worker) lookForSlots(ctx context.Context) {
	if !w.slotsDue() {
		return
	}
	set, err := w.p.slotSetting(ctx, w.id)
	switch {
	case err != nil && ctx.Err() == nil:
		w.log.WarnContext(ctx, "setting of the slots was not read", "err", err)
	case err == nil && set != nil && w.setSlots(set.Slots):
		w.log.InfoContext(ctx, "slots changed", "slots", set.Slots, "by", set.By)
	}
}

// slotsDue reports whether it is time for a look, and if so takes it down.
func (w *worker) slotsDue() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	every := w.slotsEvery()
	if w.slots == 0 {
		every = max(every, 2*w.p.timing.idlePoll) // work that it is not to take may wait for days
	}
	if time.Since(w.slotsSeen) < every {
		return false
	}
	w.slotsSeen = time.Now()
	return true
}

// setSlots reports whether that changes anything.
func (w *worker) setSlots(n int) bool {
	w.mu.Lock()
	changed := w.slots != n
	w.slots = n
	w.mu.Unlock()
	if changed {
		w.signalFreed()
	}
	return changed
}

// takeSlots takes all free slots, freeSlots gives some back.
func (w *worker) takeSlots() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	free := max(0, w.slots-w.busy)
	w.busy += free
	return free
}

func (w *worker) freeSlots(n int) {
	if n == 0 {
		return
	}
	w.mu.Lock()
	w.busy -= n
	w.mu.Unlock()
	w.signalFreed()
}

func (w *worker) signalFreed() {
	select {
	case w.freed <- struct{}{}:
	default:
	}
}

// full reports whether no slot is free.
func (w *worker) full() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.busy >= w.slots
}

// drained reports whether the worker is to take nothing new.
func (w *worker) drained() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.slots == 0
}
