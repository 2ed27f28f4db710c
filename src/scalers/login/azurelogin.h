/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_LOGIN_AZURELOGIN_H
#define SCALERS_LOGIN_AZURELOGIN_H

/*
 * The Azure identity of a trigger with podIdentity azure-workload: kscaled's own, an identity of
 * net/identity/entra whose token is for one kind of service (a scope). Types that read it set
 * azure_workload in their struct scaler_type; others ignore it with a warning
 * (scalers/scalerbuild). Whether a trigger may use kscaled's own identity is in struct
 * pod_identity. Pure.
 *
 * The token goes, over TLS, only to Microsoft's hosts for that service and to those of option
 * azure-trusted-hosts: whoever gets it can do there what kscaled may do. It does not go to
 * Microsoft's hosts for other services, as some of them belong to tenants.
 */

#include <stdbool.h>

#include "base/err.h"
#include "net/identity/disclosure.h"
#include "net/identity/identity.h"
#include "scalers/scaler.h"

/*
 * 1: podIdentity azure-workload; 0: none, so the trigger has its own credentials; -1 with
 * ERR_INVALID: another cloud's, or not allowed for the trigger.
 */
int azurelogin_is_workload(const struct pod_identity *pod, const char *type, struct err *err);
/* The same for types that ignore other clouds' identities: these are 0. */
int azurelogin_is_workload_or_none(const struct pod_identity *pod, struct err *err);

/*
 * The identity for the service and host in `to` (its cloud and list of trusted hosts are filled in
 * here). scope: of the token; NULL: the service's scope in all clouds, which AZURECLOUD_PROMETHEUS,
 * AZURECLOUD_POSTGRES and AZURECLOUD_NONE do not have. NULL with ERR_INVALID: the token may not go
 * there, or podIdentity is invalid. Returns one reference.
 */
struct identity *azurelogin_new(const struct pod_identity *pod, const char *scope, const struct disclosure *to,
	struct err *err);

#endif
