#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: contrib/check.sh [option...]
#
# Installs what the tests need and runs them all:
#   unit        layout (clang-format), scripts (shellcheck, pyflakes), strict build with gcc,
#               make distcheck (unit tests, layers, fuzz corpora, the tarball)
#   sanitizers  strict build with clang, the same tests under address and undefined
#               behaviour sanitizers
#   live        kscaled against real control planes (tests/cluster, tests/live), several at once;
#               then by themselves the tests that measure; whether all of them together used
#               each right that the manifests give; and what units of work cost, in instructions
#               (tests/bench/instructions)
#   artefacts   what is made to be installed, made and tried (tests/artefacts): the Debian package,
#               on a host that systemd has booted, too, and for arm64 and armhf (built here, run by
#               qemu); the image; the chart, on a node that runs Pods, too; the kustomization and the file
#               for k3s, a release; some of these, and the main journeys, with the oldest Kubernetes,
#               too; and what README says
#
#   --only unit|sanitizers|live|artefacts
#                                 only that part
#   --quick                       strict build with gcc, unit tests, layers, and the live tests of the
#                                 main journeys: what to run before each commit
#   --skip-live                   all but the live tests and the artefacts, which they try
#   --no-install                  install no packages
#   --keep                        keep the builds and logs
#
# Builds happen in a temporary directory, from a copy of the tree. Everything runs
# even after a failure; the exit status is 0 only when all of it succeeded.

set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
parts='unit sanitizers live artefacts'
quick=no
install=yes
keep=no
workers=4    # control planes that tests run against at once

die() { printf 'check: %s\n' "$*" >&2; exit 2; }

while [ $# -gt 0 ]; do
	case $1 in
	--only)
		case ${2-} in
		unit|sanitizers|live|artefacts) parts=$2 ;;
		*) die '--only needs unit, sanitizers, live or artefacts' ;;
		esac
		shift ;;
	--quick) quick=yes ;;
	--skip-live) parts='unit sanitizers artefacts' ;;
	--no-install) install=no ;;
	--keep) keep=yes ;;
	-h|--help) sed -n '4,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
	*) die "unknown option '$1' (see --help)" ;;
	esac
	shift
done

exec </dev/null
MAKEFLAGS=-j$(nproc)
export MAKEFLAGS LC_ALL=C.UTF-8
if [ -z "${HOME-}" ]; then
	HOME=$(getent passwd "$(id -u)" | cut -d: -f6)
	export HOME
fi
cache=${XDG_CACHE_HOME:-$HOME/.cache}/kscaled
# What was compiled once is found again, in whichever folder a run happens; what must be compiled anew calls gcc by its
# name. Test programs are linked by a quicker linker than the program, where it is installed.
export CCACHE_DIR=$cache/ccache CCACHE_MAXSIZE=2G CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
quick_linker=-B/usr/libexec/mold
work=$(mktemp -d "${TMPDIR:-/tmp}/kscaled-check-XXXXXX")

clean_up() {
	local group
	for group in "${other_groups[@]}"; do
		! kill -INT -- "-$group" 2>/dev/null || wait "$group" || echo 'check: what ran beside was ended, too'
	done
	if [ "$keep" = yes ]; then
		echo "check: builds and logs are kept in $work"
	else
		chmod -R u+w "$work"    # distcheck's trees are read-only
		rm -rf "$work"
	fi
}
other_groups=()    # see beside
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# ---- Steps: each is run, timed, logged and counted ----

summary=()
failures=()    # names of tests
failed_steps=0
passed=0 failed=0 skipped=0
live_results=()

# run NAME COMMAND...: runs COMMAND in a subshell; its output is shown and kept, and its exit status and time
# beside it. Not by its own status: behind `run ... ||` bash would ignore the `set -e` of the subshell too, and
# COMMAND run on after its first failure.
run() {
	local name=$1 started=$SECONDS log
	shift
	printf '\n==== %s ====\n' "$name"
	log=$(log_of "$name")
	set +e
	(set -e; "$@") 2>&1 | tee "$log"
	printf '%d %d\n' "${PIPESTATUS[0]}" $((SECONDS - started)) >"$log.ended"
	set -e
}

log_of() { printf '%s/logs/%s.log' "$work" "${1//[^a-z0-9]/-}"; }

