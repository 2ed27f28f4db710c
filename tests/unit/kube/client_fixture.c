/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "client_fixture.h"

#include "base/json.h"
#include "base/mem.h"

int client_setup(void **state)
{
	struct client_fixture *f = mem_zalloc(sizeof *f);

	f->loop = loop_new(NULL);
	f->api = fakeapi_new(f->loop);
	f->config = fakeapi_config(f->api, "token-1");
	f->counters = counters_new();
	f->kube = kube_new(f->loop, &f->config, f->counters, NULL);
	assert_non_null(f->kube);
	*state = f;
	return 0;
}

int client_teardown(void **state)
{
	struct client_fixture *f = *state;

	kube_free(f->kube);
	fakeapi_free(f->api);
	loop_free(f->loop);
	kube_config_done(&f->config);
	counters_free(f->counters);
	free(f);
	return 0;
}

void client_on_outcome(void *arg, const json_t *object, const struct err *err)
{
	struct outcome *o = arg;

	o->done = true;
	o->times++;
	o->failed = err != NULL;
	if (err)
		o->err = *err;
	free(o->object);
	o->object = object ? json_text(object) : NULL;
}

void client_start(struct client_fixture *f, struct outcome *o, struct kube_request request)
{
	o->call = kube_call(f->kube, &request, client_on_outcome, o);
	assert_false(o->done); /* never before the start has returned */
}

void client_wait(struct client_fixture *f, struct outcome *o)
{
	fakeapi_turn_until(f->api, &o->done);
	assert_int_equal(o->times, 1);
}

double client_gauge(struct client_fixture *f, const char *name)
{
	static const char *const none[] = { NULL };

	return counters_get(counters_declare(f->counters, COUNTERS_GAUGE, name, "", none), NULL);
}
