/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_SCALED_H
#define CRD_SCALED_H

/*
 * What a ScaledObject and a ScaledJob have in common: triggers that are asked, who asks, how often,
 * and a status. Scalers, authentications, looks at the triggers (cache/survey), polls and the
 * writing of statuses work with this and do not care which of the two it is. A view: a value that
 * borrows from the object it was made of, and is good as long as that.
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
	const char *env_source_container; /* whose environment the ...FromEnv parameters mean; NULL: the first one's */
	int32_t polling_interval_s;       /* with its default */
	const struct scaledobject_status *status;
	const struct err *spec_err;    /* NULL: the spec was read */
	const struct scaledobject *so; /* the one it is a view of; the other is NULL */
	const struct scaledjob *sj;
};

struct scaled scaled_of_object(const struct scaledobject *so);
struct scaled scaled_of_job(const struct scaledjob *sj);

const char *scaled_kind_name(enum scaled_kind kind); /* "ScaledObject" */
const char *scaled_kind_word(
	enum scaled_kind kind); /* "scaledobject": in logs, and the label `type` of KEDA's metrics */
const char *scaled_kind_resource(enum scaled_kind kind); /* "scaledobjects" */

#endif
