/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The insight API: access, the content of an object, lists and their filters, Tables, and refusals.
 * Summary and explanation are tested in ../explain.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../explain/explained.h"
#include "base/mem.h"
#include "serve/insight/insight.h"

#define TABLE "application/json;as=Table;v=v1;g=meta.k8s.io"
#define WEB                                                                                                            \
	"{'metadata':{'namespace':'shop','name':'web','uid':'u-1','creationTimestamp':'2026-01-02T03:04:05Z',"         \
	"'labels':{'app':'web','tier':'front'}},'spec':{'scaleTargetRef':{'name':'web'},'triggers':[]}}"
#define DRAIN                                                                                                          \
	"{'metadata':{'namespace':'shop','name':'drain'},'spec':{'jobTargetRef':{'template':{'spec':{'containers':["   \
	"{'name':'c','image':'i'}]}}},'triggers':[]}}"

/* Over the secure port, as root. */
static struct httpd_request *ask_secure(const char *path)
{
	static char uri[512];

	snprintf(uri, sizeof(uri), INSIGHT_PATH "%s", path);
	return room_get(uri);
}

static struct httpd_request *ask_for_table(const char *path)
{
	static char uri[512];

	snprintf(uri, sizeof(uri), INSIGHT_PATH "%s", path);
	return room_send(ROUTE_SOCKET, "GET", uri, NULL, "Accept", TABLE ",application/json");
}

/* ---- Access ---- */

static void expect_review(const char *path, const char *review, const char *refusal)
{
	MEM_AUTO char *uri = mem_printf(INSIGHT_PATH "%s", path);
	struct httpd_request *r = room_send(ROUTE_SECURE, "GET", uri, "Bearer t", NULL, NULL);

	if (fake_kube_token_reviews(room.kube))
		fake_kube_answer_token(room.kube, "mia", NULL);
	assert_string_equal(fake_kube_access(room.kube), review);
	fake_kube_answer_access(room.kube, false, NULL);
	room_expect_status(r, 403, "Forbidden", refusal);
}

static void each_read_is_authorized_as_its_resource(void **state)
{
	(void)state;
	expect_review("/scaledobjectinsights", "mia list insight.kscaled.io/v1 scaledobjectinsights *",
		"scaledobjectinsights.insight.kscaled.io is forbidden: User \"mia\" cannot list resource "
		"\"scaledobjectinsights\" in API group \"insight.kscaled.io\" at the cluster scope");
	expect_review("/namespaces/shop/scaledobjectinsights",
		"mia list insight.kscaled.io/v1 scaledobjectinsights shop", "in the namespace \"shop\"");
	expect_review("/namespaces/shop/scaledobjectinsights/web",
		"mia get insight.kscaled.io/v1 scaledobjectinsights shop/web",
		"scaledobjectinsights.insight.kscaled.io \"web\" is forbidden: User \"mia\" cannot get resource");
	expect_review("/scaledjobinsights", "mia list insight.kscaled.io/v1 scaledjobinsights *", "forbidden");
	expect_review("/namespaces/sh%6Fp/scaledjobinsights/dr%61in",
		"mia get insight.kscaled.io/v1 scaledjobinsights shop/drain", "in the namespace \"shop\"");
	/* Whether there is such an object is not told either. */
	expect_review("/namespaces/shop/scaledobjectinsights/wbe",
		"mia get insight.kscaled.io/v1 scaledobjectinsights shop/wbe", "cannot get resource");
}

static void an_answer_waits_for_the_review(void **state)
{
	struct httpd_request *r = room_send(ROUTE_SECURE, "GET", INSIGHT_PATH OBJECTS "/web", "Bearer t", NULL, NULL);

	(void)state;
	fake_kube_answer_token(room.kube, "mia", NULL);
	assert_int_equal(r->status, 0);
	fake_kube_answer_access(room.kube, true, NULL);
	assert_int_equal(r->status, 200);
	assert_int_equal(room.cache->asked, 0); /* no source */
}

static void anonymous_access_is_for_the_socket_only(void **state)
{
	(void)state;
	room_expect_status(room_send(ROUTE_SECURE, "GET", INSIGHT_PATH OBJECTS, NULL, NULL, NULL), 401, "Unauthorized",
		"");
	room_expect_status(room_send(ROUTE_STATUS, "GET", INSIGHT_PATH OBJECTS, NULL, NULL, NULL), 404, "NotFound",
		"the server has nothing");
	assert_int_equal(ask(OBJECTS)->status, 200);
	assert_int_equal(ask_secure(OBJECTS)->status, 200);
}

