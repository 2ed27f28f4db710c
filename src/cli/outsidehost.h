/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OUTSIDEHOST_H
#define CLI_OUTSIDEHOST_H

/*
 * The address at which the API server reaches kscaled outside the cluster: "name:port",
 * "10.0.0.7:8443" or "[fd00::7]:8443", checked by the rules of the Kubernetes objects that contain
 * it. A value: owns nothing, resolves nothing.
 */

#include "base/err.h"

enum outsidehost_kind { OUTSIDEHOST_NAME, OUTSIDEHOST_IPV4, OUTSIDEHOST_IPV6 };

struct outsidehost {
	enum outsidehost_kind kind;
	char host[254]; /* a DNS name, or an address in its canonical form, without brackets */
	int port;       /* 1 to 65535 */
};

/*
 * ERR_INVALID: no port or one out of range, an empty host, an IPv6 address without brackets, a name
 * that is not a lower-case DNS name, or an address that an EndpointSlice may not have (loopback,
 * link-local, multicast, unspecified).
 */
int outsidehost_parse(const char *text, struct outsidehost *out, struct err *err);

#endif
