# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Sourced by up, down and in: how a node is kept in hand. For tests/cluster it is one more component,
# whose process is that of unshare; it dies with all that runs in the node's namespaces.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cluster=$here/../../cluster
# shellcheck source=tests/cluster/processes.sh
. "$cluster/processes.sh"
components=(node)

say() { printf 'tests/artefacts/node: %s\n' "$*" >&2; }

# Opens the directory of a node, where the caller's arguments say so.
enter_node() {
	[ "$(id -u)" -eq 0 ] || die 'this is for root only: a node needs namespaces and control groups'
	[ -e "$1/run/node.cmd" ] || die "$1 is not a directory made by tests/artefacts/node/up"
	dir=$(cd "$1" && pwd)
}

# Prints the first process within the namespaces.
first_process() {
	local pid
	pid=$(running_pid node) && pid=$(<"/proc/$pid/task/$pid/children") && [ -n "$pid" ] && echo "${pid% }"
}

# Each control group that is the node's.
control_groups() { find /sys/fs/cgroup -depth -type d -path "*/$(<"$dir/run/group")*" "$@"; }

# Kills what the node runs, and waits until nothing of it is left. Its namespaces go with its processes.
stop_node() {
	local first deadline=$((SECONDS + 60))
	first=$(first_process) || first=
	stop_component node KILL
	while [ -n "$first" ] && start_time "$first" >/dev/null; do
		[ "$SECONDS" -lt "$deadline" ] || die "what ran in $dir has not ended after 60 s"
		sleep 0.05
	done
	# A process that has ended may still hold its group for a moment.
	until control_groups -exec rmdir {} + 2>/dev/null; do
		[ "$SECONDS" -lt "$deadline" ] || die "these control groups are still in use: $(control_groups | tr '\n' ' ')"
		sleep 0.05
	done
}
