/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_NET_HTTPD_HTTPDSERVER_H
#define TESTS_UNIT_NET_HTTPD_HTTPDSERVER_H

#include "../fixture.h"
#include "net/httpd/httpd.h"

/*
 * A server whose handler answers by path: "/hold" keeps the request until the test replies, "/echo"
 * returns the body, "/big" a megabyte, "/huge" 32, everything else a description of the request.
 */
struct server {
	struct fixture *f;
	struct tls_server *tls;
	struct httpd *h;
	int requests;
	struct httpd_request *held;
	int gone;
	int data_freed;
};

int server_setup(void **state);
int server_teardown(void **state);
void server_start(struct server *s, const struct httpd_config *config, bool tls);
void server_stop(struct server *s);
/* as the server wants it: plain, or TLS with the handshake done */
void server_open_client(struct server *s, struct client *c);
struct httpd_config server_defaults(void);
void server_on_request(void *arg, struct httpd_request *r); /* the handler */

#endif
