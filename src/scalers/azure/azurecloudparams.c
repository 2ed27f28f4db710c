/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/azure/azurecloudparams.h"

struct azurecloudparams_fields { /* owns its texts */
	char *cloud, *suffix;
};

#define AT(field) offsetof(struct azurecloudparams_fields, field)
static const struct param_row rows[] = {
	{ "cloud", PARAM_TEXT, "m", AT(cloud),
		.help = "Azure cloud, such as AzureUSGovernmentCloud (default: AzurePublicCloud)" },
	{ "endpointSuffix", PARAM_TEXT, "m", AT(suffix), .help = "cloud Private: suffix of the service's host names" },
};
const struct param_table azurecloudparams_table = PARAM_LOGIN_TABLE(rows);

int azurecloudparams_read(const struct scaler_params *params, enum azurecloud_service service, char **out,
	struct err *err)
{
	struct azurecloudparams_fields f = { 0 };
	int rc = params_read(&azurecloudparams_table, params, &f, err);

	*out = NULL;
	if (rc == 0)
		rc = azurecloud_suffix(f.cloud, service, "endpointSuffix", f.suffix, out, err);
	params_done(&azurecloudparams_table, &f);
	return rc;
}
