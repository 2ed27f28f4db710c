/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_SOURCERULES_H
#define NET_SOURCERULES_H

/*
 * Where the servers may be that objects name. Whoever may write an object chooses what kscaled
 * connects to, and kscaled's host reaches more than his Pods do: what listens on loopback, Unix
 * sockets, the cloud's metadata service, kscaled's own ports. So addresses are judged, not names,
 * and each one at the moment when it is connected to: behind redirects, behind what a Redis Cluster
 * or a sentinel announces, and when a name leads elsewhere than a moment ago.
 *
 * Never: link-local addresses (among them 169.254.169.254), the metadata addresses of clouds that
 * are not, multicast, and kscaled's own listeners on any address of this host. Loopback, addresses
 * that mean this host, and Unix sockets: with --allow-local-sources. An IPv4 address that is
 * written as an IPv6 one (mapped, NAT64) is judged as what it is.
 *
 * A loop has one (loop_source_rules), which lets everything pass until the daemon says otherwise.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"

#define SOURCERULES_PORTS_MAX 4

struct sourcerules {
	bool judges;                               /* false: everything passes */
	bool allow_local;                          /* loopback and Unix sockets */
	uint16_t own_ports[SOURCERULES_PORTS_MAX]; /* that kscaled listens on; 0: none */
};

/*
 * 0: may be connected to. -1: ERR_TEMPORARY, as a name may lead elsewhere later, with the address
 * and what to do.
 */
int sourcerules_judge(const struct sourcerules *rules, const struct sockaddr *address, socklen_t len, struct err *err);

/* The same for the path of a Unix socket. */
int sourcerules_judge_path(const struct sourcerules *rules, const char *path, struct err *err);

#endif
