/* SPDX-License-Identifier: Apache-2.0 */
/* kube/informer over a watch that the test plays itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/mem.h"
#include "kube/informer.h"

/* ---- The watch ---- */

struct watch {
	int stopped;
};

static struct {
	struct watch watch;
	struct watch_events to;
	void *arg;
	char fields[128];
	struct informer *informer; /* on the heap, so that a sanitizer detects use after its end */
	char said[512];            /* the events, in words */
	char logged[512];          /* level and text of each line */
	bool stops;                /* in the next event */
} t;

struct watch *watch_start(struct kube *k, const struct watch_config *config, const struct watch_events *events,
	void *arg)
{
	(void)k;
	t.to = *events;
	t.arg = arg;
	t.watch.stopped = 0;
	snprintf(t.fields, sizeof(t.fields), "%s", config->field_selector ? config->field_selector : "");
	return &t.watch;
}

void watch_stop(struct watch *w)
{
	if (w)
		w->stopped++;
}

const char *watch_version(const struct watch *w)
{
	(void)w;
	return "77";
}

static void end(void)
{
	if (t.informer)
		informer_stop(t.informer);
	free(t.informer);
	t.informer = NULL;
}

static void say(const char *text)
{
	strcat(t.said, text);
	if (t.stops)
		end();
}

static void on_list(void *arg)
{
	assert_ptr_equal(arg, &t);
	assert_true(t.informer->listing);
	say("list ");
}

static void say_name(const char *what, const json_t *object)
{
	MEM_AUTO char *text = mem_printf("%s%s ", what,
		json_string_value(json_object_get(json_object_get(object, "metadata"), "name")));

	say(text);
}

static void on_object(void *arg, const json_t *object)
{
	assert_ptr_equal(arg, &t);
	say_name("+", object);
}

static void on_deleted(void *arg, const json_t *object)
{
	assert_ptr_equal(arg, &t);
	if (object)
		say_name("-", object);
	else
		say("gone ");
}

static void on_synced(void *arg)
{
	assert_ptr_equal(arg, &t);
	assert_true(t.informer->synced && !t.informer->listing);
	say("synced ");
}

static void on_trouble(void *arg, const struct err *err)
{
	assert_ptr_equal(arg, &t);
	say(err ? "trouble " : "well ");
}

static bool on_text(void *arg, const struct objecttext *text)
{
	assert_ptr_equal(arg, &t);
	say("text ");
	return objecttext_says(&text->version, "7");
}

static const struct informer_events all = { on_list, on_object, on_deleted, on_synced, on_trouble, on_text };
static const struct informer_events least = { .on_object = on_object, .on_deleted = on_deleted };

static void start(const struct informer_config *config, const struct informer_events *events)
{
	end();
	t.informer = mem_zalloc(sizeof(*t.informer));
	informer_start(t.informer, NULL, config, events, &t);
}

static void object(const char *name, const char *version, bool deleted)
{
	json_t *json = json_pack("{s:{s:s, s:s}}", "metadata", "name", name, "resourceVersion", version);

	(deleted ? t.to.on_deleted : t.to.on_object)(t.arg, json);
	json_decref(json);
}

static void list_of(const char *name)
{
	t.to.on_list(t.arg);
	if (name)
		object(name, "1", false);
	t.to.on_synced(t.arg);
}

static void trouble(enum err_kind kind, int http_status, const char *text)
{
	struct err err = { 0 };

	err_set(&err, kind, "%s", text);
	err.http_status = http_status;
	t.to.on_trouble(t.arg, &err);
}

static void expect_said(const char *text)
{
	assert_string_equal(t.said, text);
	t.said[0] = '\0';
}

static void expect_logged(const char *text)
{
	assert_string_equal(t.logged, text);
	t.logged[0] = '\0';
}

