/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OFFLINE_H
#define CLI_OFFLINE_H

/*
 * cache/auth's look-up without a cluster: Secrets, ConfigMaps and authentications from the
 * input. What is not in the input is there, in the cluster, but unknown: a value that nobody has
 * read becomes OFFLINE_UNKNOWN, an authentication that nobody has read makes its triggers "open"
 * (any parameter may be there). With `complete` such references are errors.
 *
 * Used for one object after the other: offline_begin, then auth_environment and auth_params with
 * offline_lookup.
 */

#include <stdbool.h>
#include <stddef.h>

#include "cache/auth/auth.h"
#include "cli/catalogue.h"

#define OFFLINE_UNKNOWN "kscaled-unknown"

struct offline {
	struct catalogue *catalogue;   /* borrowed */
	const char *cluster_namespace; /* borrowed; as struct auth_lookup has it */
	bool complete;
	/*
	 * an authentication is judged by itself: what it lacks is told. Else one that is faulty is
	 * as if unknown: its own judgement told it
	 */
	bool own;
	/*
	 * set when something unknown was asked that may hold any parameter; for the caller to clear
	 */
	bool open;
	/* what an unknown Secret or ConfigMap holds for envFrom: all names that somebody wants */
	struct strmap any;
	/* values of Secrets that were handed out, borrowed: no message may show them */
	const char **secrets;
	size_t secret_count;
};

struct auth_lookup offline_lookup(struct offline *o);

/* of: the object whose variables may be wanted. */
void offline_begin(struct offline *o, const struct scaled *of);
void offline_end(struct offline *o);

/*
 * Whose environment counts: the scale target from the input, or one that stands for what is not
 * known: its containers have all variables that `of` and its authentications name, with the value
 * OFFLINE_UNKNOWN. A ScaledJob's is its own Pod template. NULL: it is in the input, but cannot be
 * read (*err). The caller owns it.
 */
struct workload *offline_target(struct offline *o, const struct scaled *of, struct err *err);

/* The object in the input that a ScaledObject scales; NULL: not there. */
const json_t *offline_target_object(struct offline *o, const struct scaledobject *so);

/*
 * Puts "(secret)" into the message where a value of a Secret, or a part of one between commas and
 * spaces, stands in quotes.
 */
void offline_hide(const struct offline *o, struct err *err);

#endif
