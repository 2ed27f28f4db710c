/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/events.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "base/utf8.h"

/* Limits of the API (k8s.io/kubernetes/pkg/apis/core/validation/events.go). */
#define NOTE_MAX       1024
#define ACTION_MAX     128
#define REASON_MAX     128
#define REPORTER_MAX   128
#define NAME_MAX_BYTES 253

#define REMEMBERED_MAX    4096
#define REMEMBERED_FOR_MS (60 * 60 * 1000) /* the API server drops an Event an hour after its last write */
#define SERIES_EVERY_MS   (30 * 60 * 1000) /* client-go: tools/events, refreshTime */
#define WAITING_MAX       1024
#define SENT_MAX          4
#define TRIES             3
#define DEADLINE_MS       30000
#define BODY_MAX          16384

/*
 * A sent Event, to detect repeats. The table is ordered by last use; the oldest is dropped first.
 */
struct memory {
	uint64_t print;  /* the key */
	uint64_t number; /* the end of the Event's name */
	char *path;      /* of the Event, for patches; NULL until its first repeat, as most have none */
	unsigned count;
	int64_t seen_at_ms;    /* last, loop clock */
	int64_t written_at_ms; /* created or patched, loop clock */
	int64_t seen_unix_ms;
	unsigned written_count; /* count known to the API server; 0: not created yet, or unknown */
	bool writing;
	UT_hash_handle hh;
};

/* One write that waits or is under way. */
struct event_write {
	struct events *events;
	struct event_write *prev, *next;
	uint64_t print;
	struct kube_request request; /* owns path and body */
	int tries;
	struct kube_call *call; /* NULL: waits */
};

struct events {
	struct kube *k;
	char *controller, *instance;
	struct memory *memories;
	struct event_write *waiting, *sent;
	unsigned waiting_count, sent_count;
	unsigned failures; /* consecutive; the queue pauses */
	struct loop_timer pause;
	bool held;
	struct counters_family *outcomes; /* NULL without a registry */
};

static void send_waiting(void *arg);

static void count_outcome(struct events *e, const char *outcome)
{
	if (e->outcomes)
		counters_add(e->outcomes, &outcome, 1);
}

/* ---- Text within the API's limits ---- */

/* At most max bytes, cut between characters; invalid UTF-8 becomes "?". */
static char *cut(const char *text, size_t max)
{
	struct buf out = BUF_INIT(max);
	size_t left = strlen(text), step;

	for (; left > 0; text += step, left -= step) {
		size_t good = utf8_step(text, left);

		step = good ? good : 1;
		if (out.len + step > max)
			break;
		buf_append(&out, good ? text : "?", step);
	}
	return buf_take(&out);
}

/* "<object's name>.<random hex>", a DNS name like the object's. */
static char *event_name(const char *object_name, uint64_t number)
{
	MEM_AUTO char *stem = cut(object_name, NAME_MAX_BYTES - 17);
	size_t len = strlen(stem);

	while (len > 0 && !isalnum((unsigned char)stem[len - 1]))
		stem[--len] = '\0';
	return mem_printf("%s.%016llx", stem, (unsigned long long)number);
}

static char *event_json(const struct events *e, const struct events_object *about, const char *namespace_,
	const char *name, const char *type, const char *reason, const char *action, const char *note)
{
	struct buf b = BUF_INIT(BODY_MAX);
	char now[TIMESTAMP_TEXT_MAX];

	buf_puts(&b, "{\"apiVersion\":\"events.k8s.io/v1\",\"kind\":\"Event\",\"metadata\":{");
	buf_put_json_field(&b, "namespace", namespace_);
	buf_put_json_field(&b, "name", name);
	buf_puts(&b, "},\"regarding\":{");
	buf_put_json_field(&b, "apiVersion", about->api_version);
	buf_put_json_field(&b, "kind", about->kind);
	buf_put_json_field(&b, "namespace", about->namespace_);
	buf_put_json_field(&b, "name", about->name);
	buf_put_json_field(&b, "uid", about->uid);
	buf_put_json_field(&b, "resourceVersion", about->resource_version);
	buf_puts(&b, "}");
	buf_put_json_field(&b, "eventTime", timestamp_format_micro(timestamp_now_ms(), now));
	buf_put_json_field(&b, "type", type);
	buf_put_json_field(&b, "reason", reason);
	buf_put_json_field(&b, "action", action);
	buf_put_json_field(&b, "note", note);
	buf_put_json_field(&b, "reportingController", e->controller);
	buf_put_json_field(&b, "reportingInstance", e->instance);
	buf_puts(&b, "}");
	if (!buf_failed(&b))
		return buf_take(&b);
	buf_done(&b);
	return NULL;
}

