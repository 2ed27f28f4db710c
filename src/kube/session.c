/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/session.h"

#include <config.h> /* configure's; with quotes it would be this folder's */
#include <stdio.h>

#define LOST_MS          10000 /* contact counts as lost after this time without an answer */
#define REFRESH_EVERY_MS 30000 /* kubelet replaces a mounted token well before it ends */

const char session_user_agent[] = "User-Agent: kscaled/" PACKAGE_VERSION;

struct httpc_request session_request(const struct session *s, const char *url)
{
	static const char *const headers[] = { "Accept: application/json", session_user_agent, NULL };

	return (struct httpc_request){
		.method = "GET",
		.url = url,
		.headers = headers,
		.bearer = s->credentials->token,
		.server = &s->credentials->reach,
	};
}

static void count_request(const struct session *s, const char *verb, const char *code)
{
	const char *labels[] = { verb, code };

	if (s->requests)
		counters_add(s->requests, labels, 1);
}

void session_answered(struct session *s, const char *verb, int http_status)
{
	char code[16];

	s->unanswered_since_ms = 0;
	snprintf(code, sizeof code, "%d", http_status);
	count_request(s, verb, code);
}

void session_unanswered(struct session *s, const char *verb, const struct err *why)
{
	if (!s->unanswered_since_ms)
		s->unanswered_since_ms = loop_now_ms(s->loop);
	s->unanswered = *why;
	count_request(s, verb, "error");
}

const char *session_trouble(struct session *s)
{
	int64_t span_ms = s->unanswered_since_ms ? loop_now_ms(s->loop) - s->unanswered_since_ms : 0;

	if (span_ms < LOST_MS)
		return NULL;
	snprintf(s->trouble, sizeof s->trouble, "the API server has not answered for %lld s: %s",
		(long long)(span_ms / 1000), s->unanswered.msg);
	return s->trouble;
}

void session_refresh_soon(struct session *s)
{
	loop_task_queue(s->loop, &s->refresh_task);
}

void session_refresh_if_due(struct session *s)
{
	if (loop_now_ms(s->loop) - s->refreshed_at_ms >= REFRESH_EVERY_MS)
		session_refresh_soon(s);
}
