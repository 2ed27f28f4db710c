/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_KUBE_CLIENT_FIXTURE_H
#define TESTS_UNIT_KUBE_CLIENT_FIXTURE_H

/* The client before an API server that the test plays (fakeapi.h): for the tests of kube/client. */

#include <jansson.h>
#include <stdbool.h>

#include "base/counters.h"
#include "base/err.h"
#include "fakeapi.h"
#include "kube/client.h"

struct client_fixture {
	struct loop *loop;
	struct fakeapi *api;
	struct kube_config config;
	struct counters *counters;
	struct kube *kube;
};

/* For cmocka; *state is the fixture. */
int client_setup(void **state);
int client_teardown(void **state);

/* The results of a call's callback. */
struct outcome {
	bool done;
	int times;
	bool failed;
	struct err err;
	char *object; /* NULL: none; the reader frees it */
	struct kube_call *call;
};

/* a kube_fn, for calls of the test's own */
void client_on_outcome(void *outcome, const json_t *object, const struct err *err);
void client_start(struct client_fixture *f, struct outcome *o, struct kube_request request);
void client_wait(struct client_fixture *f, struct outcome *o); /* until its callback came, once */

/* A gauge without labels. */
double client_gauge(struct client_fixture *f, const char *name);

#endif
