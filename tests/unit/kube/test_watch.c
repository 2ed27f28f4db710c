/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "fakeapi.h"
#include "kube/denial.h"
#include "kube/watch.h"

/* The receiver's calls: "list +a +b synced -a !missing ok"; *a: with managedFields. */
struct fixture {
	struct loop *loop;
	struct fakeapi *api;
	struct kube_config config;
	struct kube *kube;
	struct watch *watch;
	struct buf told;
	const char *stop_at; /* the word after which the receiver stops the watch */
	bool stopped;
};

static void tell(struct fixture *f, const char *sign, const char *word)
{
	buf_printf(&f->told, "%s%s%s", f->told.len ? " " : "", sign, word);
	assert_false(f->stopped);
	if (f->stop_at && strcmp(f->stop_at, word) == 0) {
		watch_stop(f->watch);
		f->stopped = true;
	}
}

static const char *name_of(const json_t *object)
{
	return json_str_or_empty(json_object_get(object, "metadata"), "name");
}

static void on_list(void *arg)
{
	tell(arg, "", "list");
}

static void on_object(void *arg, const json_t *object)
{
	bool managed = json_object_get(json_object_get(object, "metadata"), "managedFields") != NULL;

	tell(arg, managed ? "*" : "+", name_of(object));
}

static void on_deleted(void *arg, const json_t *object)
{
	tell(arg, "-", name_of(object));
}

static void on_synced(void *arg)
{
	tell(arg, "", "synced");
}

static void on_trouble(void *arg, const struct err *err)
{
	tell(arg, err ? "!" : "", err ? err_kind_name(err->kind) : "ok");
}

static const struct watch_events events = { on_list, on_object, on_deleted, on_synced, on_trouble, NULL };

static int set_up(void **state)
{
	struct fixture *f = mem_zalloc(sizeof *f);

	f->loop = loop_new(NULL);
	f->api = fakeapi_new(f->loop);
	f->config = fakeapi_config(f->api, NULL);
	f->kube = kube_new(f->loop, &f->config, NULL, NULL);
	buf_init(&f->told, 1 << 20);
	assert_non_null(f->kube);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	watch_stop(f->watch);
	kube_free(f->kube);
	fakeapi_free(f->api);
	loop_free(f->loop);
	kube_config_done(&f->config);
	buf_done(&f->told);
	free(f);
	return 0;
}

static void begin(struct fixture *f)
{
	static const struct watch_config config = { .path = "/apis/g/v1/things", .page = 2, .subject = "things" };

	f->watch = watch_start(f->kube, &config, &events, f);
	assert_string_equal(buf_text(&f->told), ""); /* never before the start has returned */
}

static void told(struct fixture *f, const char *want)
{
	while (f->told.len < strlen(want))
		loop_turn(f->loop);
	assert_string_equal(buf_text(&f->told), want);
	buf_reset(&f->told);
}

#define LIST(version, next, items)                                                                                     \
	"{\"kind\":\"ThingList\",\"metadata\":{\"resourceVersion\":\"" version "\",\"continue\":\"" next               \
	"\"},\"items\":[" items "]}"
#define OBJECT(name, version)      "{\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"" version "\"}}"
#define EVENT(type, name, version) "{\"type\":\"" type "\",\"object\":" OBJECT(name, version) "}\n"
#define GONE                       "{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\",\"message\":\"too old\"}"
#define FIRST_PAGE                 "GET /apis/g/v1/things?limit=2"
#define WATCH_FROM(version)                                                                                            \
	"GET /apis/g/v1/things?watch=1&allowWatchBookmarks=true&resourceVersion=" version "&timeoutSeconds=*"

/* A list of one object, then a stream that is open. */
static struct fakeapi_request *begin_watching(struct fixture *f)
{
	struct fakeapi_request *r;

	begin(f);
	fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE), 200, LIST("10", "", OBJECT("a", "1")));
	told(f, "list +a synced");
	r = fakeapi_expect(f->api, WATCH_FROM("10"));
	fakeapi_stream_start(r);
	return r;
}

