/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <utlist.h>

#include "fakecluster_parts.h"
#include "fakeloop.h"

#include "base/json.h"
#include "base/mem.h"
#include "kube/objecttext.h"

#define ARRIVE_MS   1
#define DEADLINE_MS 10000

struct rule {
	struct rule *prev, *next;
	enum fakecluster_fault fault;
	int verb, times, http_status;
	char *part;
};

/* What is remembered of a call. */
struct record {
	struct record *prev, *next;
	enum kube_verb verb;
	enum kube_priority priority;
	char *path, *body;
	unsigned turn;
};

struct sent {
	struct sent *next;
	char *reason, *note;
	unsigned repeats;
};

struct kube_call {
	struct kube_call *prev, *next;
	enum kube_verb verb;
	char *path; /* of lists with its query */
	json_t *body;
	kube_fn fn;
	objecttext_known_fn is_known;
	void *arg;
	struct loop_timer timer;
	int64_t deadline_ms;
	bool arrived, lost, ignored;
	json_t *answer;
	struct err err;
};

static struct {
	struct kube_call *calls;
	struct rule *rules;
	struct record *records;
	struct sent *sent;
	int64_t answer_ms;
	int before_verb;
	const char *before_part;
	void (*before)(void);
} fake;

void fakeapi_start(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.answer_ms = 1;
}

void fakecluster_forget_calls(void)
{
	struct record *r, *next;

	DL_FOREACH_SAFE (fake.records, r, next) {
		free(r->path);
		free(r->body);
		free(r);
	}
	fake.records = NULL;
}

void fakeapi_end(void)
{
	struct sent *s, *next;

	assert_null(fake.calls);
	fakecluster_forget_calls();
	fakecluster_heal();
	LL_FOREACH_SAFE (fake.sent, s, next) {
		free(s->reason);
		free(s->note);
		free(s);
	}
}

int fakeapi_error(struct err *err, int http_status, const char *what)
{
	enum err_kind kind = http_status == 404                                 ? ERR_MISSING
		: http_status == 409                                            ? ERR_CONFLICT
		: http_status == 410                                            ? ERR_GONE
		: http_status == 403 || http_status == 401                      ? ERR_DENIED
		: http_status >= 400 && http_status < 500 && http_status != 429 ? ERR_INVALID
										: ERR_TEMPORARY;

	err_set(err, kind, "HTTP %d %s", http_status, what);
	err->http_status = http_status;
	return -1;
}

/* ---- Carrying out ---- */

static void call_free(struct kube_call *c)
{
	DL_DELETE(fake.calls, c);
	loop_timer_done(&c->timer);
	json_decref(c->body);
	json_decref(c->answer);
	free(c->path);
	free(c);
}

static bool matches(int verb, const char *part, enum kube_verb of, const char *path)
{
	return (verb == FAKECLUSTER_ANY || verb == (int)of) && strstr(path, part) != NULL;
}

static const struct rule *take_rule(const struct kube_call *c)
{
	struct rule *r;

	DL_FOREACH (fake.rules, r) {
		if (r->times == 0 || !matches(r->verb, r->part, c->verb, c->path))
			continue;
		if (r->times > 0)
			r->times--;
		return r;
	}
	return NULL;
}

static void time_out(struct kube_call *c)
{
	err_set(&c->err, ERR_TEMPORARY, "timed out");
	loop_timer_set(&c->timer, c->deadline_ms - loop_now_ms(fakecluster_loop()));
}

static void let_the_other_writer(const struct kube_call *c)
{
	void (*before)(void) = fake.before;

	if (!before || !matches(fake.before_verb, fake.before_part, c->verb, c->path))
		return;
	fake.before = NULL;
	before();
}

