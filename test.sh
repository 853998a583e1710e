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

# Two suites of their own: a process that dies at each point, and a storm in which a
# minute has to pass after the last kill.
deaths='^(TestCrash_(EachPoint|SQLite|Seeds)|TestStorm_DeathsAndDoorbells|TestWide_DeathAtEveryWrite)$'
storm='^TestWork_Storm$/^Azurite$'

step 'tests, shuffled, with the race detector'
go test -race -shuffle=on -timeout 20m -skip "$deaths|$storm" $(go list ./... | grep -v /scope/store/azurestore)

# What waits for real leases on Azurite takes little of the machine: the deaths come
# beside it. None of these can be skipped: a run without their closing lines fails.
step 'deaths at each point; tests on Azurite'
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
told() {
  local log="$logs/$1"
  go test -race -shuffle=on -v "${@:2}" | tee "$log" | grep -E '^ *(---|===.*Azurite$|ok|FAIL|PASS|panic)|_test.go' || true
  grep -q '^ok' "$log" || { echo "the tests failed: $1"; exit 1; }
}
passed() {
  for name in "${@:2}"; do
    grep -Eq "^ *--- PASS: $name " "$logs/$1" || { echo "$name did not run"; exit 1; }
  done
}
(told deaths -run "$deaths" ./processor) & dying=$!
told azurestore ./scope/store/azurestore
told storm -run "$storm" ./cmd/leasestream
wait "$dying"
passed deaths TestCrash_EachPoint TestCrash_SQLite TestCrash_Seeds TestStorm_DeathsAndDoorbells TestWide_DeathAtEveryWrite
passed azurestore TestAzurite
passed storm TestWork_Storm/Azurite

step 'all passed'
