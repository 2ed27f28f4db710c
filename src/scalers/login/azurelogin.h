/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_LOGIN_AZURELOGIN_H
#define SCALERS_LOGIN_AZURELOGIN_H

/*
 * As whom a trigger asks Azure when its TriggerAuthentication says podIdentity azure-workload: as
 * kscaled itself, by an identity of net/identity/entra whose token is for one kind of service (a
 * scope). A type that reads it says so (azure_workload in its struct scaler_type); of all others
 * cache/auth refuses it. Whether a trigger may use kscaled's own identity was decided above (struct
 * pod_identity). Pure.
 *
 * The token is shown to the hosts that such a service has in Microsoft's clouds and to those that
 * whoever runs kscaled named (option azure-trusted-hosts), by TLS, and to nobody else whom an
 * object names: with it one can do there what kscaled may do. Not to Microsoft's hosts for other
 * services: behind some of them there are tenants.
 */

#include <stdbool.h>

#include "base/err.h"
#include "net/identity/disclosure.h"
#include "net/identity/identity.h"
#include "scalers/scaler.h"

/*
 * Whether that is said: 1; 0: nothing is, so the trigger has credentials of its own; -1 with
 * ERR_INVALID: another cloud's, or the trigger may not.
 */
int azurelogin_is_workload(const struct pod_identity *pod, const char *type, struct err *err);
/* The same for types to which other clouds' identities mean nothing: these are 0. */
int azurelogin_is_workload_or_none(const struct pod_identity *pod, struct err *err);

/*
 * The identity for a service, whose token goes where `to` says (its cloud and its list of trusted
 * hosts are filled in here). scope: what the token is for; NULL: what the service's is for in all
 * clouds, which AZURECLOUD_PROMETHEUS, AZURECLOUD_POSTGRES and AZURECLOUD_NONE have not. NULL with
 * ERR_INVALID: the token may not go there, or what podIdentity says is none. Returns one reference.
 */
struct identity *azurelogin_new(const struct pod_identity *pod, const char *scope, const struct disclosure *to,
	struct err *err);

#endif