/* ---- Memory ---- */

static void memory_forget(struct events *e, struct memory *m)
{
	HASH_DEL(e->memories, m);
	free(m->path);
	free(m);
}

static struct memory *memory_find(struct events *e, uint64_t print)
{
	struct memory *m;

	HASH_FIND(hh, e->memories, &print, sizeof print, m);
	return m;
}

/* Drops old entries to make room: the table is ordered by last use. */
static struct memory *memory_new(struct events *e, uint64_t print, uint64_t number, int64_t now_ms)
{
	struct memory *m, *next;

	HASH_ITER (hh, e->memories, m, next) {
		if (HASH_COUNT(e->memories) < REMEMBERED_MAX && now_ms - m->seen_at_ms < REMEMBERED_FOR_MS)
			break;
		memory_forget(e, m);
	}
	m = mem_zalloc(sizeof *m);
	m->print = print;
	m->number = number;
	HASH_ADD(hh, e->memories, print, sizeof m->print, m);
	return m;
}

static void memory_seen(struct events *e, struct memory *m, int64_t now_ms)
{
	m->count++;
	m->seen_at_ms = now_ms;
	m->seen_unix_ms = timestamp_now_ms();
	HASH_DEL(e->memories, m);
	HASH_ADD(hh, e->memories, print, sizeof m->print, m);
}

/* ---- The queue ---- */

static void event_write_free(struct event_write *j)
{
	kube_cancel(j->call);
	free((char *)(uintptr_t)j->request.path);
	free((char *)(uintptr_t)j->request.body);
	free(j);
}

/*
 * A creation without an answer: the Event may exist. The next attempt uses the same name, so there
 * are never two.
 */
static void event_write_leave_open(struct event_write *j)
{
	struct memory *m = memory_find(j->events, j->print);

	if (m) {
		m->writing = false;
		m->written_count = 0;
	}
	count_outcome(j->events, "failed");
	event_write_free(j);
}

/* Drops a write; the next Event of its kind starts anew. */
static void event_write_drop(struct event_write *j, const char *outcome)
{
	struct memory *m = memory_find(j->events, j->print);

	if (m)
		memory_forget(j->events, m);
	count_outcome(j->events, outcome);
	event_write_free(j);
}

static void drop_oldest_waiting(struct events *e, const char *outcome)
{
	struct event_write *j = e->waiting;

	DL_DELETE(e->waiting, j);
	e->waiting_count--;
	event_write_drop(j, outcome);
}

/* Takes path and body. */
static void enqueue(struct events *e, struct memory *m, enum kube_verb verb, char *path, char *body)
{
	struct event_write *j = mem_zalloc(sizeof *j);

	m->writing = true;
	m->written_count = m->count;
	j->events = e;
	j->print = m->print;
	j->request = (struct kube_request){ .verb = verb,
		.path = path,
		.body = body,
		.deadline_ms = DEADLINE_MS,
		.priority = KUBE_BACKGROUND,
		.answer = KUBE_ANSWER_IGNORED };
	DL_APPEND(e->waiting, j);
	e->waiting_count++;
	while (e->waiting_count + e->sent_count > WAITING_MAX && e->waiting_count > 0)
		drop_oldest_waiting(e, "dropped");
	send_waiting(e);
}

