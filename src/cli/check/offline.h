/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CHECK_OFFLINE_H
#define CLI_CHECK_OFFLINE_H

/*
 * cache/auth's lookup without a cluster: finds Secrets, ConfigMaps and authentications in the
 * input. What is not in the input is assumed to exist in the cluster with unknown content: a value
 * becomes OFFLINE_UNKNOWN, and an authentication makes its triggers "open" (it may have any
 * parameter). With `complete` such references are errors.
 *
 * Used for one object at a time: offline_begin, then auth_environment and auth_params with
 * offline_lookup, then offline_end.
 */

#include <stdbool.h>
#include <stddef.h>

#include "cache/auth/auth.h"
#include "cli/check/catalogue.h"

#define OFFLINE_UNKNOWN AUTH_UNKNOWN

/* kscaled's options of the same names in the target cluster. Borrowed. */
struct offline_rules {
	const char *cluster_namespace;           /* cluster-object-namespace */
	enum auth_cloud cloud;                   /* cloud-identity */
	const char *azure_trusted, *aws_trusted; /* azure-trusted-hosts, aws-trusted-hosts; NULL */
	const char *file_root;                   /* filepath-auth-root-path; NULL */
	const char *vault_trusted;               /* vault-trusted-addresses; NULL */
	const char *vault_files;                 /* vault-credential-dir; NULL */
	bool local_sources;                      /* allow-local-sources */
	bool given;                              /* some of those above were given; false: defaults */
	bool restrict_secrets;                   /* restrict-secret-access */
};

struct offline {
	struct catalogue *catalogue;       /* borrowed */
	const struct offline_rules *rules; /* borrowed */
	bool complete;
	bool own;             /* reads also faulty authentications; else these count as unknown */
	bool open;            /* set by a lookup that may have any parameter; the caller clears it */
	struct strmap any;    /* the content of an unknown Secret or ConfigMap for envFrom */
	const char **secrets; /* values of Secrets that were returned, which no message may show; borrowed */
	size_t secret_count;
};

/*
 * A lookup that allows what only default options forbid: what it refuses, every kscaled with the
 * given options refuses.
 */
struct auth_lookup offline_lookup(struct offline *o);
/* Only the rules, for auth_alone and auth_identity. */
struct auth_lookup offline_rules_of(const struct offline *o);

/*
 * Begins an object and returns the workload whose environment counts, which the caller owns: the
 * scale target in the input; of a ScaledJob its Pod template; else a placeholder whose containers
 * have all variables that `of` and its authentications name, as OFFLINE_UNKNOWN. NULL and *err: in
 * the input, but cannot be decoded.
 */
struct workload *offline_begin(struct offline *o, const struct scaled *of, struct err *err);
void offline_end(struct offline *o);

/* The scale target in the input, borrowed; NULL: not in the input. */
const json_t *offline_target_object(struct offline *o, const struct scaledobject *so);

/*
 * Replaces quoted text in the message by "(secret)" if it is a value of a Secret, or a part of one
 * between commas and spaces.
 */
void offline_hide(const struct offline *o, struct err *err);

#endif
