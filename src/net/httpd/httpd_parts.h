/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTPD_HTTPD_PARTS_H
#define NET_HTTPD_HTTPD_PARTS_H

/*
 * A server, its connections and requests: shared by httpd.c, which drives them, and
 * httpd_request.c, which reads a request.
 */

#include <event2/event.h>
#include <event2/http.h>
#include <openssl/ssl.h>
#include <time.h>

#include "base/hash.h"
#include "net/httpd/httpd.h"
#include "net/httpd/httppath.h"

enum httpd_phase {
	PHASE_HANDSHAKE, /* TLS only */
	PHASE_IDLE,      /* between requests */
	PHASE_READING,   /* the first byte of a request has come, the last has not */
	PHASE_HELD,      /* the handler has it */
	PHASE_WRITING,   /* the reply is being sent */
};

/* Decoded text handed out, freed with the request. */
struct decoded_text {
	struct decoded_text *next;
	char bytes[];
};

/* A member of its connection: HTTP/1.1 answers requests one after the other. */
struct httpd_request {
	struct httpd_conn *conn;
	struct evhttp_request *req; /* NULL when there is no request */
	struct httppath target;
	struct decoded_text *texts;
	void (*gone_fn)(void *arg);
	void *gone_arg;
};

struct httpd_conn {
	struct httpd *h;
	struct httpd_conn *prev, *next;
	UT_hash_handle hh; /* by bev */
	struct bufferevent *bev;
	struct evhttp_connection *evcon; /* NULL until settled */
	SSL *ssl;                        /* owned by bev; NULL on plain HTTP */
	struct evbuffer_cb_entry *input_cb;
	struct loop_task settle;
	enum httpd_phase phase;
	int64_t since_ms; /* in this phase */
	size_t got;       /* bytes of the request under way */
	size_t sending;   /* of the reply */
	bool refused;     /* over the limit, or no certificate yet: closed at the end of this turn */
	bool doomed;      /* sent more than allowed: closed at the end of this turn */
	void *data;
	void (*data_free)(void *);
	char peer[64];
	struct httpd_request request;
};

struct httpd {
	struct loop *loop;
	struct httpd_config config; /* its texts are borrowed during httpd_new only */
	httpd_handler handler;
	void *arg;
	struct evhttp *http;
	struct evhttp_bound_socket *bound;
	uint16_t port;
	bool local;                /* on a Unix socket */
	struct httpd_conn *conns;  /* list */
	struct httpd_conn *by_bev; /* hash */
	int count;                 /* without refused ones */
	size_t got, sending;       /* sums over conns */
	time_t dated;              /* the second for which `date` was made */
	char date[50];
	struct loop_timer sweep, accept_again;
	struct httpd *next;
};

#endif
