/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_SECRETMANAGERS_SECRETMANAGER_H
#define NET_SECRETMANAGERS_SECRETMANAGER_H

/*
 * What the secret managers of clouds are asked, and what they say: the request for one secret, and
 * what its response means. Each manager is a table of pure functions in a file of its own beside
 * this one. Who asks it, and keeps the value, is cache/auth/managervalues; as whom it is asked is
 * an identity of net/identity, which net/web/webauth has put on the request.
 */

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "net/http/webrequest.h"

struct secretmanager_secret { /* texts; NULL or "": not given */
	const char *place;    /* URL of the manager, without a slash at its end */
	const char *project;  /* of Google: where the secret is */
	const char *name;
	const char *version; /* else the current one */
	const char *stage;   /* of AWS */
};

struct secretmanager {
	const char *label; /* "AWS Secrets Manager" */
	/* Where no project is said it is that of the identity, which comes with its credential. */
	bool needs_project;
	/* Whether it is one version, whose value never changes. */
	bool (*is_pinned)(const struct secretmanager_secret *s);
	/* 0 with the request in *out, empty before; -1 with ERR_INVALID: no secret is called so */
	int (*request)(const struct secretmanager_secret *s, struct webrequest *out, struct err *err);
	/* The value in an answer with status 200, which the caller owns and wipes; or -1. */
	int (*take)(const json_t *answer, char **value, struct err *err);
	/* -1 with what an answer with another status means. */
	int (*refused)(const struct webresponse *answer, struct err *err);
	/*
	 * One member of a value that is a JSON object (NULL: the value is not JSON), as a text that
	 * the caller owns and wipes; the error quotes nothing of the value. NULL: values have no
	 * members.
	 */
	int (*member)(const json_t *whole, const char *member, char **out, struct err *err);
};

/* Whether a secret can be called so, before anybody is asked: 0, or the error of request. */
int secretmanager_check(const struct secretmanager *m, const struct secretmanager_secret *s, struct err *err);

/*
 * Judges a response with any status. 0 with the value, which the caller owns and wipes; -1 with an
 * error by its kind, which names the secret and never quotes a value.
 */
int secretmanager_read(const struct secretmanager *m, const struct secretmanager_secret *s,
	const struct webresponse *answer, char **value, struct err *err);

/* ---- For the managers ---- */

bool secretmanager_given(const char *text); /* neither NULL nor "" */

/* Whether a text is one of these letters alone, and not too long. */
bool secretmanager_is_of(const char *text, const char *letters, size_t most);

/*
 * -1 with the error that a response is, {"error": {"code", "message", "innererror": {"code"}}}: its
 * kind by the status, its code (the member that has it is named), and the beginning of what it says
 * on one line. right: what is needed, told to who may not.
 */
int secretmanager_refused(const struct webresponse *answer, const char *code, const char *right, struct err *err);

/*
 * A copy of a JSON string, which the caller owns and wipes. NULL with ERR_INVALID that says what
 * is wrong with `what`: it is none, or holds a NUL character.
 */
char *secretmanager_text(const json_t *value, const char *what, struct err *err);

#endif
