/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_DNS_DNSADDRESS_H
#define NET_DNS_DNSADDRESS_H

/* One address of a host name, with the requested port. */

#include <sys/socket.h>

#define DNS_ADDRESSES_MAX 16 /* of one name; further ones are ignored */

struct dns_address {
	struct sockaddr_storage sa;
	socklen_t len;
};

#endif
