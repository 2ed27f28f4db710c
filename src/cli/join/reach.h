/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_JOIN_REACH_H
#define CLI_JOIN_REACH_H

/*
 * By which addresses the API server may reach this host, the likeliest first, for a user who named
 * none. Which of them works is for `kscaled join` to try: it depends on how the API server finds
 * Services, which nobody can ask it.
 */

#include <stdbool.h>
#include <stddef.h>

struct reach_facts {         /* strings are owned; NULL: there is none */
	char *node_address;  /* this host is a node of the cluster: its InternalIP */
	char *route_address; /* of the interface that leads to the API server, or anywhere; no loopback */
	char *dns_name;      /* the host's, when it is a whole one */
	bool server_is_here; /* the API server runs on this host, as k3s's does */
};

struct reach_way {
	char *host;      /* "HOST:PORT", as --host has it; owned */
	const char *why; /* for people */
};

#define REACH_MAX 4

/* Fills `out`; returns how many there are. Pure. */
size_t reach_ways(const struct reach_facts *facts, unsigned port, struct reach_way out[REACH_MAX]);
void reach_ways_done(struct reach_way *ways, size_t count);

/* Looks at this host: server is the API server's URL. Sends nothing. All but node_address. */
void reach_look(const char *server, struct reach_facts *out);
bool reach_is_own_address(const char *address); /* one of this host's interfaces has it */
void reach_facts_done(struct reach_facts *facts);

#endif
