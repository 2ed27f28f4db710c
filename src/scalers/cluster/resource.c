/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trigger types `cpu` and `memory` (doc/keda.md 8.15): metrics that the HPA controller reads
 * itself. Such a scaler has no question; it only defines the metric in the HPA, under the
 * resource's own name.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "scalers/params.h"
#include "scalers/types.h"

struct resource_fields {
	char *value, *container, *old_type;
};

#define AT(field) offsetof(struct resource_fields, field)
static const struct param_row rows[] = {
	{ "type", PARAM_TEXT, "m", AT(old_type), .help = "the place of metricType until KEDA 2.18: an error" },
	{ "containerName", PARAM_TEXT, "m", AT(container), .help = "container to measure (default: the whole Pod)" },
	{ "value", PARAM_TEXT, "m", AT(value), .required = true,
		.help = "target: a percentage of the request, or a quantity" },
};
static const struct param_table table = PARAM_TABLE(rows);

/* Parses like Go's strconv.ParseInt, which KEDA uses: "+80" and "080" are 80. */
static int read_utilization(const char *text, struct scaler *out, struct err *err)
{
	const char *digits = text + (*text == '+' || *text == '-');
	long long percent;

	if (!*digits || digits[strspn(digits, "0123456789")])
		return err_set(err, ERR_INVALID,
			"unable to set param \"value\" value \"%.80s\": must be a whole number", text);
	percent = strtoll(text, NULL, 10);
	if (percent < 1 || percent > INT32_MAX)
		return params_wrong(err, "value", ": %lld is not a percentage from 1 to %d", percent, INT32_MAX);
	out->target_type = METRIC_UTILIZATION;
	out->target = quantity_from_int(percent);
	return 0;
}

static int read_average_value(const char *text, struct scaler *out, struct err *err)
{
	if (quantity_parse(text, &out->target, err))
		return params_wrap(err, "value");
	if (out->target.milli <= 0)
		return params_wrong(err, "value", ": \"%s\" must be more than 0", text);
	out->target_type = METRIC_AVERAGE_VALUE;
	return 0;
}

static int read_target(const struct scaler_params *params, const struct resource_fields *f, struct scaler *out,
	struct err *err)
{
	const char *wanted = params->metric_type ? params->metric_type : "";

	if (f->old_type) /* ignoring it would hide a wrong target */
		return err_set(err, ERR_INVALID,
			"scaler %s info: The 'type' setting is DEPRECATED and is removed in v2.18 - Use 'metricType' "
			"instead.",
			params->type);
	if (strcmp(wanted, "Utilization") == 0)
		return read_utilization(f->value, out, err);
	if (strcmp(wanted, "AverageValue") == 0)
		return read_average_value(f->value, out, err);
	return err_set(err, ERR_INVALID, "unknown metric type: %s, allowed values are 'Utilization' or 'AverageValue'",
		*wanted ? wanted : "\"\"");
}

static int build(struct scaler_build *b, struct err *err)
{
	const struct resource_fields *f = b->data;

	b->scaler->kind = f->container ? METRIC_CONTAINER_RESOURCE : METRIC_RESOURCE;
	b->scaler->container = mem_dup(f->container);
	b->metric_name = mem_dup(b->params->type);
	return read_target(b->params, f, b->scaler, err);
}

#define RESOURCE_TYPE(word)                                                                                            \
	{                                                                                                              \
		.name = (word), .go_name = "cpuMemoryScaler", .tables = { &table },                                    \
		.data_size = sizeof(struct resource_fields), .build = build                                            \
	}

const struct scaler_type resource_cpu_scaler_type = RESOURCE_TYPE("cpu");
const struct scaler_type resource_memory_scaler_type = RESOURCE_TYPE("memory");
