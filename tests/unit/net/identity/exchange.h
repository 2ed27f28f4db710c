/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_NET_IDENTITY_EXCHANGE_H
#define TESTS_UNIT_NET_IDENTITY_EXCHANGE_H

/* Runs an identity's exchange step by step, with a given environment and files. */

#include <string.h>

#include "net/identity/identity.h"

#define NOW_MS INT64_C(1440938160000) /* 20150830T123600Z */

struct place {
	const char *const *env; /* names and values, NULL-terminated */
	const char *file_name, *file;
	const char *other_name, *other;
};

static const char *env(void *arg, const char *name)
{
	const struct place *p = arg;

	for (const char *const *at = p->env; at && *at; at += 2)
		if (strcmp(*at, name) == 0)
			return at[1];
	return NULL;
}

static int file(void *arg, const char *path, struct buf *out, struct err *err)
{
	const struct place *p = arg;

	if (p->other_name && strcmp(path, p->other_name) == 0) {
		buf_puts(out, p->other);
		return 0;
	}
	if (!p->file_name || strcmp(path, p->file_name) != 0)
		return err_set(err, ERR_MISSING, "there is no such file");
	buf_puts(out, p->file);
	return 0;
}

struct run {
	struct place place;
	struct identity_environment environment;
	struct identity_exchange x;
	struct webrequest request;
	struct credential got;
	struct err err;
};

static void run_init(struct run *r, const struct identity *i, const char *const *variables)
{
	*r = (struct run){ .place.env = variables };
	r->environment = (struct identity_environment){ .arg = &r->place, .env = env, .file = file };
	r->x = (struct identity_exchange){ .identity = i, .environment = &r->environment, .unix_ms = NOW_MS };
}

static enum exchange_verdict next(struct run *r)
{
	webrequest_done(&r->request);
	return identity_next(&r->x, &r->request, &r->got, &r->err);
}

static enum exchange_verdict answered(struct run *r, int status, const char *body)
{
	const struct webresponse answer = { .status = status, .body = body, .len = strlen(body) };

	return identity_read(&r->x, &answer, &r->got, &r->err);
}

static void run_done(struct run *r, struct identity *i)
{
	webrequest_done(&r->request);
	identity_exchange_done(&r->x);
	credential_done(&r->got);
	identity_unref(i);
}

#define ENV(...) ((const char *const[]){ __VA_ARGS__, NULL })

#endif
