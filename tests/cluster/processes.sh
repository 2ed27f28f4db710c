# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Sourced by up, down, start, stop and restart: how a component of a control
# plane directory is started, found alive, waited for and stopped.
#
# For each component the directory has
#   run/NAME.cmd   its command line, one argument per line (written by up)
#   run/NAME.pid   "PID STARTTIME" while it runs
#   NAME.log       what it printed, over all its runs
#
# A pid alone says little: the process may be gone and its number given to
# somebody else. The kernel's start time of the process makes it unmistakable.

components=(etcd kube-apiserver kube-controller-manager kwok)    # or kube-scheduler: see enter

say() { printf 'tests/cluster: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

usage() { sed -n '4,/^$/s/^# \{0,1\}//p' "$0"; exit "$1"; }

# enter DIR: makes DIR absolute and requires that up made it.
enter() {
	[ -n "$1" ] || usage 2 >&2
	[ -d "$1/run" ] || die "$1 is not a directory made by tests/cluster/up"
	dir=$(cd "$1" && pwd)
	[ ! -e "$dir/run/kube-scheduler.cmd" ] || components=("${components[@]/kwok/kube-scheduler}")
	# shellcheck source=/dev/null
	[ ! -e "$dir/env" ] || . "$dir/env"
}

known_component() {
	local name
	for name in "${components[@]}"; do
		[ "$name" != "$1" ] || return 0
	done
	die "no component '$1' (there are: ${components[*]})"
}

# Prints the start time of a process that runs; fails for none and for a zombie,
# which nobody may reap where process 1 is no init. A killed process shows as one
# as soon as its first thread has ended, while others may still hold its port.
start_time() {
	local stat fields threads
	{ stat=$(<"/proc/$1/stat"); } 2>/dev/null || return 1
	read -r -a fields <<<"${stat##*) }"
	threads=(/proc/"$1"/task/*)
	[ "${fields[0]}" != Z ] && [ "${fields[0]}" != X ] || [ "${#threads[@]}" -gt 1 ] || return 1
	echo "${fields[19]}"
}

# Prints the pid of a component that runs and is the very process we started.
running_pid() {
	local pid started
	[ -s "$dir/run/$1.pid" ] || return 1
	read -r pid started <"$dir/run/$1.pid"
	[ "$(start_time "$pid")" = "$started" ] && echo "$pid"
}

start_component() {
	local name=$1 command pid
	! running_pid "$name" >/dev/null || die "$name already runs"
	mapfile -t command <"$dir/run/$name.cmd"
	# A session of its own: a Ctrl-C meant for the caller must not reach it.
	# Its descriptors are closed so that it holds no lock or pipe of the caller.
	setsid "${command[@]}" </dev/null >>"$dir/$name.log" 2>&1 \
		3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
	pid=$!
	disown "$pid"
	# Ended already: leave a pid file that matches nothing, the waiting tells why.
	echo "$pid $(start_time "$pid" || echo 0)" >"$dir/run/$name.pid"
}

# stop_component NAME [SIGNAL]: signals, waits, and kills what does not go.
stop_component() {
	local name=$1 signal=${2-TERM} pid deadline=$((SECONDS + 20))
	while pid=$(running_pid "$name"); do
		if [ -n "$signal" ]; then
			kill -s "$signal" "$pid" 2>/dev/null || continue
			signal=
		elif [ "$SECONDS" -ge "$deadline" ]; then
			say "$name ($pid) did not stop within 20 s, killing it"
			kill -s KILL "$pid" 2>/dev/null || continue
			deadline=$((SECONDS + 20))
		fi
		sleep 0.05
	done
	rm -f "$dir/run/$name.pid"
}

stop_all() {
	local i
	for ((i = ${#components[@]} - 1; i >= 0; i--)); do
		stop_component "${components[i]}"
	done
}

# api METHOD PATH [BODY]: a request to the API server as the administrator.
api() {
	curl --silent --show-error --fail --max-time 10 --request "$1" \
		--cacert "$dir/pki/ca.crt" --cert "$dir/pki/admin.crt" --key "$dir/pki/admin.key" \
		${3+--header 'Content-Type: application/json' --data "$3"} "$KUBE_SERVER$2"
}

# etcd_request PATH BODY: a request to etcd's JSON gateway.
etcd_request() {
	curl --silent --show-error --fail --max-time 30 \
		--cacert "$dir/pki/ca.crt" --cert "$dir/pki/etcd.crt" --key "$dir/pki/etcd.key" \
		--data "$2" "$ETCD_SERVER$1"
}

# shellcheck disable=SC2317  # called by name
ready_etcd() { etcd_request /v3/maintenance/status '{}'; }
# shellcheck disable=SC2317
ready_kube-apiserver() { api GET /readyz; }
# shellcheck disable=SC2317
ready_kube-controller-manager() {
	curl --silent --show-error --fail --max-time 10 --cacert "$dir/pki/ca.crt" \
		"$CONTROLLER_MANAGER_SERVER/healthz"
}
# shellcheck disable=SC2317
ready_kwok() { curl --silent --show-error --fail --max-time 10 "$KWOK_SERVER/healthz"; }

# shellcheck disable=SC2317
ready_kube-scheduler() { curl --silent --show-error --fail --max-time 10 --insecure "$SCHEDULER_SERVER/healthz"; }

# wait_ready NAME: until it answers; fails when it ends or is not ready in time.
wait_ready() {
	local name=$1 deadline=$((SECONDS + 240)) why
	until why=$("ready_$name" 2>&1 >/dev/null); do
		if ! running_pid "$name" >/dev/null; then
			fail_component "$name" 'ended'
			return 1
		fi
		if [ "$SECONDS" -ge "$deadline" ]; then
			fail_component "$name" "is not ready after 240 s ($why)"
			return 1
		fi
		sleep 0.1
	done
}

fail_component() {
	say "$1 $2; the end of $dir/$1.log:"
	tail -n 20 "$dir/$1.log" | cut -c1-600 >&2
}
