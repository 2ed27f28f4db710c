/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_SECRETMANAGERS_SECRETMANAGER_H
#define NET_SECRETMANAGERS_SECRETMANAGER_H

/*
 * The secret managers of clouds: the request for one secret, and how to read the response. Each
 * manager is a table of pure functions in a file of its own beside this one.
 * cache/auth/managervalues asks them and caches the values; net/web/webauth authenticates the
 * requests with an identity of net/identity.
 */

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "net/http/webrequest.h"

struct secretmanager_secret { /* NULL and "": not given */
	const char *endpoint; /* the manager's URL, without a trailing slash */
	const char *project;  /* of Google */
	const char *name;
	const char *version; /* not given: the current one */
	const char *stage;   /* of AWS ("AWSCURRENT") */
};

struct secretmanager {
	const char *label; /* "AWS Secrets Manager" */
	/* Without a project, the identity's is used, which comes with its credential. */
	bool needs_project;
	/* Whether it names one version, whose value never changes. */
	bool (*is_pinned)(const struct secretmanager_secret *s);
	/*
	 * 0 with the request in *out, which must be empty; -1 with ERR_INVALID: a text is invalid.
	 */
	int (*request)(const struct secretmanager_secret *s, struct webrequest *out, struct err *err);
	/* The value from a response with status 200, which the caller owns and wipes; or -1. */
	int (*take)(const json_t *answer, char **value, struct err *err);
	/* -1 with the error of a response with another status. */
	int (*refused)(const struct webresponse *answer, struct err *err);
	/*
	 * One member of a value that is a JSON object (NULL: the value is not JSON), as a text that
	 * the caller owns and wipes; the error does not quote the value. NULL: the manager has no
	 * members.
	 */
	int (*member)(const json_t *whole, const char *member, char **out, struct err *err);
};

/* Checks a secret's name, version and so on before any request: 0, or the error of request. */
int secretmanager_check(const struct secretmanager *m, const struct secretmanager_secret *s, struct err *err);

/*
 * Reads a response with any status. 0 with the value, which the caller owns and wipes; -1 with an
 * error that names the secret and never quotes a value.
 */
int secretmanager_read(const struct secretmanager *m, const struct secretmanager_secret *s,
	const struct webresponse *answer, char **value, struct err *err);

/* ---- For the managers ---- */

/* Whether text has 1 to `most` characters, all of letters. */
bool secretmanager_is_of(const char *text, const char *letters, size_t most);

/*
 * -1 with the error of a response {"error": {"code", "message", "innererror": {"code"}}}: its kind
 * by the status, its code (code: the member's name), and the beginning of its message on one line.
 * permission: what is needed, for an error 403.
 */
int secretmanager_refused(const struct webresponse *answer, const char *code, const char *permission, struct err *err);

/*
 * A copy of a JSON string, which the caller owns and wipes. NULL with ERR_INVALID, which begins
 * with `what`: not a string, or with a NUL character.
 */
char *secretmanager_text(const json_t *value, const char *what, struct err *err);

#endif
