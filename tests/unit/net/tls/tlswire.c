/* SPDX-License-Identifier: Apache-2.0 */
#include "tlswire.h"

#include "../fixture.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

void tlswire_up(struct tlswire *w, SSL *server, SSL *client)
{
	BIO *a, *b;

	assert_non_null(server);
	assert_non_null(client);
	assert_int_equal(BIO_new_bio_pair(&a, 0, &b, 0), 1);
	SSL_set_bio(server, a, a);
	SSL_set_bio(client, b, b);
	*w = (struct tlswire){ server, client };
}

static bool wants_more(SSL *ssl, int result)
{
	int code = SSL_get_error(ssl, result);

	return result == 1 || code == SSL_ERROR_WANT_READ || code == SSL_ERROR_WANT_WRITE;
}

bool tlswire_shake(struct tlswire *w, char *why, size_t size)
{
	for (int i = 0; i < 10; i++) {
		int client = SSL_do_handshake(w->client), server;

		if (!wants_more(w->client, client)) {
			tls_explain(w->client, ERR_peek_last_error(), why, size);
			ERR_clear_error();
			return false;
		}
		ERR_clear_error();
		server = SSL_do_handshake(w->server);
		if (!wants_more(w->server, server)) {
			tls_explain(w->server, ERR_peek_last_error(), why, size);
			ERR_clear_error();
			return false;
		}
		ERR_clear_error();
		if (client == 1 && server == 1)
			return true;
	}
	return false;
}

void tlswire_cut(struct tlswire *w)
{
	SSL_free(w->server);
	SSL_free(w->client);
}
