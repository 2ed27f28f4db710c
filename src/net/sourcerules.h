/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_SOURCERULES_H
#define NET_SOURCERULES_H

/*
 * Which addresses connections to triggers' servers may have. Authors of objects choose what kscaled
 * connects to, and kscaled's host can reach more than their Pods: listeners on loopback, Unix
 * sockets, the cloud's metadata service, kscaled's own ports. So each address, not the name, is
 * judged when a connection is made; that covers redirects, addresses that a Redis Cluster or a
 * sentinel announces, and names whose address changes.
 *
 * Always forbidden: link-local addresses (169.254.169.254 is one), other metadata addresses of
 * clouds, multicast, and kscaled's own listeners on any address of this host. Allowed with
 * --allow-local-sources only: loopback, the unspecified address, and Unix sockets. An IPv4 address
 * inside an IPv6 one (mapped, NAT64, 6to4 and the like) is judged as IPv4.
 *
 * The rules do not apply to the servers that hand out kscaled's own identity (net/identity, struct
 * webrequest: own), which are mostly link-local: their addresses come from kscaled's environment or
 * from the cloud, and no object can name or change them. net/web/webclient uses separate
 * connections for them, and follows no redirect from there.
 *
 * Nor do they apply to the proxies of kscaled's environment (net/http/httpproxies).
 *
 * They are in net/network, and allow everything until the daemon sets them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct sockaddr;

#define SOURCERULES_PORTS_MAX 4

struct sourcerules {
	bool judges;                               /* false: everything is allowed */
	bool allow_local;                          /* loopback and Unix sockets */
	uint16_t own_ports[SOURCERULES_PORTS_MAX]; /* ports that kscaled listens on; 0: none */
};

/*
 * 0: allowed. -1 with ERR_TEMPORARY, as the name may resolve to another address later; err names
 * the address and what to do.
 */
int sourcerules_judge(const struct sourcerules *rules, const struct sockaddr *address, size_t len, struct err *err);

/* The same for the path of a Unix socket. */
int sourcerules_judge_path(const struct sourcerules *rules, const char *path, struct err *err);

#endif
