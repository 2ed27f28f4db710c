/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

/* Larger than a message, so that a cut is noticed. */
#define DRAFT_MAX (2 * ERR_MSG_MAX)

/*
 * Copies draft to err->msg: bytes that are not UTF-8 and control characters become '?', white space
 * ' ', and what does not fit "...".
 */
static void put_message(struct err *err, const char *draft)
{
	size_t len = strlen(draft);
	size_t out = 0;

	for (size_t in = 0; in < len;) {
		size_t step = utf8_step(draft + in, len - in), size = step > 0 ? step : 1;
		/* Texts of servers may contain control characters, and messages go to terminals. */
		bool control = step == 1 && ((unsigned char)draft[in] < ' ' || draft[in] == 0x7f);
		bool white = control && strchr("\n\t\r", draft[in]) != NULL;
		if (out + size >= sizeof(err->msg)) {
			out = utf8_cut(err->msg, out, sizeof(err->msg) - sizeof("..."));
			memcpy(err->msg + out, "...", 3);
			out += 3;
			break;
		}
		memcpy(err->msg + out, white ? " " : control || step == 0 ? "?" : draft + in, size);
		out += size;
		in += size;
	}
	err->msg[out] = '\0';
}

void err_clear(struct err *err)
{
	if (err == NULL)
		return;
	err->kind = ERR_NONE;
	err->http_status = 0;
	err->retry_after_ms = 0;
	err->about = NULL;
	err->msg[0] = '\0';
}

/* Through a draft, because the arguments may point into *err. */
int err_vset(struct err *err, enum err_kind kind, const char *fmt, va_list ap)
{
	char draft[DRAFT_MAX];

	if (err == NULL)
		return -1;
	vsnprintf(draft, sizeof(draft), fmt, ap);
	err_clear(err);
	err->kind = kind;
	put_message(err, draft);
	return -1;
}

int err_set(struct err *err, enum err_kind kind, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_vset(err, kind, fmt, ap);
	va_end(ap);
	return -1;
}

int err_set_about(struct err *err, const char *about, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_vset(err, ERR_INVALID, fmt, ap);
	va_end(ap);
	return err_about(err, about);
}

int err_about(struct err *err, const char *about)
{
	if (err && !err->about)
		err->about = about;
	return -1;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
	char draft[DRAFT_MAX];
	va_list ap;

	if (err == NULL)
		return -1;
	va_start(ap, fmt);
	int len = vsnprintf(draft, sizeof(draft), fmt, ap);
	va_end(ap);
	if (len < 0)
		len = 0;
	if ((size_t)len < sizeof(draft))
		snprintf(draft + len, sizeof(draft) - (size_t)len, ": %s", err->msg);
	put_message(err, draft);
	return -1;
}

void err_keep(struct err **kept, const struct err *err)
{
	if (err == NULL) {
		free(*kept);
		*kept = NULL;
		return;
	}
	if (*kept == NULL)
		*kept = mem_alloc(sizeof(**kept));
	if (*kept != err)
		**kept = *err;
}

const char *err_kind_name(enum err_kind kind)
{
	static const char *const names[] = {
		[ERR_NONE] = "none",
		[ERR_TEMPORARY] = "temporary",
		[ERR_INVALID] = "invalid",
		[ERR_MISSING] = "missing",
		[ERR_CONFLICT] = "conflict",
		[ERR_DENIED] = "denied",
		[ERR_GONE] = "gone",
		[ERR_WAITING] = "waiting",
		[ERR_BUG] = "bug",
	};

	return (size_t)kind < MEM_COUNT(names) ? names[kind] : "unknown";
}