# count NAME: counts what was run by that name; $result tells how it went.
result=ok
count() {
	local name=$1 rc=1 took=0 counted log
	result=ok
	log=$(log_of "$name")
	counted=$failed
	if [ -e "$log.ended" ]; then
		read -r rc took <"$log.ended"
		count_tests "$log"
	fi
	if [ "$rc" -ne 0 ]; then
		result="FAILED (exit status $rc)"
		failed_steps=$((failed_steps + 1))
		# A step that broke before or beside its tests is a failure too.
		[ "$failed" -gt "$counted" ] || failed=$((failed + 1))
	elif [ "$failed" -gt "$counted" ]; then
		result='FAILED (see above)'
		failed_steps=$((failed_steps + 1))
	fi
	summary+=("$(printf '%-28s %5d s  %s' "$name" "$took" "$result")")
	[ "$result" = ok ] || [ ! -e "$log" ] || mapfile -t -O "${#failures[@]}" failures < <(names_of_failures "$log")
}

step() {
	run "$@"
	count "$1"
}

# beside FUNCTION OTHER...: functions that run steps, at once; what the OTHERs' print is shown when all have ended.
# Each of these has a process group of its own, so that it can be ended with all that it started.
beside() {
	local first=$1 other group
	shift
	for other; do
		set -m
		(set +m; "$other") >"$work/logs/$other" 2>&1 &
		other_groups+=($!)
		set +m
	done
	with_others "$first" "$@"
}

# with_others FUNCTION OTHER...: FUNCTION, while the OTHERs run already.
with_others() {
	local first=$1 other group
	shift
	"$first"
	for group in "${other_groups[@]}"; do
		wait "$group" || echo 'check: what ran beside ended early'
	done
	other_groups=()
	for other; do
		cat "$work/logs/$other"
	done
}

# behind FUNCTION OTHER: the same, but OTHER gets a quarter of the processor time where both compute. It is nice, and so
# is its session, because the kernel may weigh sessions, not processes (autogroup in sched(7)). A shell starts what runs
# in the background deaf to INT, by which clean_up ends it.
behind() {
	# shellcheck disable=SC2016  # the inner shell expands it
	top=$top work=$work cache=$cache parts=$parts quick_linker=$quick_linker \
		env --default-signal=INT setsid nice -n 5 "$BASH" -euo pipefail -c \
		"$(declare -f)"'; { echo 5 >/proc/self/autogroup; } 2>/dev/null || :; "$1"' "$0" "$2" >"$work/logs/$2" 2>&1 &
	other_groups+=($!)
	with_others "$@"
}

# automake_total LOG WORD...: adds up such lines of its test harnesses' summaries,
# not of test-suite.log, which has the same and is shown after a failure.
automake_total() {
	local log=$1 words
	shift
	words=$(IFS='|'; echo "$*")
	awk -v "words=^($words):$" '
		/^Testsuite summary for / { summary = 1 }
		summary && $1 == "#" && $2 ~ words { n += $3 }
		$2 == "ERROR:" { summary = 0 }
		END { print n + 0 }' "$log"
}

# pytest_lines LOG: how pytest ends, a line for each time it was run.
pytest_lines() {
	awk '/^(=+ )?[0-9]+ [a-z]+(, [0-9]+ [a-z]+)* in [0-9.]+s/' "$1"
}

# pytest_total LOG WORD...: adds up such numbers in pytest's closing lines.
pytest_total() {
	local log=$1 words
	shift
	words=$(IFS='|'; echo "$*")
	pytest_lines "$log" | sed 's/^=* *//; s/ in .*//' | tr , '\n' |
		awk -v "words=^($words)$" '$2 ~ words { n += $1 } END { print n + 0 }'
}

# names_of_failures LOG: the tests that failed, as pytest and automake name them.
names_of_failures() {
	awk '
		/^(FAILED|ERROR) tests\// || /^(FAILED|ERROR) test_/ { print substr($0, 1, 200) }
		/^(FAIL|XPASS|ERROR): / { unit[$0] = 1 }
		END { for (line in unit) print line }' "$1"
}

# A live test that cannot run has not passed: only --skip-live skips.
count_tests() {
	passed=$((passed + $(automake_total "$1" PASS XFAIL)))
	failed=$((failed + $(automake_total "$1" FAIL XPASS ERROR)))
	skipped=$((skipped + $(automake_total "$1" SKIP)))
	passed=$((passed + $(pytest_total "$1" passed xfailed)))
	failed=$((failed + $(pytest_total "$1" failed error errors skipped xpassed)))
	mapfile -t -O "${#live_results[@]}" live_results < <(pytest_lines "$1")
}

