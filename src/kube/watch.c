/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/watch.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "kube/denial.h"
#include "kube/status.h"
#include "kube/watchstream.h"

#define PAGE_DEFAULT     50
#define LIST_DEADLINE_MS 30000
#define LINE_MAX_BYTES   (8u << 20) /* an object is at most 1.5 MiB in etcd; each line has one */
#define URL_MAX_BYTES    (64u << 10)
/* Bookmarks come about each minute (k8s.io/apiserver: cacher's bookmarkFrequency). */
#define SILENCE_MS 150000
/* The server ends a watch after 5 to 10 minutes, as client-go's reflector asks for. */
#define TIMEOUT_LEAST_S          290
#define TIMEOUT_SPREAD_S         301
#define BACKOFF_FIRST_MS         200
#define BACKOFF_MAX_MS           30000
#define BACKOFF_NO_ANSWER_MAX_MS 2000 /* for a quick recovery after a server restart */
#define SETTLE_MS                1000 /* a stream open for this time counts as working */
#define SAME_VERSION_TRIES       5    /* failures before a new list: a restored etcd may not know the version */

enum watch_state {
	WATCH_PAUSING, /* until the timer: back-off */
	WATCH_LISTING,
	WATCH_STREAMING,
	WATCH_STOPPED,
};

struct watch {
	struct kube *k;
	struct watch_events events;
	void *arg;
	char *path, *selectors, *subject; /* selectors: "&labelSelector=...", maybe empty */
	int page;
	bool managed_fields;

	enum watch_state state;
	struct loop_timer timer; /* pausing: resumes at its end; streaming: settled */
	char *version;           /* resourceVersion, opaque; NULL: list first */
	char *next_page;         /* the list's continue token; NULL: from the start */
	bool listed_a_page;      /* of the list under way */

	struct kube_call *call;     /* while listing */
	struct watchstream *stream; /* while streaming */
	struct watch_lines *lines;  /* while streaming */
	int stream_status;
	bool heard;          /* the stream has delivered a line */
	struct err *verdict; /* an error sent in the stream; owned; NULL */

	unsigned failures; /* in a row, of the kind below */
	bool failures_without_answer;
	bool listing_anew; /* after a 410, until the watch works again */
	struct denial denial;
	bool troubled;          /* the receiver knows of the error */
	uint64_t trouble_print; /* hash of the error it knows */
};

static void on_timer(void *arg);
static void on_listed(void *arg, const json_t *object, const struct err *err);
static void on_status(void *arg, int status);
static bool on_data(void *arg, const char *bytes, size_t len);
static void on_stream_done(void *arg, const struct httpc_response *response, const struct err *err);

static const struct httpc_events stream_events = { .on_status = on_status,
	.on_data = on_data,
	.on_done = on_stream_done };

/* ---- The list request ---- */

/*
 * Without resourceVersion: a consistent list of etcd's newest state, with later pages of the same
 * moment. The leader relies on this.
 */
static void start_list(struct watch *w)
{
	struct kube_request request = {
		.verb = KUBE_LIST,
		.deadline_ms = LIST_DEADLINE_MS,
		.priority = KUBE_NORMAL,
		.answer = w->managed_fields ? KUBE_ANSWER_WHOLE : KUBE_ANSWER_STRIPPED,
	};
	struct buf path = BUF_INIT(URL_MAX_BYTES);

	buf_printf(&path, "%s?limit=%d%s", w->path, w->page, w->selectors);
	if (w->next_page)
		buf_printf(&path, "&continue=%s", w->next_page);
	request.path = buf_text(&path);
	w->call = kube_call(w->k, &request, on_listed, w);
	buf_done(&path);
}

static void start_stream(struct watch *w)
{
	struct buf path = BUF_INIT(URL_MAX_BYTES);
	int timeout_s = TIMEOUT_LEAST_S + (int)(fingerprint_random() % TIMEOUT_SPREAD_S);

	buf_printf(&path, "%s?watch=1&allowWatchBookmarks=true&resourceVersion=%s&timeoutSeconds=%d%s", w->path,
		w->version, timeout_s, w->selectors);
	w->lines = watch_lines_new(LINE_MAX_BYTES);
	w->stream_status = 0;
	w->heard = false;
	w->stream = watchstream_start(kube_watchstreams(w->k), buf_text(&path), SILENCE_MS, &stream_events, w);
	buf_done(&path);
}

