/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_LEADER_LEADER_H
#define CONTROL_LEADER_LEADER_H

/*
 * Leader election by a coordination.k8s.io Lease, like client-go's
 * (k8s.io/client-go/tools/leaderelection). In addition, a restart under the same identity resumes
 * at once, SIGTERM releases the Lease, losing it stops all actions without an exit, and we never
 * lead while KEDA's own operator does.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cache/leadership.h"
#include "kube/client.h"

struct leader;

struct leader_config {
	bool elect; /* false: leads at once, without a Lease (KEDA's Lease is still respected) */
	const char *namespace_, *lease_name;
	const char *identity;
	int64_t lease_duration_ms, renew_deadline_ms, retry_period_ms;
	const char *keda_namespace; /* never lead while the Lease of KEDA there is held and fresh; "": not checked */
	bool take_over;             /* lead although KEDA does */
};

typedef void (*leader_fn)(void *arg, bool leading);

/*
 * Writes *state (borrowed) before each callback. on_change is called on each change, never before
 * leader_new returned, possibly from inside the calls below; it must not free the leader.
 */
struct leader *leader_new(struct kube *kube, const struct leader_config *config, struct leadership *state,
	leader_fn on_change, void *arg);

/*
 * While there is a reason (copied; NULL removes it) this process does not lead: a leader steps down
 * at once and releases the Lease. For reasons that only the daemon knows, such as an APIService
 * that points to another Service; the daemon blocks it from the start until that is known.
 */
void leader_set_blocked(struct leader *l, const char *why);

/*
 * Stops leading at once (on_change false comes first), clears the Lease's holder if that is us,
 * also as a former process that could not (the API server was away), then calls done: exactly once,
 * within deadline_ms, never before this returned. Once only.
 */
void leader_release(struct leader *l, int64_t deadline_ms, void (*done)(void *arg), void *arg);
void leader_free(struct leader *l); /* without callbacks; a held Lease expires */

/*
 * For kube_config: after how long a connection to the API server counts as dead, so that an attempt
 * to renew the Lease is given up early enough for another over a new connection.
 */
int64_t leader_dead_peer_ms(int64_t renew_deadline_ms);

/*
 * Identity: a configured text, or the Pod's name (NULL: the host's) and a nonce kept in
 * state_dir/identity, which survives restarts. If state_dir cannot be written, the nonce is new
 * each time, and *warning (owned by the caller, otherwise NULL) says so. The caller owns the
 * result.
 */
char *leader_identity(const char *configured, const char *pod, const char *state_dir, char **warning);

#endif