static void it_is_only_read(void **state)
{
	static const char *const methods[] = { "POST", "PUT", "PATCH", "DELETE" };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(methods); i++)
		room_expect_status(room_send(ROUTE_SOCKET, methods[i], INSIGHT_PATH OBJECTS "/web", NULL, NULL, NULL),
			405, "MethodNotAllowed", "allowed: GET, HEAD");
	assert_int_equal(room_send(ROUTE_SOCKET, "HEAD", INSIGHT_PATH OBJECTS "/web", NULL, NULL, NULL)->status, 200);
}

/* ---- One ---- */

static void an_object_is_made_of_these(void **state)
{
	struct scaledobject *so = given(WEB);
	json_t *o = room_body(ask(OBJECTS "/web"));

	(void)state;
	expect_text(o, "kind", "ScaledObjectInsight");
	expect_text(o, "apiVersion", "insight.kscaled.io/v1");
	expect_text(o, "metadata.name", "web");
	expect_text(o, "metadata.namespace", "shop");
	expect_text(o, "metadata.uid", "u-1");
	expect_text(o, "metadata.creationTimestamp", "2026-01-02T03:04:05Z");
	expect_text(o, "metadata.labels.tier", "front");
	expect_text(o, "summary.kind", "ScaledObject");
	expect_text(o, "explanation.name", "web");
	assert_true(has(o, "explanation.triggers"));
	assert_non_null(strstr(room.last.reply_headers, "Vary: Accept\n"));
	json_decref(o);
	scaledobject_free(so);
}

static void names_are_of_their_kind(void **state)
{
	struct scaledjob *sj = given_job(DRAIN);
	json_t *o = room_body(ask(JOBS "/drain"));

	(void)state;
	expect_text(o, "kind", "ScaledJobInsight");
	assert_false(has(o, "metadata.uid") || has(o, "metadata.labels"));
	json_decref(o);
	room_expect_status(ask(JOBS "/web"), 404, "NotFound", "no ScaledJob \"shop/web\" is known; others are");
	room_expect_status(ask(OBJECTS "/drain"), 404, "NotFound", "no ScaledObject \"shop/drain\" is known");
	room_expect_status(ask(OBJECTS "/wbe"), 404, "NotFound", "near it: web");
	room_expect_status(ask("/namespaces/bank/scaledobjectinsights/web"), 404, "NotFound",
		"no ScaledObject \"bank/web\" is known, nor any other in this namespace");
	/* A slash in a name makes no key of another kind. */
	assert_int_equal(ask(JOBS "/shop%2Fdrain")->status, 404);
	assert_int_equal(ask("/namespaces/scaledjobs/scaledobjectinsights/shop%2Fdrain")->status, 404);
	room_expect_status(ask(OBJECTS "/%zz"), 400, "BadRequest", "badly encoded");
	scaledjob_free(sj);
}

/* ---- Lists ---- */

static void expect_count(const char *path, size_t count)
{
	json_t *body = room_body(ask(path));

	if (json_array_size(at(body, "items")) != count)
		fail_msg("%s: %zu instead of %zu", path, json_array_size(at(body, "items")), count);
	json_decref(body);
}

static void lists_are_of_one_kind(void **state)
{
	struct scaledjob *sj = given_job(DRAIN);
	json_t *body = room_body(ask("/scaledobjectinsights"));

	(void)state;
	expect_text(body, "kind", "ScaledObjectInsightList");
	assert_true(json_is_object(at(body, "metadata")));
	assert_int_equal(json_array_size(at(body, "items")), 1);
	expect_text(body, "items.0.kind", "ScaledObjectInsight");
	expect_text(body, "items.0.metadata.name", "web");
	expect_text(body, "items.0.summary.name", "web");
	assert_false(has(body, "items.0.explanation"));
	json_decref(body);
	body = room_body(ask("/scaledjobinsights"));
	expect_text(body, "kind", "ScaledJobInsightList");
	expect_text(body, "items.0.summary.strategy", "default");
	json_decref(body);
	expect_count(OBJECTS, 1);
	expect_count("/namespaces/bank/scaledobjectinsights", 0);
	expect_count("/namespaces/bank/scaledjobinsights", 0);
	room.cache->object_gone = true;
	expect_count(OBJECTS, 0);
	expect_count(JOBS, 1);
	scaledjob_free(sj);
}

