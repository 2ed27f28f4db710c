/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/counters.h"
#include "base/json.h"
#include "base/mem.h"
#include "fakeapi.h"
#include "kube/events.h"

struct fixture {
	struct loop *loop;
	struct fakeapi *api;
	struct kube_config config;
	struct counters *counters;
	struct kube *kube;
	struct events *events;
};

static const struct events_object thing = { "keda.sh/v1alpha1", "ScaledObject", "ns", "thing", "uid-1", "7" };

static int set_up(void **state)
{
	struct fixture *f = mem_zalloc(sizeof *f);

	f->loop = loop_new(NULL);
	f->api = fakeapi_new(f->loop);
	f->config = fakeapi_config(f->api, NULL);
	f->counters = counters_new();
	f->kube = kube_new(f->loop, &f->config, NULL, NULL);
	assert_non_null(f->kube);
	f->events = events_new(f->kube, "keda-operator", "host-1", f->counters);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	events_free(f->events);
	kube_free(f->kube);
	fakeapi_free(f->api);
	loop_free(f->loop);
	kube_config_done(&f->config);
	counters_free(f->counters);
	free(f);
	return 0;
}

static void send(struct fixture *f, const char *note)
{
	events_send(f->events, &thing, "Normal", "Reason", "Action", note);
}

static int outcomes(struct fixture *f, const char *outcome)
{
	static const char *const names[] = { "outcome", NULL };

	return (int)counters_get(counters_declare(f->counters, COUNTERS_COUNTER, "kscaled_events_total", "", names),
		&outcome);
}

static void wait_for_outcomes(struct fixture *f, const char *outcome, int count)
{
	while (outcomes(f, outcome) < count)
		loop_turn(f->loop);
	assert_int_equal(outcomes(f, outcome), count);
}

/* The body's text at a path of up to two keys. */
static const char *text_at(const json_t *body, const char *key, const char *inner)
{
	const json_t *value = json_object_get(body, key);

	return json_string_value(inner ? json_object_get(value, inner) : value);
}

static json_t *body_of(const struct fakeapi_request *r)
{
	json_t *body = json_parse(r->body, strlen(r->body), NULL);

	assert_non_null(body);
	return body;
}

static void an_event_has_all_its_fields(void **state)
{
	struct fixture *f = *state;
	struct fakeapi_request *r;
	json_t *body;

	send(f, "a note");
	r = fakeapi_expect(f->api, "POST /apis/events.k8s.io/v1/namespaces/ns/events");
	body = body_of(r);
	assert_string_equal(text_at(body, "apiVersion", NULL), "events.k8s.io/v1");
	assert_string_equal(text_at(body, "kind", NULL), "Event");
	assert_string_equal(text_at(body, "metadata", "namespace"), "ns");
	assert_int_equal(strncmp(text_at(body, "metadata", "name"), "thing.", 6), 0);
	assert_string_equal(text_at(body, "regarding", "apiVersion"), "keda.sh/v1alpha1");
	assert_string_equal(text_at(body, "regarding", "kind"), "ScaledObject");
	assert_string_equal(text_at(body, "regarding", "namespace"), "ns");
	assert_string_equal(text_at(body, "regarding", "name"), "thing");
	assert_string_equal(text_at(body, "regarding", "uid"), "uid-1");
	assert_string_equal(text_at(body, "type", NULL), "Normal");
	assert_string_equal(text_at(body, "reason", NULL), "Reason");
	assert_string_equal(text_at(body, "action", NULL), "Action");
	assert_string_equal(text_at(body, "note", NULL), "a note");
	assert_string_equal(text_at(body, "reportingController", NULL), "keda-operator");
	assert_string_equal(text_at(body, "reportingInstance", NULL), "host-1");
	assert_int_equal(strlen(text_at(body, "eventTime", NULL)), strlen("2026-01-02T03:04:05.678000Z"));
	json_decref(body);
	fakeapi_reply(r, 201, "{}");
	wait_for_outcomes(f, "sent", 1);
}

static void limits_of_the_api(void **state)
{
	struct fixture *f = *state;
	struct buf long_text = BUF_INIT(10000), long_name = BUF_INIT(1000);
	struct events_object about = { "v1", "Node", NULL, NULL, NULL, NULL };
	struct fakeapi_request *r;
	json_t *body;

	for (int i = 0; i < 3000; i++)
		buf_puts(&long_text, "\xc3\xa4"); /* two bytes each */
	for (int i = 0; i < 235; i++)
		buf_putc(&long_name, 'n');
	buf_puts(&long_name, "---------.zzzzzzzz");
	about.name = buf_text(&long_name);
	events_send(f->events, &about, "Warning", buf_text(&long_text), NULL, buf_text(&long_text));
	r = fakeapi_expect(f->api, "POST /apis/events.k8s.io/v1/namespaces/default/events");
	body = body_of(r);
	assert_int_equal(strlen(text_at(body, "note", NULL)), 1024);
	assert_int_equal(strlen(text_at(body, "reason", NULL)), 128);
	assert_int_equal(strlen(text_at(body, "action", NULL)), 128);
	assert_in_range(strlen(text_at(body, "metadata", "name")), 200, 253);
	assert_null(strstr(text_at(body, "metadata", "name"), "-.")); /* a name's parts end with a letter or a digit */
	assert_null(json_object_get(json_object_get(body, "regarding"), "namespace"));
	json_decref(body);
	buf_done(&long_text);
	buf_done(&long_name);
}

