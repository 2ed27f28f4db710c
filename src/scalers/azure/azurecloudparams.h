/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_AZURE_AZURECLOUDPARAMS_H
#define SCALERS_AZURE_AZURECLOUDPARAMS_H

/* A trigger's Azure cloud: the parameters cloud and endpointSuffix. */

#include "net/identity/azurecloud.h"
#include "scalers/params.h"

extern const struct param_table azurecloudparams_table; /* for the tables of the types */

/*
 * The host suffix of the service. 0 with *out, which the caller owns; -1 with ERR_INVALID; 1:
 * unknown.
 */
int azurecloudparams_read(const struct scaler_params *params, enum azurecloud_service service, char **out,
	struct err *err);

#endif
