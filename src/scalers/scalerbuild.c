/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/scalerbuild.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "scalers/missingtypes.h"
#include "scalers/params.h"

/* In KEDA's words. */
static void refuse_type(const char *type, struct err *err)
{
	const char *instead = missingtypes_instead(type);

	if (instead)
		err_set(err, ERR_INVALID, "no scaler found for type: %s (not in this version; %s)", type, instead);
	else
		err_set(err, ERR_INVALID, "no scaler found for type: %s (this version has: %s)", type,
			scaler_type_names());
}

int scaler_build(const struct scaler_params *params, struct scaler *out, struct err *err)
{
	const struct scaler_type *type = scaler_type_find(params->type);
	struct scaler_params tracked = *params;
	char *name = NULL;
	*out = (struct scaler){ 0 };
	if (!type) {
		refuse_type(params->type, err);
		return err_wrap(err, "trigger %d", params->index);
	}
	out->type = type;
	out->index = params->index;
	tracked.tables = type->tables;
	if (type->build(&tracked, out, &name, err) < 0 ||
		(out->kind == METRIC_EXTERNAL && params_metric_type(params, &out->target_type, err))) {
		free(name);
		scaler_done(out);
		return err_wrap(err, "trigger %d (%s)", params->index, params->type);
	}
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
