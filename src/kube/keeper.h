/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_KEEPER_H
#define KUBE_KEEPER_H

/*
 * One named object of the cluster is watched and kept as wanted: an APIService, a webhook
 * configuration, a Secret. What is wanted, and by whom, is the policy's; the keeper sends what the
 * policy makes under the resourceVersion that it was made from, one write at a time, tries again
 * with back-off, tells each trouble once, and keeps no pace with somebody who undoes its writes.
 *
 * It keeps no JSON, only the version. The policy is told of each state once: by a list, an event or
 * the answer to a write, whichever is first; an older event that still comes is skipped. A state is
 * what the next write starts from, so there is none before the first list.
 *
 * Two who want different things (an admission plugin that strips a field, a tool that puts back
 * what is in Git) must not write at full speed: what is undone within a minute, and not for the
 * first time, is written again after seconds, then later and later, up to a minute.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/client.h"

struct keeper;

struct keeper_config {          /* copied */
	const char *collection; /* "/apis/apiregistration.k8s.io/v1/apiservices" */
	const char *name;
	const char *title;    /* "APIService v1beta1.external.metrics.k8s.io": in the log and in troubles */
	const char *without;  /* what does not work while it cannot be kept, for the log; NULL */
	int64_t brake_max_ms; /* the longest wait before a write that was undone is repeated; 0: a minute */
};

struct keeper_policy { /* outlives the keeper */
	/* Another state; NULL: it does not exist. Borrowed for the call. Then comes on_change. */
	void (*on_object)(void *arg, const json_t *object);
	/* It is not as wanted, and it is us who may write. */
	bool (*lacks)(void *arg);
	/*
	 * What mends that, JSON: a merge patch under `version`, or, with NULL, the whole object to
	 * create. The keeper frees it, wiped. NULL: it cannot be made, as err says.
	 */
	char *(*make)(void *arg, const char *version, struct err *err);
	void (*on_written)(void *arg, bool created); /* after on_object with the answer */
	void (*on_change)(void *arg);                /* the state or keeper_trouble is another now; NULL: nobody asks */
};

struct keeper *keeper_new(struct kube *kube, const struct keeper_config *config, const struct keeper_policy *policy,
	void *arg);
void keeper_free(struct keeper *k); /* not from inside its policy */

void keeper_look(struct keeper *k);  /* something that `lacks` looks at is another */
void keeper_hurry(struct keeper *k); /* what is wanted is another: what was undone before does not count */

/*
 * Whether it was looked at, or may not be looked at, or is of a kind that the server does not have.
 */
bool keeper_is_known(const struct keeper *k);
const char *keeper_trouble(const struct keeper *k); /* of writing, else of watching; borrowed; NULL: none */

#endif
