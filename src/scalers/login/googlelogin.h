/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_LOGIN_GOOGLELOGIN_H
#define SCALERS_LOGIN_GOOGLELOGIN_H

/*
 * As whom a trigger asks Google: for gcp-pubsub, and for Google's Managed Prometheus
 * (scalers/login/httpauth). KEDA's order is podIdentity gcp, GoogleApplicationCredentials,
 * credentialsFromEnv; what comes of it is an identity of net/identity. Whether a trigger may use
 * kscaled's own was decided above (struct pod_identity).
 */

#include <stdbool.h>

#include "base/err.h"
#include "net/identity/identity.h"
#include "scalers/params.h"
#include "scalers/scaler.h"

extern const struct param_table googlelogin_table; /* for the tables of the types */

/* KEDA's words, for types that cannot do without. */
#define GOOGLELOGIN_NOT_FOUND                                                                                          \
	"google application credentials not found: give GoogleApplicationCredentials by a TriggerAuthentication, or "  \
	"say in one podIdentity.provider gcp"

struct googlelogin {
	struct identity *identity; /* one reference; NULL: nothing is said */
	bool own;                  /* kscaled's own: its token is for Google alone (googleown_may_see) */
	char *project;             /* owned; that of the key; NULL: it says none, or the identity is our own */
};

/*
 * Reads the parameters; scope: what the token is for. Returns 0, -1 with ERR_INVALID, or 1 when
 * some values are unknown. Only after 0 is there something for googlelogin_done.
 */
int googlelogin_read(const struct scaler_params *params, const char *scope, struct googlelogin *out, struct err *err);
void googlelogin_done(struct googlelogin *g);

#endif
