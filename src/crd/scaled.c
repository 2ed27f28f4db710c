/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/scaled.h"

struct scaled scaled_of_object(const struct scaledobject *so)
{
	return (struct scaled){
		.kind = SCALED_OBJECT,
		.meta = &so->meta,
		.triggers = so->spec.triggers,
		.trigger_count = so->spec.trigger_count,
		.env_source_container = so->spec.env_source_container,
		.polling_interval_s = scaledobject_polling_interval_s(&so->spec),
		.status = &so->status,
		.spec_err = so->spec_err,
		.so = so,
	};
}

struct scaled scaled_of_job(const struct scaledjob *sj)
{
	return (struct scaled){
		.kind = SCALED_JOB,
		.meta = &sj->meta,
		.triggers = sj->spec.triggers,
		.trigger_count = sj->spec.trigger_count,
		.env_source_container = sj->spec.env_source_container,
		.polling_interval_s = scaledjob_polling_interval_s(&sj->spec),
		.status = &sj->status,
		.spec_err = sj->spec_err,
		.sj = sj,
	};
}

static const struct {
	const char *name, *word, *resource;
} kinds[] = {
	[SCALED_OBJECT] = { "ScaledObject", "scaledobject", "scaledobjects" },
	[SCALED_JOB] = { "ScaledJob", "scaledjob", "scaledjobs" },
};

const char *scaled_kind_name(enum scaled_kind kind)
{
	return kinds[kind].name;
}

const char *scaled_kind_word(enum scaled_kind kind)
{
	return kinds[kind].word;
}

const char *scaled_kind_resource(enum scaled_kind kind)
{
	return kinds[kind].resource;
}