# ---- What the steps do ----

# The tree as it is, without what earlier builds left in it. With git's own
# directory, by which distcheck sees whether a tracked file is not in the tarball.
copy_tree() {
	mkdir "$work/tree"
	cd "$top"
	if [ -d .git ] && git -c safe.directory='*' ls-files >/dev/null 2>&1; then
		cp -R .git "$work/tree/.git"
		git -c safe.directory='*' ls-files -z --cached --others --exclude-standard |
			while IFS= read -r -d '' file; do
				[ ! -e "$file" ] && [ ! -L "$file" ] || printf '%s\0' "$file"
			done | tar --null --files-from=- -cf - | tar -xf - -C "$work/tree"
	else
		tar --exclude=./.git -cf - . | tar -xf - -C "$work/tree"
		rm -f "$work/tree/config.status"
	fi
	cd "$work/tree"
	autoreconf -fi
}

# configured NAME CONFIGURE_ARGUMENT...: configures in $work/NAME and goes there. No path that the compiler is told
# begins with $work, which each run has another of.
configured() {
	mkdir "$work/$1"
	cd "$work/$1"
	shift
	../tree/configure --srcdir=../tree --quiet "$@"
}

build_gcc() {
	configured gcc CC='ccache gcc' --enable-werror
	make
}

check_unit() {
	cd "$work/gcc"
	make check VERBOSE=1 LDFLAGS="$quick_linker"
}

# Each version of clang-format lays some things out otherwise: only the one of .clang-format judges.
layout() {
	local version
	version=$(clang-format --version | sed -n 's/.*version \([0-9]*\)\..*/\1/p')
	if [ "$version" != 14 ]; then
		echo "not looked at: .clang-format is for clang-format 14, this is ${version:-of no known version}"
		return 0
	fi
	cd "$work/tree"
	find src tests -name '*.[ch]' -exec clang-format --dry-run -Werror {} +
}

# Each of ours for sh or bash.
scripts() {
	cd "$work/tree"
	find . \( -path ./.git -o -path ./build-aux -o -path ./configure -o -path ./autom4te.cache \) -prune -o -type f \
		-exec sh -c 'head -n 1 "$1" | grep -aqE "^#!.*[ /](ba|da)?sh( |$)"' sh {} \; -print0 |
		xargs -0 shellcheck --severity=warning --external-sources
	# An undefined name would fail only when its line runs: in an hour, or never.
	find . \( -path ./.git -o -path ./build-aux \) -prune -o -type f \
		-exec sh -c 'case $1 in *.py) ;; *) head -n 1 "$1" | grep -aqE "^#!.*[ /]python3?( |$)" ;; esac' sh {} \; -print0 |
		xargs -0 pyflakes3
}

# Optimized as the program is. Of debug information only the lines, here and below: less to write and link.
distcheck() {
	cd "$work/gcc"
	make distcheck VERBOSE=1 \
		DISTCHECK_CONFIGURE_FLAGS="--enable-werror CC='ccache gcc' CFLAGS='-O2 -g1' LDFLAGS=$quick_linker"
}

# What an optimizer would leave out is looked at too, and compiling takes a third of the time.
check_sanitizers() {
	configured sanitizers CC='ccache clang' --enable-sanitizers --enable-werror CFLAGS='-O0 -g1' LDFLAGS="$quick_linker"
	make check VERBOSE=1
}

# The live tests' Python packages, kept per list and interpreter.
python_environment() {
	local key
	key=$({ cat "$top/tests/live/requirements.txt"; python3 -c 'import sys; print(sys.version, sys.executable)'; } |
		sha256sum | cut -c1-16)
	venv=$cache/live-$key
	mkdir -p "$cache"
	exec 9>"$venv.lock"
	flock 9
	if [ ! -e "$venv/complete" ]; then
		rm -rf "$venv"
		python3 -m venv "$venv"
		"$venv/bin/pip" install --quiet --disable-pip-version-check -r "$top/tests/live/requirements.txt"
		touch "$venv/complete"
	fi
	exec 9>&-
}