/* The first repeat creates a series at once; later ones are counted and written periodically. */
static void write_series_if_due(struct events *e, struct memory *m, int64_t now_ms)
{
	char seen[TIMESTAMP_TEXT_MAX];

	if (m->writing || m->written_count == 0 || m->count == m->written_count ||
		(m->written_count != 1 && now_ms - m->written_at_ms < SERIES_EVERY_MS))
		return;
	timestamp_format_micro(m->seen_unix_ms, seen);
	enqueue(e, m, KUBE_MERGE_PATCH, mem_dup(m->path),
		mem_printf("{\"series\":{\"count\":%u,\"lastObservedTime\":\"%s\"}}", m->count, seen));
}

/*
 * Names are random, so an existing Event is this one: the answer to an earlier attempt was lost,
 * here or inside libcurl. It counts once, whatever this attempt said.
 */
static bool exists_already(const struct event_write *j, const struct err *err)
{
	return err && err->kind == ERR_CONFLICT && j->request.verb == KUBE_CREATE;
}

static void written(struct event_write *j, bool was_there)
{
	struct events *e = j->events;
	struct memory *m = memory_find(e, j->print);

	e->failures = 0;
	count_outcome(e, "sent");
	event_write_free(j);
	if (!m)
		return;
	m->writing = false;
	if (was_there)
		m->written_count = 1;
	m->written_at_ms = loop_now_ms(kube_loop(e->k));
	write_series_if_due(e, m, m->written_at_ms);
}

static void on_sent(void *arg, const json_t *object, const struct err *err)
{
	struct event_write *j = arg;
	struct events *e = j->events;

	(void)object;
	j->call = NULL;
	DL_DELETE(e->sent, j);
	e->sent_count--;
	if (!err || exists_already(j, err)) {
		written(j, err != NULL);
	} else if (err->kind == ERR_TEMPORARY && ++j->tries < TRIES) {
		DL_PREPEND(e->waiting, j);
		e->waiting_count++;
		loop_timer_set(&e->pause, loop_backoff_ms(e->failures++, 1000, 30000));
	} else if (err->kind == ERR_TEMPORARY && j->request.verb == KUBE_CREATE) {
		log_debug("events", "%s: %s", j->request.path, err->msg);
		event_write_leave_open(j);
	} else {
		/*
		 * A namespace being deleted, missing permissions, a deleted Event: retrying would
		 * not help.
		 */
		log_debug("events", "%s: %s", j->request.path, err->msg);
		event_write_drop(j, "failed");
	}
	send_waiting(e);
}

static void send_waiting(void *arg)
{
	struct events *e = arg;

	while (e->waiting && e->sent_count < SENT_MAX && !loop_timer_pending(&e->pause)) {
		struct event_write *j = e->waiting;

		DL_DELETE(e->waiting, j);
		e->waiting_count--;
		DL_APPEND(e->sent, j);
		e->sent_count++;
		j->call = kube_call(e->k, &j->request, on_sent, j);
	}
}

/* ---- The interface ---- */

/* Events about cluster-wide objects are in "default" (client-go: tools/events, recorder). */
static const char *namespace_of(const struct events_object *about)
{
	return about->namespace_ && *about->namespace_ ? about->namespace_ : "default";
}

static char *collection_path(const struct events_object *about)
{
	return mem_printf("/apis/events.k8s.io/v1/namespaces/%s/events", namespace_of(about));
}

/*
 * Namespaces and names come from the API server and need no escaping in a path; anything else is
 * not sent.
 */
static bool is_plain(const char *text)
{
	char out[NAME_MAX_BYTES + 1];

	return kube_escape(text, out, sizeof out) && strcmp(text, out) == 0 && *text;
}