/* ---- The usual course ---- */

static void pages_then_events(void **state)
{
	struct fixture *f = *state;
	struct fakeapi_request *r;
	const char *timeout;

	begin(f);
	fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE), 200,
		LIST("10", "t/1==", OBJECT("a", "1") "," OBJECT("b", "2")));
	told(f, "list +a +b");
	fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE "&continue=t%2F1%3D%3D"), 200,
		LIST("10", "t2", OBJECT("c", "3")));
	told(f, "+c");
	fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE "&continue=t2"), 200, LIST("10", "", OBJECT("d", "4")));
	told(f, "+d synced");

	r = fakeapi_expect(f->api, WATCH_FROM("10"));
	timeout = strstr(r->uri, "timeoutSeconds=") + 15;
	assert_in_range(atoi(timeout), 290, 590);
	fakeapi_stream_start(r);
	fakeapi_stream_send(r, EVENT("ADDED", "e", "11") EVENT("MODIFIED", "a", "12"));
	told(f, "+e +a");
	fakeapi_stream_send(r, "{\"type\":\"DELETED\",\"obj"); /* a line in two pieces */
	fakeapi_turn_for(f->api, 20);
	fakeapi_stream_send(r, "ect\":" OBJECT("b", "13") "}\n");
	told(f, "-b");
	fakeapi_stream_end(r);
	fakeapi_expect(f->api, WATCH_FROM("13"));
}

static void managed_fields_come_on_request(void **state)
{
#define MANAGED(name) "{\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"11\",\"managedFields\":[{}]}}"
	static const char *const want[] = { "list +a synced", "+b", "list *a synced", "*b" };
	struct fixture *f = *state;

	for (int managed = 0; managed < 2; managed++) {
		const struct watch_config config = {
			.path = "/apis/g/v1/things",
			.page = 2,
			.subject = "things",
			.managed_fields = managed,
		};
		struct fakeapi_request *r;

		f->watch = watch_start(f->kube, &config, &events, f);
		fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE), 200, LIST("10", "", MANAGED("a")));
		told(f, want[2 * managed]);
		r = fakeapi_expect(f->api, WATCH_FROM("10"));
		fakeapi_stream_start(r);
		fakeapi_stream_send(r, "{\"type\":\"ADDED\",\"object\":" MANAGED("b") "}\n");
		told(f, want[2 * managed + 1]);
		watch_stop(f->watch);
		f->watch = NULL;
	}
#undef MANAGED
}

static bool on_text(void *arg, const struct objecttext *text)
{
	bool known = objecttext_says(&text->name, "known");

	tell(arg, known ? "=" : "?", known ? "known" : "new");
	return known;
}

static void known_objects_are_not_handed_on(void **state)
{
#define WITH_UID(type, name, version)                                                                                  \
	"{\"type\":\"" type "\",\"object\":{\"metadata\":{\"name\":\"" name                                            \
	"\",\"uid\":\"u\",\"resourceVersion\":\"" version "\"}}}\n"
	struct watch_config config = { .path = "/apis/g/v1/things", .page = 2, .subject = "things" };
	struct watch_events asking = events;
	struct fixture *f = *state;
	struct fakeapi_request *r;

	asking.on_text = on_text;
	f->watch = watch_start(f->kube, &config, &asking, f);
	fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE), 200, LIST("10", "", OBJECT("a", "1")));
	told(f, "list +a synced");
	r = fakeapi_expect(f->api, WATCH_FROM("10"));
	fakeapi_stream_start(r);
	fakeapi_stream_send(r, WITH_UID("ADDED", "b", "11") EVENT("MODIFIED", "known", "12"));
	told(f, "?new +b =known +known"); /* the second has no uid, so no print */
	fakeapi_stream_send(r,
		WITH_UID("MODIFIED", "known", "13") WITH_UID("DELETED", "known", "14")
			WITH_UID("MODIFIED", "known", "15"));
	told(f, "=known =known -known =known");
	fakeapi_stream_end(r);
	fakeapi_expect(f->api, WATCH_FROM("15"));
