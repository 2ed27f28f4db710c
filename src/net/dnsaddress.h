/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_DNSADDRESS_H
#define NET_DNSADDRESS_H

/* What a name leads to: one address with the port that was asked for. */

#include <sys/socket.h>

#define DNS_ADDRESSES_MAX 16 /* a name may have more; the first ones count */

struct dns_address {
	struct sockaddr_storage sa;
	socklen_t len;
};

#endif
