/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_AZURE_AZUREQUEUE_H
#define SCALERS_AZURE_AZUREQUEUE_H

/*
 * Trigger type `azure-queue` (doc/keda.md 8.24): messages of a queue of Azure Storage. Over
 * scalers/http/httpsource; storageaccount logs in, storagexml counts messages.
 */

#include "base/err.h"

/* Reads the count header. 0, or -1 with ERR_INVALID. */
int azurequeue_read_count(const char *text, double *out, struct err *err);

#endif
