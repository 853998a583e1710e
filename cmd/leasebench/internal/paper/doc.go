// Package paper measures a fan-out on Azure on paper: the real engine, on a store
// that takes as long, refuses as much and costs as much as [Azure] says, all in the
// fake time of a testing/synctest bubble.
//
// What comes out is the store's side of the bound: how fast the engine could be if
// its own computing took no time. The figures are as good as the assumptions, each
// of which stands with its source at its field of [Azure].
//
// Every request costs money when it arrives, as on Azure: also one that is refused
// because of a condition, a lease or a limit. Only Delete is free.
package paper
