/* SPDX-License-Identifier: Apache-2.0 */
#include "tls_pipe.h"

#include <assert.h>
#include <stdlib.h>

#include <openssl/bio.h>
#include <openssl/ssl.h>

void tls_pipe_open(struct tls_pipe *p, const struct x509_pair *server, const struct x509_pair *client)
{
	struct tls_client_config config = { .cert_pem = client ? client->cert_pem : NULL,
		.key_pem = client ? client->key_pem : NULL,
		.insecure = true };
	BIO *a, *b;
	int done = 0;

	p->tls = tls_server_new(NULL);
	if (!p->tls || tls_server_set_certificate(p->tls, server->cert_pem, server->key_pem, NULL))
		abort();
	p->server = tls_server_session(p->tls);
	p->client_ctx = tls_client_context(&config, NULL);
	p->client = tls_client_session(p->client_ctx, "test", true, NULL);
	BIO_new_bio_pair(&a, 0, &b, 0);
	SSL_set_bio(p->server, a, a);
	SSL_set_bio(p->client, b, b);
	SSL_set_connect_state(p->client);
	for (int i = 0; i < 20 && done != 3; i++)
		done = (SSL_do_handshake(p->client) == 1) | (SSL_do_handshake(p->server) == 1) << 1;
	assert(done == 3);
}

void tls_pipe_close(struct tls_pipe *p)
{
	SSL_free(p->client);
	SSL_free(p->server);
	SSL_CTX_free(p->client_ctx);
	tls_server_free(p->tls);
}
