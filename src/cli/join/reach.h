/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_JOIN_REACH_H
#define CLI_JOIN_REACH_H

/*
 * Candidate addresses at which the API server may reach this host, the likeliest first, if the user
 * gave none. `kscaled join` must try them: which works depends on how the API server resolves
 * Services, which cannot be queried.
 */

#include <stdbool.h>
#include <stddef.h>

struct reach_facts {         /* strings are owned; NULL: none */
	char *node_address;  /* this host is a node of the cluster: its InternalIP */
	char *route_address; /* of the interface towards the API server, or the default route; never loopback */
	char *dns_name;      /* the host's, if fully qualified */
	bool server_is_here; /* the API server runs on this host, as k3s's does */
};

struct reach_addr {
	char *host;      /* "HOST:PORT", as for --host; owned */
	const char *why; /* for messages */
};

#define REACH_MAX 4

/* Fills `out`; returns how many there are. Pure. */
size_t reach_addrs(const struct reach_facts *facts, unsigned port, struct reach_addr out[REACH_MAX]);
void reach_addrs_done(struct reach_addr *addrs, size_t count);

/* Finds all but node_address. server: the API server's URL. Sends nothing. */
void reach_look(const char *server, struct reach_facts *out);
bool reach_is_own_address(const char *address); /* one of this host's interfaces has it */
void reach_facts_done(struct reach_facts *facts);

#endif