/* All changes of state go through here; the old state's resources are freed. */
static void watch_enter(struct watch *w, enum watch_state to)
{
	loop_timer_cancel(&w->timer);
	kube_cancel(w->call);
	w->call = NULL;
	watchstream_cancel(w->stream);
	w->stream = NULL;
	watch_lines_free(w->lines);
	w->lines = NULL;
	free(w->verdict);
	w->verdict = NULL;
	w->state = to;
	if (to == WATCH_LISTING)
		start_list(w);
	else if (to == WATCH_STREAMING)
		start_stream(w);
}

/* The list is restarted, now or after a pause. */
static void forget_place(struct watch *w)
{
	mem_free_ptr(&w->version);
	mem_free_ptr(&w->next_page);
	w->listed_a_page = false;
}

static void go_on(struct watch *w)
{
	watch_enter(w, w->version ? WATCH_STREAMING : WATCH_LISTING);
}

static void on_works(struct watch *w)
{
	bool troubled = w->troubled;

	w->failures = 0;
	w->listing_anew = false;
	w->denial.stands = false;
	w->troubled = false;
	if (troubled && w->events.on_trouble)
		w->events.on_trouble(w->arg, NULL);
}

static void on_timer(void *arg)
{
	struct watch *w = arg;

	if (w->state == WATCH_STREAMING)
		on_works(w);
	else
		go_on(w);
}

/* ---- Failures ---- */

static int64_t backoff_ms(struct watch *w, const struct err *err)
{
	bool without_answer = err->http_status == 0 && err->kind == ERR_TEMPORARY;
	int64_t pause_ms;

	/* A server that answers again, even with errors, is retried soon. */
	if (without_answer != w->failures_without_answer)
		w->failures = 0;
	w->failures_without_answer = without_answer;
	pause_ms = loop_backoff_ms(w->failures++, BACKOFF_FIRST_MS,
		without_answer ? BACKOFF_NO_ANSWER_MAX_MS : BACKOFF_MAX_MS);
	/* Bounded in kube/status.h: a watch is worth a request every half minute. */
	return pause_ms > err->retry_after_ms ? pause_ms : err->retry_after_ms;
}

/* A hash of an error message without digits: times and ports differ between attempts. */
static uint64_t print_of(const struct err *err)
{
	char text[ERR_MSG_MAX];
	size_t n = 0;

	for (const char *c = err->msg; *c; c++)
		if (*c < '0' || *c > '9')
			text[n++] = *c;
	return fingerprint_fast(text, n) + (uint64_t)err->kind;
}

/* The receiver may stop the watch. */
static void tell_trouble(struct watch *w, const struct err *err)
{
	uint64_t print = print_of(err);
	bool news = !w->troubled || w->trouble_print != print;

	w->troubled = true;
	w->trouble_print = print;
	if (news && w->events.on_trouble)
		w->events.on_trouble(w->arg, err);
}

/* Whether to keep the position: the server may accept it later. */
static bool keeps_place(const struct watch *w, const struct err *err)
{
	if (err->kind == ERR_TEMPORARY)
		return err->http_status < 500 || w->failures < SAME_VERSION_TRIES;
	return err->kind == ERR_DENIED; /* a server that has just started may not know our permissions yet */
}

/* Must be the last action. */
static void fail_watch(struct watch *w, const struct err *reason)
{
	struct err err = *reason; /* reason may belong to what is freed now */
	int64_t pause_ms = backoff_ms(w, &err);
	/* A disconnect of a working stream is not reported if resuming works. */
	bool only_cut = err.kind == ERR_TEMPORARY && w->state == WATCH_STREAMING && w->failures == 1;

	bool may_pass = denial_may_pass(&w->denial, &err, loop_now_ms(kube_loop(w->k)));

	log_debug(w->subject, "watch: %s; again in %lld ms", err.msg, (long long)pause_ms);
	if (!keeps_place(w, &err))
		forget_place(w);
	watch_enter(w, WATCH_PAUSING);
	loop_timer_set(&w->timer, pause_ms);
	if (!only_cut && !may_pass)
		tell_trouble(w, &err);
}

/*
 * 410: the position is too old. The first time a new list starts at once; repeated ones back off,
 * to avoid a storm of lists.
 */
static void list_anew(struct watch *w, const struct err *gone)
{
	forget_place(w);
	if (w->listing_anew) {
		fail_watch(w, gone);
		return;
	}
	log_debug(w->subject, "watch: %s; listing again", gone->msg);
	w->listing_anew = true;
	watch_enter(w, WATCH_LISTING);
}

