/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REACH_H
#define NET_REACH_H

/*
 * Whether anybody answers at a host and port, for those who have no connection of their own to ask
 * (libcurl opens and closes them as it likes). Who got no answer says so (reach_doubt): then one
 * plain TCP connection is tried. While none comes about the place is lost: whoever asks waits for
 * the next attempt, of which there is one at a time with the back-off of net/dial.h, instead of
 * making one of his own. An attempt is only made while somebody wants it. What lies above TCP is
 * nobody's fault but the request's: a server that hangs, hangs up or speaks another TLS is not
 * lost.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/loop.h"

struct reach;

/* An attempt has ended; reach_lost says how. Takes note only: it neither asks nor frees. */
typedef void (*reach_fn)(void *arg);

struct reach *reach_new(struct loop *loop, const char *host, uint16_t port, reach_fn fn, void *arg);
void reach_free(struct reach *r); /* NULL is fine */

void reach_doubt(struct reach *r); /* there was no answer: looks whether the place is lost */
void reach_want(struct reach *r);  /* somebody waits: an attempt, when it is due */
/*
 * why the last attempt failed, until one succeeds; NULL: it did not, or nobody has tried, or r is
 * NULL
 */
const struct err *reach_lost(const struct reach *r);
bool reach_is_trying(const struct reach *r);
/* begun so far: who came before one began learns of it what he wants to know */
unsigned reach_attempts(const struct reach *r);

#endif
