/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/cluster/resource.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "scalers/params.h"

static const struct param old_type = { .names = { "type" }, .sources = { PARAM_METADATA } };
static const struct param value = { .names = { "value" }, .sources = { PARAM_METADATA }, .required = true };
static const struct param container_name = { .names = { "containerName" }, .sources = { PARAM_METADATA } };

/* Until KEDA 2.18 metricType was written there; left alone it would be overlooked. */
static int refuse_old_type(const struct scaler_params *params, struct err *err)
{
	MEM_AUTO char *text = NULL;

	if (param_text(params, &old_type, &text, err))
		return -1;
	if (!text)
		return 0;
	return err_set(err, ERR_INVALID, "scaler %s info: The 'type' setting is DEPRECATED and is removed in v2.18 - Use 'metricType' instead.", params->type);
}

static int read_utilization(const struct scaler_params *params, struct scaler *out, struct err *err)
{
	int64_t percent = 0;

	if (param_int64(params, &value, &percent, err))
		return -1;
	if (percent < 1 || percent > INT32_MAX)
		return err_set(err, ERR_INVALID, "parameter \"value\": %lld is no percentage from 1 to %d", (long long)percent, INT32_MAX);
	out->target_type = METRIC_UTILIZATION;
	out->target = quantity_from_int(percent);
	return 0;
}

static int read_average_value(const struct scaler_params *params, struct scaler *out, struct err *err)
{
	MEM_AUTO char *text = NULL;

	if (param_text(params, &value, &text, err))
		return -1;
	if (quantity_parse(text, &out->target, err))
		return err_wrap(err, "parameter \"value\"");
	if (out->target.milli <= 0)
		return err_set(err, ERR_INVALID, "parameter \"value\": \"%s\" must be more than 0", text);
	out->target_type = METRIC_AVERAGE_VALUE;
	return 0;
}

static int build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err)
{
	static const struct { const char *metric_type; int (*read)(const struct scaler_params *params, struct scaler *out, struct err *err); } kinds[] = {
		{ "Utilization", read_utilization },
		{ "AverageValue", read_average_value },
	};
	const char *wanted = params->metric_type ? params->metric_type : "";

	if (refuse_old_type(params, err) || param_text(params, &container_name, &out->container, err))
		return -1;
	out->kind = out->container ? METRIC_CONTAINER_RESOURCE : METRIC_RESOURCE;
	*metric_name = mem_dup(params->type);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(wanted, kinds[i].metric_type) == 0)
			return kinds[i].read(params, out, err);
	return err_set(err, ERR_INVALID, "unknown metric type: %s, allowed values are 'Utilization' or 'AverageValue'", *wanted ? wanted : "\"\"");
}

const struct scaler_type resource_cpu_scaler_type = { .name = "cpu", .go_name = "cpuMemoryScaler", .build = build };
const struct scaler_type resource_memory_scaler_type = { .name = "memory", .go_name = "cpuMemoryScaler", .build = build };
