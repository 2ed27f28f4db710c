/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_HOSTPORT_H
#define BASE_HOSTPORT_H

/*
 * Splits and joins host:port. The caller decides which hosts and ports are allowed, whether a port
 * is required, and its default. A value: owns nothing, resolves nothing.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define HOSTPORT_HOST_MAX 253 /* the longest DNS name */

struct hostport {
	char host[HOSTPORT_HOST_MAX + 1]; /* without brackets; "": none */
	bool bracketed;                   /* it was in brackets */
	bool has_port;
	uint16_t port; /* 0 without one */
};

enum hostport_flaw {
	HOSTPORT_GOOD,
	HOSTPORT_BRACKETS, /* '[' without ']', or followed by something other than a port */
	HOSTPORT_COLONS,   /* several without brackets: the end of an IPv6 address is ambiguous */
	HOSTPORT_LONG,
	HOSTPORT_PORT, /* no number from 0 to 65535 after the colon */
};

/* "host", "host:port", "[v6]", "[v6]:port", ":port". *out is undefined after a flaw. */
enum hostport_flaw hostport_parse(const char *text, struct hostport *out);

/*
 * Parses an address to listen on: "127.0.0.1:8080", "[::1]:8080", ":8080" (all addresses). Port 0:
 * a free one. ERR_INVALID names the text.
 */
int hostport_parse_listen(const char *text, struct hostport *out, struct err *err);

/* Parses one to five digits, 0 to 65535; else -1. */
int hostport_port(const char *text);

/* "host:port"; a host with colons gets brackets unless it has them. The caller owns it. */
char *hostport_join(const char *host, unsigned port);
char *hostport_join_text(const char *host, const char *port);

#endif
