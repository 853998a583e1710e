// Package pipeline reads pipelines that are written as YAML files, and does the
// work of their steps.
//
//	name: codestats
//	steps:
//	  - name: Folders
//	    exec: [find, "{{.Input.root}}", -type, d]
//	    output: lines
//	    split: {to: Count, join: Total}
//	  - name: Count
//	    exec: [sh, count.sh, "{{.Input}}"]
//	    timeout: 30s
//	    retry: {attempts: 3, backoff: 500ms, max: 10s}
//	  - name: Total
//	    jq: '{files: [.results[].output.files] | add}'
//
// The first step is the root of each run; otherwise the order of steps means
// nothing. [Parse] checks the whole file before anything runs and gives all that
// is wrong with it as [Problems]. [Schema] is the JSON Schema of the file, for
// editors.
//
// # What a step does
//
// A step is one of exec, http, jq, items and wait.
//
//	exec     a program and its arguments, each a template: {{.Input}},
//	         {{.Input.city}}, {{.Event}}, {{.Stream}}, {{.Run}}, {{.Attempt}}, {{.Key}}
//	http     {url, headers, timeout}: a server that the message is posted to
//	jq       an expression with one result; no result is null
//	items    {file: orders.csv, format: csv}: a file with the messages of the step's
//	         split; see below
//	wait     {timeout: 24h}: someone outside completes the event; it is the last of
//	         its branch. To go on after it, split to it with a join.
//
// Its message is the JSON value that the event was given. The step of a join
// gets {"input": …, "results": [{"id", "status", "output" | "error"}, …]}: the
// message of the splitter, and what became of each branch, in branch order.
//
//	input    a jq expression that shapes the message before the step sees it
//	results  which results a join gets: all (default), errors, none
//	stdin    json (default): the message on one line; ndjson: for a join, the input
//	         on the first line, then one result a line
//	output   how stdout, or the answer of a server, is read: json (default: one
//	         value; nothing is null), lines (an array of texts), ndjson (an array
//	         of values), text, outcome
//
// Numbers pass through unchanged, however many digits they have.
//
// # What comes next
//
//	next        the step that gets the output as its message
//	split       {to, join, policy, timeout, batch}: the output is an array; each of
//	            its elements, or each batch of them, is one branch's message
//	on_failure  the step that an event hands on to when its retries are spent
//	delay       how long an event of this step waits after a next or a split to it
//
// With neither next nor split, the branch ends with the output. Steps may form
// loops; a step may split to itself, as one that walks a tree does, and ends when
// its output is an empty array. A loop of nothing but next goes on until a step
// of it fails, so it is for steps that are meant to.
//
// # Attempts
//
//	timeout      how long one attempt may take
//	retry        {attempts, backoff, max}: how often a failed one is repeated
//	concurrency  8: how many of this step one worker runs at a time; {worker: 8,
//	             run: 20}: that, and how many all workers together in one run
//
// # Outcomes
//
// With output: outcome, exec, http and jq say themselves what comes next, by one of
//
//	{"complete": VALUE}
//	{"next": {"step": STEP, "message": VALUE, "delay": "5s"}}
//	{"split": {"to": STEP, "messages": [VALUE, …], "join": STEP, "policy": "all", "timeout": "1m"}}
//	{"split": {"branches": [{"step": STEP, "message": VALUE, "number": 2, "delay": "5s"}, …], "join": STEP}}
//	{"wait": {"timeout": "1h"}}
//	{"abort": "REASON"}
//
// Everything but messages, branches or step may be left out.
//
// # Items from a file
//
//	items: {file: "{{.Input.file}}"}
//	split: {to: Order, join: Sum}
//
// Each item is the message of one branch, or with batch: N an array of so many. The
// file is a template like the arguments of a program, relative to the folder of the
// pipeline file; it is read by the worker that runs the step, one item at a time,
// so that it may be larger than memory. The format is told by its name, or given:
//
//	ndjson  .ndjson, .jsonl: a JSON value on each line; blank lines count for nothing
//	csv     .csv: rows below a row of names. Each is an object of texts; a quoted field
//	        may have commas, quotes written "" and line breaks
//	json    .json: one array
//
// Files are UTF-8, with or without a byte order mark, with LF or CRLF. One that is
// missing, or has a mistake anywhere, aborts the event before any branch has begun;
// the error has the line. A line of ndjson may have as many bytes as the output of
// a program.
//
// # Programs
//
// A program is looked up in PATH or, if its name has a slash, from the folder of
// the file, in which it also runs. It is never run through a shell. It gets its
// message on stdin, and LEASESTREAM_STREAM, _RUN, _EVENT, _ATTEMPT and _KEY in its
// environment. The rest of that is the worker's, but for other variables named
// LEASESTREAM_…: settings such as the store are not passed on. If the run is
// traced, TRACEPARENT names the span of the attempt. Whoever puts a message's text
// into an argument decides that it may stand there: "-rf" is a text too.
//
// Each program is the head of a process group of its own. When the attempt is
// canceled, the group gets SIGTERM and, after a grace time, SIGKILL; when the
// program ends, by itself or not, what is left of its group is killed. On systems
// without process groups only the program is killed. On Linux a program is also
// killed when its worker is.
//
// # Requests
//
//	http:
//	  url: https://api.example.com/offers/{{.Input.city}}?key={{.Key}}
//	  headers:
//	    Authorization: {env: API_TOKEN, prefix: "Bearer "}
//	    X-Tenant: "{{.Input.tenant}}"
//	  timeout: 10s
//
// The message is posted as the data of a CloudEvent in structured JSON:
//
//	id                           RUN/EVENT, the same for every attempt: a server that
//	                             has done the work of an id need not do it again
//	source                       leasestream/PIPELINE
//	type                         com.github.leasestream.step ([EventType])
//	subject                      the step
//	stream, run, event, attempt  extensions: whose message it is, and which attempt
//	traceparent, tracestate      extensions, and headers too: the span of the attempt,
//	                             if the run is traced
//
// Where the url begins with a scheme and a host that are written out, up to a / or
// ?, each value that a template puts in is escaped, to be one part of the path or
// one value of the query. Elsewhere, as in {{.Input.url}}, values stand as they are
// unless urlquery escapes them, and the message decides where the request goes.
//
// The value of a header is a template too, or {env: NAME, prefix: TEXT}: what the
// variable holds in the worker's environment when the request is made. Such a
// header goes only to a host that is written out. Its value is not in the stream,
// in the log or in an error: should the server repeat it in an answer that is cited
// there, it is taken out. An output is stored as it is, whatever the server puts
// into it. Errors show a URL without user info and query.
//
//	2xx            the body is the output, read like the stdout of a program
//	3xx, 4xx       abort; redirects are not followed
//	408, 425, 429  failed attempts, as are 5xx and a network that fails
//
// If a failed attempt is answered with Retry-After, the next one waits at least as
// long, up to an hour. The timeout is for the whole answer; without one, the server
// has as long as the step has, or else 30s.
//
// # Failures
//
// A missing program or variable, a template or jq expression that fails on its
// message, arguments that the system does not take, and output over 64 MiB abort the
// event, since no further attempt can mend them: a program that writes more is
// stopped. All else — a non-zero exit status, output that
// cannot be read — is a failed attempt, which is retried.
package pipeline
