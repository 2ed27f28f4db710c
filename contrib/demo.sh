#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: contrib/demo.sh [--no-install]
#
# Shows what kscaled does: work is put into a Redis list, a Deployment goes from
# 0 to N replicas, works it off, and goes back to 0. On a fresh Debian or Ubuntu
# machine, as root or with sudo, this installs what it needs, builds kscaled, and
# starts a Kubernetes control plane, a Redis and kscaled, all on loopback. What it
# started is gone afterwards, also after Ctrl-C; packages and ~/.cache/kscaled stay.
#
#   KUBECONFIG=file   use that cluster instead. Redis and kscaled run on this host,
#                     which the API server must be able to reach. A cluster in
#                     which KEDA or kscaled is installed already is left alone.
#   KSCALED=program   use that kscaled instead of building one
#   --no-install      install no packages
#
# The exit status is 0 only when 0 -> N -> 0 was seen.

set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
namespace='kscaled-demo'
items=40            # pushed at once
per_replica=5       # listLength: so many items for each replica
most=8              # maxReplicaCount
cooldown=10         # seconds without work until zero
patience=240        # seconds from the push until back at zero, at most

usage() { sed -n '4,/^$/s/^# \{0,1\}//p' "$0"; exit "$1"; }

install=yes
for argument; do
	case $argument in
	--no-install) install=no ;;
	-h|--help) usage 0 ;;
	*) usage 2 >&2 ;;
	esac
done

exec </dev/null
user_kubeconfig=${KUBECONFIG-}
unset KUBECONFIG
work=$(mktemp -d "${TMPDIR:-/tmp}/kscaled-demo-XXXXXX")
log=$work/log
: >"$log"

# ---- Telling ----

bold='' plain='' dim=''
if [ -t 1 ]; then bold=$'\e[1m' plain=$'\e[0m' dim=$'\e[2m'; fi
full='#' empty='.'
case ${LC_ALL:-${LC_CTYPE:-${LANG-}}} in *[Uu][Tt][Ff]*8*) full='█' empty='·' ;; esac

say() { printf '%s==>%s %s\n' "$bold" "$plain" "$*"; }
note() { printf '    %s\n' "$*"; }

