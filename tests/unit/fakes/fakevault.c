/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fakecluster_parts.h"
#include "fakevault.h"

#include "base/mem.h"

#define ANSWER_MS 5

struct vault_call {
	vault_fn fn;
	void *arg;
	struct loop_timer timer;
};

static struct {
	char value[64], last[512], asker[64];
	int64_t good_for_ms;
	struct err err;
	unsigned reads, under_way;
} fake;

void fakevault_start(void)
{
	memset(&fake, 0, sizeof(fake));
	fakevault_fail(ERR_MISSING, "kv/redis: no secret there");
}

void fakevault_end(void)
{
	assert_int_equal(fake.under_way, 0);
}

void fakevault_value(const char *value, int64_t good_for_ms)
{
	snprintf(fake.value, sizeof(fake.value), "%s", value);
	fake.good_for_ms = good_for_ms;
	err_clear(&fake.err);
}

void fakevault_fail(enum err_kind kind, const char *message)
{
	err_set(&fake.err, kind, "%s", message);
}

void fakevault_retry_after(int64_t ms)
{
	fake.err.retry_after_ms = ms;
}

unsigned fakevault_reads(void)
{
	return fake.reads;
}

const char *fakevault_last(void)
{
	return fake.last;
}

const char *fakevault_asker(void)
{
	return fake.asker;
}

static void call_free(struct vault_call *c)
{
	loop_timer_done(&c->timer);
	free(c);
	fake.under_way--;
}

static void on_answer(void *arg)
{
	struct vault_call *c = arg;
	vault_fn fn = c->fn;
	void *fn_arg = c->arg;
	MEM_AUTO char *certificate = mem_printf("CERT-%u", fake.reads), *key = mem_printf("KEY-%u", fake.reads);
	json_t *answer = json_pack("{s:{s:s,s:s,s:s,s:s}}", "data", "pw", fake.value, "user", "u", "certificate",
		certificate, "private_key", key);

	call_free(c);
	if (fake.err.kind == ERR_NONE)
		fn(fn_arg, answer, fake.good_for_ms, NULL);
	else
		fn(fn_arg, NULL, 0, &fake.err);
	json_decref(answer);
}

static const char *or_none(const char *text)
{
	return text ? text : "-";
}

struct vault_call *vault_read(struct vault_pool *p, const struct vault_server *server, const struct vault_login *login,
	const struct vault_secret *secret, int64_t deadline_ms, vault_fn fn, void *arg)
{
	struct vault_call *c = mem_zalloc(sizeof(*c));

	(void)p;
	assert_true(deadline_ms > loop_now_ms(fakecluster_loop()));
	assert_int_equal(login->token == NULL, login->jwt != NULL);
	snprintf(fake.last, sizeof(fake.last), "%s %s %s %s %s", server->address, secret->path,
		login->token ? login->token : login->jwt, or_none(login->role), or_none(login->mount));
	snprintf(fake.asker, sizeof(fake.asker), "%s", or_none(server->asker));
	fake.reads++;
	fake.under_way++;
	c->fn = fn;
	c->arg = arg;
	loop_timer_init(&c->timer, fakecluster_loop(), on_answer, c);
	loop_timer_set(&c->timer, ANSWER_MS);
	return c;
}

void vault_cancel(struct vault_call *c)
{
	if (c)
		call_free(c);
}
