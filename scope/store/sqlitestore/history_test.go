package sqlitestore_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/leasestream/leasestream/scope/store/sqlitestore"
	"github.com/leasestream/leasestream/scope/store/storetest"
)

// TestHistories is in a bubble, where leases end, but in one process.
func TestHistories(t *testing.T) {
	storetest.RunHistories(t, harness, storetest.Rounds(20, 1000))
}

// turn is what a process has to play of a game.
type turn struct {
	Game        storetest.Game
	First, Last int // clients
}

// TestProcesses_Histories has processes play the same games on one file.
func TestProcesses_Histories(t *testing.T) {
	const processes = 4
	path := filepath.Join(t.TempDir(), "store.db")
	create(t, path)
	var players []*process
	for range processes {
		players = append(players, start(t, "play", path))
	}
	var all storetest.History
	for i := range storetest.Rounds(40, 2500) {
		g := storetest.Game{Seed: uint64(i), Prefix: fmt.Sprintf("game-%d/", i)}
		h := playTogether(t, g, players)
		g.Check(t, h)
		all = append(all, h...)
	}
	all.CheckMix(t)
	for _, p := range players {
		if err := errors.Join(p.in.Close(), p.Wait()); err != nil {
			t.Errorf("%v\n%s", err, p.stderr.String())
		}
	}
}

// playTogether gives each process its share of the clients.
func playTogether(t *testing.T, g storetest.Game, players []*process) storetest.History {
	t.Helper()
	share := storetest.Clients / len(players)
	for i, p := range players {
		if err := json.NewEncoder(p.in).Encode(turn{g, i * share, (i + 1) * share}); err != nil {
			t.Fatal(err)
		}
	}
	var all storetest.History
	for _, p := range players {
		if !p.out.Scan() {
			t.Fatalf("a player ended by itself: %s", p.stderr.String())
		}
		var h storetest.History
		if err := json.Unmarshal(p.out.Bytes(), &h); err != nil {
			t.Fatal(err)
		}
		all = append(all, h...)
	}
	return all
}

// playGames plays the turns that come in and tells what happened in each.
func playGames(path string) error {
	s, err := sqlitestore.Open(path, nil)
	if err != nil {
		return err
	}
	in, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	for in.Scan() {
		var t turn
		if err := json.Unmarshal(in.Bytes(), &t); err != nil {
			return err
		}
		if err := out.Encode(t.Game.Play(context.Background(), s, t.First, t.Last)); err != nil {
			return err
		}
	}
	return errors.Join(in.Err(), s.Close())
}
