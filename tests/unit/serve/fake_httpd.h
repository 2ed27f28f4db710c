/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_SERVE_FAKE_HTTPD_H
#define TESTS_UNIT_SERVE_FAKE_HTTPD_H

/*
 * Replaces src/net/httpd/httpd at link time: the test writes the request down and reads the reply.
 * The real one needs sockets and time, and is tested together with this room in test_serve.
 */

#include <stdbool.h>
#include <stddef.h>

#include "net/httpd/httpd.h"

#define FAKE_HEADERS 16

struct fake_connection {
	SSL *tls; /* borrowed */
	void *data;
	void (*data_free)(void *);
	bool first;
};

struct fake_header {
	const char *name, *value;
};

struct httpd_request {
	struct fake_connection *connection;
	const char *method, *uri;
	struct fake_header headers[FAKE_HEADERS]; /* ended by a NULL name */
	struct fake_header repeat;                /* sent so many times besides: more headers than fit above */
	int repeat_count;
	const char *sent; /* its body; NULL: none */
	/* the result */
	void (*gone)(void *arg);
	void *gone_arg;
	int status; /* 0: no reply yet */
	char content_type[128];
	char body[65536];
	size_t body_len;
	char reply_headers[1024]; /* "Name: value\n" each */
	struct fake_text {
		struct fake_text *next;
		char bytes[];
	} * texts;
};

void fake_httpd_done(struct httpd_request *r);
void fake_httpd_close(struct fake_connection *c);
void fake_httpd_leave(struct httpd_request *r); /* the client goes away before the reply */
/* The reply's body as JSON has this text at a key; for messages and reasons. */
bool fake_httpd_says(const struct httpd_request *r, const char *key, const char *text);

#endif