# live_tests PYTEST_OPTION...: against the program of build_gcc.
live_tests() {
	local venv KSCALED=$work/gcc/src/kscaled
	[ -x "$KSCALED" ] || { echo "there is no $KSCALED: the build failed"; return 1; }
	python_environment
	KUBE_ASSETS=$("$top/tests/cluster/build")
	export KSCALED KUBE_ASSETS PYTHONDONTWRITEBYTECODE=1
	cd "$top"
	"$venv/bin/python" -m pytest tests/live -q -o timeout=900 "$@"
}

# Most tests wait most of the time. More workers than this want more processor time than two cores have
# to give, and tests wait for each other. Vault is built before, and what runs in Java fetched, when need be: that
# takes longer than a test may.
check_live() {
	"$top/tests/azurite/build" >/dev/null
	"$top/tests/moto/build" >/dev/null
	"$top/tests/vault/build" >/dev/null
	"$top/tests/kafka/build" >/dev/null
	"$top/tests/opensearch/build" >/dev/null
	"$top/tests/mongo/build" >/dev/null
	KSCALED_RIGHTS_DIR=$work/rights live_tests -m 'not alone' -n "$workers" --durations=15 --basetemp="$work/live"
}

# What measures has the machine for itself.
check_live_alone() { KSCALED_RIGHTS_DIR=$work/rights live_tests -m alone --durations=10 --basetemp="$work/live-alone"; }

# Both runs together: a right that none of their tests used is one too many, or a test is missing.
check_rights() {
	local venv
	python_environment
	"$work/gcc/src/kscaled" manifests --host localhost:8443 >"$work/manifests.yaml"
	"$venv/bin/python" "$top/tests/live/rig/rights.py" "$work/manifests.yaml" "$work/rights"
}

# What each unit of work costs, in instructions, which a busy machine hardly changes.
check_instructions() { "$top/tests/bench/instructions" --binary "$work/gcc/src/kscaled" --check; }

# The main journeys, and what is installed, with the oldest Kubernetes that kscaled is for.
check_oldest() {
	local venv
	python_environment
	KUBE_ASSETS=$("$top/tests/cluster/build" --oldest)
	export KUBE_ASSETS
	live_tests -m journey -n 2 --basetemp="$work/live-oldest"
	KSCALED=$work/gcc/src/kscaled "$venv/bin/python" -m pytest -q -n 2 -o timeout=900 --basetemp="$work/oldest" \
		tests/artefacts/test_chart.py tests/artefacts/test_kustomize.py -k 'strictly or life or k3s'
}

check_journeys() { live_tests -m journey -n 2 --basetemp="$work/live"; }

# Whoever changes the root of a file system is root.
as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -E "$@"; fi; }

# artefacts_as_root NAME [PYTEST_OPTION...] FILE...: those files of tests/artefacts in one run, in which they share the package and the
# small Debian. What root would look for in a cache of its own is named, and what it compiles is kept apart.
artefacts_as_root() {
	local venv name=$1
	shift
	python_environment
	KUBE_ASSETS=$("$top/tests/cluster/build")
	export KUBE_ASSETS PYTHONDONTWRITEBYTECODE=1
	cd "$top/tests/artefacts"
	BUILD=$work/gcc KSCALED=$work/gcc/src/kscaled CCACHE_DIR=$cache/ccache-packages as_root \
		"$venv/bin/python" -m pytest -q -o timeout=900 --durations=5 --basetemp="$work/$name" "$@"
}

# The package, on hosts, and what README says of all the ways: together, as they need the same package.
check_hosts() {
	"$top/tests/artefacts/tools/build" >/dev/null
	artefacts_as_root hosts test_deb.py test_host.py test_readme.py
}

# The image and the chart on a node that runs Pods.
artefact_node() {
	"$top/tests/artefacts/tools/build" >/dev/null
	artefacts_as_root node test_node.py test_hook.py
}

# The program in another folder, compiled, not found in a cache: to see that the image is the same.
build_elsewhere() {
	mkdir -p "$work/elsewhere/build"
	cd "$work/elsewhere/build"
	"$work/tree/configure" --quiet CC=gcc --enable-werror
	make src/kscaled
}

