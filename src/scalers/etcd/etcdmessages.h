/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_ETCD_ETCDMESSAGES_H
#define SCALERS_ETCD_ETCDMESSAGES_H

/*
 * The messages to and from etcd (etcd.proto; doc/keda.md 8.5): a key's value, a login, a watch.
 * What is read may come from anybody. Pure; for scalers/etcd.
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
 * The number that is the key's value. ERR_MISSING: there is no such key; ERR_INVALID: anything
 * else. The value is never shown.
 */
int etcdmessages_get_number(const void *bytes, size_t len, const char *key, double *out, struct err *err);

/* The token: characters of a header's value. The caller owns *out, and wipes it. */
int etcdmessages_get_token(const void *bytes, size_t len, char **out, struct err *err);

enum etcdmessages_news {
	ETCDMESSAGES_CREATED, /* the watch is there */
	ETCDMESSAGES_CHANGED, /* the key was written or deleted */
	ETCDMESSAGES_ALIVE,   /* nothing has changed */
};
/*
 * A message of a watch. -1: it is none (ERR_INVALID), or the watch is over (ERR_TEMPORARY,
 * ERR_DENIED).
 */
int etcdmessages_get_news(const void *bytes, size_t len, enum etcdmessages_news *out, struct err *err);

#endif
