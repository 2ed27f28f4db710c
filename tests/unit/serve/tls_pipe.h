/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_SERVE_TLS_PIPE_H
#define TESTS_UNIT_SERVE_TLS_PIPE_H

/*
 * A finished TLS handshake in memory between a client with a certificate of its own (or none) and a
 * server as net/tls/tls makes it.
 */

#include "net/tls/tls.h"
#include "net/tls/x509.h"

struct tls_pipe {
	struct tls_server *tls;
	SSL_CTX *client_ctx;
	SSL *client, *server;
};

void tls_pipe_open(struct tls_pipe *p, const struct x509_pair *server, const struct x509_pair *client /* NULL: none */);
void tls_pipe_close(struct tls_pipe *p);

#endif