#undef WITH_UID
}

static void selectors_are_encoded(void **state)
{
	struct fixture *f = *state;
	const struct watch_config config = { .path = "/api/v1/x",
		.label_selector = "a=b,c",
		.field_selector = "metadata.name=n" };

	f->watch = watch_start(f->kube, &config, &events, f);
	fakeapi_reply(fakeapi_expect(f->api,
			      "GET /api/v1/x?limit=50&labelSelector=a%3Db%2Cc&fieldSelector=metadata.name%3Dn"),
		200, LIST("opaque/1", "", ""));
	told(f, "list synced");
	assert_non_null(strstr(fakeapi_expect(f->api,
				       "GET /api/v1/x?watch=1&allowWatchBookmarks=true&resourceVersion=opaque%2F1&*")
				       ->uri,
		"&labelSelector=a%3Db%2Cc&fieldSelector=metadata.name%3Dn"));
}

/*
 * No resourceVersion, at first and after a 410: the list has the newest state, not that of an API
 * server's watch cache, so that a new leader sees everything done before. By a label alone.
 */
static void lists_are_consistent(void **state)
{
	static const char list[] = "GET /apis/batch/v1/jobs?limit=50&labelSelector=scaledjob.keda.sh%2Fname";
	struct fixture *f = *state;
	const struct watch_config config = { .path = "/apis/batch/v1/jobs",
		.label_selector = "scaledjob.keda.sh/name" };

	f->watch = watch_start(f->kube, &config, &events, f);
	assert_string_equal(watch_version(f->watch), "");
	fakeapi_reply(fakeapi_expect(f->api, list), 200, LIST("10", "t", ""));
	fakeapi_reply(fakeapi_expect(f->api,
			      "GET /apis/batch/v1/jobs?limit=50&labelSelector=scaledjob.keda.sh%2Fname&continue=t"),
		200, LIST("10", "", ""));
	told(f, "list synced");
	assert_string_equal(watch_version(f->watch), "10");
	fakeapi_reply(fakeapi_expect(f->api,
			      "GET /apis/batch/v1/jobs?watch=1&allowWatchBookmarks=true&resourceVersion=10&*"),
		410, GONE);
	fakeapi_reply(fakeapi_expect(f->api, list), 200, LIST("20", "", ""));
	told(f, "list synced");
	assert_string_equal(watch_version(f->watch), "20");
}

static void bookmarks_move_the_version(void **state)
{
	struct fixture *f = *state;
	struct fakeapi_request *r = begin_watching(f);

	fakeapi_stream_send(r, EVENT("BOOKMARK", "", "77") "\n" EVENT("SOMETHING_NEW", "", "78"));
	fakeapi_turn_for(f->api, 20);
	fakeapi_stream_end(r);
	r = fakeapi_expect(f->api, WATCH_FROM("78"));
	assert_string_equal(buf_text(&f->told), "");
}

/*
 * The object counts all the same; the place in the stream is the last that was named, and short
 * enough for a URL.
 */
static void an_event_without_a_usable_version_keeps_the_place(void **state)
{
	static const char *const versions[] = { "", ",\"resourceVersion\":\"\"", ",\"resourceVersion\":7", NULL };
	struct fixture *f = *state;
	struct fakeapi_request *r = begin_watching(f);

	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
		MEM_AUTO char *too_long = mem_printf(",\"resourceVersion\":\"%0*d\"", 4097, 0);
		MEM_AUTO char *line =
			mem_printf("{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"e\"%s}}}\n",
				versions[i] ? versions[i] : too_long);

		fakeapi_stream_send(r, EVENT("ADDED", "a", "11"));
		fakeapi_stream_send(r, line);
		told(f, "+a +e");
		assert_string_equal(watch_version(f->watch), "11");
	}
	fakeapi_stream_end(r);
	fakeapi_expect(f->api, WATCH_FROM("11"));
}

