/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/explain/explainjob.h"

/* Only the leader watches Jobs. */
bool explainjob_tally(const struct cache *cache, const struct object *o, struct jobs_tally *out, const char **trouble)
{
	bool known;

	*trouble = NULL;
	*out = (struct jobs_tally){ 0 };
	if (!cache->leadership.leading)
		return false;
	known = jobs_known(cache->jobs, o->of.meta->namespace_, trouble);
	if (known)
		*out = jobs_tally(cache->jobs, o->key);
	return known;
}

void explainjob_write_spec(struct jsonout *j, const struct scaledjob *sj, bool paused)
{
	const struct scaledjob_spec *spec = &sj->spec;
	int64_t min = scaledjob_min(spec);

	jsonout_int(j, "min", min);
	jsonout_int(j, "max", min + scaledjob_max(spec));
	jsonout_text(j, "strategy", spec->strategy ? spec->strategy : "default");
	jsonout_text(j, "calculation", spec->calculation ? spec->calculation : "max");
	jsonout_bool(j, "paused", paused);
}

void explainjob_write_jobs(struct jsonout *j, const struct cache *cache, const struct object *o)
{
	const char *trouble;
	struct jobs_tally tally;
	bool known;

	if (!cache->leadership.leading) {
		jsonout_null(j, "jobs");
		return;
	}
	known = explainjob_tally(cache, o, &tally, &trouble);
	jsonout_object(j, "jobs");
	jsonout_int_known(j, "running", known, (int64_t)tally.running);
	jsonout_int_known(j, "complete", known, (int64_t)tally.complete);
	jsonout_int_known(j, "failed", known, (int64_t)tally.failed);
	jsonout_bool(j, "known", known);
	jsonout_text(j, "trouble", trouble);
	jsonout_end(j);
}
