/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_CLUSTER_KUBERNETESRESOURCE_H
#define SCALERS_CLUSTER_KUBERNETESRESOURCE_H

/*
 * Trigger type `kubernetes-resource` (doc/keda.md 8.18): a number in a key of a ConfigMap or Secret
 * of the object's namespace. The object is watched (scalers/cluster/keyvalues.h), so a changed
 * number triggers a poll. Secrets are read only if the installation allows it (struct
 * scaler_params, secrets_denied).
 */

#include "scalers/scaler.h"

extern const struct scaler_type kubernetesresource_scaler_type;

#endif
