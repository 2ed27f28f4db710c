/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_LOGIN_AWSLOGIN_H
#define SCALERS_LOGIN_AWSLOGIN_H

/*
 * As whom a trigger asks AWS: for the types of scalers/aws, and for Amazon Managed Prometheus
 * (scalers/login/httpauth). KEDA's rules are one pure function; what comes of them is an identity
 * of net/identity. Whether a trigger may use kscaled's own identity was decided above (struct
 * pod_identity).
 */

#include <stdbool.h>

#include "base/err.h"
#include "net/identity/identity.h"
#include "scalers/params.h"
#include "scalers/scaler.h"

extern const struct param_table awslogin_table; /* for the tables of the types */

/* What is said. Borrowed; NULL: not given. */
struct awslogin_said {
	const struct pod_identity *pod; /* NULL: there is none */
	bool by_operator;               /* identityOwner in the trigger's metadata */
	const char *role, *key_id, *secret;
};

enum awslogin_way {
	AWSLOGIN_KEYS,          /* those of the trigger */
	AWSLOGIN_OWN,           /* kscaled's own identity */
	AWSLOGIN_ROLE,          /* a role that it assumes, by AssumeRole */
	AWSLOGIN_ROLE_BY_TOKEN, /* by AssumeRoleWithWebIdentity before that */
};

struct awslogin_as {
	enum awslogin_way way;
	const char *role, *external_id; /* borrowed; of a role */
};

/* The rules (doc/keda.md 8.20). 0, or -1 with ERR_INVALID. */
int awslogin_decide(const struct awslogin_said *said, struct awslogin_as *out, struct err *err);

/*
 * Whether the trigger, as far as its parameters are known, has credentials for AWS: podIdentity
 * aws, keys, a role, or identityOwner operator.
 */
bool awslogin_is_said(const struct scaler_params *params);

/*
 * Reads the parameters for this region. Returns 0 with one reference in *out, -1 with ERR_INVALID,
 * or 1 when some values are unknown.
 */
int awslogin_read(const struct scaler_params *params, const char *region, struct identity **out, struct err *err);

#endif
