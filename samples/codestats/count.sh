# Prints files, lines and bytes of the Go files in the folder $1 itself, as JSON.
set -eu
files=$(find "$1" -maxdepth 1 -type f -name '*.go' | wc -l)
set -- $(find "$1" -maxdepth 1 -type f -name '*.go' -exec cat {} + | wc -lc) "$files"
printf '{"files":%d,"lines":%d,"bytes":%d}\n' "$3" "$1" "$2"
