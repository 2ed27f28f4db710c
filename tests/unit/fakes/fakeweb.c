/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fakeweb.h"

#include "base/mem.h"

#define ANSWER_MS 5

struct webclient_call {
	webclient_fn fn;
	void *arg;
	struct loop_timer timer;
};

static struct {
	struct loop *loop;
	int status;
	int64_t retry_after_ms;
	char body[512], last[512];
	struct err err;
	char *project; /* borrowed; NULL */
	struct err no_token;
	bool hangs;
	unsigned asked, under_way;
} fake;

struct webclient *fakeweb_start(struct loop *loop)
{
	memset(&fake, 0, sizeof(fake));
	fake.loop = loop;
	return (struct webclient *)&fake;
}

struct webtoken_store *fakeweb_tokens(void)
{
	return (struct webtoken_store *)&fake;
}

void fakeweb_end(void)
{
	assert_int_equal(fake.under_way, 0);
}

void fakeweb_answer(int status, const char *body, int64_t retry_after_ms)
{
	fake.status = status;
	fake.retry_after_ms = retry_after_ms;
	fake.hangs = false;
	snprintf(fake.body, sizeof(fake.body), "%s", body);
	err_clear(&fake.err);
}

void fakeweb_fail(enum err_kind kind, const char *message)
{
	fake.hangs = false;
	err_set(&fake.err, kind, "%s", message);
}

void fakeweb_hang(void)
{
	fake.hangs = true;
}

void fakeweb_project(char *project)
{
	fake.project = project;
	err_clear(&fake.no_token);
}

void fakeweb_no_token(enum err_kind kind, const char *message)
{
	err_set(&fake.no_token, kind, "%s", message);
}

unsigned fakeweb_asked(void)
{
	return fake.asked;
}

const char *fakeweb_last(void)
{
	return fake.last;
}

static void forget(struct webclient_call *call)
{
	loop_timer_done(&call->timer);
	free(call);
	fake.under_way--;
}

static void on_time(void *arg)
{
	struct webclient_call *call = arg;
	const struct webresponse answer = { .status = fake.status,
		.body = fake.body,
		.len = strlen(fake.body),
		.content_type = "",
		.wanted = { "" },
		.retry_after_ms = fake.retry_after_ms,
		.measured = true };
	webclient_fn fn = call->fn;
	void *to = call->arg;

	forget(call);
	fn(to, fake.err.kind ? NULL : &answer, fake.err.kind ? &fake.err : NULL);
}

struct webclient_call *webclient_start(struct webclient *w, const struct webrequest *request,
	const struct webclient_options *options, webclient_fn fn, void *arg)
{
	struct webclient_call *call = mem_zalloc(sizeof(*call));

	assert_ptr_equal(w, &fake);
	assert_non_null(options->access);
	fake.asked++;
	fake.under_way++;
	snprintf(fake.last, sizeof(fake.last), "%s %s %s", request->body ? "POST" : "GET", request->url,
		request->body ? request->body : "");
	call->fn = fn;
	call->arg = arg;
	loop_timer_init(&call->timer, fake.loop, on_time, call);
	if (!fake.hangs)
		loop_timer_set(&call->timer, ANSWER_MS);
	return call;
}

void webclient_cancel(struct webclient_call *call)
{
	if (call)
		forget(call);
}

int64_t webclient_timeout_ms(const struct webclient *w)
{
	assert_ptr_equal(w, &fake);
	return 3000;
}

/* ---- Tokens ---- */

struct webtoken_wait {
	webtoken_fn fn;
	void *arg;
	struct loop_timer timer;
};

static void let_go(struct webtoken_wait *wait)
{
	loop_timer_done(&wait->timer);
	free(wait);
	fake.under_way--;
}

static void on_token(void *arg)
{
	struct webtoken_wait *wait = arg;
	const struct credential credential = { .token = (char *)(uintptr_t) "t", .project = fake.project };
	webtoken_fn fn = wait->fn;
	void *to = wait->arg;

	let_go(wait);
	fn(to, fake.no_token.kind ? NULL : &credential, fake.no_token.kind ? &fake.no_token : NULL);
}

struct webtoken_wait *webtoken_ask(struct webtoken_store *s, struct identity *identity, const char *namespace_,
	webtoken_fn fn, void *arg)
{
	struct webtoken_wait *wait = mem_zalloc(sizeof(*wait));

	(void)namespace_;
	assert_ptr_equal(s, &fake);
	assert_non_null(identity);
	fake.under_way++;
	wait->fn = fn;
	wait->arg = arg;
	loop_timer_init(&wait->timer, fake.loop, on_token, wait);
	loop_timer_set(&wait->timer, 0); /* it is kept */
	return wait;
}

void webtoken_cancel(struct webtoken_wait *wait)
{
	if (wait)
		let_go(wait);
}

const struct credential *webtoken_cached(struct webtoken_store *s, struct identity *identity, const char *namespace_)
{
	(void)identity;
	(void)namespace_;
	assert_ptr_equal(s, &fake);
	return NULL;
}

bool webtoken_reject(struct webtoken_store *s, const struct identity *identity, const struct credential *refused)
{
	(void)identity;
	(void)refused;
	assert_ptr_equal(s, &fake);
	return false;
}
