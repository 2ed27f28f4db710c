/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_HOSTPORT_H
#define BASE_HOSTPORT_H

/*
 * host:port as people write it, taken apart and joined. Which hosts and ports are allowed, whether
 * a port must be there, and what the default is, the caller decides. A value: owns nothing,
 * resolves nothing.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define HOSTPORT_HOST_MAX 253 /* the longest DNS name */

struct hostport {
	char host[HOSTPORT_HOST_MAX + 1]; /* without brackets; "" for none */
	bool bracketed;                   /* it stood in brackets */
	bool has_port;
	uint16_t port; /* 0 without one */
};

enum hostport_flaw {
	HOSTPORT_GOOD,
	HOSTPORT_BRACKETS, /* '[' without its ']', or something but a port behind it */
	HOSTPORT_COLONS,   /* several, and no brackets: nobody can tell where an IPv6 address ends */
	HOSTPORT_LONG,
	HOSTPORT_PORT, /* no number from 0 to 65535 behind the colon */
};

/* "host", "host:port", "[v6]", "[v6]:port", ":port". *out is undefined after a flaw. */
enum hostport_flaw hostport_parse(const char *text, struct hostport *out);

/*
 * Where to listen: "127.0.0.1:8080", "[::1]:8080", ":8080" (all addresses). Port 0 is a free one.
 * ERR_INVALID names the text.
 */
int hostport_parse_listen(const char *text, struct hostport *out, struct err *err);

/* One to five digits, 0 to 65535; else -1. */
int hostport_port(const char *text);

/* "host:port"; brackets are put around a host with colons that has none. The caller owns it. */
char *hostport_join(const char *host, unsigned port);
char *hostport_join_text(const char *host, const char *port);

#endif
