package processor

// duties are the claims of a worker by document: there may be thousands, and each
// look at a document asks only for its own.
type duties map[string]map[taskKey]*claim

func (d duties) add(cl *claim) {
	if d[cl.stream] == nil {
		d[cl.stream] = map[taskKey]*claim{}
	}
	d[cl.stream][cl.taskKey] = cl
}

func (d duties) remove(cl *claim) {
	delete(d[cl.stream], cl.taskKey)
	if len(d[cl.stream]) == 0 {
		delete(d, cl.stream)
	}
}