static void an_empty_list_may_say_null(void **state)
{
	struct fixture *f = *state;

	begin(f);
	fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE), 200,
		"{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":null}");
	told(f, "list synced");
	fakeapi_expect(f->api, WATCH_FROM("5"));
}

/* ---- 410 Gone, in its four places ---- */

static void gone_as_an_event(void **state)
{
	struct fixture *f = *state;
	struct fakeapi_request *r = begin_watching(f);

	fakeapi_stream_send(r, "{\"type\":\"ERROR\",\"object\":" GONE "}\n");
	fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE), 200, LIST("20", "", OBJECT("b", "1")));
	told(f, "list +b synced");
	fakeapi_expect(f->api, WATCH_FROM("20"));
}

static void gone_as_an_answer(void **state)
{
	struct fixture *f = *state;

	begin(f);
	fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE), 200, LIST("10", "", ""));
	fakeapi_reply(fakeapi_expect(f->api, WATCH_FROM("10")), 410, GONE);
	fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE), 200, LIST("20", "", ""));
	told(f, "list synced list synced");
	fakeapi_expect(f->api, WATCH_FROM("20"));
}

static void gone_between_pages(void **state)
{
	struct fixture *f = *state;

	begin(f);
	fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE), 200, LIST("10", "t1", OBJECT("a", "1")));
	fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE "&continue=t1"), 410, GONE);
	fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE), 200, LIST("20", "", OBJECT("b", "1")));
	told(f, "list +a list +b synced");
}

/* A server that repeats this is not asked without a pause. */
static void gone_for_ever(void **state)
{
	struct fixture *f = *state;
	int64_t began;

	begin(f);
	fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE), 200, LIST("10", "", ""));
	fakeapi_reply(fakeapi_expect(f->api, WATCH_FROM("10")), 410, GONE);
	fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE), 200, LIST("20", "", ""));
	fakeapi_reply(fakeapi_expect(f->api, WATCH_FROM("20")), 410, GONE);
	began = loop_now_ms(f->loop);
	fakeapi_expect(f->api, FIRST_PAGE);
	assert_true(loop_now_ms(f->loop) - began >= 150);
	told(f, "list synced list synced !gone");
}

/* ---- Failures ---- */

/* A cut is not an error if resuming works; a half-sent event is requested again. */
static void a_cut_stream_goes_on(void **state)
{
	struct fixture *f = *state;
	struct fakeapi_request *r = begin_watching(f);

	fakeapi_stream_send(r, EVENT("ADDED", "b", "11") "{\"type\":\"ADDED\",\"obj");
	told(f, "+b");
	fakeapi_cut(r);
	r = fakeapi_expect(f->api, WATCH_FROM("11"));
	fakeapi_stream_start(r);
	fakeapi_stream_send(r, EVENT("ADDED", "c", "12"));
	told(f, "+c");
}

static void trouble_is_reported_once_and_so_is_its_end(void **state)
{
	struct fixture *f = *state;
	struct fakeapi_request *r = begin_watching(f);

	fakeapi_cut(r);
	for (int i = 0; i < 3; i++)
		fakeapi_reply(fakeapi_expect(f->api, WATCH_FROM("10")), 503,
			"{\"kind\":\"Status\",\"message\":\"down\"}");
	r = fakeapi_expect(f->api, WATCH_FROM("10"));
	told(f, "!temporary");
	fakeapi_stream_start(r);
	told(f, "ok"); /* without a word from the server, after a moment */
}

/* Five failing answers to one version: perhaps the server does not know it (a restored etcd). */
static void a_version_that_never_works_is_dropped(void **state)
{
	struct fixture *f = *state;

	begin(f);
	fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE), 200, LIST("10", "", ""));
	for (int i = 0; i < 5; i++)
		fakeapi_reply(fakeapi_expect(f->api, WATCH_FROM("10")), 504,
			"{\"kind\":\"Status\",\"message\":\"Too large resource version\"}");
	fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE), 200, LIST("3", "", ""));
	told(f, "list synced !temporary list synced");
	fakeapi_expect(f->api, WATCH_FROM("3"));
}

