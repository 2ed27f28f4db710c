#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: contrib/install-deps.sh [--packages | --demo | --tests] [--list]
#
# Installs the Debian or Ubuntu packages that building kscaled needs, as root or
# through sudo; what is there already is left alone.
#
#   --packages
#             also what `make image chart k3s deb html` needs
#   --demo    also what contrib/demo.sh and the control plane of tests/cluster need
#   --tests   also what contrib/check.sh needs (everything)
#   --list    only prints the packages

set -euo pipefail

build='autoconf automake autoconf-archive pkg-config gcc libc6-dev make
	libevent-dev libssl-dev libcurl4-openssl-dev libjansson-dev libhiredis-dev libpq-dev
	libmariadb-dev libc-ares-dev libexpat1-dev libbson-dev libpcre2-dev libprotobuf-c-dev protobuf-c-compiler
	uthash-dev libyaml-dev libseccomp-dev linux-libc-dev libcmocka-dev'
# The chart, the image and its list of materials are made by python3, the latter with a package from PyPI; the HTML by mandoc.
packaging='build-essential dpkg-dev debhelper binutils python3 python3-venv ca-certificates mandoc'
# python3-venv: where Go is missing or old, it comes from PyPI; so do pytest and the Kubernetes client.
demo='redis-server redis-tools python3-venv curl openssl ca-certificates'
# ccache and mold save time. llvm has the symbolizer that makes a sanitizer's report readable.
# minisign signs a release. umoci and skopeo read what `make image` makes, which itself needs no more than building does.
# The shells are what completion is tried in; tzdata, what cron triggers need.
# A Debian is booted by systemd-container, which has systemd-nspawn. containerd and what stands behind it make a node.
# The servers are what the scalers are tried against, and containerd; none of them will start with the system.
servers='redis-server postgresql pgbouncer mariadb-server prometheus rabbitmq-server nats-server beanstalkd graphite-carbon containerd'
tests='ccache mold clang clang-format llvm shellcheck pyflakes3 wrk valgrind tzdata systemd systemd-container bash-completion
	zsh fish
	lintian mmdebstrap qemu-user-static umoci skopeo minisign runc
	containernetworking-plugins iptables iproute2 graphite-web faketime maven openjdk-17-jdk-headless nodejs npm'
tests="$tests $servers"

die() { printf 'install-deps: %s\n' "$*" >&2; exit 1; }

packages=$build
with_tests=no
list=no
for argument; do
	case $argument in
	--packages) packages="$packages $packaging" ;;
	--demo) packages="$packages $demo" ;;
	--tests) packages="$packages $packaging $demo $tests"; with_tests=yes ;;
	--list) list=yes ;;
	-h|--help) sed -n '4,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
	*) die "unknown argument '$argument' (see --help)" ;;
	esac
done

# The sanitizers' runtime is packaged per version of clang, with no name in common.
clang_runtime() {
	apt-cache depends clang 2>/dev/null | sed -n 's/^ *Depends: clang-\([0-9][0-9]*\)$/libclang-rt-\1-dev/p'
}

# npm comes with the nodejs of others than Debian, which Debian's package of it conflicts with.
missing_of() {
	local package
	for package; do
		[ "$package" != npm ] || ! command -v npm >/dev/null || continue
		[ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
	done
}

if ! command -v apt-get >/dev/null; then
	# shellcheck disable=SC2086
	die "no apt-get here: install what these Debian packages have in them:" $packages
fi
if [ "$list" = yes ]; then
	# shellcheck disable=SC2046,SC2086  # lists of names
	printf '%s\n' $packages $([ "$with_tests" = no ] || clang_runtime) | sort -u
	exit 0
fi

# shellcheck disable=SC2086
missing=$(missing_of $packages)
if [ "$with_tests" = yes ] && [ -z "$missing" ]; then
	# shellcheck disable=SC2046
	missing=$(missing_of $(clang_runtime))
fi
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
	# shellcheck disable=SC2086
	command -v sudo >/dev/null || die 'must be run as root, or with sudo installed; missing:' $missing
	as_root=sudo
fi
# shellcheck disable=SC2086
echo "install-deps: installing" $missing
apt() {
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"
}

# A server's package starts the server, which nobody here asked for: the tests
# start their own. This is Debian's way to say so.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
	trap '$as_root rm -f "$policy"' EXIT
	printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
	$as_root chmod 755 "$policy"
fi

apt update
if [ "$with_tests" = yes ]; then
	runtime=$(clang_runtime)
	[ -n "$runtime" ] || die 'cannot tell which version of clang this distribution has'
	missing="$missing $(missing_of "$runtime")"
fi
# shellcheck disable=SC2086
apt install -y --no-install-recommends $missing
unit_of() {
	case $1 in
	mariadb-server) echo mariadb ;;
	graphite-carbon) echo carbon-cache ;;
	*) echo "$1" ;;
	esac
}
for server in $servers; do
	if grep -qw "$server" <<<"$missing" && [ -d /run/systemd/system ]; then
		$as_root systemctl disable --quiet "$(unit_of "$server")"
	fi
done
