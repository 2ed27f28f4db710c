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
	static const struct lookups_config config = { .cluster_namespace = "ops", .token_life_ms = 3600000 };
	struct cache *c = &f->cache;
	struct kube *kube;

	log_set_sink(drop_line, NULL);
	f->loop = fakeloop_start();
	kube = fakecluster_start(f->loop);
	fakesource_start();
	f->sources = (struct scaler_sources){ .loop = f->loop };
	c->store = store_new(kube, NULL);
	c->kinds = kinds_new(kube);
	c->targets = targets_new(kube, c->kinds);
	c->targetref = targetref_new(c->store, c->targets, c->kinds);
	c->references = references_new(kube);
	c->lookups = lookups_new(kube, c->store, c->references, NULL, &config);
	c->descriptions = descriptions_new(&f->sources, 3000);
	c->readings = readings_new(&f->sources,
		&(struct readings_config){ .ask_timeout_ms = 3000, .max_waiters = 100 });
	c->scalers = scalers_new(c->store, c->lookups, c->descriptions, &c->questions);
	f->key = "shop/web";
	f->told = 0;
	cache_connect(c);
	cache_listen(c, &(struct store_events){ .on_object = on_object }, f);
	targets_start(c->targets, NULL, 0);
	store_start(c->store, NULL, 0);
	fakeloop_advance(10);
}

struct object *scalers_fixture_object(const struct scalers_fixture *f)
{
	return store_object(f->cache.store, f->key);
}

int scalers_fixture_get(const struct scalers_fixture *f, struct built *out, struct err *err)
{
	struct object *o = scalers_fixture_object(f);

	return o ? scalers_get(f->cache.scalers, o, out, err) : err_set(err, ERR_MISSING, "there is none");
}

void scalers_fixture_end(struct scalers_fixture *f)
{
	struct cache *c = &f->cache;

	cache_forget(c);
	scalers_free(c->scalers);
	readings_free(c->readings);
	descriptions_free(c->descriptions);
	lookups_free(c->lookups);
	references_free(c->references);
	targetref_free(c->targetref);
	targets_free(c->targets);
	kinds_free(c->kinds);
	store_free(c->store);
	f->cache = (struct cache){ .loop = NULL };
	fakeloop_advance(0);
	fakecluster_end();
	fakesource_end();
	fakeloop_end();
	log_set_sink(NULL, NULL);
}
