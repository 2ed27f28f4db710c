/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/auth/fetched.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"

#define RETRY_FIRST_MS 1000
#define RETRY_MOST_MS  60000

void fetched_done(struct fetched *f)
{
	loop_timer_done(&f->again);
	mem_free_secret(f->text);
	err_keep(&f->err, NULL);
}

void fetched_again(struct fetched *f)
{
	loop_timer_set(&f->again, loop_backoff_ms(f->failures++, RETRY_FIRST_MS, RETRY_MOST_MS));
}

void fetched_failed(struct fetched *f, const struct err *err, const char *who, const char *stays)
{
	fetched_again(f);
	if (f->err && f->err->kind == err->kind && strcmp(f->err->msg, err->msg) == 0)
		return;
	log_warn(who, "%s%s%s", err->msg, f->text ? "; " : "", f->text ? stays : "");
	err_keep(&f->err, err);
	if (!f->text)
		holders_notify(&f->held);
}

bool fetched_take(struct fetched *f, const char *text, int64_t again_in_ms)
{
	f->failures = 0;
	err_keep(&f->err, NULL);
	loop_timer_set(&f->again, again_in_ms);
	if (f->text && strcmp(f->text, text) == 0)
		return false;
	mem_free_secret(f->text);
	f->text = mem_dup(text);
	return true;
}

enum reference_state fetched_get(struct fetched *f, struct object *owner, const char **text, struct err *err)
{
	holdings_take(owner, &f->held);
	*text = f->text;
	if (f->text)
		return REFERENCE_FOUND;
	if (!f->err)
		return REFERENCE_UNREAD;
	if (err)
		*err = *f->err;
	if (f->err->kind == ERR_TEMPORARY)
		return REFERENCE_UNREAD;
	return f->err->kind == ERR_DENIED ? REFERENCE_DENIED : REFERENCE_MISSING;
}
