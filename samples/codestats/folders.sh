# Prints the folders below $1 that have Go files, one a line.
set -eu
[ -d "$1" ] || { echo "no such folder: $1" >&2; exit 1; }
find "$1" -type f -name '*.go' | sed 's|/[^/]*$||' | sort -u
