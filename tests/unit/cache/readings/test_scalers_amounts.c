/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One tenant's object may have a thousand triggers, its authentication a thousand parameters, its
 * container thousands of variables from a hundred sources: the number of look-ups must be their
 * sum, not their product.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakeloop.h"
#include "../../fakes/fakesource.h"
#include "base/buf.h"
#include "base/mem.h"
#include "crd/triggerauth.h"
#include "crd/workload.h"
#include "scalers_fixture.h"

#define WEB         "/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects/web"
#define TARGET      "/apis/apps/v1/namespaces/shop/deployments/web"
#define AUTH        "/apis/keda.sh/v1alpha1/namespaces/shop/triggerauthentications/"
#define CREDENTIALS "/api/v1/namespaces/shop/secrets/credentials"
#define BYTES_MAX   (8 << 20)

#define TRIGGERS   300
#define PARAMETERS 400
#define VARIABLES  500
#define SOURCES    40

static struct scalers_fixture t;
static unsigned keys, wholes, environments;

enum reference_state __real_references_key(struct references *r, struct object *owner, enum keydata_kind kind,
	const char *namespace_, const char *name, const char *key, const char **value, struct err *err);
enum reference_state __wrap_references_key(struct references *r, struct object *owner, enum keydata_kind kind,
	const char *namespace_, const char *name, const char *key, const char **value, struct err *err);
enum reference_state __wrap_references_key(struct references *r, struct object *owner, enum keydata_kind kind,
	const char *namespace_, const char *name, const char *key, const char **value, struct err *err)
{
	keys++;
	return __real_references_key(r, owner, kind, namespace_, name, key, value, err);
}

enum reference_state __real_references_all(struct references *r, struct object *owner, enum keydata_kind kind,
	const char *namespace_, const char *name, const struct strmap **data, struct err *err);
enum reference_state __wrap_references_all(struct references *r, struct object *owner, enum keydata_kind kind,
	const char *namespace_, const char *name, const struct strmap **data, struct err *err);
enum reference_state __wrap_references_all(struct references *r, struct object *owner, enum keydata_kind kind,
	const char *namespace_, const char *name, const struct strmap **data, struct err *err)
{
	wholes++;
	return __real_references_all(r, owner, kind, namespace_, name, data, err);
}

int __real_workload_environment(const struct workload *w, const char *container, const struct strmap *wanted,
	const struct workload_lookup *lookup, struct strmap *out, struct strmap *unresolved, struct err *err);
int __wrap_workload_environment(const struct workload *w, const char *container, const struct strmap *wanted,
	const struct workload_lookup *lookup, struct strmap *out, struct strmap *unresolved, struct err *err);
int __wrap_workload_environment(const struct workload *w, const char *container, const struct strmap *wanted,
	const struct workload_lookup *lookup, struct strmap *out, struct strmap *unresolved, struct err *err)
{
	environments++;
	return __real_workload_environment(w, container, wanted, lookup, out, unresolved, err);
}

static int setup(void **state)
{
	(void)state;
	scalers_fixture_start(&t);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	scalers_fixture_end(&t);
	return 0;
}

/* "before" + `count` times the format with its number, joined by commas + "after" */
static void apply_list(const char *path, const char *before, unsigned count, const char *format, const char *after)
{
	struct buf text = BUF_INIT(BYTES_MAX);

	buf_puts(&text, before);
	for (unsigned i = 0; i < count; i++) {
		char one[256], *at = one;

		for (const char *c = format; *c; c++)
			at += *c == '#' ? snprintf(at, 12, "%u", i) : snprintf(at, 2, "%c", *c);
		buf_printf(&text, "%s%s", i > 0 ? "," : "", one);
	}
	buf_puts(&text, after);
	assert_false(buf_failed(&text));
	fakecluster_apply(path, buf_text(&text));
	fakeloop_advance(10);
	buf_done(&text);
}

static void apply_triggers(unsigned count, const char *trigger)
{
	apply_list(WEB, "{'spec':{'scaleTargetRef':{'name':'web'},'triggers':[", count, trigger, "]}}");
}

