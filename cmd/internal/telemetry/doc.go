// Package telemetry takes the traces and metrics of the command to where the
// OTEL_* variables of OpenTelemetry say, and serves the metrics as Prometheus
// text. It is the only importer of the SDK and of exporters: the library knows
// nothing but the API, and costs those who do not measure nothing.
//
// Traces are exported if OTEL_TRACES_EXPORTER names an exporter, or an endpoint
// for OTLP is set, in OTEL_EXPORTER_OTLP_ENDPOINT or
// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT; metrics likewise. Unlike in other programs
// nothing is exported, to nowhere, by default. What else the variables say —
// protocols, headers, samplers, intervals, attributes of the resource — is as
// OpenTelemetry has it.
package telemetry