static void lists_are_filtered(void **state)
{
	struct scaledobject *so = given(WEB);

	(void)state;
	expect_count(OBJECTS "?labelSelector=app%3Dweb", 1);
	expect_count(OBJECTS "?labelSelector=app%20in%20(web,api),!canary&limit=500", 1);
	expect_count(OBJECTS "?labelSelector=app%21%3Dweb", 0);
	expect_count(OBJECTS "?fieldSelector=metadata.name%3Dweb", 1);
	expect_count(OBJECTS "?fieldSelector=metadata.name%3Dwbe", 0);
	expect_count("/scaledobjectinsights?fieldSelector=metadata.namespace%3Dshop,metadata.name%21%3Dapi", 1);
	expect_count("/scaledobjectinsights?fieldSelector=metadata.namespace%3Dbank", 0);
	room_expect_status(ask(OBJECTS "?fieldSelector=status.phase%3DRunning"), 400, "BadRequest",
		"field label not supported: \"status.phase\"");
	room_expect_status(ask(OBJECTS "?labelSelector=%3Da"), 400, "BadRequest", "labelSelector: ");
	scaledobject_free(so);
}

static void nothing_is_watched(void **state)
{
	(void)state;
	room_expect_status(ask(OBJECTS "?watch=true"), 405, "MethodNotAllowed",
		"watch is not supported on scaledobjectinsights");
	room_expect_status(ask("/scaledjobinsights?watch=1"), 405, "MethodNotAllowed", "scaledjobinsights");
	assert_int_equal(ask(OBJECTS "?watch=false")->status, 200);
}

static void unread_objects_are_not_missing(void **state)
{
	struct scaledjob *sj = given_job(DRAIN);

	(void)state;
	room.cache->synced = false;
	room_expect_status(ask(OBJECTS), 503, "ServiceUnavailable", "the ScaledObjects were not read yet");
	assert_non_null(strstr(room.last.reply_headers, "Retry-After: 1\n"));
	room.cache->trouble = "connection refused";
	room_expect_status(ask(OBJECTS "/web"), 503, "ServiceUnavailable", "were not read yet: connection refused");
	assert_int_equal(ask(JOBS)->status, 200);
	room.cache->synced = true;
	room.cache->trouble = NULL;
	room.cache->jobs_unsynced = true;
	room.cache->scaledjobs_trouble = "scaledjobs.keda.sh is forbidden";
	room_expect_status(ask(JOBS "/drain"), 503, "ServiceUnavailable",
		"the ScaledJobs were not read yet: scaledjobs.keda.sh is forbidden");
	assert_int_equal(ask(OBJECTS)->status, 200);
	scaledjob_free(sj);
}

/* ---- Tables ---- */

static void tables_have_objects_beside_their_cells(void **state)
{
	struct scaledobject *so = given(WEB);
	json_t *body = room_body(ask_for_table(OBJECTS));

	(void)state;
	assert_string_equal(room.last.content_type, "application/json");
	expect_text(body, "kind", "Table");
	expect_text(body, "apiVersion", "meta.k8s.io/v1");
	assert_int_equal(json_array_size(at(body, "rows")), 1);
	assert_int_equal(json_array_size(at(body, "rows.0.cells")), json_array_size(at(body, "columnDefinitions")));
	expect_text(body, "rows.0.object.kind", "PartialObjectMetadata");
	expect_text(body, "rows.0.object.metadata.labels.app", "web");
	assert_false(has(body, "rows.0.object.summary"));
	json_decref(body);
	body = room_body(ask_for_table(OBJECTS "?includeObject=Object"));
	expect_text(body, "rows.0.object.kind", "ScaledObjectInsight");
	expect_text(body, "rows.0.object.summary.name", "web");
	json_decref(body);
	body = room_body(ask_for_table(OBJECTS "?includeObject=None"));
	assert_false(has(body, "rows.0.object"));
	json_decref(body);
	body = room_body(ask_for_table(OBJECTS "/web"));
	expect_text(body, "rows.0.cells.0", "web");
	json_decref(body);
	body = room_body(ask_for_table("/namespaces/bank/scaledobjectinsights"));
	assert_int_equal(json_array_size(at(body, "rows")), 0);
	json_decref(body);
	room_expect_status(ask_for_table(OBJECTS "?includeObject=all"), 400, "BadRequest", "includeObject: \"all\"");
	room_expect_status(room_get_accepting(INSIGHT_PATH OBJECTS, "application/vnd.kubernetes.protobuf"), 406,
		"NotAcceptable", "application/json");
	scaledobject_free(so);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, room_set_up, room_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_read_is_authorized_as_its_resource),
		TEST(an_answer_waits_for_the_review),
		TEST(anonymous_access_is_for_the_socket_only),
		TEST(it_is_only_read),
		TEST(an_object_is_made_of_these),
		TEST(names_are_of_their_kind),
		TEST(lists_are_of_one_kind),
		TEST(lists_are_filtered),
		TEST(nothing_is_watched),
		TEST(unread_objects_are_not_missing),
		TEST(tables_have_objects_beside_their_cells),
	};

	return cmocka_run_group_tests_name("serve/insight/insight", tests, NULL, NULL);
}