/* ---- The list ---- */

static void hand_on_page(struct watch *w, const json_t *items)
{
	size_t index;
	json_t *item;

	if (!w->listed_a_page) {
		w->listed_a_page = true;
		w->events.on_list(w->arg);
	}
	json_array_foreach(items, index, item)
	{
		if (w->state == WATCH_STOPPED)
			return;
		w->events.on_object(w->arg, item);
	}
}

static void end_list(struct watch *w, const char *version)
{
	free(w->version);
	w->version = buf_percent(version);
	mem_free_ptr(&w->next_page);
	w->listed_a_page = false;
	watch_enter(w, WATCH_STREAMING);
	w->events.on_synced(w->arg);
}

static void on_page(struct watch *w, const json_t *list)
{
	const json_t *items = json_object_get(list, "items");
	const char *version = json_metadata_text(list, "resourceVersion"), *next = json_metadata_text(list, "continue");
	struct err err;

	if (!*version || strlen(version) > URL_MAX_BYTES / 16 || strlen(next) > URL_MAX_BYTES / 8 ||
		(items && !json_is_array(items) && !json_is_null(items))) {
		err_set(&err, ERR_INVALID, "listing %s: the answer is not a list", w->path);
		forget_place(w);
		fail_watch(w, &err);
		return;
	}
	hand_on_page(w, items);
	if (w->state == WATCH_STOPPED)
		return;
	if (!*next) {
		end_list(w, version);
		return;
	}
	free(w->next_page);
	w->next_page = buf_percent(next);
	watch_enter(w, WATCH_LISTING);
}

static void on_timer(void *arg);
static void on_listed(void *arg, const json_t *object, const struct err *err)
{
	struct watch *w = arg;

	w->call = NULL;
	if (!err) {
		on_page(w, object);
		return;
	}
	if (err->kind == ERR_GONE) { /* the continue token expired, or etcd was compacted */
		list_anew(w, err);
		return;
	}
	/* An answer beyond its cap: smaller pages. */
	if (err->kind == ERR_INVALID && err->http_status == 0 && w->page > 1)
		w->page /= 2;
	fail_watch(w, err);
}

/* ---- The stream ---- */

static void on_status(void *arg, int status)
{
	struct watch *w = arg;

	w->stream_status = status;
	if (status == 200)
		loop_timer_set(&w->timer, SETTLE_MS);
}

static void learn_version(struct watch *w, const char *version)
{
	if (!*version || strlen(version) > URL_MAX_BYTES / 16)
		return;
	free(w->version);
	w->version = buf_percent(version);
}

static struct err *new_verdict(struct watch *w)
{
	if (!w->verdict)
		w->verdict = mem_zalloc(sizeof *w->verdict);
	return w->verdict;
}

/* An event came: the stream works. */
static void on_heard(struct watch *w)
{
	if (!w->heard) {
		w->heard = true;
		on_works(w);
	}
}

/* False: the stream ends because of `verdict`. */
static bool on_event(struct watch *w, const char *type, const json_t *object)
{
	if (strcmp(type, "ERROR") == 0) {
		status_object_to_err(object, new_verdict(w));
		return false;
	}
	if (!json_is_object(object)) {
		err_set(new_verdict(w), ERR_INVALID, "watching %s: an event without an object", w->path);
		return false;
	}
	/*
	 * The version first: repeating the event would not help a receiver that failed to keep the
	 * object.
	 */
	learn_version(w, json_metadata_text(object, "resourceVersion"));
	on_heard(w);
	if (w->state == WATCH_STOPPED)
		return false;
	if (strcmp(type, "ADDED") == 0 || strcmp(type, "MODIFIED") == 0)
		w->events.on_object(w->arg, object);
	else if (strcmp(type, "DELETED") == 0)
		w->events.on_deleted(w->arg, object);
	return w->state != WATCH_STOPPED; /* BOOKMARK and unknown types only have a version */
}

static bool on_json(struct watch *w, const char *json, size_t len)
{
	json_t *event = json_parse(json, len, NULL);
	bool go;

	if (!event) { /* not quoted: it may be a Secret */
		err_set(new_verdict(w), ERR_INVALID, "watching %s: a line of %zu bytes is not JSON", w->path, len);
		return false;
	}
	go = on_event(w, json_str_or_empty(event, "type"), json_object_get(event, "object"));
	json_decref(event);
	return go;
}

