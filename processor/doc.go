// Package processor runs pipelines over Event-Streams: it starts runs, claims
// events, runs their handlers, and writes the outcomes.
package processor
