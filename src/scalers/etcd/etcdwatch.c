/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/etcd/etcdwatch.h"

#include <stdlib.h>

#include "base/mem.h"
#include "scalers/etcd/etcdmessages.h"
#include "scalers/etcd/etcdquestion.h"
#include "scalers/etcd/etcdsession.h"
#include "scalers/sources.h"

#define AGAIN_FIRST_MS 2000
#define AGAIN_MAX_MS   60000
#define ENTER_MS       10000 /* for a login, over all members */
#define CREATED_MS     10000 /* until etcd confirms the watch */
/* A watch with more messages is closed: reading them would take all our time. */
#define MESSAGES_PER_SECOND_MAX 1000
#define METADATA_MAX            3

struct etcdwatch {
	struct scaler_sources *sources;
	struct question *question; /* one reference */
	question_look_fn look;
	void *arg;
	struct etcdsession_entry *entry; /* either this or stream, or neither between attempts */
	struct grpc_call *stream;
	struct etcdsession_pass pass; /* of the stream; without its metadata */
	struct loop_timer timer;      /* between attempts: the next one; with a stream: the longest silence */
	unsigned failures;            /* consecutive */
	enum watch_state state;
	struct err *err;   /* owned; while failing */
	int64_t second_ms; /* loop clock: start of the counting period */
	unsigned messages;
};

static const struct etcdquestion *question_of(const struct etcdwatch *w)
{
	return w->question->data;
}

/* ---- Ending ---- */

static void lose(struct etcdwatch *w, const struct err *why)
{
	w->state = WATCH_FAILING;
	err_keep(&w->err, why);
	loop_timer_set(&w->timer, loop_backoff_ms(w->failures++, AGAIN_FIRST_MS, AGAIN_MAX_MS));
}

static void lose_stream(struct etcdwatch *w, const struct err *why)
{
	struct err err = *why;

	w->stream = NULL;
	etcdsession_complain(w->sources->etcd, question_of(w)->cluster, &w->pass, &err);
	etcdquestion_name_error(w->question, w->pass.member, &err);
	lose(w, &err);
}

static void break_off(struct etcdwatch *w, struct err *err)
{
	grpc_cancel(w->stream);
	err_wrap(err, "Watch");
	lose_stream(w, err);
}

static void on_end(void *arg, const struct err *err)
{
	struct etcdwatch *w = arg;
	struct err ended;

	err_set(&ended, ERR_TEMPORARY,
		"Watch: ended by the server, as by etcd's gRPC proxy, behind which only polling works");
	lose_stream(w, err ? err : &ended);
}

/* ---- Messages ---- */

static bool is_flood(struct etcdwatch *w)
{
	int64_t now_ms = loop_now_ms(w->sources->loop);

	if (now_ms - w->second_ms >= 1000) {
		w->second_ms = now_ms;
		w->messages = 0;
	}
	return ++w->messages > MESSAGES_PER_SECOND_MAX;
}

static void on_message(void *arg, const void *bytes, size_t len)
{
	struct etcdwatch *w = arg;
	enum etcdmessages_news news;
	struct err err = { 0 };

	if (is_flood(w))
		err_set(&err, ERR_TEMPORARY, "more than %d messages in a second", MESSAGES_PER_SECOND_MAX);
	if (err.kind != ERR_NONE || etcdmessages_get_news(bytes, len, &news, &err)) {
		break_off(w, &err);
		return;
	}
	w->failures = 0;
	w->state = WATCH_ON;
	err_keep(&w->err, NULL);
	loop_timer_set(&w->timer, 2 * question_of(w)->progress_s * 1000);
	if (news != ETCDMESSAGES_ALIVE)
		w->look(w->arg);
}

/* ---- Starting ---- */

static void on_pass(void *arg, const struct etcdsession_pass *pass, const struct err *failure)
{
	static const struct grpc_stream_events events = { .on_message = on_message, .on_end = on_end };
	struct etcdwatch *w = arg;
	/* asks a member that loses the cluster's leader to end the watch */
	const char *const metadata[METADATA_MAX] = { "hasleader: true",
		pass && pass->metadata ? pass->metadata[0] : NULL };
	struct buf message = BUF_INIT((size_t)16 << 10);

	w->entry = NULL;
	if (failure) {
		lose(w, failure);
		return;
	}
	w->pass = *pass;
	w->pass.metadata = NULL;
	etcdmessages_put_watch(&message, question_of(w)->key);
	loop_timer_set(&w->timer, CREATED_MS);
	w->stream = grpc_stream(w->sources->grpc, question_of(w)->cluster->members[pass->member],
		"/etcdserverpb.Watch/Watch", metadata, buf_text(&message), message.len, &events, w);
	buf_done(&message);
}

static void on_timer(void *arg)
{
	struct etcdwatch *w = arg;
	struct err err;

	if (!w->stream) {
		w->entry = etcdsession_enter(w->sources->etcd, question_of(w)->cluster, w->question->namespace_,
			loop_now_ms(w->sources->loop) + ENTER_MS, on_pass, w);
		return;
	}
	if (w->state == WATCH_ON)
		err_set(&err, ERR_TEMPORARY,
			"no watch progress notification in twice watchProgressNotifyInterval (%lld s)",
			(long long)question_of(w)->progress_s);
	else
		err_set(&err, ERR_TEMPORARY, "etcd did not create it within %d s", CREATED_MS / 1000);
	break_off(w, &err);
}

void *etcdwatch_watch(struct scaler_sources *sources, struct question *question, question_look_fn look, void *arg)
{
	struct etcdwatch *w = mem_zalloc(sizeof(*w));

	w->sources = sources;
	w->question = question_ref(question);
	w->look = look;
	w->arg = arg;
	w->state = WATCH_STARTING;
	loop_timer_init(&w->timer, sources->loop, on_timer, w);
	on_timer(w);
	return w;
}

void etcdwatch_unwatch(void *watch)
{
	struct etcdwatch *w = watch;

	etcdsession_leave(w->entry);
	grpc_cancel(w->stream);
	loop_timer_done(&w->timer);
	err_keep(&w->err, NULL);
	question_unref(w->question);
	free(w);
}

struct watch_report etcdwatch_report(const void *watch)
{
	const struct etcdwatch *w = watch;

	return (struct watch_report){ .state = w->state, .why = w->err ? w->err->msg : "" };
}
