/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

/*
 * An error is a value: a kind, which callers act on, and a message for people.
 *
 * The function that fails sets it (err_set), callers may add context (err_wrap), and the outermost
 * one logs it: "trigger 2 (redis): connecting to 10.0.0.7:6379: timed out". It never contains a
 * secret.
 */

#include <stdarg.h>
#include <stdint.h>

enum err_kind {
	ERR_NONE = 0,
	ERR_TEMPORARY, /* may go away: retry with back-off (network, 429, 5xx, timeouts) */
	ERR_INVALID,   /* bad input: a retry does not help */
	ERR_MISSING,   /* the object does not exist (HTTP 404) */
	ERR_CONFLICT,  /* changed by others meanwhile (HTTP 409): read again, then decide again */
	ERR_DENIED,    /* not allowed (HTTP 401, 403) */
	ERR_GONE,      /* the version is too old (HTTP 410): list again */
	ERR_WAITING,   /* not read yet: the caller will be notified */
	ERR_BUG,       /* cannot happen */
};

#define ERR_MSG_MAX 512

struct err {
	enum err_kind kind;
	int http_status;        /* of the response that caused it; 0: none */
	int64_t retry_after_ms; /* as the server requested; 0: it did not */
	const char *about;      /* a literal: the parameter that would fix it; NULL: unknown */
	char msg[ERR_MSG_MAX];  /* cut with "..." when longer; always terminated and valid UTF-8 */
};

/* Sets *err, unless err is NULL, and returns -1, for `return err_set(err, ERR_INVALID, ...)`. */
int err_set(struct err *err, enum err_kind kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The same for ERR_INVALID about one parameter (struct err, about). */
int err_set_about(struct err *err, const char *about, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int err_vset(struct err *err, enum err_kind kind, const char *fmt, va_list ap) __attribute__((format(printf, 3, 0)));

/* Prepends "<text>: " to the message of *err, unless err is NULL; returns -1. */
int err_wrap(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Sets err->about unless it is set already or err is NULL; returns -1. */
int err_about(struct err *err, const char *about);

/* Sets *err to ERR_NONE. */
void err_clear(struct err *err);

/*
 * Replaces *kept (owned; NULL: none) by a copy of err; NULL frees it. For errors kept in thousands
 * of objects, where 528 bytes each would be too much.
 */
void err_keep(struct err **kept, const struct err *err);

/* "temporary", "invalid", ..., for logs and metrics. */
const char *err_kind_name(enum err_kind kind);

#endif