static void arrive(struct kube_call *c)
{
	const struct rule *r = take_rule(c);

	c->arrived = true;
	if (r && r->fault == FAKECLUSTER_HANG) {
		time_out(c);
		return;
	}
	if (r && r->fault == FAKECLUSTER_REFUSE) {
		fakeapi_error(&c->err, r->http_status, "refused by the test");
	} else {
		let_the_other_writer(c);
		fakecluster_do(c->verb, c->path, c->body, &c->answer, &c->err);
	}
	if (r && r->fault == FAKECLUSTER_EMPTY) {
		json_decref(c->answer);
		c->answer = NULL;
	}
	if (r && r->fault == FAKECLUSTER_LOSE)
		time_out(c);
	else
		loop_timer_set(&c->timer, fake.answer_ms);
}

/* As the client does: from the text. */
static bool is_known(const struct kube_call *c)
{
	MEM_AUTO char *json = c->answer ? json_text(c->answer) : mem_dup("");
	MEM_AUTO char *room = mem_dup(json);
	struct objecttext text;

	if (!c->is_known)
		return false;
	objecttext_read(&text, json, strlen(json), room);
	return c->is_known(c->arg, &text);
}

static void on_timer(void *arg)
{
	struct kube_call *c = arg;
	kube_fn fn = c->fn;
	void *fn_arg = c->arg;
	struct err err;
	json_t *answer;

	if (!c->arrived) {
		arrive(c);
		return;
	}
	err = c->err;
	answer = err.kind == ERR_NONE && !c->ignored && !is_known(c) ? json_incref(c->answer) : NULL;
	call_free(c);
	fn(fn_arg, answer, err.kind == ERR_NONE ? NULL : &err);
	json_decref(answer);
}

/* ---- kube/client ---- */

struct loop *kube_loop(struct kube *k)
{
	(void)k;
	return fakecluster_loop();
}

/* What a real client would send somewhere else, or not at all. */
static void check_path(const char *path)
{
	assert_int_equal(path[0], '/');
	assert_null(strstr(path, "//"));
	assert_null(strstr(path, "/./"));
	assert_null(strstr(path, "/../"));
	for (const char *c = path; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("/-._~%?=&", *c))
			fail_msg("%s: not escaped", path);
}

static void record(const struct kube_request *request)
{
	struct record *r = mem_zalloc(sizeof(*r));

	r->verb = request->verb;
	r->path = mem_dup(request->path);
	r->body = mem_dup(request->body);
	r->turn = fakeloop_turns();
	r->priority = request->priority;
	DL_APPEND(fake.records, r);
}

struct kube_call *kube_call(struct kube *k, const struct kube_request *request, kube_fn fn, void *arg)
{
	struct kube_call *c = mem_zalloc(sizeof(*c));
	struct err err = { 0 };

	(void)k;
	check_path(request->path);
	record(request);
	c->verb = request->verb;
	c->path = request->verb == KUBE_LIST ? mem_dup(request->path)
					     : mem_dupn(request->path, strcspn(request->path, "?"));
	if (request->body && !(c->body = json_parse(request->body, strlen(request->body), &err)))
		fail_msg("%s: %s", request->body, err.msg);
	c->fn = fn;
	c->is_known = request->is_known;
	c->ignored = request->answer == KUBE_ANSWER_IGNORED;
	c->arg = arg;
	c->deadline_ms = loop_now_ms(fakecluster_loop()) +
		(request->deadline_ms > 0 ? request->deadline_ms : DEADLINE_MS);
	loop_timer_init(&c->timer, fakecluster_loop(), on_timer, c);
	loop_timer_set(&c->timer, ARRIVE_MS);
	DL_APPEND(fake.calls, c);
	return c;
}

void kube_cancel(struct kube_call *c)
{
	if (c)
		call_free(c);
}

char *kube_escape(const char *text, char *out, size_t size)
{
	static const char hex[] = "0123456789ABCDEF";
	size_t n = 0;

	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		bool plain = isalnum(*c) || strchr("-_.~", *c);

		assert_true(n + 4 < size);
		if (plain) {
			out[n++] = (char)*c;
			continue;
		}
		out[n++] = '%';
		out[n++] = hex[*c >> 4];
		out[n++] = hex[*c & 15];
	}
	out[n] = '\0';
	return out;
}