# artefact FILE [PYTEST_OPTION...]: what tests/artefacts/FILE says of the program of build_gcc.
artefact() {
	local venv file=$1
	shift
	[ -x "$work/gcc/src/kscaled" ] || { echo "there is no $work/gcc/src/kscaled: the build failed"; return 1; }
	python_environment
	KUBE_ASSETS=$("$top/tests/cluster/build")
	export KUBE_ASSETS PYTHONDONTWRITEBYTECODE=1
	cd "$top"
	KSCALED=$work/gcc/src/kscaled KSCALED_AGAIN=$work/elsewhere/build/src/kscaled \
		"$venv/bin/python" -m pytest -q -o timeout=900 --basetemp="$work/${file%.py}" "$@" "tests/artefacts/$file"
}

# helm and kustomize are built before: that may take longer than a test.
artefact_kubernetes() {
	"$top/tests/artefacts/tools/build" >/dev/null
	artefact "$@"
}

# ---- All of it ----

wanted() { case " $parts " in *" $1 "*) ;; *) return 1 ;; esac; }

# What compiles and computes: it runs behind the live tests, which wait most of the time.
of_source=('layout' 'scripts' 'make distcheck')
lane_that_computes() {
	if wanted unit; then
		run 'layout' layout
		run 'scripts' scripts
		run 'make distcheck' distcheck
	fi
	! wanted sanitizers || run 'clang, sanitizers' check_sanitizers
	if wanted artefacts; then
		run 'build, elsewhere' build_elsewhere
		run 'arm64, armhf' artefacts_as_root arm -rP -o timeout=1800 test_cross.py
	fi
}

lane_of_unit_tests() { run 'make check' check_unit; }
lane_of_journeys() { run 'live tests, main journeys' check_journeys; }
lane_of_live_tests() { run 'live tests' check_live; }

# Lanes run at once and take about as long as each other. Each waits most of the time, and they share only caches,
# which are locked while they are filled. A count of instructions does not depend on what runs beside it. The chart runs
# alone, because Helm has time limits of its own.
artefacts=('build, elsewhere' 'arm64, armhf' 'package, systemd, README' 'image' 'node' 'oldest Kubernetes'
	'kustomize, k3s' 'release')
lane_of_hosts() {
	! wanted artefacts || run 'package, systemd, README' check_hosts
}

lane_of_images() {
	! wanted artefacts || run 'image' artefact test_image.py
	! wanted live || run 'instructions' check_instructions
}

lane_of_clusters() {
	wanted artefacts || return 0
	run 'node' artefact_node
	run 'oldest Kubernetes' check_oldest
	run 'kustomize, k3s' artefact_kubernetes test_kustomize.py -n 2
	run 'release' artefact test_release.py
}

# After a failed set-up nothing more could be told.
run_all() {
	local name
	if [ "$install" = yes ]; then
		step 'packages' "$top/contrib/install-deps.sh" --tests
		[ "$result" = ok ] || return 0
	fi
	step 'autoreconf' copy_tree
	[ "$result" = ok ] || return 0
	if [ "$quick" = yes ]; then
		step 'build, gcc' build_gcc
		behind lane_of_journeys lane_of_unit_tests
		count 'make check'
		count 'live tests, main journeys'
		return 0
	fi
	if wanted unit || wanted live || wanted artefacts; then
		step 'build, gcc' build_gcc
	fi
	if wanted live; then
		behind lane_of_live_tests lane_that_computes
	else
		lane_that_computes
	fi
	if wanted unit; then
		for name in "${of_source[@]}"; do
			count "$name"
		done
	fi
	! wanted sanitizers || count 'clang, sanitizers'
	if wanted live; then
		count 'live tests'
		step 'live tests, alone' check_live_alone
		step 'rights' check_rights
	fi
	if wanted live || wanted artefacts; then
		beside lane_of_hosts lane_of_images lane_of_clusters
	fi
	! wanted live || count 'instructions'
	if wanted artefacts; then
		for name in "${artefacts[@]}"; do
			count "$name"
		done
		step 'chart' artefact_kubernetes test_chart.py -n 2
	fi
}

mkdir "$work/logs"
run_all

printf '\n==== summary ====\n'
printf '%s\n' "${summary[@]}"
[ "${#failures[@]}" -eq 0 ] || printf '%s\n' "${failures[@]}"
[ "${#live_results[@]}" -eq 0 ] || printf 'live tests: %s\n' "${live_results[@]}"
printf 'all of it took %d s\n' "$SECONDS"
printf '%d passed, %d failed%s\n' "$passed" "$failed" \
	"$([ "$skipped" -eq 0 ] || printf ', %d skipped' "$skipped")"
[ "$failed_steps" -eq 0 ] && [ "$failed" -eq 0 ]
