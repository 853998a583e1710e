// Package cli is the leasestream command, all but its process: [Run] takes a
// command line and returns an exit code.
//
// # Streams
//
// Standard output carries results only, so that it can be piped; progress, logs
// and errors go to standard error. Colours and a bar are shown on a terminal
// only, and NO_COLOR turns the colours off.
//
// # Exit codes
//
//	0    done; a run completed
//	1    an error; the text names the storage error code where there is one
//	2    the command line or the pipeline file is wrong, and nothing was done
//	3    a run completed, but something in it did not
//	4    a run was aborted
//	5    a run was canceled
//	130  interrupted
//
// # Flags
//
// Every flag can also be given in the environment, as LEASESTREAM_ and its name
// in upper case with _ for -: LEASESTREAM_STORE for --store. A flag that may be
// repeated takes one value there. The same flags are the keys of a configuration
// file, which package config describes; leasestream config tells which one is read.
// The command line comes first, then the environment, then the file.
package cli
