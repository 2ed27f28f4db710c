/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakeloop.h"
#include "../../fakes/fakesource.h"
#include "base/log.h"

static void drop_line(void *arg, enum log_level level, const char *line)
{
	(void)arg;
	(void)level;
	(void)line;
}

static void on_object(void *arg, struct object *o, unsigned changes)
{
	struct scalers_fixture *f = arg;

	if (!(changes & OBJECT_NEEDS))
		return;
	assert_string_equal(o->key, f->key);
	f->told++;
}

void scalers_fixture_start(struct scalers_fixture *f)
{
	struct kube *kube;

	log_set_sink(drop_line, NULL);
	f->loop = fakeloop_start();
	kube = fakecluster_start(f->loop);
	fakesource_start();
	f->sources = (struct scaler_sources){ .loop = f->loop };
	f->counters = counters_new();
	f->cache = cache_new(&(struct cache_config){ .kube = kube,
		.counters = f->counters,
		.sources = &f->sources,
		.lookups = { .cluster_namespace = "ops", .token_life_ms = 3600000 },
		.readings = { .ask_timeout_ms = 3000, .max_waiters = 100 },
		.watches_max = 10 });
	f->key = "shop/web";
	f->told = 0;
	cache_listen(f->cache, &(struct store_events){ .on_object = on_object }, f);
	cache_start(f->cache, NULL, 0);
	fakeloop_advance(10);
}

struct object *scalers_fixture_object(const struct scalers_fixture *f)
{
	return store_object(f->cache->store, f->key);
}

int scalers_fixture_get(const struct scalers_fixture *f, struct built *out, struct err *err)
{
	struct object *o = scalers_fixture_object(f);

	return o ? scalers_get(f->cache->scalers, o, out, err) : err_set(err, ERR_MISSING, "there is none");
}

void scalers_fixture_end(struct scalers_fixture *f)
{
	cache_free(f->cache);
	counters_free(f->counters);
	fakeloop_advance(0);
	fakecluster_end();
	fakesource_end();
	fakeloop_end();
	log_set_sink(NULL, NULL);
}
