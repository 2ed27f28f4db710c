/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/readings/triggerparams.h"

#include "decide/verdict.h"

struct scaler_params triggerparams_of(const struct scaled *of, size_t index)
{
	const struct trigger *t = &of->triggers[index];

	return (struct scaler_params){
		.namespace_ = of->meta->namespace_,
		.object = of->meta->name,
		.type = t->type,
		.index = (int)index,
		.polling_ms = (int64_t)of->polling_interval_s * 1000,
		.name = t->name,
		.metric_type = t->metric_type,
		.formula_source = of->so && verdict_has_composite(&of->so->spec),
		.metadata = &t->metadata,
	};
}