static void a_note_that_is_no_utf8(void **state)
{
	struct fixture *f = *state;
	json_t *body;

	send(f,
		"a\xff"
		"b\xc3");
	body = body_of(fakeapi_next(f->api));
	assert_string_equal(text_at(body, "note", NULL), "a?b?");
	json_decref(body);
}

/* Names that would leave the path are not sent. */
static void odd_names_are_not_sent(void **state)
{
	static const struct {
		const char *namespace_, *name;
	} cases[] = { { "a/../b", "x" }, { "ns", "x/y" }, { "ns", "x?y" }, { "ns%", "x" } };
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct events_object about = { "v1", "Pod", cases[i].namespace_, cases[i].name, "u", NULL };

		events_send(f->events, &about, "Normal", "R", "A", "n");
	}
	fakeapi_turn_for(f->api, 20);
	assert_int_equal(fakeapi_waiting(f->api), 0);
	assert_int_equal(outcomes(f, "failed"), 4);
}

/* The first repeat makes a series of the Event; more are only counted, for half an hour. */
static void repeats_become_a_series(void **state)
{
	struct fixture *f = *state;
	struct fakeapi_request *r, *other;
	MEM_AUTO char *patch = NULL;
	json_t *body;

	send(f, "same");
	r = fakeapi_expect(f->api, "POST /apis/events.k8s.io/v1/namespaces/ns/events");
	send(f, "other");
	other = fakeapi_expect(f->api, "POST /apis/events.k8s.io/v1/namespaces/ns/events");
	body = body_of(r);
	patch = mem_printf("PATCH %s/%s", r->uri, text_at(body, "metadata", "name"));
	json_decref(body);
	send(f, "same"); /* while the first is on its way: nothing yet */
	send(f, "same");
	fakeapi_reply(r, 201, "{}");
	fakeapi_reply(other, 201, "{}");
	wait_for_outcomes(f, "sent", 2);
	r = fakeapi_expect(f->api, patch);
	assert_string_equal(r->content_type, "application/merge-patch+json");
	body = body_of(r);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(body, "series"), "count")), 3);
	assert_int_equal(strlen(text_at(body, "series", "lastObservedTime")), strlen("2026-01-02T03:04:05.678000Z"));
	json_decref(body);
	fakeapi_reply(r, 200, "{}");
	wait_for_outcomes(f, "sent", 3);
	for (int i = 0; i < 100; i++)
		send(f, "same");
	fakeapi_turn_for(f->api, 20);
	assert_int_equal(fakeapi_waiting(f->api), 0);
}

/* A repeat has the same object, type, reason, action and note. */
static void a_difference_makes_another_event(void **state)
{
	struct fixture *f = *state;
	struct events_object other = thing;

	other.uid = "uid-2";
	send(f, "n");
	events_send(f->events, &other, "Normal", "Reason", "Action", "n");
	events_send(f->events, &thing, "Warning", "Reason", "Action", "n");
	events_send(f->events, &thing, "Normal", "Other", "Action", "n");
	events_send(f->events, &thing, "Normal", "Reason", "Other", "n");
	for (int i = 0; i < 5; i++)
		fakeapi_reply(fakeapi_expect(f->api, "POST *"), 201, "{}");
	wait_for_outcomes(f, "sent", 5);
}

/* An Event that was refused, or is gone, is forgotten: the next is a new one. */
static void failed_writes_are_forgotten(void **state)
{
	static const int statuses[] = { 403, 404, 422 };
	struct fixture *f = *state;
	int failed = 0;

	for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
		send(f, "n");
		fakeapi_reply(fakeapi_expect(f->api, "POST *"), statuses[i], "{}");
		wait_for_outcomes(f, "failed", ++failed);
	}
	send(f, "n");
	fakeapi_reply(fakeapi_expect(f->api, "POST *"), 201, "{}");
	wait_for_outcomes(f, "sent", 1);
	send(f, "n");
	fakeapi_reply(fakeapi_expect(f->api, "PATCH *"), 404, "{}");
	wait_for_outcomes(f, "failed", ++failed);
	send(f, "n");
	fakeapi_expect(f->api, "POST *");
}

static char *name_of(const struct fakeapi_request *r)
{
	json_t *body = body_of(r);
	char *name = mem_dup(text_at(body, "metadata", "name"));

	json_decref(body);
	return name;
}

