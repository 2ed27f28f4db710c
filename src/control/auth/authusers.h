/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_AUTH_AUTHUSERS_H
#define CONTROL_AUTH_AUTHUSERS_H

/*
 * Which ScaledObjects, or which ScaledJobs, refer to which TriggerAuthentication: gathered from the
 * store in one pass, used and freed within one turn of the loop, as it borrows from the store.
 */

#include "cache/objects/store.h"

struct authusers {             /* a value; zeroed except its kind it is empty */
	enum scaled_kind kind; /* of the users */
	struct authusers_list *lists;
};

void authusers_gather(struct authusers *u, const struct store *store);

/*
 * Sorted, comma-joined, each once: names for "shop/redis", namespace/name for "/redis" (a
 * ClusterTriggerAuthentication). "" if there are none. Beyond max bytes the rest is counted: ", and
 * 12 more". The caller owns it.
 */
char *authusers_text(struct authusers *u, const char *key, size_t max);
void authusers_done(struct authusers *u);

#endif
