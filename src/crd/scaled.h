/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_SCALED_H
#define CRD_SCALED_H

/*
 * The common view of a ScaledObject and a ScaledJob: triggers, polling interval, status. Used where
 * the kind does not matter: scalers, authentications, surveys (cache/survey), polls, status writes,
 * validation. A value that borrows from its object and lives no longer than that.
 */

#include <stdint.h>

#include "crd/scaledjob.h"
#include "crd/scaledobject.h"

enum scaled_kind { SCALED_OBJECT, SCALED_JOB };

struct scaled {
	enum scaled_kind kind;
	const struct meta *meta;
	const struct trigger *triggers;
	size_t trigger_count;
	const char *env_source_container; /* container whose environment ...FromEnv parameters use; NULL: the first */
	int32_t polling_interval_s;       /* with its default */
	const struct scaledobject_status *status;
	const struct err *spec_err;    /* NULL: the spec could be decoded */
	const struct scaledobject *so; /* the object behind the view; the other is NULL */
	const struct scaledjob *sj;
};

struct scaled scaled_of_object(const struct scaledobject *so);
struct scaled scaled_of_job(const struct scaledjob *sj);

const char *scaled_kind_name(enum scaled_kind kind); /* "ScaledObject" */
const char *scaled_kind_word(
	enum scaled_kind kind); /* "scaledobject": in logs, and the label `type` of KEDA's metrics */
const char *scaled_kind_resource(enum scaled_kind kind); /* "scaledobjects" */

#endif
