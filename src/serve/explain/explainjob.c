/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/explain/explainjob.h"

#include <string.h>

#include "decide/annotations.h"

void explainjob_write_spec(struct jsonout *j, const struct scaledjob *sj, char *why_paused)
{
	const struct scaledjob_spec *spec = &sj->spec;
	int64_t min = scaledjob_min(spec);
	bool paused;

	/* An annotation that cannot be read is in Ready. */
	annotations_read_paused(&sj->meta.annotations, &paused, NULL);
	if (paused)
		strcpy(why_paused, "paused");

	jsonout_int(j, "min", min);
	jsonout_int(j, "max", min + scaledjob_max(spec));
	jsonout_text(j, "strategy", spec->strategy ? spec->strategy : "default");
	jsonout_text(j, "calculation", spec->calculation ? spec->calculation : "max");
	jsonout_bool(j, "paused", paused);
}

/* Only who acts watches Jobs. */
void explainjob_write_jobs(struct jsonout *j, const struct cache *cache, const struct object *o)
{
	const struct jobs *jobs = cache->jobs;
	const char *trouble = NULL;
	struct jobs_tally tally = { 0 };
	bool known;

	if (!cache->leadership.leading) {
		jsonout_null(j, "jobs");
		return;
	}
	known = jobs_known(jobs, o->of.meta->namespace_, &trouble);
	if (known)
		tally = jobs_tally(jobs, o->key);
	jsonout_object(j, "jobs");
	jsonout_int_known(j, "running", known, (int64_t)tally.running);
	jsonout_int_known(j, "complete", known, (int64_t)tally.complete);
	jsonout_int_known(j, "failed", known, (int64_t)tally.failed);
	jsonout_bool(j, "known", known);
	jsonout_text(j, "trouble", trouble);
	jsonout_end_object(j);
}
