#!/bin/bash
# faults.sh puts each fault of testdata/faults into a copy of this checkout and runs the
# test that it names there. It prints the table of docs/faults.md, and fails when one of
# those tests does not fail.
set -uo pipefail
cd "$(dirname "$0")/.."

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z -- '*.go' go.mod go.sum | tar --null -T - -cf - | tar -x -C "$copy" || exit 1

missed=0
echo '| fault | where | test that catches it |'
echo '|---|---|---|'
for patch in "$PWD"/testdata/faults/*.patch; do
	fault=$(sed -n 's/^fault: //p' "$patch")
	test=$(sed -n 's/^caught by: //p' "$patch")
	where=$(sed -n 's,^+++ b/,,p' "$patch")
	(cd "$copy" && GIT_DIR=/nonexistent git apply -C1 "$patch") || { echo "faults: $patch does not apply" >&2; missed=1; continue; }
	out=$(cd "$copy" && go test -timeout 5m -run "^$test\$" . -rapid.nofailfile 2>&1 | tr -d "\0")
	if grep -q "^--- FAIL: $test" <<<"$out"; then
		echo "| $fault | \`$where\` | \`$test\` |"
	else
		printf '%s\nfaults: %s does not fail although %s\n' "$out" "$test" "$fault" >&2
		missed=1
	fi
	(cd "$copy" && GIT_DIR=/nonexistent git apply -R -C1 "$patch") || exit 1
done
exit $missed
