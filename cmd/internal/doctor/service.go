package doctor

import (
	"cmp"
	"fmt"
	"strings"
)

// service says who answers, by the headers of the last answer that has them.
func (e *examination) service() {
	if e.Answers == nil {
		return
	}
	for _, a := range e.Answers() {
		server, version := a.Header.Get("Server"), a.Header.Get("x-ms-version")
		if server == "" && version == "" {
			continue
		}
		name := "the service"
		switch {
		case strings.HasPrefix(server, "Azurite"):
			name = "Azurite, an emulator"
		case strings.HasPrefix(server, "Windows-Azure-Blob"):
			name = "Azure Blob Storage"
		}
		e.ok("service", fmt.Sprintf("%s (%s), API version %s", name, cmp.Or(server, "without a name"), cmp.Or(version, "unknown")))
		return
	}
}
