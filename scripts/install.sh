#!/bin/bash
# install.sh installs what the tests need and is not there yet: Debian packages,
# and everything else below .cache/ of this checkout. Versions are pinned here and
# nowhere else.
set -euo pipefail
cd "$(dirname "$0")/.."

golangci_lint=v2.15.0
stripe_mock=v0.203.0
emulate=0.12.2
github_description=23.0.2 # of the npm package @octokit/openapi
etcd_description=v3.5.21  # of the Go module go.etcd.io/etcd/v3
typescript=5.9.3
node=24.21.0 # emulate wants a newer one than Debian has

cache=$PWD/.cache
mkdir -p "$cache/bin" "$cache/npm" "$cache/specs" "$cache/done"

# once NAME COMMAND… runs the command unless it has succeeded before. NAME holds the version.
once() {
	local name=$1
	shift
	[ -e "$cache/done/$name" ] && return
	echo "install: $name"
	"$@"
	touch "$cache/done/$name"
}

# debian COMMAND PACKAGE… installs packages unless the command is there.
debian() {
	local command=$1
	shift
	command -v "$command" >/dev/null && return
	echo "install: $*"
	local as=()
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null || { echo "install: $command is missing; install the Debian package $1" >&2; exit 1; }
		as=(sudo)
	fi
	if ! "${as[@]}" apt-get install -y -qq --no-install-recommends "$@" >"$cache/apt.log" 2>&1; then
		"${as[@]}" apt-get update -qq >>"$cache/apt.log" 2>&1 &&
			"${as[@]}" apt-get install -y -qq --no-install-recommends "$@" >>"$cache/apt.log" 2>&1 ||
			{ cat "$cache/apt.log" >&2; exit 1; }
	fi
}

go_tool() { GOBIN=$cache/bin go install "$1"; }

npm_packages() {
	[ -e "$cache/npm/package.json" ] || echo '{"private":true}' >"$cache/npm/package.json"
	npm install --prefix "$cache/npm" --no-fund --no-audit --loglevel=error "$@"
}

# The package holds 400 MB of descriptions; we want one.
github() {
	local dir
	dir=$(mktemp -d)
	(cd "$dir" && npm pack --silent "@octokit/openapi@$github_description" >/dev/null)
	tar -xzf "$dir"/*.tgz -C "$dir" package/generated/api.github.com.json
	mv "$dir/package/generated/api.github.com.json" "$cache/specs/github.json"
	rm -r "$dir"
}

stripe() {
	local dir
	dir=$(go mod download -json "github.com/stripe/stripe-mock@$stripe_mock" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
	install -m 644 "$dir/embedded/openapi/spec3.json" "$cache/specs/stripe.json"
}

etcd() {
	local dir
	dir=$(go mod download -json "go.etcd.io/etcd/v3@$etcd_description" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
	install -m 644 "$dir/Documentation/dev-guide/apispec/swagger/rpc.swagger.json" "$cache/specs/etcd.json"
}

debian node nodejs npm
debian etcd etcd-server
debian rclone rclone
once "golangci-lint@$golangci_lint" go_tool "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$golangci_lint"
once "stripe-mock@$stripe_mock" go_tool "github.com/stripe/stripe-mock@$stripe_mock"
once "npm-emulate@$emulate-node@$node-typescript@$typescript" npm_packages "emulate@$emulate" "node@$node" "typescript@$typescript"
once "github-description@$github_description" github
once "stripe-description@$stripe_mock" stripe
once "etcd-description@$etcd_description" etcd
