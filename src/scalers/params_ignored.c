/* SPDX-License-Identifier: Apache-2.0 */
/* Checks over parameters, and faults without effect: reported, but no errors. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "scalers/params.h"

void params_ignore(const struct scaler_params *params, const char *fmt, ...)
{
	MEM_AUTO char *what = NULL;
	char **ignored, *before;
	va_list ap;

	if (!params->build)
		return;
	ignored = &params->build->scaler->ignored;
	before = *ignored;
	va_start(ap, fmt);
	what = mem_vprintf(fmt, ap);
	va_end(ap);
	*ignored = mem_printf("%s%s%s", before ? before : "", before ? "; " : "", what);
	free(before);
}

void params_read_ignored(const struct param_table *t, const struct scaler_params *params, unsigned when, void *out,
	const char *why)
{
	struct scaler_params silent = *params;
	struct err err = { 0 };

	silent.about = NULL;
	if (params_read_when(t, &silent, when, out, &err) < 0)
		params_ignore(params, "%s; that has no effect %s", err.msg, why);
}

int params_wrong(struct err *err, const char *name, const char *fmt, ...)
{
	MEM_AUTO char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = mem_vprintf(fmt, ap);
	va_end(ap);
	return err_set_about(err, name, "parameter \"%s\"%s%s", name, *text == ':' ? "" : " ", text);
}

int params_wrap(struct err *err, const char *name)
{
	err_wrap(err, "parameter \"%s\"", name);
	return err_about(err, name);
}

int params_check_pair(const char *name, const char *value, const char *other_name, const char *other, struct err *err)
{
	if (!value == !other)
		return 0;
	return err_set_about(err, value ? other_name : name,
		"parameters \"%s\" and \"%s\" belong together: only %s is given", name, other_name,
		value ? name : other_name);
}

int params_metric_type(const struct scaler_params *params, enum metric_target_type *out, struct err *err)
{
	const char *text = params->metric_type;

	if (!text || !*text || strcmp(text, "AverageValue") == 0)
		*out = METRIC_AVERAGE_VALUE;
	else if (strcmp(text, "Value") == 0)
		*out = METRIC_VALUE;
	else if (strcmp(text, "Utilization") == 0)
		return err_set(err, ERR_INVALID,
			"'Utilization' metric type is unsupported for external metrics, allowed values are 'Value' or "
			"'AverageValue'");
	else
		return err_set(err, ERR_INVALID,
			"metricType \"%s\" is unknown, allowed values are 'Value' or 'AverageValue'", text);
	return 0;
}

int params_check_cert(const struct scaler_params *params, bool tls, const char *cert, const char *key, struct err *err)
{
	struct err wrong = { 0 };
	int rc = params_check_pair("cert", cert, "key", key, tls ? err : &wrong);

	if (rc && !tls)
		params_ignore(params, "%s; that has no effect without TLS", wrong.msg);
	return tls ? rc : 0;
}
