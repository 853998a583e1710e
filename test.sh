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
go test -race -shuffle=on -timeout 20m $(go list ./... | grep -v /scope/store/azurestore)

# The conformance suite on a real Azurite. It cannot be skipped: a run without
# its closing line fails.
step 'tests on Azurite'
log=$(mktemp)
trap 'rm -f "$log"' EXIT
go test -race -shuffle=on -v ./scope/store/azurestore | tee "$log" | grep -E '^(---|===.*Azurite$|ok|FAIL|PASS|panic)|_test.go' || true
grep -q '^ok' "$log" || { echo 'the tests on Azurite failed'; exit 1; }
grep -Eq '^--- PASS: TestAzurite' "$log" || { echo 'the tests on Azurite did not run'; exit 1; }

step 'all passed'