static bool is_known(struct watch *w, const struct objecttext *text)
{
	MEM_AUTO char *version = NULL;

	if (!w->events.on_text || !w->events.on_text(w->arg, text) || !text->print)
		return false;
	version = mem_dupn(text->version.at, text->version.len);
	learn_version(w, version);
	on_heard(w);
	return true;
}

static bool on_line(void *arg, const char *line, size_t len)
{
	struct watch *w = arg;
	struct objecttext text;
	char *room;
	bool go;

	if (w->managed_fields)
		return on_json(w, line, len);
	room = mem_alloc(len);
	objecttext_read(&text, line, len, room);
	go = is_known(w, &text) ? w->state != WATCH_STOPPED : on_json(w, text.json, text.len);
	mem_wipe(room, len); /* it may be a Secret */
	free(room);
	return go;
}

static bool on_data(void *arg, const char *bytes, size_t len)
{
	struct watch *w = arg;

	if (watch_lines_feed(w->lines, bytes, len, on_line, w))
		return true;
	if (w->state != WATCH_STOPPED && !w->verdict)
		err_set(new_verdict(w), ERR_INVALID, "watching %s: a line is longer than %u bytes", w->path,
			LINE_MAX_BYTES);
	return false;
}

/*
 * The server has ended the stream. One that lasted resumes; one that ended at once without data
 * counts as a failure.
 */
static void on_clean_end(struct watch *w)
{
	struct err err;

	if (w->heard || !loop_timer_pending(&w->timer)) {
		on_works(w);
		if (w->state != WATCH_STOPPED)
			go_on(w);
		return;
	}
	err_set(&err, ERR_TEMPORARY, "watching %s: the server ended the watch at once", w->path);
	err.http_status = w->stream_status;
	fail_watch(w, &err);
}

static void on_stream_done(void *arg, const struct httpc_response *response, const struct err *err)
{
	struct watch *w = arg;
	struct err refused;

	w->stream = NULL;
	if (!w->verdict && !err && response->status == 200) {
		on_clean_end(w);
		return;
	}
	if (w->verdict)
		refused = *w->verdict;
	else if (err)
		refused = *err;
	else
		status_to_err(response->status, response->body, response->len, response->retry_after_ms, &refused);
	if (refused.kind == ERR_GONE)
		list_anew(w, &refused);
	else
		fail_watch(w, &refused);
}

/* ---- The interface ---- */

static char *selectors_of(const struct watch_config *config)
{
	struct buf b = BUF_INIT(URL_MAX_BYTES);
	const struct {
		const char *parameter, *value;
	} given[] = { { "labelSelector", config->label_selector }, { "fieldSelector", config->field_selector } };

	for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
		MEM_AUTO char *value = given[i].value ? buf_percent(given[i].value) : NULL;

		if (value)
			buf_printf(&b, "&%s=%s", given[i].parameter, value);
	}
	return buf_take(&b);
}

struct watch *watch_start(struct kube *k, const struct watch_config *config, const struct watch_events *events,
	void *arg)
{
	struct watch *w = mem_zalloc(sizeof *w);

	w->k = k;
	w->events = *events;
	w->arg = arg;
	w->path = mem_dup(config->path);
	w->selectors = selectors_of(config);
	w->subject = mem_dup(config->subject);
	w->managed_fields = config->managed_fields;
	w->page = config->page > 0 ? config->page : PAGE_DEFAULT;
	loop_timer_init(&w->timer, kube_loop(k), on_timer, w);
	watch_enter(w, WATCH_LISTING);
	return w;
}

static void watch_free(void *arg)
{
	struct watch *w = arg;

	watch_lines_free(w->lines);
	free(w->verdict);
	loop_timer_done(&w->timer);
	free(w->version);
	free(w->next_page);
	free(w->path);
	free(w->selectors);
	free(w->subject);
	free(w);
}

/* Percent-encoded; decimal numbers, the only comparable ones, are unchanged by that. */
const char *watch_version(const struct watch *w)
{
	return w->version ? w->version : "";
}

void watch_stop(struct watch *w)
{
	struct watch_lines *lines;

	if (!w || w->state == WATCH_STOPPED)
		return;
	/* The line being handed on, with its buffer, lives until the end of the turn. */
	lines = w->lines;
	w->lines = NULL;
	watch_enter(w, WATCH_STOPPED);
	w->lines = lines;
	loop_free_later(kube_loop(w->k), w, watch_free);
}
