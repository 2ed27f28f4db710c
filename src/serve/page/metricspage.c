/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/page/metricspage.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/exposition.h"
#include "base/mem.h"
#include "base/shares.h"
#include "net/network.h"
#include "serve/explain/explainjob.h"
#include "serve/explain/explaintriggers.h"
#include "serve/page/kedametrics.h"
#include "serve/parts.h"
#include "serve/request.h"

#define PAGE_MAX ((size_t)32 << 20)

/* ---- Metrics of kscaled itself ---- */

struct figure {
	const char *name, *type, *help;
	double value;
};

static void write_figures(const struct figure *figures, size_t count, struct buf *out)
{
	for (size_t i = 0; i < count; i++) {
		exposition_family(out, figures[i].name, figures[i].type, figures[i].help);
		exposition_sample(out, figures[i].name, NULL, NULL, figures[i].value);
	}
}

static void write_inside(const struct serve *s, struct buf *out)
{
	struct loop_stats loop = loop_stats(s->loop, true);
	struct readings_stats readings = readings_stats(s->cache->readings);
	const struct figure figures[] = {
		{ "kscaled_loop_turns_total", "counter", "Turns of the event loop.", (double)loop.turns },
		{ "kscaled_loop_busy_seconds_total", "counter", "Time the event loop worked rather than waited.",
			(double)loop.busy_us / 1e6 },
		{ "kscaled_loop_longest_turn_seconds", "gauge",
			"Longest turn of the event loop since the last scrape: the longest delay of any event.",
			(double)loop.longest_turn_us / 1e6 },
		{ "kscaled_loop_longest_turn_cpu_seconds", "gauge",
			"Most CPU time of a turn of the event loop since the last scrape.",
			(double)loop.longest_turn_cpu_us / 1e6 },
		{ "kscaled_loop_longest_lag_seconds", "gauge", "Longest delay of a timer since the last scrape.",
			(double)loop.longest_lag_ms / 1000 },
		{ "kscaled_readings_entries", "gauge", "Questions with an answer or failure in memory.",
			(double)readings.entries },
		{ "kscaled_readings_asking", "gauge", "Questions being asked of their sources.",
			(double)readings.asking },
		{ "kscaled_readings_waiters", "gauge", "Requests waiting for an answer.", (double)readings.waiters },
		{ "kscaled_readings_questions_total", "counter", "Questions asked of sources.",
			(double)readings.questions },
		{ "kscaled_readings_from_memory_total", "counter", "Requests answered from memory.",
			(double)readings.answers_from_memory },
		{ "kscaled_leading", "gauge", "1 while this process holds the Lease and acts.",
			s->cache->leadership.leading },
		{ "kscaled_store_synced", "gauge", "1 once all watched objects were read.",
			store_synced(s->cache->store) },
		{ "kscaled_source_connections", "gauge", "Connections to servers of triggers.",
			(double)network_of(s->loop)->descriptors.taken },
		{ "kscaled_source_connections_max", "gauge",
			"Limit of connections to servers of triggers: --max-source-connections, or the limit of open "
			"files.",
			(double)network_of(s->loop)->descriptors.total },
		{ "kscaled_source_answer_bytes", "gauge", "Bytes of unfinished answers, without small ones.",
			(double)network_of(s->loop)->answers.taken },
		{ "kscaled_https_connections", "gauge", "Connections to the HTTPS port.",
			httpd_connections(s->secure) },
		{ "kscaled_status_connections", "gauge", "Connections to the status port.",
			s->status ? httpd_connections(s->status) : 0 },
	};

	write_figures(figures, MEM_COUNT(figures), out);
}

static void write_pushes(const struct serve *s, struct buf *out)
{
	static const char *const labels[] = { "state", NULL };
	struct pushes_stats stats = pushes_stats(s->cache->pushes);

	exposition_family(out, "kscaled_push_watches", "gauge", "Push watches by state.");
	for (enum watch_state state = WATCH_STARTING; state <= WATCH_FAILING; state++)
		exposition_sample(out, "kscaled_push_watches", labels,
			(const char *const[]){ explaintriggers_push_word(state) }, (double)stats.watches[state]);
}

struct jobs_page {
	const struct cache *cache;
	struct buf *out;
};

static void write_job_count(struct buf *out, const struct meta *meta, const char *state, size_t count)
{
	static const char *const labels[] = { "namespace", "scaledJob", "state", NULL };

	exposition_sample(out, "kscaled_jobs", labels, (const char *const[]){ meta->namespace_, meta->name, state },
		(double)count);
}

static void on_scaledjob(void *arg, struct object *o)
{
	const struct jobs_page *page = arg;
	const char *trouble;
	struct jobs_tally tally;

	if (o->kind != SCALED_JOB || !explainjob_tally(page->cache, o, &tally, &trouble))
		return;
	write_job_count(page->out, o->of.meta, "running", tally.running);
	write_job_count(page->out, o->of.meta, "complete", tally.complete);
	write_job_count(page->out, o->of.meta, "failed", tally.failed);
}

/* Only the leader watches Jobs. */
static void write_jobs(const struct serve *s, struct buf *out)
{
	struct jobs_page page = { s->cache, out };

	if (!s->cache->leadership.leading)
		return;
	exposition_family(out, "kscaled_jobs", "gauge", "Jobs of each ScaledJob, by state.");
	store_each_object(s->cache->store, on_scaledjob, &page);
}

/* Second field of /proc/self/statm, in pages; 0 where there is no /proc. */
static double resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	long all = 0, resident = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%ld %ld", &all, &resident) != 2)
		resident = 0;
	fclose(f);
	return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static double cpu_seconds(void)
{
	struct rusage usage = { 0 };

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void write_process(struct buf *out)
{
	const struct figure figures[] = {
		{ "process_cpu_seconds_total", "counter", "Total user and system CPU time spent in seconds.",
			cpu_seconds() },
		{ "process_resident_memory_bytes", "gauge", "Resident memory size in bytes.", resident_bytes() },
	};

	write_figures(figures, MEM_COUNT(figures), out);
}

static void write_self(const struct serve *s, struct buf *out)
{
	write_inside(s, out);
	write_pushes(s, out);
	write_jobs(s, out);
	write_process(out);
}

/* ---- The page ---- */

void metricspage_handle(struct request *r)
{
	const struct serve *s = r->serve;
	struct buf page = BUF_INIT(PAGE_MAX);

	counters_write(s->cache->counters, &page);
	write_self(s, &page);
	kedametrics_write(s, &page);
	if (buf_failed(&page))
		request_refuse(r, APISTATUS_INTERNAL_ERROR, "the page would be longer than %zu bytes", PAGE_MAX);
	else
		request_reply(r, 200, EXPOSITION_CONTENT_TYPE, page.data, page.len);
	buf_done(&page);
}
