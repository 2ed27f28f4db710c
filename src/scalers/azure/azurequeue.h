/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_AZURE_AZUREQUEUE_H
#define SCALERS_AZURE_AZUREQUEUE_H

/*
 * Trigger type `azure-queue` (doc/keda.md 8.24): messages of a queue of Azure Storage. Over
 * scalers/http/httpsource; who asks is storageaccount's, counting messages storagexml's.
 */

#include "scalers/scaler.h"

extern const struct scaler_type azurequeue_scaler_type;

/* A count as the service says it. 0; -1 with ERR_INVALID: it is none. */
int azurequeue_read_count(const char *text, double *out, struct err *err);

#endif