#define MAY_NOT "{\"kind\":\"Status\",\"message\":\"may not\"}"

static void forget_flag(void *arg)
{
	(void)arg;
}

static void no_such_resource(void **state)
{
	struct fixture *f = *state;

	begin(f);
	fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE), 404,
		"{\"kind\":\"Status\",\"message\":\"could not find it\"}");
	fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE), 404,
		"{\"kind\":\"Status\",\"message\":\"could not find it\"}");
	fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE), 200, LIST("10", "", ""));
	told(f, "!missing list synced");
	fakeapi_stream_start(fakeapi_expect(f->api, WATCH_FROM("10")));
	told(f, "ok");
}

/* Rights that are not known yet, after a restart of the server, do not cost the place. */
static void denied_keeps_its_place(void **state)
{
	struct fixture *f = *state;
	struct fakeapi_request *r = begin_watching(f);

	fakeapi_cut(r);
	for (int i = 0; i < 3; i++)
		fakeapi_reply(fakeapi_expect(f->api, WATCH_FROM("10")), i == 1 ? 401 : 403, MAY_NOT);
	fakeapi_stream_start(fakeapi_expect(f->api, WATCH_FROM("10")));
	told(f, ""); /* it passed */
}

static void a_lasting_denial_is_reported(void **state)
{
	struct fixture *f = *state;
	struct loop_timer grace;

	begin(f);
	loop_timer_init(&grace, f->loop, forget_flag, NULL);
	loop_timer_set(&grace, DENIAL_GRACE_MS);
	do
		fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE), 403, MAY_NOT);
	while (loop_timer_pending(&grace));
	fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE), 403, MAY_NOT);
	fakeapi_expect(f->api, FIRST_PAGE);
	told(f, "!denied");
	loop_timer_done(&grace);
}

static void an_answer_that_is_not_a_list_is_reported(void **state)
{
	static const char *const answers[] = { "[]", "{}", "{\"metadata\":{\"resourceVersion\":5},\"items\":[]}",
		"{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":{}}", "{\"metadata\":\"x\",\"items\":[]}" };
	struct fixture *f = *state;

	begin(f);
	for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
		fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE), 200, answers[i]);
	told(f, "!invalid");
}

/* A line that cannot be read may have been any change: only a new list is sure. */
static void bad_lines_lead_to_a_new_list(void **state)
{
	static const char *const lines[] = { "garbage\n", "{\"type\":\"ADDED\"}\n",
		"{\"type\":\"ADDED\",\"object\":[]}\n", "[1]\n", "{\"type\":5,\"object\":7}\n", "\x01\xff\n" };
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		struct fakeapi_request *r = begin_watching(f);

		fakeapi_stream_send(r, lines[i]);
		fakeapi_expect(f->api, FIRST_PAGE);
		told(f, "!invalid");
		watch_stop(f->watch);
	}
	f->watch = NULL;
}

static void a_line_without_end_is_cut_off(void **state)
{
	struct fixture *f = *state;
	struct fakeapi_request *r = begin_watching(f);
	char *piece = mem_zalloc((1 << 20) + 1);

	memset(piece, ' ', 1 << 20);
	for (int i = 0; i < 9 && r->req; i++) {
		fakeapi_stream_send(r, piece);
		fakeapi_turn_for(f->api, 5);
	}
	free(piece);
	fakeapi_expect(f->api, FIRST_PAGE);
	told(f, "!invalid");
}

/* Odd items inside a valid list are the receiver's problem; the list goes on. */
static void odd_items_are_handed_on(void **state)
{
	struct fixture *f = *state;

	begin(f);
	fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE), 200,
		LIST("10", "", "null,7,{\"metadata\":[]}," OBJECT("a", "1")));
	told(f, "list + + + +a synced");
}

