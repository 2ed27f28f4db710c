/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_AZURE_AZUREBLOB_H
#define SCALERS_AZURE_AZUREBLOB_H

/*
 * Trigger type `azure-blob` (doc/keda.md 8.25): blobs of a container of Azure Storage. Over
 * scalers/http/httpsource, page by page; storageaccount logs in, storagexml counts, blobglob
 * matches names.
 */

#include "scalers/scaler.h"

extern const struct scaler_type azureblob_scaler_type;

#endif
