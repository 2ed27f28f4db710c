/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "world.h"

#include "../fakes/fakecluster.h"
#include "../fakes/fakeloop.h"
#include "../fakes/fakesource.h"
#include "../fakes/fakevault.h"

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"

struct world world;
static struct kube *kube;
static struct counters *counters;
static const char *const *namespaces; /* that are watched; NULL: all */
static size_t namespace_count;

static void on_log(void *arg, enum log_level level, const char *line)
{
	(void)arg;
	(void)level;
	(void)line; /* only formatted, for the sanitizers' eyes */
}

static void process_start(void)
{
	static const struct control_config control_config = { .query_deadline_ms = 3000,
		.wake_interval_ms = 100,
		.version = "0.1.0" };

	counters = counters_new();
	world.cache = cache_new(&(struct cache_config){ .kube = kube,
		.counters = counters,
		.sources = &world.sources,
		.lookups = { .cluster_namespace = "kscaled", .token_life_ms = 3600000 },
		.readings = { .ask_timeout_ms = 3000, .max_waiters = 10000 },
		.watches_max = PUSHES_WATCHES_MAX });
	world.control = control_new(world.cache, kube, fakecluster_events(), &control_config);
	world.authkeeper = authkeeper_new(world.cache, kube, fakecluster_events());
	cache_start(world.cache, namespaces, namespace_count);
}

static void process_end(void)
{
	authkeeper_free(world.authkeeper);
	control_free(world.control);
	cache_free(world.cache);
	counters_free(counters);
	world_pass(0);
}

int world_setup(void **state)
{
	(void)state;
	log_setup(LOG_LEVEL_DEBUG, LOG_FORMAT_TEXT);
	log_set_sink(on_log, NULL);
	world.loop = fakeloop_start();
	world.sources = (struct scaler_sources){ .loop = world.loop };
	fakesource_start();
	fakevault_start();
	kube = fakecluster_start(world.loop);
	namespaces = NULL;
	namespace_count = 0;
	process_start();
	world_pass(10);
	assert_true(store_synced(world.cache->store));
	world_lead(true);
	return 0;
}

int world_teardown(void **state)
{
	(void)state;
	process_end();
	fakecluster_end();
	fakesource_end();
	fakevault_end();
	fakeloop_end();
	log_set_sink(NULL, NULL);
	return 0;
}

void world_lead(bool leading)
{
	world.cache->leadership.leading = leading;
	control_set_leading(world.control, leading);
	authkeeper_set_leading(world.authkeeper, leading);
}

void world_restart(void)
{
	process_end();
	process_start();
	world_pass(10);
	world_lead(true);
}

void world_restart_watching(const char *const *only, size_t count)
{
	namespaces = only;
	namespace_count = count;
	world_restart();
}

void world_restart_leading(void)
{
	process_end();
	process_start();
	world_lead(true);
}

void world_pass(int64_t ms)
{
	fakeloop_advance(ms);
}

/* ---- The server's state ---- */

void world_deployment(const char *name, int replicas)
{
	MEM_AUTO char *path = mem_printf(DEPLOYMENT("%s"), name);
	MEM_AUTO char *text = mem_printf("{'apiVersion':'apps/"
					 "v1','kind':'Deployment','spec':{'replicas':%d,'template':{'spec':{'"
					 "containers':[{'name':'main',"
					 "'env':[{'name':'SOURCE','value':'%s'}]}]}}}}",
		replicas, name);

	fakecluster_apply(path, text);
}

void world_scaledobject(const char *name, const char *spec)
{
	MEM_AUTO char *path = mem_printf(SCALEDOBJECT("%s"), name);
	MEM_AUTO char *text = mem_printf("{'apiVersion':'keda.sh/"
					 "v1alpha1','kind':'ScaledObject','spec':{'scaleTargetRef':{'name':'%s'},'"
					 "pollingInterval':10,"
					 "'triggers':[{'type':'scripted','metadata':{'source':'%s'}}]%s%s}}",
		name, name, *spec ? "," : "", spec);

	fakecluster_apply(path, text);
}

void world_ready_object(const char *name, int replicas, const char *spec)
{
	world_deployment(name, replicas);
	world_scaledobject(name, spec);
	world_pass(1000);
	world_expect(name, "Ready", "True ScaledObjectReady");
}

struct object *world_object(const char *key)
{
	struct object *o = store_object(world.cache->store, key);

	if (!o)
		fail_msg("%s is not known", key);
	return o;
}

int world_replicas(const char *name)
{
	MEM_AUTO char *path = mem_printf(DEPLOYMENT("%s"), name);

	return (int)fakecluster_number(path, "spec.replicas");
}

const char *world_condition_at(const char *path, const char *type)
{
	static char text[2048];
	const json_t *list = fakecluster_at(path, "status.conditions"), *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		if (strcmp(json_str_or_empty(one, "type"), type) != 0)
			continue;
		snprintf(text, sizeof(text), "%s %s %s", json_str_or_empty(one, "status"),
			json_str_or_empty(one, "reason"), json_str_or_empty(one, "message"));
		return text;
	}
	return "";
}

void world_expect_at(const char *path, const char *type, const char *begins)
{
	const char *is = world_condition_at(path, type);

	if (strncmp(is, begins, strlen(begins)) != 0)
		fail_msg("%s of %s is \"%s\", not \"%s\"", type, path, is, begins);
}

const char *world_condition(const char *name, const char *type)
{
	MEM_AUTO char *path = mem_printf(SCALEDOBJECT("%s"), name);

	return world_condition_at(path, type);
}

void world_expect(const char *name, const char *type, const char *begins)
{
	MEM_AUTO char *path = mem_printf(SCALEDOBJECT("%s"), name);

	world_expect_at(path, type, begins);
}

double world_errors_counted(const char *name)
{
	static const char *const labels[] = { "namespace", "scaledObject", NULL };
	struct counters_family *f = counters_declare(world.cache->counters, COUNTERS_COUNTER,
		"keda_scaled_object_errors_total", "", labels);

	return counters_get(f, (const char *const[]){ "default", name });
}
