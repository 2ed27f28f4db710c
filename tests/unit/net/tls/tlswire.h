/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_NET_TLS_TLSWIRE_H
#define TESTS_UNIT_NET_TLS_TLSWIRE_H

/* Both ends of a TLS connection in memory. */

#include <stdbool.h>
#include <stddef.h>

#include "net/tls/tls.h"

struct tlswire {
	SSL *server, *client;
};

void tlswire_up(struct tlswire *w, SSL *server, SSL *client); /* takes both */
void tlswire_cut(struct tlswire *w);

/*
 * True when both ends are content; else `why` is the client's (or, when it has none, the server's)
 * reason.
 */
bool tlswire_shake(struct tlswire *w, char *why, size_t size);

#endif
