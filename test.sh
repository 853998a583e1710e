#!/usr/bin/env bash
# Brings what the tests need and runs every check. Needs Go, Node with npm, xmllint
# (Debian: libxml2-utils) and Chromium (Debian: chromium).
set -euo pipefail
cd "$(dirname "$0")"

step() { printf '\n== %s\n' "$*"; }

# same fails with what a command would change, where it says so on stdout.
same() {
  local out
  out=$("$@") || { printf '%s\n' "$out"; exit 1; }
  [ -z "$out" ] || { printf '%s\n' "$out"; exit 1; }
}

step 'Azurite, by the lock file'
npm ci --prefix internal/azurite --no-audit --no-fund --loglevel=error
command -v xmllint >/dev/null || { echo 'xmllint is missing: apt-get install libxml2-utils'; exit 1; }
command -v chromium chromium-browser google-chrome >/dev/null || { echo 'Chromium is missing: apt-get install chromium'; exit 1; }

step 'format, modules, vet, modernise, staticcheck'
same gofmt -l .
same go mod tidy -diff
go vet ./...
same go fix -diff ./...
go tool -modfile=tools.mod staticcheck ./...

# A program with the race detector sleeps a second before it exits, and the tests
# start hundreds.
export GORACE=atexit_sleep_ms=10

step 'tests, shuffled, with the race detector'
storm='^TestWork_Storm$/^Azurite$'
go test -race -shuffle=on -timeout 20m -skip "$storm" $(go list ./... | grep -v /scope/store/azurestore)

# What waits for real leases on Azurite: the conformance suite, and a storm in which
# a minute has to pass after the last kill. They cannot be skipped: a run without
# their closing lines fails.
step 'tests on Azurite'
log=$(mktemp)
trap 'rm -f "$log"' EXIT
on_azurite() {
  go test -race -shuffle=on -v "$@" | tee -a "$log" | grep -E '^ *(---|===.*Azurite$|ok|FAIL|PASS|panic)|_test.go' || true
}
on_azurite ./scope/store/azurestore
on_azurite -run "$storm" ./cmd/leasestream
[ "$(grep -c '^ok' "$log")" = 2 ] || { echo 'the tests on Azurite failed'; exit 1; }
grep -Eq '^--- PASS: TestAzurite' "$log" || { echo 'the tests on Azurite did not run'; exit 1; }
grep -Eq '^ *--- PASS: TestWork_Storm/Azurite' "$log" || { echo 'the storm on Azurite did not come'; exit 1; }

step 'all passed'
