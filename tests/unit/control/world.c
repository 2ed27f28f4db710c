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
	static const struct readings_config config = { .ask_timeout_ms = 3000, .max_waiters = 10000 };
	static const struct lookups_config lookups_config = { .cluster_namespace = "kscaled",
		.token_life_ms = 3600000 };
	static const struct control_config control_config = { .query_deadline_ms = 3000,
		.wake_interval_ms = 100,
		.version = "0.1.0" };
	struct cache *c = &world.cache;

	*c = (struct cache){ .loop = world.loop, .counters = counters_new() };
	c->store = store_new(kube, c->counters);
	c->jobs = jobs_new(kube, world.loop, c->counters);
	c->kinds = kinds_new(kube);
	c->targets = targets_new(kube, c->kinds);
	c->targetref = targetref_new(c->store, c->targets, c->kinds);
	c->references = references_new(kube);
	c->lookups = lookups_new(kube, c->store, c->references, NULL, &lookups_config);
	c->descriptions = descriptions_new(&world.sources, 3000);
	c->readings = readings_new(&world.sources, &config);
	c->scalers = scalers_new(c->store, c->lookups, c->descriptions, &c->questions);
	c->pushes = pushes_new(&world.sources, c->scalers, c->counters, PUSHES_WATCHES_MAX);
	c->health = health_new(c->store, &c->leadership);
	cache_connect(c);
	world.control = control_new(c, kube, fakecluster_events(), &control_config);
	world.authkeeper = authkeeper_new(c, kube, fakecluster_events());
	targets_start(c->targets, namespaces, namespace_count);
	jobs_start(c->jobs, namespaces, namespace_count);
	store_start(c->store, namespaces, namespace_count);
}

static void process_end(void)
{
	authkeeper_free(world.authkeeper);
	control_free(world.control);
	cache_forget(&world.cache);
	health_free(world.cache.health);
	pushes_free(world.cache.pushes);
	scalers_free(world.cache.scalers);
	readings_free(world.cache.readings);
	descriptions_free(world.cache.descriptions);
	lookups_free(world.cache.lookups);
	references_free(world.cache.references);
	targetref_free(world.cache.targetref);
	targets_free(world.cache.targets);
	kinds_free(world.cache.kinds);
	jobs_free(world.cache.jobs);
	store_free(world.cache.store);
	counters_free(world.cache.counters);
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
	assert_true(store_synced(world.cache.store));
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
	world.cache.leadership.leading = leading;
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

/* ---- What stands at the server ---- */

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
	struct object *o = store_object(world.cache.store, key);

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
	struct counters_family *f = counters_declare(world.cache.counters, COUNTERS_COUNTER,
		"keda_scaled_object_errors_total", "", labels);

	return counters_get(f, (const char *const[]){ "default", name });
}
