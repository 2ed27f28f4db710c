/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/external/externalmessages.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "net/grpc/grpcmessage.h"
#include "scalers/external/externalscaler.pb-c.h"

#define SHOWN_MAX 64 /* bytes of a refused name shown in the error */

/* ---- Requests ---- */

typedef Externalscaler__ScaledObjectRef ref_message;
typedef Externalscaler__ScaledObjectRef__ScalerMetadataEntry entry_message;

/* protobuf-c's structs have non-const pointers, but packing only reads. */
static char *lent(const char *text)
{
	return (char *)(uintptr_t)(text ? text : "");
}

void externalmessages_put(struct buf *out, const char *namespace_, const char *name, const struct strmap *metadata,
	const char *metric)
{
	ref_message ref;
	Externalscaler__GetMetricsRequest request;
	entry_message *entries = mem_array(metadata->count + 1, sizeof(*entries));
	const ProtobufCMessage *message = metric ? &request.base : &ref.base;

	externalscaler__scaled_object_ref__init(&ref);
	externalscaler__get_metrics_request__init(&request);
	ref.scalermetadata = mem_array(metadata->count + 1, sizeof(*ref.scalermetadata));
	ref.n_scalermetadata = metadata->count;
	ref.name = lent(name);
	ref.namespace_ = lent(namespace_);
	for (size_t i = 0; i < metadata->count; i++) {
		externalscaler__scaled_object_ref__scaler_metadata_entry__init(&entries[i]);
		entries[i].key = lent(metadata->pairs[i].key);
		entries[i].value = lent(metadata->pairs[i].value);
		ref.scalermetadata[i] = &entries[i];
	}
	request.scaledobjectref = &ref;
	request.metricname = lent(metric);
	grpcmessage_put(out, message); /* contains values of the target's environment */
	free(ref.scalermetadata);
	free(entries);
}

/* ---- Answers ---- */

int externalmessages_get_active(const void *bytes, size_t len, bool *out, struct err *err)
{
	struct grpcmessage r;

	if (grpcmessage_read(&r, &externalscaler__is_active_response__descriptor, bytes, len, err))
		return -1;
	*out = ((const Externalscaler__IsActiveResponse *)r.message)->result;
	grpcmessage_done(&r);
	return 0;
}

/* The name for error messages: shortened, without control characters. */
static char *shown(const char *name)
{
	size_t len = strlen(name);
	char *text = mem_dupn(name, utf8_cut(name, len, SHOWN_MAX));

	for (char *c = text; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
	return text;
}

/*
 * Names that the API server accepts for an HPA's metric (path segments: no '/' and '%'), in valid
 * UTF-8.
 */
static bool is_name(const char *name)
{
	size_t len = strlen(name);

	if (len == 0 || len > EXTERNALMESSAGES_NAME_MAX)
		return false;
	for (size_t i = 0, step; i < len; i += step) {
		step = utf8_step(name + i, len - i);
		if (step == 0 || iscntrl((unsigned char)name[i]) || name[i] == '/' || name[i] == '%')
			return false;
	}
	return true;
}

static int add_metric(struct description *d, const Externalscaler__MetricSpec *spec, struct err *err)
{
	MEM_AUTO char *name = shown(spec->metricname);
	struct quantity target = quantity_from_int(0);

	if (!is_name(spec->metricname))
		return err_set(err, ERR_INVALID,
			"metricName \"%s\" cannot be the name of a metric: 1 to %d characters of text, no '/' and no "
			"'%%'",
			name, EXTERNALMESSAGES_NAME_MAX);
	for (size_t i = 0; i < d->count; i++)
		if (strcasecmp(d->metrics[i].name, spec->metricname) == 0)
			return err_set(err, ERR_INVALID, "metricName \"%s\" occurs twice", name);
	if (!isfinite(spec->targetsizefloat))
		return err_set(err, ERR_INVALID, "metric \"%s\": targetSizeFloat is not a finite number", name);
	if (spec->targetsizefloat > 0)
		target = quantity_from_double(spec->targetsizefloat);
	else if (spec->targetsize > 0 && spec->targetsize <= INT64_MAX / 1000)
		target = quantity_from_int(spec->targetsize);
	if (target.milli <= 0)
		return err_set(err, ERR_INVALID,
			"metric \"%s\": its target must be greater than 0 (at least 0.001), not targetSize %lld, "
			"targetSizeFloat %g",
			name, (long long)spec->targetsize, spec->targetsizefloat);
	description_add(d, spec->metricname, target);
	return 0;
}

int externalmessages_get_description(const void *bytes, size_t len, struct description *out, struct err *err)
{
	const Externalscaler__GetMetricSpecResponse *message;
	struct grpcmessage r;
	int failed = 0;

	if (grpcmessage_read(&r, &externalscaler__get_metric_spec_response__descriptor, bytes, len, err))
		return -1;
	message = (const Externalscaler__GetMetricSpecResponse *)r.message;
	if (message->n_metricspecs == 0)
		failed = err_set(err, ERR_INVALID, "the server returned no metric");
	else if (message->n_metricspecs > EXTERNALMESSAGES_METRICS_MAX)
		failed = err_set(err, ERR_INVALID, "the server returned %zu metrics, at most %d are allowed",
			message->n_metricspecs, EXTERNALMESSAGES_METRICS_MAX);
	for (size_t i = 0; !failed && i < message->n_metricspecs; i++)
		failed = add_metric(out, message->metricspecs[i], err);
	grpcmessage_done(&r);
	if (failed)
		description_done(out);
	return failed;
}

/* A negative float with an integer of 0 is passed on unchanged. */
static double value_of(const Externalscaler__MetricValue *v)
{
	if (v->metricvaluefloat > 0 || !isfinite(v->metricvaluefloat) || v->metricvalue == 0)
		return v->metricvaluefloat;
	return (double)v->metricvalue;
}

int externalmessages_get_value(const void *bytes, size_t len, double *out, struct err *err)
{
	const Externalscaler__GetMetricsResponse *message;
	struct grpcmessage r;
	int failed = 0;

	if (grpcmessage_read(&r, &externalscaler__get_metrics_response__descriptor, bytes, len, err))
		return -1;
	message = (const Externalscaler__GetMetricsResponse *)r.message;
	*out = 0;
	for (size_t i = 0; i < message->n_metricvalues; i++)
		*out += value_of(message->metricvalues[i]);
	if (message->n_metricvalues == 0)
		failed = err_set(err, ERR_INVALID, "the answer has no value");
	else if (!isfinite(*out))
		failed = err_set(err, ERR_INVALID, "metricValueFloat is not a number");
	grpcmessage_done(&r);
	return failed;
}