/* ---- kube/events ---- */

struct events *fakecluster_events(void)
{
	return (struct events *)&fake;
}

/* Like the real one: a repeat of the same is no new Event. */
void events_send(struct events *e, const struct events_object *about, const char *type, const char *reason,
	const char *action, const char *note)
{
	struct sent *s;
	MEM_AUTO char *text = mem_printf("%s %s %s/%s %s: %s", type, about->kind, about->namespace_, about->name,
		about->uid, note);

	(void)e;
	assert_true(strlen(action) <= 128);
	LL_FOREACH (fake.sent, s)
		if (strcmp(s->reason, reason) == 0 && strcmp(s->note, text) == 0)
			break;
	if (s) {
		s->repeats++;
		return;
	}
	s = mem_zalloc(sizeof(*s));
	s->reason = mem_dup(reason);
	s->note = mem_dup(text);
	LL_PREPEND(fake.sent, s);
}

unsigned fakecluster_events_sent(const char *reason, const char *part)
{
	struct sent *s;
	unsigned count = 0;

	LL_FOREACH (fake.sent, s)
		count += (!reason || strcmp(s->reason, reason) == 0) && strstr(s->note, part);
	return count;
}

unsigned fakecluster_events_repeated(const char *reason)
{
	struct sent *s;
	unsigned count = 0;

	LL_FOREACH (fake.sent, s)
		count += strcmp(s->reason, reason) == 0 ? s->repeats : 0;
	return count;
}

/* ---- The test's side ---- */

void fakecluster_fail(enum fakecluster_fault fault, int verb, const char *part, int times, int http_status)
{
	struct rule *r = mem_zalloc(sizeof(*r));

	r->fault = fault;
	r->verb = verb;
	r->part = mem_dup(part);
	r->times = times;
	r->http_status = http_status;
	DL_APPEND(fake.rules, r);
}

void fakecluster_heal(void)
{
	struct rule *r, *next;

	DL_FOREACH_SAFE (fake.rules, r, next) {
		DL_DELETE(fake.rules, r);
		free(r->part);
		free(r);
	}
}

void fakecluster_just_before(int verb, const char *part, void (*fn)(void))
{
	fake.before_verb = verb;
	fake.before_part = part;
	fake.before = fn;
}

void fakecluster_answer_lag(int64_t ms)
{
	fake.answer_ms = ms;
}

unsigned fakecluster_calls(int verb, const char *part)
{
	struct record *r;
	unsigned count = 0;

	DL_FOREACH (fake.records, r)
		count += matches(verb, part, r->verb, r->path);
	return count;
}

unsigned fakecluster_writes(void)
{
	return fakecluster_calls(FAKECLUSTER_ANY, "") - fakecluster_calls(KUBE_GET, "");
}

unsigned fakecluster_under_way(void)
{
	struct kube_call *c;
	unsigned count;

	DL_COUNT(fake.calls, c, count);
	return count;
}

const char *fakecluster_last_path(int verb, const char *part)
{
	struct record *r;
	const char *path = "";

	DL_FOREACH (fake.records, r)
		if (matches(verb, part, r->verb, r->path))
			path = r->path;
	return path;
}

enum kube_priority fakecluster_last_priority(void)
{
	return fake.records ? fake.records->prev->priority : KUBE_PRIORITIES;
}

const char *fakecluster_last_body(int verb, const char *part)
{
	struct record *r;
	const char *body = "";

	DL_FOREACH (fake.records, r)
		if (matches(verb, part, r->verb, r->path) && r->body)
			body = r->body;
	return body;
}

unsigned fakecluster_most_calls_per_turn(void)
{
	struct record *r;
	unsigned most = 0, count = 0, turn = 0;

	DL_FOREACH (fake.records, r) {
		count = r->turn == turn ? count + 1 : 1;
		turn = r->turn;
		if (count > most)
			most = count;
	}
	return most;
}
