#!/bin/bash
# bench.sh prints what things cost, as a Markdown table: it runs all benchmarks,
# those of packages and those of the built program (in e2e).
set -euo pipefail
cd "$(dirname "$0")/.."
go test -run '^$' -bench "${1:-.}" -benchmem ./... | awk '
/^(FAIL|---|panic)/ { print; failed = 1 }
/^Benchmark/ {
	name = $1; sub(/^Benchmark/, "", name); sub(/-[0-9]+$/, "", name); gsub(/_/, " ", name)
	rest = ""
	for (i = 5; i < NF; i += 2) rest = rest (rest == "" ? "" : ", ") $i " " $(i + 1)
	ns = $3
	if (ns >= 1e9) t = sprintf("%.2f s", ns / 1e9)
	else if (ns >= 1e6) t = sprintf("%.1f ms", ns / 1e6)
	else if (ns >= 1e3) t = sprintf("%.1f us", ns / 1e3)
	else t = sprintf("%d ns", ns)
	if (!head++) print "| what | one takes | besides |\n|---|---|---|"
	print "| " name " | " t " | " rest " |"
}
END { exit failed }'
