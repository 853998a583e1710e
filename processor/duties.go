package processor

// duties are the claims of a worker by document: there may be thousands, and each
// look at a document asks only for its own.
type duties map[string]duty

// duty is what a worker has to do in one document.
type duty struct {
	claims map[taskKey]*claim
	steps  map[string]int // :: step → claims
}

func (d duties) add(cl *claim) {
	there, ok := d[cl.stream]
	if !ok {
		there = duty{map[taskKey]*claim{}, map[string]int{}}
		d[cl.stream] = there
	}
	if there.claims[cl.taskKey] == nil {
		there.steps[cl.step.Name]++
	}
	there.claims[cl.taskKey] = cl
}

func (d duties) remove(cl *claim) {
	there := d[cl.stream]
	if there.claims[cl.taskKey] == nil {
		return
	}
	delete(there.claims, cl.taskKey)
	there.steps[cl.step.Name]--
	if len(there.claims) == 0 {
		delete(d, cl.stream)
	}
}
