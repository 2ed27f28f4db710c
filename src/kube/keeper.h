/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_KEEPER_H
#define KUBE_KEEPER_H

/*
 * Watches one named cluster object (an APIService, a webhook configuration, a Secret) and keeps it
 * in a desired state. The policy defines that state and who may write; the keeper sends the
 * policy's patch under the resourceVersion it is based on, one write at a time, retries with
 * back-off, reports each error once, and slows down when others revert its writes. It stores only
 * the version, no JSON.
 *
 * The policy sees each state once: from a list, an event or the answer to a write, whichever comes
 * first; late events with older states are skipped. There is no state, and no write, before the
 * first list.
 *
 * Two writers with different goals (an admission plugin that removes a field, a tool that restores
 * a state from Git) must not write in a tight loop: when a write is reverted within a minute, and
 * not for the first time, the next one waits some seconds, then longer, up to a minute.
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
	const char *without;  /* what does not work without it, for the log; NULL */
	bool create_by_apply; /* by KUBE_APPLY, which a role can limit to this name; fails if another one exists */
	int64_t brake_max_ms; /* maximum delay before repeating a reverted write; 0: a minute */
};

struct keeper_policy { /* outlives the keeper */
	/*
	 * A new state; NULL: the object does not exist. Borrowed for the call. on_change follows.
	 */
	void (*on_object)(void *arg, const json_t *object);
	/* Whether it differs from the desired state and we may write. */
	bool (*lacks)(void *arg);
	/*
	 * Makes the JSON of the write: a merge patch for `version`, or the whole object to create
	 * if version is NULL. The keeper wipes and frees it. NULL: not possible, see err.
	 */
	char *(*make)(void *arg, const char *version, struct err *err);
	void (*on_written)(void *arg, bool created); /* after on_object with the answer */
	void (*on_change)(void *arg);                /* the state or keeper_trouble has changed; optional */
};

struct keeper *keeper_new(struct kube *kube, const struct keeper_config *config, const struct keeper_policy *policy,
	void *arg);
void keeper_free(struct keeper *k); /* not from inside its policy */

void keeper_look(struct keeper *k);  /* an input of `lacks` has changed */
void keeper_hurry(struct keeper *k); /* the desired state has changed: resets the delay after reverts */

/* A write is under way: it may still change the state, whatever `lacks` says from now on. */
bool keeper_is_writing(const struct keeper *k);

/* The resourceVersion of the known state; borrowed; NULL: it does not exist, or is not known. */
const char *keeper_version(const struct keeper *k);

/* Whether the state is known, or cannot be: access is denied or the server lacks the kind. */
bool keeper_is_known(const struct keeper *k);
/* the error of writing, otherwise of watching; borrowed; NULL: none */
const char *keeper_trouble(const struct keeper *k);

#endif
