/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a call, with or without a read. */
#include <stdlib.h>
#include <utlist.h>

#include "base/mem.h"
#include "net/vault/vault_parts.h"

void vault_leave(struct vault_pool *p)
{
	if (--p->depth == 0 && p->freed)
		p->end(p);
}

void vault_call_detach(struct vault_call *c)
{
	if (!c->read)
		return;
	DL_DELETE(c->read->calls, c);
	c->read = NULL;
	DL_APPEND(c->pool->ready, c);
}

void vault_call_free(struct vault_call *c)
{
	vault_call_detach(c);
	DL_DELETE(c->pool->ready, c);
	loop_timer_done(&c->deadline);
	loop_task_cancel(c->pool->loop, &c->task);
	mem_free_secret(c->value);
	free(c->key);
	free(c->err);
	free(c);
}

void vault_finish(struct vault_call *c, const char *value, int64_t good_for_ms, const struct err *err)
{
	struct vault_pool *p = c->pool;
	vault_fn fn = c->fn;
	void *arg = c->arg;

	vault_call_free(c);
	p->depth++;
	fn(arg, value, good_for_ms, err);
	vault_leave(p);
}

int64_t vault_time_left(const struct vault_pool *p, int64_t until_ms)
{
	int64_t left_ms = until_ms - loop_now_ms(p->loop);

	return until_ms == 0 ? 0 : left_ms > 1 ? left_ms : 1;
}
