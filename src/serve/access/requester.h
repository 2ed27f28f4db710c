/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_ACCESS_REQUESTER_H
#define SERVE_ACCESS_REQUESTER_H

/*
 * An authenticated user: immutable and reference-counted, so that a connection, a cached verdict
 * and a request share one. Made by verdicts and frontproxy, read by authz and the access log.
 */

#include <stdbool.h>

#include "base/fingerprint.h"
#include "kube/reviews.h"

struct requester {
	int refs;
	struct review_user user; /* owned */
	bool master;             /* in group system:masters, who may do everything */
	/*
	 * of everything that an access review uses: identifies the user in the key of a cached
	 * verdict
	 */
	char fingerprint[FINGERPRINT_TEXT];
};

/*
 * Copies `user` and adds the group system:authenticated (k8s.io/apiserver
 * pkg/authentication/group/authenticated_group_adder.go): the aggregator's own requests for
 * /openapi come with a name and no group, and only that group allows them.
 */
struct requester *requester_new(const struct review_user *user);
struct requester *requester_ref(struct requester *who);
void requester_unref(struct requester *who); /* NULL is fine */

/* Adds one value of an extra key; copies both texts. */
void requester_add_extra(struct review_user *user, const char *key, const char *value);

#endif
