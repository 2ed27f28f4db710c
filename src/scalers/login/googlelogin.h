/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_LOGIN_GOOGLELOGIN_H
#define SCALERS_LOGIN_GOOGLELOGIN_H

/*
 * A trigger's Google identity: for gcp-pubsub, and for Google's Managed Prometheus
 * (scalers/login/httpauth). In KEDA's order: podIdentity gcp, GoogleApplicationCredentials,
 * credentialsFromEnv. The result is an identity of net/identity. Whether a trigger may use
 * kscaled's own is in struct pod_identity.
 */

#include <stdbool.h>

#include "base/err.h"
#include "net/identity/identity.h"
#include "scalers/params.h"
#include "scalers/scaler.h"

extern const struct param_table googlelogin_table; /* for the tables of the types */

/* KEDA's text, for types that need credentials. */
#define GOOGLELOGIN_NOT_FOUND                                                                                          \
	"google application credentials not found: give GoogleApplicationCredentials by a TriggerAuthentication, or "  \
	"set podIdentity.provider gcp in one"

struct googlelogin {
	struct identity *identity; /* one reference; NULL: no credentials */
	bool own;                  /* kscaled's own: its token is for Google's hosts only (net/identity/disclosure) */
	char *project;             /* owned; the key's; NULL: none, or kscaled's own identity */
};

/*
 * Reads the parameters. scope: of the token. Returns 0, -1 with ERR_INVALID, or 1 when some values
 * are unknown. googlelogin_done is needed only after 0.
 */
int googlelogin_read(const struct scaler_params *params, const char *scope, struct googlelogin *out, struct err *err);
void googlelogin_done(struct googlelogin *g);

#endif
