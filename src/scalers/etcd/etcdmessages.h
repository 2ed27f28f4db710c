/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_ETCD_ETCDMESSAGES_H
#define SCALERS_ETCD_ETCDMESSAGES_H

/*
 * Encodes requests to etcd and decodes its answers (etcd.proto; doc/keda.md 8.5): range, login and
 * watch. Answers are untrusted. Pure; for scalers/etcd.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

#define ETCDMESSAGES_TOKEN_MAX 8192

void etcdmessages_put_range(struct buf *out, const char *key);
void etcdmessages_put_login(struct buf *out, const char *username, const char *password);
void etcdmessages_put_watch(struct buf *out, const char *key);

/*
 * The key's value as a number. ERR_MISSING: there is no such key; ERR_INVALID: anything else.
 * Errors never show the value.
 */
int etcdmessages_get_number(const void *bytes, size_t len, const char *key, double *out, struct err *err);

/* The token, checked to be valid in a header. The caller owns *out and wipes it. */
int etcdmessages_get_token(const void *bytes, size_t len, char **out, struct err *err);

enum etcdmessages_news {
	ETCDMESSAGES_CREATED, /* the watch was created */
	ETCDMESSAGES_CHANGED, /* the key was written or deleted */
	ETCDMESSAGES_ALIVE,   /* progress notification */
};
/*
 * Decodes a message of a watch. -1: it is malformed (ERR_INVALID), or the watch was canceled
 * (ERR_TEMPORARY, ERR_DENIED).
 */
int etcdmessages_get_news(const void *bytes, size_t len, enum etcdmessages_news *out, struct err *err);

#endif
