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

static void on_scalers(void *arg, const char *key)
{
	struct scalers_fixture *f = arg;

	assert_string_equal(key, f->key);
	f->told++;
}

void scalers_fixture_start(struct scalers_fixture *f)
{
	static const struct lookups_config config = { .cluster_namespace = "ops", .token_life_ms = 3600000 };
	struct kube *kube;

	log_set_sink(drop_line, NULL);
	f->loop = fakeloop_start();
	kube = fakecluster_start(f->loop);
	fakesource_start();
	f->sources = (struct scaler_sources){ .loop = f->loop };
	f->store = store_new(kube, NULL);
	f->kinds = kinds_new(kube);
	f->targets = targets_new(kube, f->kinds);
	f->targetref = targetref_new(f->store, f->targets, f->kinds);
	f->references = references_new(kube);
	f->lookups = lookups_new(kube, f->store, f->references, NULL, &config);
	f->descriptions = descriptions_new(&f->sources, 3000);
	f->readings = readings_new(&f->sources,
		&(struct readings_config){ .ask_timeout_ms = 3000, .max_waiters = 100 });
	f->scalers = scalers_new(f->store, f->targets, f->lookups, f->descriptions, f->readings);
	f->key = "shop/web";
	f->told = 0;
	scalers_listen(f->scalers, on_scalers, f);
	targets_start(f->targets, NULL, 0);
	store_start(f->store, NULL, 0);
	fakeloop_advance(10);
}

void scalers_fixture_end(struct scalers_fixture *f)
{
	scalers_free(f->scalers);
	readings_free(f->readings);
	descriptions_free(f->descriptions);
	lookups_free(f->lookups);
	references_free(f->references);
	targetref_free(f->targetref);
	targets_free(f->targets);
	kinds_free(f->kinds);
	store_free(f->store);
	fakeloop_advance(0);
	fakecluster_end();
	fakesource_end();
	fakeloop_end();
	log_set_sink(NULL, NULL);
}
