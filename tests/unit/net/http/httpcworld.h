/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_NET_HTTP_HTTPCWORLD_H
#define TESTS_UNIT_NET_HTTP_HTTPCWORLD_H

#include <stdio.h>

#include "../fixture.h"
#include "base/mem.h"
#include "net/http/httpc.h"
#include "net/httpd/httpd.h"

/*
 * Our own server, which answers with what it saw, or by the path: "/hold" never, "/307", "/404" and
 * "/503" with these, "/repeats?PREFIX" with a redirect to PREFIX and the credential it was sent,
 * "/big" with a megabyte, "/token" with one for OAuth, "/401" that it does not do.
 */
struct world {
	struct fixture *f;
	struct tls_server *tls;
	struct httpd *plain, *secure;
	struct httpc *c;
	char plain_url[64], secure_url[64];
	struct httpd_request *held;
	int held_count, gone, tokens, refused;
	char last_peer[64];
	char last_client[64]; /* common name of the last client certificate */
};

int world_setup(void **state);
int world_teardown(void **state);

/* The result of a request. */
struct result {
	struct world *w;
	struct httpc_call *call;
	int done, statuses, pieces;
	int status;                     /* on_status' */
	struct httpc_response response; /* its texts are copied below */
	char body[4096], content_type[64], location[128];
	size_t streamed;
	struct err err;
	/* What the callbacks do. */
	bool refuse, cancel_on_data, cancel_on_status, free_on_data, free_on_done, start_on_data, start_on_done;
	struct result *other; /* cancelled, or started, from inside */
};

struct httpc_call *start_request(struct result *r, const char *base, const char *path, struct httpc_request request,
	bool stream);
struct httpc_call *start(struct result *r, const char *path, bool stream); /* a GET from the plain server */

#define RESULT(name, world)                                                                                            \
	struct result *name = mem_zalloc(sizeof(struct result));                                                       \
	name->w = (world)

/* Proxies of the environment would swallow loopback too. */
void world_without_proxies(void);

#endif
