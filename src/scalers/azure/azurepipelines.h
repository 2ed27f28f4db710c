/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_AZURE_AZUREPIPELINES_H
#define SCALERS_AZURE_AZUREPIPELINES_H

/*
 * Trigger type `azure-pipelines` (doc/keda.md 8.27): jobs that wait for an agent in a pool of Azure
 * DevOps. Over scalers/http/httpsource; pipelinejobs counts.
 */

#include "scalers/scaler.h"

extern const struct scaler_type azurepipelines_scaler_type;

#endif
