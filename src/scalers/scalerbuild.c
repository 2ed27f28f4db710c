/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/scalerbuild.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/computing.h"
#include "scalers/awslogin.h"
#include "scalers/googlelogin.h"
#include "scalers/missingtypes.h"
#include "scalers/params.h"

static bool has_table(const struct scaler_type *type, const struct param_table *wanted)
{
	for (size_t i = 0; i < MEM_COUNT(type->tables) && type->tables[i]; i++)
		if (type->tables[i] == wanted)
			return true;
	return false;
}

bool scaler_reads_identity(const struct scaler_type *type, const char *provider)
{
	if (strcmp(provider, "azure-workload") == 0)
		return type->azure_workload;
	return has_table(type, strcmp(provider, "gcp") == 0 ? &googlelogin_table : &awslogin_table);
}

static void tell_identity(const struct scaler_params *params, const struct scaler_type *type)
{
	const char *provider = params->identity ? params->identity->provider : NULL;

	if (provider && strcmp(provider, "none") != 0 && !scaler_reads_identity(type, provider))
		params_ignore(params,
			"podIdentity %s of its authentication has no effect: triggers of type %s log in otherwise",
			provider, type->name);
}

int scaler_build(const struct scaler_params *params, struct scaler *out, struct err *err)
{
	const struct scaler_type *type = scaler_type_find(params->type);
	struct scaler_params tracked = *params;
	char *name = NULL;
	*out = (struct scaler){ 0 };
	if (!type) {
		MEM_AUTO char *why = missingtypes_explain(params->type);

		/* KEDA's words, and what it does not say. */
		err_set(err, ERR_INVALID, "no scaler found for type: %s (%s)", params->type, why);
		return err_wrap(err, "trigger %d", params->index);
	}
	out->type = type;
	out->index = params->index;
	tracked.tables = type->tables;
	tracked.ignored = &out->ignored;
	computing_for(params->namespace_ ? params->namespace_ : "");
	if (type->build(&tracked, out, &name, err) < 0 ||
		(out->kind == METRIC_EXTERNAL && params_metric_type(params, &out->target_type, err))) {
		free(name);
		scaler_done(out);
		return err_wrap(err, "trigger %d (%s)", params->index, params->type);
	}
	tell_identity(&tracked, type);
	out->unknown = params_unknown(&tracked);
	out->shortened = params_shortened(&tracked);
	if (out->question)
		out->question->namespace_ = mem_dup(params->namespace_);
	out->trigger_name = mem_dup(params->name);
	out->metric_name = out->kind == METRIC_EXTERNAL && name && !out->whole_name
		? mem_printf("s%d-%s", params->index, name)
		: mem_dup(name);
	free(name);
	return 0;
}
