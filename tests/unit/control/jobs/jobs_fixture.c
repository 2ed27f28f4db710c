/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "jobs_fixture.h"

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakecluster_parts.h"
#include "../../fakes/fakeloop.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "crd/job.h"

#define PATHS_MAX 4096

struct paths {
	const char *owner;
	char *list[PATHS_MAX];
	size_t count;
	bool running; /* only those */
};

void jobs_scaledjob(const char *name, const char *spec)
{
	MEM_AUTO char *path = mem_printf(SCALEDJOB("%s"), name);
	MEM_AUTO char *text = mem_printf("{'apiVersion':'keda.sh/"
					 "v1alpha1','kind':'ScaledJob','spec':{'jobTargetRef':{'template':{'spec':{'"
					 "containers':[{'name':'main','image':'worker'}]}}},"
					 "'pollingInterval':10,'triggers':[{'type':'scripted','metadata':{'source':'%s'"
					 ",'threshold':'1'}}]%s%s}}",
		name, *spec ? "," : "", spec);

	fakecluster_apply(path, text);
}

void jobs_ready(const char *name, const char *spec)
{
	jobs_scaledjob(name, spec);
	world_pass(1000);
	jobs_expect(name, "Ready", "True ScaledJobReady");
}

static bool is_finished(const json_t *job)
{
	const json_t *condition;
	size_t i;

	json_array_foreach(json_object_get(json_object_get(job, "status"), "conditions"), i,
		condition) if (strcmp(json_str_or_empty(condition, "status"), "True") == 0) return true;
	return false;
}

static void take(void *arg, const char *path, json_t *job)
{
	struct paths *p = arg;
	const json_t *labels = json_object_get(json_object_get(job, "metadata"), "labels");

	if (strncmp(path, JOBS "/", strlen(JOBS "/")) != 0 ||
		strcmp(json_str_or_empty(labels, JOB_OWNER_LABEL), p->owner) != 0 || (p->running && is_finished(job)))
		return;
	assert_true(p->count < PATHS_MAX);
	p->list[p->count++] = mem_dup(path);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static struct paths *gather(const char *name, bool running)
{
	struct paths *p = mem_zalloc(sizeof(*p));

	p->owner = name;
	p->running = running;
	fakecluster_each(take, p);
	qsort(p->list, p->count, sizeof(p->list[0]), by_text);
	return p;
}

static void release(struct paths *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->list[i]);
	free(p);
}

unsigned jobs_count(const char *name)
{
	struct paths *p = gather(name, false);
	unsigned count = (unsigned)p->count;

	release(p);
	return count;
}

void jobs_finish(const char *name, unsigned count, const char *condition)
{
	struct paths *p = gather(name, true);
	char now[TIMESTAMP_TEXT_MAX];
	MEM_AUTO char *text = mem_printf("{'status':{'completionTime':'%s','conditions':[{'type':'%s','status':'True','"
					 "lastTransitionTime':'%s'}]}}",
		timestamp_format(fakeloop_wall_ms(), now), condition, now);

	assert_true(count <= p->count);
	for (unsigned i = 0; i < count; i++)
		fakecluster_change(p->list[i], text);
	release(p);
}

void jobs_pods(const char *name, const char *phase)
{
	struct paths *p = gather(name, false);

	for (size_t i = 0; i < p->count; i++) {
		const char *job = strrchr(p->list[i], '/') + 1;
		MEM_AUTO char *path = mem_printf("/api/v1/namespaces/default/pods/%s-pod", job);
		MEM_AUTO char *text = mem_printf("{'metadata':{'labels':{'job-name':'%s'}},'status':{'phase':'%s'}}",
			job, phase);

		if (!fakecluster_get(path))
			fakecluster_apply(path, text);
		fakecluster_change(path, text);
	}
	release(p);
}

const char *jobs_path(const char *name, unsigned nth)
{
	static char path[512];
	struct paths *p = gather(name, false);

	assert_true(nth < p->count);
	snprintf(path, sizeof(path), "%s", p->list[nth]);
	release(p);
	return path;
}

const char *jobs_sent_name(void)
{
	static char name[64];
	json_t *body = fakecluster_parse(fakecluster_last_body(KUBE_CREATE, "/jobs"));

	snprintf(name, sizeof(name), "%s", json_str_or_empty(json_object_get(body, "metadata"), "name"));
	json_decref(body);
	return name;
}

const char *jobs_condition(const char *name, const char *type)
{
	MEM_AUTO char *path = mem_printf(SCALEDJOB("%s"), name);

	return world_condition_at(path, type);
}

void jobs_expect(const char *name, const char *type, const char *begins)
{
	MEM_AUTO char *path = mem_printf(SCALEDJOB("%s"), name);

	world_expect_at(path, type, begins);
}

double jobs_counted(const char *family, const char *name)
{
	static const char *const labels[] = { "namespace", "scaledJob", NULL };
	struct counters_family *f = counters_declare(world.cache->counters, COUNTERS_COUNTER, family, "", labels);

	return counters_get(f, (const char *const[]){ "default", name });
}
