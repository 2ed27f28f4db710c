/* SPDX-License-Identifier: Apache-2.0 */
#include "source.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "peer.h"
#include "scalers/scalerbuild.h"
#include "scalers/sources.h"

static void fill(struct strmap *map, const char *pairs)
{
	MEM_AUTO char *copy = mem_dup(pairs ? pairs : "");
	char *rest = copy, *pair;

	while ((pair = strsep(&rest, "|"))) {
		char *value = strchr(pair, '=');
		MEM_AUTO char *placed = NULL;
		size_t at;

		if (!value)
			continue;
		*value++ = '\0';
		at = strcspn(value, "@#");
		placed = value[at] ? mem_printf("%.*s%s%u%s", (int)at, value, value[at] == '@' ? "127.0.0.1:" : "",
					     peer_port(), value + at + 1)
				   : mem_dup(value);
		strmap_set(map, pair, placed);
	}
}

/* The questions that were given the secret, and whether the one that is asked is one of them. */
static struct {
	const struct question *questions[8];
	size_t count;
	bool sent;
} secret;

struct question *source_question(const char *type, const char *metadata, const char *auth)
{
	struct strmap m = { 0 }, a = { 0 };
	struct scaler_params params = { .namespace_ = "shop",
		.object = "web",
		.type = type,
		.metadata = &m,
		.auth = &a };
	struct scaler scaler;
	struct question *q;
	struct err err = { 0 };

	fill(&m, metadata);
	fill(&a, auth);
	if (scaler_build(&params, &scaler, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
	q = question_ref(scaler.question);
	if (auth && strstr(auth, SOURCE_SECRET)) {
		must(secret.count < sizeof(secret.questions) / sizeof(secret.questions[0]));
		secret.questions[secret.count++] = q;
	}
	scaler_done(&scaler);
	strmap_done(&m);
	strmap_done(&a);
	return q;
}

/* ---- One input ---- */

static void check_err(const struct err *err)
{
	size_t len = strlen(err->msg);

	must(err->kind != ERR_NONE && err->kind != ERR_BUG && len > 0);
	must(strpbrk(err->msg, "\r\n") == NULL);
	must(!secret.sent || !strstr(err->msg, SOURCE_SECRET)); /* else the peer's own words may have it */
	for (size_t i = 0, step; i < len; i += step) {
		step = utf8_step(err->msg + i, len - i);
		must(step > 0);
	}
}

static void on_answer(void *arg, const struct answer *answer, const struct err *err)
{
	bool *done = arg;

	must(!*done && !answer == !!err);
	*done = true;
	if (err)
		check_err(err);
	else
		must(isfinite(answer->value));
}

static void on_description(void *arg, const struct description *description, const struct err *err)
{
	bool *done = arg;

	must(!*done && !description == !!err);
	*done = true;
	if (err)
		check_err(err);
	else
		must(description->count > 0);
}

static void on_look(void *arg)
{
	(void)arg;
}

static void watch_it(struct scaler_sources *s, struct question *q)
{
	bool done = false;
	void *watch = q->type->watch(s, q, on_look, NULL);
	const char *why;

	must(watch);
	peer_until(&done);
	why = q->type->watch_report(watch).why;
	must(why && (!secret.sent || !strstr(why, SOURCE_SECRET)));
	q->type->unwatch(watch);
}

static void ask_it(struct scaler_sources *s, struct question *q, enum source_way way)
{
	int64_t deadline_ms = loop_now_ms(s->loop) + PEER_PATIENCE_MS / 2;
	bool done = false;
	void *ask = way == SOURCE_ASK ? question_ask(q, s, deadline_ms, on_answer, &done)
				      : q->type->describe(s, q, deadline_ms, on_description, &done);

	must(!done);
	peer_until(&done);
	if (!done && way == SOURCE_ASK)
		question_cancel(ask);
	else if (!done)
		q->type->describe_cancel(ask);
}

void source_try(struct loop *loop, struct question *q, enum source_way way, const uint8_t *data, size_t size)
{
	const struct sources_config config = { .parts = scaler_parts,
		.deadline_ms = PEER_PATIENCE_MS / 2,
		.http_timeout_ms = PEER_PATIENCE_MS / 2 };
	struct scaler_sources s = { .loop = NULL };

	if (size == 0)
		return;
	secret.sent = false;
	for (size_t i = 0; i < secret.count; i++)
		secret.sent |= secret.questions[i] == q;
	peer_script(data + 1, size - 1, data[0]);
	sources_init(&s, loop, NULL, NULL, &config);
	if (way == SOURCE_WATCH)
		watch_it(&s, q);
	else
		ask_it(&s, q, way);
	sources_done(&s);
	peer_end();
}
