/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_LOGIN_AWSLOGIN_H
#define SCALERS_LOGIN_AWSLOGIN_H

/*
 * A trigger's AWS identity: for the types of scalers/aws, and for Amazon Managed Prometheus
 * (scalers/login/httpauth). KEDA's rules are one pure function, which chooses an identity of
 * net/identity. Whether a trigger may use kscaled's own is in struct pod_identity.
 */

#include <stdbool.h>

#include "base/err.h"
#include "net/identity/identity.h"
#include "scalers/params.h"
#include "scalers/scaler.h"

extern const struct param_table awslogin_table; /* for the tables of the types */

/* The trigger's settings. Borrowed; NULL: not given. */
struct awslogin_config {
	const struct pod_identity *pod; /* NULL: none */
	bool by_operator;               /* identityOwner in the trigger's metadata */
	const char *role, *key_id, *secret;
};

enum awslogin_kind {
	AWSLOGIN_KEYS,          /* the trigger's keys */
	AWSLOGIN_OWN,           /* kscaled's own identity */
	AWSLOGIN_ROLE,          /* a role that kscaled assumes, with AssumeRole */
	AWSLOGIN_ROLE_BY_TOKEN, /* the same, but AssumeRoleWithWebIdentity is tried first */
};

struct awslogin_choice {
	enum awslogin_kind kind;
	const char *role, *external_id; /* borrowed; of a role */
};

/* The rules (doc/keda.md 8.20). 0, or -1 with ERR_INVALID. */
int awslogin_decide(const struct awslogin_config *config, struct awslogin_choice *out, struct err *err);

/*
 * Whether the trigger's known parameters contain AWS credentials: podIdentity aws, keys, a role, or
 * identityOwner operator.
 */
bool awslogin_is_configured(const struct scaler_params *params);

/*
 * Reads the parameters for this region. Returns 0 with one reference in *out, -1 with ERR_INVALID,
 * or 1 when some values are unknown.
 */
int awslogin_read(const struct scaler_params *params, const char *region, struct identity **out, struct err *err);

#endif
