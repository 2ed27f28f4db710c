/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HOSTPORT_H
#define CLI_HOSTPORT_H

/*
 * Where the API server finds a kscaled that runs outside the cluster: "name:port", "10.0.0.7:8443" or "[fd00::7]:8443", read and checked
 * by the rules of the Kubernetes objects it is written into. A value: owns nothing, resolves nothing.
 */

#include "base/err.h"

enum hostport_kind { HOSTPORT_NAME, HOSTPORT_IPV4, HOSTPORT_IPV6 };

struct hostport {
	enum hostport_kind kind;
	char host[254]; /* a DNS name, or an address in its canonical form, without brackets */
	int port;       /* 1 to 65535 */
};

/*
 * Errors (ERR_INVALID): no port or one out of range, an empty host, an IPv6 address without brackets, a name that is no lower-case DNS-1123
 * subdomain, and addresses that an EndpointSlice may not hold (loopback, link-local, multicast, unspecified).
 */
int hostport_parse(const char *text, struct hostport *out, struct err *err);

/* Whether text is a DNS-1123 label of 1 to 63 characters, as the name of a namespace must be. */
int hostport_is_label(const char *text);

#endif
