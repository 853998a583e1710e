package eventstream

import (
	"errors"
	"fmt"
)

// Status is the state of one event.
type Status uint8

// The states of an event. The last three are final.
const (
	Init Status = iota
	Inprocess
	Completed
	Aborted
	Canceled
	statusCount = iota
)

var statusNames = [statusCount]string{"init", "inprocess", "completed", "aborted", "canceled"}

var (
	// ErrFinal: the event has ended and takes no other status, save by Reopen.
	ErrFinal = errors.New("event is final")
	// ErrStatus: a status that does not exist, or one the event cannot take now.
	ErrStatus = errors.New("invalid status")
)

// String is the status as it is written in the document.
func (s Status) String() string { return statusNames[s] }

// Final reports whether an event of this status has ended.
func (s Status) Final() bool { return s >= Completed }

// ParseStatus reads a status; ErrStatus if there is none of that name.
func ParseStatus(name string) (Status, error) {
	switch name {
	case "init":
		return Init, nil
	case "inprocess":
		return Inprocess, nil
	case "completed":
		return Completed, nil
	case "aborted":
		return Aborted, nil
	case "canceled":
		return Canceled, nil
	}
	return 0, fmt.Errorf("%w %q: want init, inprocess, completed, aborted or canceled", ErrStatus, name)
}
