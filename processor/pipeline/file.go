package pipeline

import (
	"regexp"
	"slices"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/leasestream/leasestream/eventstream"
	"github.com/leasestream/leasestream/processor"
)

// maxStepName is the length of the longest step name.
const maxStepName = 100

var stepName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// file is what a pipeline file says.
type file struct {
	name  word
	steps []*step
}

// step is what a file says about one step.
type step struct {
	r    *reader
	at   place
	keys keys

	name word

	exec  []*argument
	http  *request
	jq    *query
	items *items
	wait  time.Duration

	input   *query
	results word
	stdin   word
	output  word

	next      word
	split     *split
	onFailure word
	delay     time.Duration

	timeout     time.Duration
	retry       processor.Retry
	concurrency concurrency
}

// concurrency is what a file says about how many of a step run at a time; 0 for
// no limit.
type concurrency struct{ worker, run int }

// split is what a file says about the split that a step ends in.
type split struct {
	to, join word
	policy   eventstream.Policy
	timeout  time.Duration
	batch    int
}

// kinds are the keys that say what a step does; each step has one of them.
var kinds = []string{"exec", "http", "jq", "items", "wait"}

// file reads a pipeline file. What it returns is good for something only if
// nothing was reported.
func (r *reader) file(source []byte) *file {
	root := r.parse(source)
	if root == nil {
		return nil
	}
	f := &file{}
	v := value{r: r, key: "the file", at: placeOf(root), node: root}
	given := v.mapping(
		field{"name", func(v value) { f.name = v.text() }},
		field{"steps", func(v value) { f.readSteps(v) }},
	)
	r.require(given, v.at, "name", "steps")
	if err := processor.CheckName(f.name.text); err != nil && f.name.at != (place{}) {
		r.add(f.name.at, "%v", err)
	}
	f.check(r)
	return f
}

// require reports the keys that a mapping should have and has not.
func (r *reader) require(given keys, at place, names ...string) {
	for _, name := range names {
		if _, ok := given[name]; !ok && given != nil {
			r.add(at, "key %q is missing", name)
		}
	}
}

func (f *file) readSteps(v value) {
	for _, item := range v.list() {
		item.key = "step"
		if s := readStep(item); s != nil {
			f.steps = append(f.steps, s)
		}
	}
}

func readStep(v value) *step {
	s := &step{r: v.r, at: v.at}
	fields := s.fields()
	if s.keys = v.mapping(fields...); s.keys == nil {
		return nil
	}
	v.r.require(s.keys, v.at, "name")
	if s.name.at != (place{}) && !stepName.MatchString(s.name.text) {
		v.r.add(s.name.at, "step name %.120q: want 1 to %d letters, digits, . _ - beginning with a letter or digit", s.name.text, maxStepName)
	}
	s.checkKind(fields)
	s.checkKeys()
	return s
}

func (s *step) fields() []field {
	return []field{
		{"name", func(v value) { s.name = v.text() }},
		{"exec", func(v value) { s.exec = v.arguments() }},
		{"http", s.readHTTP},
		{"jq", func(v value) { s.jq = v.query() }},
		{"items", s.readItems},
		{"wait", s.readWait},
		{"input", func(v value) { s.input = v.query() }},
		{"results", func(v value) { s.results = v.choice("all", "errors", "none") }},
		{"stdin", func(v value) { s.stdin = v.choice("json", "ndjson") }},
		{"output", func(v value) { s.output = v.choice("json", "lines", "ndjson", "text", "outcome") }},
		{"next", func(v value) { s.next = v.text() }},
		{"split", s.readSplit},
		{"on_failure", func(v value) { s.onFailure = v.text() }},
		{"delay", func(v value) { s.delay = v.duration() }},
		{"timeout", func(v value) { s.timeout = v.duration() }},
		{"retry", s.readRetry},
		{"concurrency", func(v value) { s.concurrency = v.concurrency() }},
	}
}

func (s *step) readHTTP(v value) {
	s.http = &request{}
	given := v.mapping(
		field{"url", func(v value) { s.http.url = v.address() }},
		field{"headers", func(v value) { s.http.headers = v.headers() }},
		field{"timeout", func(v value) { s.http.timeout = v.duration() }},
	)
	v.r.require(given, v.at, "url")
	s.http.timeoutAt = given["timeout"]
	s.http.check(v.r)
}

func (s *step) readWait(v value) {
	v.mapping(field{"timeout", func(v value) { s.wait = v.duration() }})
}

func (s *step) readSplit(v value) {
	s.split = &split{}
	given := v.mapping(
		field{"to", func(v value) { s.split.to = v.text() }},
		field{"join", func(v value) { s.split.join = v.text() }},
		field{"policy", func(v value) { s.split.policy = v.policy() }},
		field{"timeout", func(v value) { s.split.timeout = v.duration() }},
		field{"batch", func(v value) { s.split.batch = v.count() }},
	)
	v.r.require(given, v.at, "to")
}

func (v value) policy() eventstream.Policy {
	w := v.text()
	p, err := eventstream.ParsePolicy(w.text)
	if err != nil {
		v.r.add(v.at, "%v", err)
	}
	return p
}

func (s *step) readRetry(v value) {
	v.mapping(
		field{"attempts", func(v value) { s.retry.Attempts = v.count() }},
		field{"backoff", func(v value) { s.retry.Backoff = v.duration() }},
		field{"max", func(v value) { s.retry.Max = v.duration() }},
	)
	// Backoff would be cut to the longest wait without a word.
	if longest := orDefault(s.retry.Max, 30*time.Second); s.retry.Backoff > longest {
		v.wrong("backoff %s is longer than max, %s", s.retry.Backoff, longest)
	}
}

// concurrency reads a count, which is that of one worker, or the counts of one
// worker and of the whole run.
func (v value) concurrency() (c concurrency) {
	switch v.node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
	case *ast.SequenceNode:
		v.wrong("want a whole number from 1, or worker and run, got a list")
		return c
	default:
		c.worker = v.count()
		return c
	}
	given := v.mapping(
		field{"worker", func(v value) { c.worker = v.count() }},
		field{"run", func(v value) { c.run = v.count() }},
	)
	switch {
	case len(given) == 0:
		v.wrong("want worker, run or both")
	case c.run > 0 && c.worker > c.run:
		v.wrong("worker, %d, is more than run, %d, and has no effect", c.worker, c.run)
	}
	return c
}

func orDefault(d, standard time.Duration) time.Duration {
	if d == 0 {
		return standard
	}
	return d
}

// step is the step of a name, or nil.
func (f *file) step(name string) *step {
	i := slices.IndexFunc(f.steps, func(s *step) bool { return s.name.text == name })
	if i < 0 {
		return nil
	}
	return f.steps[i]
}
