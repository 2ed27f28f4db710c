/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PROBE_H
#define NET_PROBE_H

/*
 * Whether anybody answers at a host and port, for those who have no connection of their own to ask
 * (libcurl opens and closes them as it likes). Who got no answer says so (probe_doubt): then one
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

struct probe;

/* An attempt has ended; probe_lost says how. Takes note only: it neither asks nor frees. */
typedef void (*probe_fn)(void *arg);

/*
 * namespace_: who answers for the connections (net/descriptors.h); borrowed for its life. One that
 * cannot be had tells nothing about the place.
 */
struct probe *probe_new(struct loop *loop, const char *host, uint16_t port, const char *namespace_, probe_fn fn,
	void *arg);
void probe_free(struct probe *r); /* NULL is fine */

void probe_doubt(struct probe *r); /* there was no answer: looks whether the place is lost */
void probe_want(struct probe *r);  /* somebody waits: an attempt, when it is due */
/*
 * why the last attempt failed, until one succeeds; NULL: it did not, or nobody has tried, or r is
 * NULL
 */
const struct err *probe_lost(const struct probe *r);
bool probe_is_trying(const struct probe *r);
/* begun so far: who came before one began learns of it what he wants to know */
unsigned probe_attempts(const struct probe *r);

#endif