/* Ended at once without data: retrying without a pause would be a storm. */
static void an_empty_stream_is_a_failure(void **state)
{
	struct fixture *f = *state;
	struct fakeapi_request *r;

	begin(f);
	fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE), 200, LIST("10", "", ""));
	for (int i = 0; i < 3; i++) {
		int64_t began = loop_now_ms(f->loop);

		r = fakeapi_expect(f->api, WATCH_FROM("10"));
		if (i > 0)
			assert_true(loop_now_ms(f->loop) - began >= 150);
		fakeapi_stream_start(r);
		fakeapi_stream_end(r);
	}
	fakeapi_turn_for(f->api, 50);
	told(f, "list synced !temporary");
}

/* ---- Stopping ---- */

static void stop_inside_each_callback(void **state)
{
	static const struct {
		const char *word, *want;
	} cases[] = {
		{ "list", "list" },
		{ "a", "list +a" },
		{ "synced", "list +a +b synced" },
		{ "c", "list +a +b synced +c" },
		{ "d", "list +a +b synced +c -d" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		f->stop_at = cases[i].word;
		f->stopped = false;
		begin(f);
		fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE), 200,
			LIST("10", "", OBJECT("a", "1") "," OBJECT("b", "2")));
		if (i >= 3) {
			struct fakeapi_request *r = fakeapi_expect(f->api, WATCH_FROM("10"));

			fakeapi_stream_start(r);
			fakeapi_stream_send(r,
				EVENT("ADDED", "c", "11") EVENT("DELETED", "d", "12") EVENT("ADDED", "e", "13"));
		}
		told(f, cases[i].want);
		fakeapi_turn_for(f->api, 20);
		assert_int_equal(f->told.len, 0);
		while (fakeapi_waiting(f->api) > 0) /* a stream that was begun before the receiver spoke */
			fakeapi_next(f->api);
		f->watch = NULL;
	}
}

static void stop_inside_trouble(void **state)
{
	struct fixture *f = *state;

	f->stop_at = "missing";
	begin(f);
	fakeapi_reply(fakeapi_expect(f->api, FIRST_PAGE), 404, "{}");
	told(f, "!missing");
	fakeapi_turn_for(f->api, 400); /* longer than the pause would be */
	assert_int_equal(fakeapi_waiting(f->api), 0);
	f->watch = NULL;
}

static void stop_in_each_state(void **state)
{
	struct fixture *f = *state;
	struct fakeapi_request *r;

	begin(f); /* at once */
	watch_stop(f->watch);
	begin(f); /* while the list is asked for */
	r = fakeapi_next(f->api);
	watch_stop(f->watch);
	if (r->req)
		fakeapi_reply(r, 200, LIST("10", "", ""));
	r = begin_watching(f); /* while a stream is open */
	watch_stop(f->watch);
	watch_stop(f->watch); /* twice is once */
	fakeapi_turn_for(f->api, 20);
	assert_int_equal(f->told.len, 0);
	watch_stop(NULL);
	f->watch = NULL;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(pages_then_events),
		TEST(managed_fields_come_on_request),
		TEST(known_objects_are_not_handed_on),
		TEST(selectors_are_encoded),
		TEST(lists_are_consistent),
		TEST(bookmarks_move_the_version),
		TEST(an_event_without_a_usable_version_keeps_the_place),
		TEST(an_empty_list_may_say_null),
		TEST(gone_as_an_event),
		TEST(gone_as_an_answer),
		TEST(gone_between_pages),
		TEST(gone_for_ever),
		TEST(a_cut_stream_goes_on),
		TEST(trouble_is_reported_once_and_so_is_its_end),
		TEST(a_version_that_never_works_is_dropped),
		TEST(no_such_resource),
		TEST(denied_keeps_its_place),
		TEST(a_lasting_denial_is_reported),
		TEST(an_answer_that_is_not_a_list_is_reported),
		TEST(bad_lines_lead_to_a_new_list),
		TEST(a_line_without_end_is_cut_off),
		TEST(odd_items_are_handed_on),
		TEST(an_empty_stream_is_a_failure),
		TEST(stop_inside_each_callback),
		TEST(stop_inside_trouble),
		TEST(stop_in_each_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