/* The Event was created, and the answer was lost: the next attempt meets it. */
static void an_event_whose_answer_was_lost_is_there_once(void **state)
{
	struct fixture *f = *state;
	struct fakeapi_request *r;
	MEM_AUTO char *name = NULL, *again = NULL;

	send(f, "n");
	r = fakeapi_expect(f->api, "POST *");
	name = name_of(r);
	fakeapi_cut(r);
	r = fakeapi_expect(f->api, "POST *");
	again = name_of(r);
	assert_string_equal(again, name);
	fakeapi_reply(r, 409, "{\"kind\":\"Status\",\"reason\":\"AlreadyExists\"}");
	wait_for_outcomes(f, "sent", 1);
	assert_int_equal(outcomes(f, "failed"), 0);
	send(f, "n");
	fakeapi_expect(f->api, "PATCH *");
}

/* Given up without knowing: the next of its kind has the same name, and becomes its series. */
static void an_event_that_may_exist_is_not_created_twice(void **state)
{
	struct fixture *f = *state;
	struct fakeapi_request *r;
	MEM_AUTO char *name = NULL, *again = NULL;

	send(f, "n");
	r = fakeapi_expect(f->api, "POST *");
	name = name_of(r);
	fakeapi_reply(r, 500, "{}");
	for (int i = 0; i < 2; i++)
		fakeapi_reply(fakeapi_expect(f->api, "POST *"), 500, "{}");
	wait_for_outcomes(f, "failed", 1);
	send(f, "n");
	r = fakeapi_expect(f->api, "POST *");
	again = name_of(r);
	assert_string_equal(again, name);
	fakeapi_reply(r, 409, "{\"kind\":\"Status\",\"reason\":\"AlreadyExists\"}");
	r = fakeapi_expect(f->api, "PATCH *");
	assert_non_null(strstr(r->body, "\"count\":2"));
	fakeapi_reply(r, 200, "{}");
	wait_for_outcomes(f, "sent", 2);
}

static void a_failing_server_is_tried_again(void **state)
{
	struct fixture *f = *state;

	send(f, "n");
	fakeapi_reply(fakeapi_expect(f->api, "POST *"), 500, "{}");
	fakeapi_reply(fakeapi_expect(f->api, "POST *"), 201, "{}");
	wait_for_outcomes(f, "sent", 1);
	assert_int_equal(outcomes(f, "failed"), 0);
}

/* Four under way, the rest waits; the oldest waiting ones are dropped if there are too many. */
static void too_many_are_dropped(void **state)
{
	struct fixture *f = *state;
	char note[20];

	for (int i = 0; i < 1100; i++) {
		snprintf(note, sizeof note, "%d", i);
		send(f, note);
	}
	assert_int_equal(outcomes(f, "dropped"), 1100 - 1024);
	for (int i = 0; i < 8; i++) {
		struct fakeapi_request *r = fakeapi_next(f->api);
		json_t *body = body_of(r);
		int number = atoi(text_at(body, "note", NULL));

		assert_true(number < 4 || number >= 80); /* 0 to 3 were under way, 4 to 79 dropped */
		json_decref(body);
		fakeapi_reply(r, 201, "{}");
	}
	wait_for_outcomes(f, "sent", 8);
}

static void nothing_is_sent_while_held(void **state)
{
	struct fixture *f = *state;
	char note[20];

	for (int i = 0; i < 10; i++) {
		snprintf(note, sizeof note, "%d", i);
		send(f, note);
	}
	fakeapi_next(f->api);
	events_hold(f->events, true);
	send(f, "while held");
	fakeapi_turn_for(f->api, 50);
	while (fakeapi_waiting(f->api) > 0) { /* those that were under way may have come, no other */
		json_t *body = body_of(fakeapi_next(f->api));

		assert_in_range(atoi(text_at(body, "note", NULL)), 0, 3);
		assert_int_equal(strlen(text_at(body, "note", NULL)), 1);
		json_decref(body);
	}
	assert_int_equal(outcomes(f, "sent"), 0);
	events_hold(f->events, false);
	send(f, "0"); /* its first sending was broken off, so it is news */
	fakeapi_reply(fakeapi_expect(f->api, "POST *"), 201, "{}");
	wait_for_outcomes(f, "sent", 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(an_event_has_all_its_fields),
		TEST(limits_of_the_api),
		TEST(a_note_that_is_no_utf8),
		TEST(odd_names_are_not_sent),
		TEST(repeats_become_a_series),
		TEST(a_difference_makes_another_event),
		TEST(failed_writes_are_forgotten),
		TEST(an_event_whose_answer_was_lost_is_there_once),
		TEST(an_event_that_may_exist_is_not_created_twice),
		TEST(a_failing_server_is_tried_again),
		TEST(too_many_are_dropped),
		TEST(nothing_is_sent_while_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
