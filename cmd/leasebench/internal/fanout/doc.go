// Package fanout measures a fan-out: a run that splits into N branches which do
// nothing, and adds up what comes back. [Measure] has it worked on by processes of
// their own, so that memory and fairness are theirs, and measures right after it
// how fast the store takes bare commits of the same sizes: the ceiling.
//
// The clock runs from before the run is created until its end is known in the
// process that wrote it. By then all workers are there, idle, so that no start-up
// is in the figures.
package fanout