failed=no
die() {
	failed=yes
	printf '\n%sdemo: %s%s\n' "$bold" "$1" "$plain" >&2
	shift
	[ $# -eq 0 ] || printf '      %s\n' "$@" >&2
	exit 1
}

now_ms() { local t=${EPOCHREALTIME//[.,]/}; echo "${t%???}"; }
started_ms=$(now_ms)

duration() { local s=$1; if [ "$s" -lt 60 ]; then echo "$s s"; else echo "$((s / 60)) min $((s % 60)) s"; fi; }

# ---- Processes: each in a session of its own, ended by its pid ----

redis_pid='' kscaled_pid='' step_pid='' plane_pid='' cluster='' applied='' kubectl_config=''

# All are children of this shell, which reaps what has ended.
ended() { ! kill -0 "$1" 2>/dev/null; }

# end PID [GROUP]: TERM, and KILL to what is still there after 10 s. A leading "-" in GROUP means its whole session.
end() {
	local pid=$1 target=${2:-$1} i
	[ -n "$pid" ] || return 0
	kill -TERM -- "$target" 2>/dev/null || true
	for ((i = 0; i < 100; i++)); do
		ended "$pid" && return 0
		sleep 0.1
	done
	kill -KILL -- "$target" 2>/dev/null || true
}

clean_up() {
	local status=$?
	trap '' INT TERM HUP
	set +e
	if [ "$failed" = yes ] && [ -s "$work/kscaled.log" ]; then
		printf '\nThe end of kscaled'\''s log:\n' >&2
		tail -n 15 "$work/kscaled.log" | cut -c1-300 >&2
	fi
	[ -z "$step_pid" ] || end "$step_pid" "-$step_pid"
	[ -z "$plane_pid" ] || end "$plane_pid" "-$plane_pid"
	# In somebody's cluster everything goes that came; our own is simply ended.
	if [ -n "$applied" ] && [ -z "$cluster" ]; then
		say 'Removing what was put into the cluster'
		kube delete namespace "$namespace" --ignore-not-found --wait=false >/dev/null 2>&1
		kube -n "$namespace" delete scaledobject worker --ignore-not-found --timeout=20s >/dev/null 2>&1
	fi
	end "$kscaled_pid"
	if [ -n "$applied" ] && [ -z "$cluster" ]; then
		kube delete -f "$work/manifests.yaml" --ignore-not-found --timeout=60s >/dev/null 2>&1 ||
			note "something was left: kscaled manifests | kubectl delete -f -"
		kube wait --for=delete "namespace/$namespace" --timeout=60s >/dev/null 2>&1
	fi
	end "$redis_pid"
	if [ -n "$cluster" ] && [ -d "$cluster/run" ]; then
		"$top/tests/cluster/down" "$cluster" >/dev/null 2>&1
	fi
	rm -rf "$work"
	exit "$status"
}
trap clean_up EXIT
trap 'echo; exit 130' INT
trap 'exit 143' TERM HUP

# step TEXT COMMAND...: runs it with its output in a file, and shows that it goes on.
step() {
	local text=$1 begun=$SECONDS shown=-1 last seconds
	shift
	say "$text"
	: >"$log"
	setsid "$@" >"$log" 2>&1 &
	step_pid=$!
	while ! ended "$step_pid"; do
		seconds=$((SECONDS - begun))
		if [ "$seconds" -ne "$shown" ] && { [ -t 1 ] || [ $((seconds % 15)) -eq 14 ]; }; then
			shown=$seconds
			last=$(tail -n 1 "$log" | tr -d '\r' | tr '\t' ' ' | cut -c1-60)
			if [ -t 1 ]; then
				printf '\r\e[K    %s%s%s %s' "$dim" "$(duration "$seconds")" "$plain" "$last"
			else
				note "$(duration "$seconds"): $last"
			fi
		fi
		sleep 0.2
	done
	[ ! -t 1 ] || printf '\r\e[K'
	if ! wait "$step_pid"; then
		step_pid=''
		tail -n 25 "$log" | cut -c1-300 >&2
		die "$text: failed"
	fi
	step_pid=''
	[ $((SECONDS - begun)) -lt 5 ] || note "done after $(duration $((SECONDS - begun)))"
}

# ---- What is needed ----

install_packages() {
	[ "$install" = yes ] || return 0
	say 'Looking for the packages that are needed'
	"$top/contrib/install-deps.sh" --demo || die 'the packages could not be installed'
}

# In a copy of the tree, without what an earlier build left in it.
# shellcheck disable=SC2016
build='set -e
mkdir "$1"
tar -C "$2" --exclude=./.git --exclude=config.status --exclude=stamp-h1 --exclude=./src/config.h --exclude=./src/kscaled \
	--exclude="*.o" --exclude="*.a" --exclude=.deps --exclude=Makefile -cf - . | tar -C "$1" -xf -
cd "$1"
[ -x configure ] || autoreconf -fi
./configure --quiet
make -j"$(nproc)"'

build_kscaled() {
	if [ -n "${KSCALED-}" ]; then
		[ -x "$KSCALED" ] || die "there is no program $KSCALED"
		kscaled=$(cd "$(dirname "$KSCALED")" && pwd)/$(basename "$KSCALED")
		return
	fi
	step 'Building kscaled' bash -c "$build" build "$work/tree" "$top"
	kscaled=$work/tree/src/kscaled
}

free_port() {
	local port
	while :; do
		port=$((20000 + RANDOM % 12000))
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
	done
	echo "$port"
}

# ---- The cluster ----

# Builds the control plane beside everything else; without Go and packages it may end at once.
begin_plane() {
	setsid "$top/tests/cluster/build" >"$work/plane.log" 2>&1 &
	plane_pid=$!
}

# What is long is said, and begun, first. A cluster of the user's needs kubectl at most.
prepare_plane() {
	local minutes
	[ -z "$user_kubeconfig" ] || ! command -v kubectl >/dev/null || return 0
	minutes=$("$top/tests/cluster/build" --minutes 2>/dev/null) || return 0
	[ "$minutes" -gt 0 ] || return 0
	say "A Kubernetes control plane is built from source first: about $minutes min on this machine"
	note "and only once: it is kept in ${XDG_CACHE_HOME:-~/.cache}/kscaled"
	begin_plane
}

again_plane() {
	if [ -n "$plane_pid" ] && ended "$plane_pid" && ! wait "$plane_pid"; then begin_plane; fi
}

# What failed in the background is tried once more, where it is seen.
await_plane() {
	[ -n "$plane_pid" ] || return 0
	step 'Building the control plane' "$top/tests/cluster/build"
	plane_pid=''
}

kube() { KUBECONFIG=$kubectl_config "$kubectl" "$@"; }

start_cluster() {
	cluster=$work/cluster
	step 'Starting a Kubernetes control plane' "$top/tests/cluster/up" "$cluster" --hpa-sync-period 2s --hpa-downscale-stabilization 4s
	kubectl_config=$cluster/kubeconfig
	# shellcheck source=/dev/null disable=SC2153
	kubectl=$(. "$cluster/env" && echo "$KUBECTL")
	bind=127.0.0.1
	host=localhost:$port
	node='nodeName: node-0'    # there is no scheduler
}

find_kubectl() {
	kubectl=$(command -v kubectl) && return
	step 'Finding kubectl' "$top/tests/cluster/build"
	kubectl=$(tail -n 1 "$log")/kubectl
}

# The address of this host that the API server can be expected to reach: the one from which we reach it, or, when both are on one host, the one towards the world.
# shellcheck disable=SC2016
own_address='
import ipaddress, socket, sys, urllib.parse
url = urllib.parse.urlsplit(sys.argv[1])
def source(host, port):
    family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind) as probe:
        probe.connect(address)
        return ipaddress.ip_address(probe.getsockname()[0].partition("%")[0])
address = source(url.hostname, url.port or 443)
if address.is_loopback or address.is_link_local:
    address = source("192.0.2.1", 9)
print(f"[{address}]" if address.version == 6 else address)
'

use_cluster() {
	local server address
	kubectl_config=$user_kubeconfig
	find_kubectl
	server=$(kube config view --minify -o 'jsonpath={.clusters[0].cluster.server}') || die "KUBECONFIG=$user_kubeconfig cannot be used"
	say "Using the cluster at $server"
	kube get --raw /readyz >/dev/null || die 'the cluster does not answer'
	address=$(python3 -c "$own_address" "$server" 2>/dev/null) ||
		die 'no address of this host was found that the API server could reach' 'Run without KUBECONFIG: then everything is on this host.'
	bind=''
	host=$address:$port
	node=''
	note "its API server is told to reach kscaled at https://$host"
}

# Refuses to share a cluster with a KEDA or a kscaled that is at work: their objects are not ours to touch.
apply_manifests() {
	local there
	"$kscaled" manifests --host "$host" >"$work/manifests.yaml"
	there=$(kube get -f "$work/manifests.yaml" --ignore-not-found -o name 2>/dev/null) || true
	# shellcheck disable=SC2086  # a list
	[ -z "$there" ] || die 'this cluster has some of what kscaled needs already, from KEDA or from another kscaled:' $there 'The demo leaves it alone. Use another cluster, or none (unset KUBECONFIG).'
	! kube get namespace "$namespace" >/dev/null 2>&1 || die "namespace $namespace exists already: remove it first"
	say 'Applying kscaled manifests'
	applied=yes
	kube apply -f "$work/manifests.yaml" >"$log" 2>&1 || { tail -n 5 "$log" >&2; die 'the manifests could not be applied'; }
}

# kscaled's own account, not the administrator's.
write_kubeconfig() {
	local user token
	token=$(kube -n kscaled create token kscaled --duration 1h)
	(umask 077 && kube config view --raw --minify --flatten >"$work/kubeconfig")
	user=$(kube config view --minify -o 'jsonpath={.users[0].name}')
	local own=(env KUBECONFIG="$work/kubeconfig" "$kubectl" config)
	[ -z "$user" ] || "${own[@]}" delete-user "$user" >/dev/null
	"${own[@]}" set-credentials kscaled-demo --token "$token" >/dev/null
	"${own[@]}" set-context --current --user kscaled-demo --namespace kscaled >/dev/null
}

# ---- Redis and kscaled ----

redis() { redis-cli -h 127.0.0.1 -p "$redis_port" "$@"; }

start_redis() {
	local i
	say 'Starting Redis'
	redis_port=$(free_port)
	mkdir "$work/redis"
	setsid redis-server --port "$redis_port" --bind 127.0.0.1 --save '' --appendonly no --daemonize no --dir "$work/redis" >"$work/redis.log" 2>&1 &
	redis_pid=$!
	for ((i = 0; i < 100; i++)); do
		[ "$(redis ping 2>/dev/null)" != PONG ] || return 0
		sleep 0.1
	done
	cat "$work/redis.log" >&2
	die 'Redis did not start'
}

apiservice() { kube get apiservice v1beta1.external.metrics.k8s.io -o "jsonpath={.status.conditions[?(@.type==\"Available\")].$1}"; }

start_kscaled() {
	local i
	say 'Starting kscaled'
	mkdir "$work/state"
	setsid "$kscaled" run --kubeconfig "$work/kubeconfig" ${bind:+--bind-address "$bind"} --secure-port "$port" --status-address "127.0.0.1:$(free_port)" \
		--state-dir "$work/state" --allow-local-sources >"$work/kscaled.log" 2>&1 &
	kscaled_pid=$!
	for ((i = 0; i < 60; i++)); do
		[ "$(apiservice status)" != True ] || return 0
		! ended "$kscaled_pid" || die 'kscaled ended'
		sleep 0.5
	done
	die "the API server does not reach kscaled at https://$host: $(apiservice message)" \
		'A firewall, NAT, or a managed control plane may be between them. Run without KUBECONFIG: then everything is on this host.'
}

# ---- The job ----

apply_example() {
	kube create namespace "$namespace" >/dev/null
	kube apply -f - >/dev/null <<-END
		apiVersion: apps/v1
		kind: Deployment
		metadata: {name: worker, namespace: $namespace}
		spec:
		  replicas: 0
		  selector: {matchLabels: {app: worker}}
		  template:
		    metadata: {labels: {app: worker}}
		    spec:
		      $node
		      terminationGracePeriodSeconds: 0
		      containers:
		      - {name: worker, image: "registry.k8s.io/pause:3.10", env: [{name: REDIS, value: "127.0.0.1:$redis_port"}]}
		---
		apiVersion: keda.sh/v1alpha1
		kind: ScaledObject
		metadata: {name: worker, namespace: $namespace}
		spec:
		  scaleTargetRef: {name: worker}
		  pollingInterval: 1
		  cooldownPeriod: $cooldown
		  minReplicaCount: 0
		  maxReplicaCount: $most
		  advanced:
		    horizontalPodAutoscalerConfig:
		      behavior:
		        scaleUp: {stabilizationWindowSeconds: 0, policies: [{type: Pods, value: 3, periodSeconds: 2}]}
		        scaleDown: {stabilizationWindowSeconds: 2, policies: [{type: Pods, value: 2, periodSeconds: 2}]}
		  triggers:
		  - type: redis
		    metadata: {addressFromEnv: REDIS, listName: jobs, listLength: "$per_replica"}
	END
	kube -n "$namespace" wait --for=condition=Ready scaledobject/worker --timeout=60s >/dev/null || {
		kube -n "$namespace" get scaledobject worker -o 'jsonpath={.status.conditions}' >&2
		die 'the ScaledObject did not become ready'
	}
}

queue=0 desired=0 replicas=0 ready=0

# Keeps the last numbers when the API server or Redis does not answer for once.
look() {
	local kind spec is_ready wanted length
	length=$(redis llen jobs 2>/dev/null) && [[ $length =~ ^[0-9]+$ ]] && queue=$length
	while read -r kind spec is_ready wanted; do
		case $kind in
		Deployment) replicas=${spec#=} ready=${is_ready#=} replicas=${replicas:-0} ready=${ready:-0} ;;
		HorizontalPodAutoscaler) desired=${wanted#=} desired=${desired:-0} ;;
		esac
	done < <(kube -n "$namespace" get deployment/worker hpa/keda-hpa-worker --ignore-not-found \
		-o 'jsonpath={range .items[*]}{.kind} ={.spec.replicas} ={.status.readyReplicas} ={.status.desiredReplicas}{"\n"}{end}' 2>/dev/null)
	# An HPA sleeps while its target is at zero, and goes on showing what it last wanted.
	[ "$replicas" -gt 0 ] || desired=0
}

# bar VALUE MAXIMUM WIDTH
bar() {
	local filled=$((($1 * $3 + $2 - 1) / $2)) i
	[ "$filled" -le "$3" ] || filled=$3
	for ((i = 0; i < $3; i++)); do
		if [ "$i" -lt "$filled" ]; then printf '%s' "$full"; else printf '%s' "$empty"; fi
	done
}

line() {
	printf '  %4s s  queue %3d %s   desired %2d   replicas %2d (%d ready) %s\n' "$1" "$queue" "$(bar "$queue" "$items" 20)" "$desired" "$replicas" "$ready" \
		"$(bar "$replicas" "$most" "$most")"
}

seconds_since() { local ms=$(($(now_ms) - $1)); printf '%d.%d' $((ms / 1000)) $((ms % 1000 / 100)); }

# Every second each ready replica does one item in two seconds: as many are taken off the list.
first='' first_ready='' emptied='' zero='' peak=0 owed=0
run_job() {
	local pushed next
	look
	[ "$replicas" -eq 0 ] || die "it should begin with no replicas, and there are $replicas"
	line 0
	# shellcheck disable=SC2046
	redis rpush jobs $(seq "$items") >/dev/null
	pushed=$(now_ms)
	next=$((pushed + 1000))
	say "$items items were pushed; each replica does one in two seconds"
	while :; do
		look
		if [ "$replicas" -gt 0 ] && [ -z "$first" ]; then first=$(seconds_since "$pushed"); fi
		if [ "$ready" -gt 0 ] && [ -z "$first_ready" ]; then first_ready=$(seconds_since "$pushed"); fi
		if [ "$queue" -eq 0 ] && [ -z "$emptied" ]; then emptied=$(seconds_since "$pushed"); fi
		if [ "$replicas" -gt "$peak" ]; then peak=$replicas; fi
		if [ -n "$emptied" ] && [ "$replicas" -eq 0 ]; then zero=$(seconds_since "$pushed"); fi
		if [ "$(now_ms)" -ge "$next" ] || [ -n "$zero" ]; then
			line $((($(now_ms) - pushed + 500) / 1000))
			next=$((next + 1000))
			owed=$((owed + ready))
			redis ltrim jobs $((owed / 2)) -1 >/dev/null
			owed=$((owed % 2))
		fi
		[ -z "$zero" ] || break
		! ended "$kscaled_pid" || die 'kscaled ended'
		[ $(($(now_ms) - pushed)) -lt $((patience * 1000)) ] || die "not back at zero after $patience s"
		sleep 0.2
	done
}

summary() {
	local rss
	rss=$(awk '/^VmRSS:/ { printf "%.1f", $2 / 1024 }' "/proc/$kscaled_pid/status")
	echo
	say 'What was seen'
	note "first replica asked for   $first s after the push"
	note "first replica ready       $first_ready s"
	note "most replicas             $peak"
	note "list empty                $emptied s"
	note "back at zero              $zero s ($cooldown s of cooldown included)"
	note "kscaled's memory          $rss MiB"
	kube -n "$namespace" get events.events.k8s.io --sort-by=.eventTime -o 'jsonpath={range .items[*]}{.regarding.kind}{" "}{.reason}{": "}{.note}{"\n"}{end}' 2>/dev/null |
		sed -n 's/^ScaledObject \(KEDAScaleTarget.*\)/    Event  \1/p' || true
	if [ -z "$first" ] || [ "$peak" -le 1 ] || [ -z "$zero" ]; then die "that was not 0 -> N -> 0: at most $peak replicas"; fi
	printf '\n%s0 -> %d -> 0%s, in %s with all preparations\n' "$bold" "$peak" "$plain" "$(duration $((($(now_ms) - started_ms) / 1000)))"
}

prepare_plane
install_packages
again_plane
for program in redis-server redis-cli python3 setsid curl openssl; do
	command -v "$program" >/dev/null || die "$program is needed (contrib/install-deps.sh --demo installs it)"
done
build_kscaled
await_plane
port=$(free_port)
if [ -n "$user_kubeconfig" ]; then use_cluster; else start_cluster; fi
apply_manifests
write_kubeconfig
start_redis
start_kscaled
say "A Deployment with no replicas, and a ScaledObject on the Redis list \"jobs\": one replica for every $per_replica items, at most $most"
apply_example
run_job
summary
