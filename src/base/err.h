/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

/*
 * An error is a value: a kind that drives behaviour and a message for a human.
 *
 * Whoever meets the failure names it (err_set); each caller on the way up may say what it was doing
 * (err_wrap), so that the one log line at the top reads "trigger 2 (redis): connecting to
 * 10.0.0.7:6379: timed out". No secret value is ever put in.
 */

#include <stdarg.h>
#include <stdint.h>

enum err_kind {
	ERR_NONE = 0,
	ERR_TEMPORARY, /* may pass by itself: try again with back-off (network, 429, 5xx, time-outs) */
	ERR_INVALID,   /* the input is wrong and stays wrong until somebody changes it */
	ERR_MISSING,   /* a named thing does not exist (HTTP 404) */
	ERR_CONFLICT,  /* somebody else changed it meanwhile (HTTP 409): look again, then decide again */
	ERR_DENIED,    /* not allowed (HTTP 401, 403) */
	ERR_GONE,      /* the version asked for is too old (HTTP 410): list again */
	/*
	 * nothing is wrong: something is being read for the first time, and whoever asked is told
	 * when it was
	 */
	ERR_WAITING,
	ERR_BUG, /* cannot happen */
};

#define ERR_MSG_MAX 512

struct err {
	enum err_kind kind;
	int http_status;        /* of the answer that caused it, else 0 */
	int64_t retry_after_ms; /* what the server asked for, else 0 */
	char msg[ERR_MSG_MAX];  /* cut with "..." when longer; always terminated and valid UTF-8 */
};

/*
 * Fills *err (which may be NULL) and returns -1, so that one writes `return err_set(err,
 * ERR_INVALID, ...)`.
 */
int err_set(struct err *err, enum err_kind kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int err_vset(struct err *err, enum err_kind kind, const char *fmt, va_list ap) __attribute__((format(printf, 3, 0)));

/* Puts "<text>: " before the message of *err (may be NULL), keeps its kind; returns -1. */
int err_wrap(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Makes *err say "no error". */
void err_clear(struct err *err);

/*
 * Keeps a copy in *kept (owned; NULL while there is none) in the place of what was there; NULL
 * drops it. For what lives long: 528 bytes by value in each of thousands are too much.
 */
void err_keep(struct err **kept, const struct err *err);

/* "temporary", "invalid", ... for logs and metrics. */
const char *err_kind_name(enum err_kind kind);

#endif
