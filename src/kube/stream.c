/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/stream.h"

#include <stdlib.h>
#include <utlist.h>

#include "base/log.h"
#include "base/mem.h"
#include "kube/client_priv.h"

struct kube_stream {
	struct kube *k;
	struct kube_stream *prev, *next;
	struct httpc_call *http;
	struct credentials *credentials; /* held */
	struct httpc_events events;
	void *arg;
	int64_t silence_ms;
	int64_t heard_at_ms; /* when bytes came last */
	unsigned pool_age;   /* of the pool when it started */
};

static void stream_free(void *arg)
{
	struct kube_stream *s = arg;

	credentials_release(s->credentials);
	free(s);
}

/* Freed at the end of the turn: its own callbacks may be on the stack, and libcurl below them, which still looks at the credentials. */
static void stream_end(struct kube_stream *s)
{
	DL_DELETE(s->k->streams, s);
	loop_free_later(s->k->loop, s, stream_free);
}

static void on_status(void *arg, int status)
{
	struct kube_stream *s = arg;

	s->heard_at_ms = loop_now_ms(s->k->loop);
	kube_count_request(s->k, "watch", status);
	if (s->events.on_status)
		s->events.on_status(s->arg, status);
}

static bool on_data(void *arg, const char *bytes, size_t len)
{
	struct kube_stream *s = arg;

	s->heard_at_ms = loop_now_ms(s->k->loop);
	return s->events.on_data(s->arg, bytes, len);
}

/* Only the first of the streams on a dead link makes the others be dialled anew; those that were are on another one. */
static void reset_if_silent(struct kube_stream *s)
{
	if (s->silence_ms == 0 || loop_now_ms(s->k->loop) - s->heard_at_ms < s->silence_ms || s->pool_age != s->k->watch_pool_age)
		return;
	log_debug("kube", "a watch heard nothing for %lld s: dialling anew", (long long)(s->silence_ms / 1000));
	kube_watch_pool_reset(s->k);
}

static void on_done(void *arg, const struct httpc_response *response, const struct err *err)
{
	struct kube_stream *s = arg;
	struct httpc_events events = s->events;
	void *owner = s->arg;

	s->http = NULL;
	if (err) {
		kube_count_request(s->k, "watch", 0);
		reset_if_silent(s);
	} else if (response->status == 401) {
		kube_refresh(s->k, NULL);
	}
	stream_end(s);
	events.on_done(owner, response, err);
}

struct kube_stream *kube_stream_start(struct kube *k, const char *path, int64_t silence_ms, const struct httpc_events *events, void *arg)
{
	struct kube_stream *s = mem_zalloc(sizeof *s);
	struct httpc_events own = { on_status, events->on_data ? on_data : NULL, on_done };
	const char *headers[] = { "Accept: application/json", kube_user_agent, NULL };
	MEM_AUTO char *url = NULL;
	struct httpc_request request;

	kube_refresh_if_due(k);
	url = mem_printf("%s%s", k->credentials->server, path);
	s->k = k;
	s->credentials = credentials_hold(k->credentials);
	s->events = *events;
	s->arg = arg;
	s->silence_ms = silence_ms;
	s->heard_at_ms = loop_now_ms(k->loop);
	s->pool_age = k->watch_pool_age;
	request = (struct httpc_request){
		.method = "GET",
		.url = url,
		.headers = headers,
		.bearer = s->credentials->token,
		.silence_ms = silence_ms,
		.server = &s->credentials->reach,
	};
	DL_APPEND(k->streams, s);
	s->http = httpc_start(k->watch_pool, &request, &own, s);
	return s;
}

void kube_stream_cancel(struct kube_stream *s)
{
	if (!s || !s->http)
		return;
	httpc_cancel(s->http);
	s->http = NULL;
	stream_end(s);
}