/* Built once everything is read; then the cost of one more round is counted. */
static void build_again(struct err *err)
{
	struct built built;

	for (int i = 0; i < 2 * SOURCES; i++) {
		scalers_fixture_get(&t, &built, err);
		fakeloop_advance(100);
	}
	keys = wholes = environments = 0;
	scalers_follow(scalers_fixture_object(&t), OBJECT_SPEC);
	err_clear(err);
	scalers_fixture_get(&t, &built, err);
}

static void an_authentication_of_many_triggers_is_read_once(void **state)
{
	struct err err = { 0 };

	(void)state;
	apply_list(CREDENTIALS, "{'data':{", PARAMETERS, "'k#':'YQ=='", "}}");
	apply_list(AUTH "auth", "{'spec':{'secretTargetRef':[", PARAMETERS,
		"{'parameter':'p#','name':'credentials','key':'k#'}", "]}}");
	apply_triggers(TRIGGERS, "{'type':'scripted','metadata':{'source':'s#'},'authenticationRef':{'name':'auth'}}");
	build_again(&err);
	assert_string_equal(err.msg, "");
	assert_int_equal(keys, PARAMETERS);
}

/* Also those of different containers, each read once. */
static void variables_of_an_authentication_are_read_together(void **state)
{
	struct err err = { 0 };

	(void)state;
	apply_list(TARGET,
		"{'spec':{'template':{'spec':{'containers':[{'name':'side','env':[{'name':'V0','value':'x'}]},"
		"{'name':'main','env':[",
		VARIABLES, "{'name':'V#','value':'v#'}", "]}]}}}}");
	apply_list(AUTH "auth", "{'spec':{'env':[{'parameter':'other','name':'V0'},", VARIABLES,
		"{'parameter':'p#','name':'V#','containerName':'main'}", "]}}");
	apply_triggers(TRIGGERS, "{'type':'scripted','metadata':{'source':'s#'},'authenticationRef':{'name':'auth'}}");
	build_again(&err);
	assert_string_equal(err.msg, "");
	assert_int_equal(environments, 1 + 2); /* the triggers' own, and one of each container */
}

static void sources_of_an_environment_are_asked_once(void **state)
{
	struct err err = { 0 };

	(void)state;
	apply_list(CREDENTIALS, "{'data':{", VARIABLES, "'V#':'YQ=='", "}}");
	apply_list(TARGET, "{'spec':{'template':{'spec':{'containers':[{'name':'main','envFrom':[", SOURCES - 1,
		"{'secretRef':{'name':'missing#','optional':true}}", ",{'secretRef':{'name':'credentials'}}]}]}}}}");
	apply_triggers(TRIGGERS,
		"{'type':'scripted','metadata':{'source':'s#','otherFromEnv':'V#','moreFromEnv':'W#'}}");
	build_again(&err);
	assert_string_equal(err.msg, "");
	assert_int_equal(wholes, SOURCES);
}

/* A thousand authentications with a thousand parameters each would be a million. */
static void there_is_an_end_to_parameters(void **state)
{
	struct err err = { 0 };

	(void)state;
	apply_list(CREDENTIALS, "{'data':{", 1, "'k#':'YQ=='", "}}");
	for (unsigned i = 0; i < 7; i++) {
		MEM_AUTO char *path = mem_printf(AUTH "auth%u", i);

		apply_list(path, "{'spec':{'secretTargetRef':[", TRIGGERAUTH_ENTRIES_MAX,
			"{'parameter':'p#','name':'credentials','key':'k0'}", "]}}");
	}
	apply_triggers(7, "{'type':'scripted','metadata':{'source':'s#'},'authenticationRef':{'name':'auth#'}}");
	build_again(&err);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.msg,
		"trigger 5 (scripted): the authentications of its triggers have more than 5000 parameters in all: "
		"spread the triggers over several objects");
	assert_int_equal(keys, 5 * TRIGGERAUTH_ENTRIES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_authentication_of_many_triggers_is_read_once, setup, teardown),
		cmocka_unit_test_setup_teardown(variables_of_an_authentication_are_read_together, setup, teardown),
		cmocka_unit_test_setup_teardown(sources_of_an_environment_are_asked_once, setup, teardown),
		cmocka_unit_test_setup_teardown(there_is_an_end_to_parameters, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