/* Without its time. */
static void on_log(void *arg, enum log_level level, const char *line)
{
	size_t len = strlen(t.logged);

	(void)arg;
	(void)level;
	line = strchr(line, ' ') + 1;
	snprintf(t.logged + len, sizeof(t.logged) - len, "%.*s\n", (int)strcspn(line, "\n"), line);
}

static int set_up(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	log_set_sink(on_log, NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	end();
	log_set_sink(NULL, NULL);
	return 0;
}

/* ---- Notifications ---- */

static void hands_on_objects(void **state)
{
	static const struct informer_config config = { .path = "/p", .field_selector = "a=b", .subject = "things" };
	unsigned list;

	(void)state;
	start(&config, &all);
	assert_string_equal(t.fields, "a=b");
	assert_false(t.informer->synced);
	t.to.on_list(t.arg);
	/* earlier objects say nothing about half a list */
	assert_string_equal(informer_version(t.informer), "");
	expect_said("list ");
	list_of("x");
	expect_said("list +x synced ");
	assert_string_equal(informer_version(t.informer), "77");
	list = t.informer->list;
	object("y", "2", false);
	object("x", "3", true);
	expect_said("+y -x ");
	assert_int_equal(t.informer->list, list);
	list_of(NULL);
	expect_said("list synced ");
	assert_int_not_equal(t.informer->list, list);
}

static void no_two_lists_have_one_number(void **state)
{
	static const struct informer_config config = { .path = "/p", .subject = "things" };
	unsigned list;

	(void)state;
	start(&config, &all);
	list_of(NULL);
	list = t.informer->list;
	start(&config, &all);
	list_of(NULL);
	assert_int_not_equal(t.informer->list, list);
}

static void one_name_is_all_that_is_looked_at(void **state)
{
	static const struct informer_config config = { .path = "/p", .name = "x", .subject = "thing x" };

	(void)state;
	start(&config, &all);
	assert_string_equal(t.fields, "metadata.name=x");
	list_of("x");
	expect_said("list +x "); /* nothing to sweep */
	object("y", "2", false);
	object("y", "3", true);
	t.to.on_object(t.arg, NULL);
	expect_said("");
	list_of("y");
	expect_said("list gone ");
	object("x", "4", false);
	object("x", "5", true);
	expect_said("+x -x ");
	list_of("x");
	expect_said("list +x ");
}

static bool tell_text(const char *name, const char *version)
{
	const struct objecttext text = { .name = { name, strlen(name) },
		.version = { version, strlen(version) },
		.print = 1 };

	return t.to.on_text(t.arg, &text);
}

static void a_text_is_asked_about_where_it_was_asked_for(void **state)
{
	static const struct informer_config named = { .path = "/p", .name = "x", .subject = "thing x" },
					    whole = { .path = "/p", .subject = "things" };

	(void)state;
	start(&named, &all);
	assert_true(tell_text("y", "1"));
	expect_said("");
	assert_false(tell_text("x", "1"));
	assert_true(tell_text("x", "7"));
	expect_said("text text ");
	start(&whole, &all);
	assert_true(tell_text("y", "7"));
	expect_said("text ");
	start(&whole, &least);
	assert_false(tell_text("y", "7"));
}

static void not_every_event_needs_an_ear(void **state)
{
	static const struct informer_config config = { .path = "/p", .subject = "things" };

	(void)state;
	start(&config, &least);
	list_of("x");
	trouble(ERR_TEMPORARY, 0, "away");
	t.to.on_trouble(t.arg, NULL);
	expect_said("+x ");
}

static void an_older_state_is_detected(void **state)
{
	static const struct informer_config config = { .path = "/p", .subject = "things" };
	json_t *json = json_pack("{s:{s:s}}", "metadata", "resourceVersion", "9");

	(void)state;
	start(&config, &least);
	list_of(NULL);
	assert_true(informer_is_old(t.informer, json, "10"));
	assert_false(informer_is_old(t.informer, json, "9"));
	assert_false(informer_is_old(t.informer, json, "8"));
	assert_false(informer_is_old(t.informer, json, NULL));
	t.to.on_list(t.arg); /* is true whatever we knew: a restored etcd counts backwards */
	assert_false(informer_is_old(t.informer, json, "10"));
	json_decref(json);
}

/* ---- Troubles ---- */

static void a_trouble_has_one_text_and_one_line(void **state)
{
	static const struct {
		const char *failing, *grant;
		enum err_kind kind;
		int http_status;
		const char *trouble, *line;
	} rows[] = {
		{ NULL, NULL, ERR_TEMPORARY, 0, "watching things: no", "no" },
		{ "", NULL, ERR_TEMPORARY, 0, "no", "no" },
		{ "X cannot be read", "grant a, b", ERR_MISSING, 404, "X cannot be read: no", "no" },
		{ NULL, "grant a, b", ERR_DENIED, 403, "watching things: grant a, b: no", "grant a, b: no" },
		{ NULL, "grant a, b", ERR_DENIED, 401, "watching things: no", "no" }, /* a token that ran out */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct informer_config config = { .path = "/p",
			.subject = "things",
			.failing = rows[i].failing,
			.grant = rows[i].grant };
		MEM_AUTO char *line = mem_printf("warn  things: cannot be watched at the moment: %s\n", rows[i].line);

		start(&config, &all);
		assert_null(informer_trouble(t.informer));
		trouble(rows[i].kind, rows[i].http_status, "no");
		assert_string_equal(informer_trouble(t.informer), rows[i].trouble);
		assert_int_equal(informer_is_denied(t.informer->trouble), rows[i].http_status == 403);
		expect_logged(line);
		t.to.on_trouble(t.arg, NULL);
		assert_null(informer_trouble(t.informer));
		expect_logged("info  things: the watch works\n");
		expect_said("trouble well ");
	}
}

static void a_quiet_user_logs_itself(void **state)
{
	static const struct informer_config config = { .path = "/p", .subject = "things", .quiet = true };

	(void)state;
	start(&config, &all);
	trouble(ERR_TEMPORARY, 0, "away");
	t.to.on_trouble(t.arg, NULL);
	expect_logged("");
	assert_null(informer_trouble(t.informer));
}

/* The watch behind the list may be refused all the same. */
static void a_list_ends_temporary_errors_but_no_denial(void **state)
{
	static const struct informer_config config = { .path = "/p", .subject = "things" };

	(void)state;
	start(&config, &all);
	trouble(ERR_TEMPORARY, 0, "away");
	list_of(NULL);
	assert_null(informer_trouble(t.informer));
	trouble(ERR_DENIED, 403, "no");
	list_of(NULL);
	assert_non_null(informer_trouble(t.informer));
}

static void it_may_be_stopped_in_each_event(void **state)
{
	static const struct informer_config config = { .path = "/p", .subject = "things" };

	(void)state;
	for (int event = 0; event < 6; event++) {
		start(&config, &all);
		t.stops = true;
		switch (event) {
		case 0: t.to.on_list(t.arg); break;
		case 1: object("x", "1", false); break;
		case 2: object("x", "1", true); break;
		case 3: t.to.on_synced(t.arg); break;
		case 4: trouble(ERR_TEMPORARY, 0, "away"); break;
		default: t.to.on_trouble(t.arg, NULL); break;
		}
		t.stops = false;
		assert_int_equal(t.watch.stopped, 1);
		assert_null(t.informer);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(hands_on_objects, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_two_lists_have_one_number, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_name_is_all_that_is_looked_at, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_text_is_asked_about_where_it_was_asked_for, set_up, tear_down),
		cmocka_unit_test_setup_teardown(not_every_event_needs_an_ear, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_older_state_is_detected, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_trouble_has_one_text_and_one_line, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_quiet_user_logs_itself, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_list_ends_temporary_errors_but_no_denial, set_up, tear_down),
		cmocka_unit_test_setup_teardown(it_may_be_stopped_in_each_event, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
