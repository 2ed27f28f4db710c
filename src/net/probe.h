/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PROBE_H
#define NET_PROBE_H

/*
 * Finds out whether a host and port accept TCP connections, for clients that do not manage their
 * own connections (libcurl opens and closes them as it likes). A client that got no answer calls
 * probe_doubt, which tries one plain connection. While that fails the server counts as lost: its
 * clients wait for the next attempt instead of connecting themselves. There is one attempt at a
 * time, with the back-off of net/dial.h, and only while a client wants one. Only TCP counts: a
 * server that accepts a connection and then hangs, closes it or fails in TLS is not lost.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/loop.h"

struct probe;

/*
 * Called when an attempt has ended; probe_lost has the result. It must neither call the probe nor
 * free it.
 */
typedef void (*probe_fn)(void *arg);

/*
 * namespace_: accounts for the connections (net/descriptors.h). An attempt that gets no descriptor
 * says nothing about the server.
 */
struct probe *probe_new(struct loop *loop, const char *host, uint16_t port, const char *namespace_, probe_fn fn,
	void *arg);
void probe_free(struct probe *r); /* NULL is fine */

void probe_count_for(struct probe *r, const char *namespace_); /* for the next attempts */
void probe_doubt(struct probe *r); /* a client got no answer: checks whether the server is lost */
void probe_want(struct probe *r);  /* a client waits: an attempt follows when due */
/* Why the last attempt failed. NULL: it succeeded, there was none yet, or r is NULL. */
const struct err *probe_lost(const struct probe *r);
bool probe_is_trying(const struct probe *r);
/* Attempts started so far. A client that came before an attempt started learns its result. */
unsigned probe_attempts(const struct probe *r);

#endif