/* m: the memory of the same Event if it is not known whether that was created; NULL. */
static void send_new(struct events *e, const struct events_object *about, struct memory *m, uint64_t print,
	const char *type, const char *reason, const char *action, const char *note)
{
	const char *namespace_ = namespace_of(about);
	uint64_t number = m ? m->number : fingerprint_random();
	MEM_AUTO char *name = event_name(about->name, number);
	char *body = is_plain(namespace_) && is_plain(name)
		? event_json(e, about, namespace_, name, type, reason, action, note)
		: NULL;
	int64_t now_ms = loop_now_ms(kube_loop(e->k));

	if (!body) {
		count_outcome(e, "failed");
		return;
	}
	if (!m)
		m = memory_new(e, print, number, now_ms);
	memory_seen(e, m, now_ms);
	enqueue(e, m, KUBE_CREATE, collection_path(about), body);
}

static void set_path(struct memory *m, const struct events_object *about)
{
	MEM_AUTO char *collection = collection_path(about);
	MEM_AUTO char *name = event_name(about->name, m->number);

	if (!m->path)
		m->path = mem_printf("%s/%s", collection, name);
}

static void send_repeat(struct events *e, const struct events_object *about, struct memory *m)
{
	int64_t now_ms = loop_now_ms(kube_loop(e->k));

	set_path(m, about);
	memory_seen(e, m, now_ms);
	write_series_if_due(e, m, now_ms);
}

/* A keyed hash of all parts, so that no one can choose a note that collides with another Event. */
static uint64_t print_of(const char *const *parts, size_t count)
{
	uint64_t print = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t pair[] = { print, parts[i] ? hash_long(parts[i], strlen(parts[i])) : 0 };

		print = hash_long(pair, sizeof pair);
	}
	return print;
}

void events_send(struct events *e, const struct events_object *about, const char *type, const char *reason,
	const char *action, const char *note)
{
	MEM_AUTO char *cut_reason = cut(reason, REASON_MAX);
	MEM_AUTO char *cut_action = cut(action && *action ? action : reason, ACTION_MAX);
	MEM_AUTO char *cut_note = cut(note, NOTE_MAX);
	const char *parts[] = { about->api_version, about->kind, about->namespace_, about->name, about->uid, type,
		cut_reason, cut_action, cut_note };
	uint64_t print;
	struct memory *m;

	if (e->held) {
		count_outcome(e, "held");
		return;
	}
	print = print_of(parts, sizeof parts / sizeof *parts);
	m = memory_find(e, print);
	if (m && loop_now_ms(kube_loop(e->k)) - m->seen_at_ms >= REMEMBERED_FOR_MS && !m->writing) {
		memory_forget(e, m);
		m = NULL;
	}
	if (m && (m->writing || m->written_count > 0)) {
		send_repeat(e, about, m);
		return;
	}
	if (m)
		set_path(m, about); /* if it exists, this one becomes its series */
	send_new(e, about, m, print, type, cut_reason, cut_action, cut_note);
}

static void forget_everything(struct events *e)
{
	struct memory *m, *next;
	struct event_write *j;

	while (e->waiting)
		drop_oldest_waiting(e, "held");
	while ((j = e->sent)) {
		DL_DELETE(e->sent, j);
		e->sent_count--;
		event_write_free(j);
	}
	HASH_ITER (hh, e->memories, m, next)
		memory_forget(e, m);
	loop_timer_cancel(&e->pause);
	e->failures = 0;
}

void events_hold(struct events *e, bool hold)
{
	e->held = hold;
	if (hold)
		forget_everything(e);
}

struct events *events_new(struct kube *k, const char *controller, const char *instance, struct counters *counters)
{
	static const char *const labels[] = { "outcome", NULL };
	struct events *e = mem_zalloc(sizeof *e);

	e->k = k;
	e->controller = cut(controller, REPORTER_MAX);
	e->instance = cut(instance, REPORTER_MAX);
	loop_timer_init(&e->pause, kube_loop(k), send_waiting, e);
	if (counters)
		e->outcomes = counters_declare(counters, COUNTERS_COUNTER, "kscaled_events_total",
			"Writes of Events: sent, failed, dropped because too many waited, held back while another "
			"replica leads.",
			labels);
	return e;
}

void events_free(struct events *e)
{
	if (!e)
		return;
	forget_everything(e);
	loop_timer_done(&e->pause);
	free(e->controller);
	free(e->instance);
	free(e);
}
