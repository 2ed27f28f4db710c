/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tlsstream.h"

#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <openssl/ssl.h>
#include <string.h>

struct bufferevent *tlsstream_over(struct loop *loop, int fd, SSL *ssl, struct err *err)
{
	struct bufferevent *bev = bufferevent_openssl_socket_new(loop_base(loop), fd, ssl, BUFFEREVENT_SSL_CONNECTING,
		BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);

	if (!bev) {
		SSL_free(ssl);
		err_set(err, ERR_TEMPORARY, "the TLS stream could not be set up");
		return NULL;
	}
	bufferevent_openssl_set_allow_dirty_shutdown(bev, 1);
	return bev;
}

struct bufferevent *tlsstream_new(struct loop *loop, int fd, SSL_CTX **context, const struct tls_client_config *config,
	const char *name, SSL **ssl, struct err *err)
{
	struct bufferevent *bev;

	if (!*context)
		*context = tls_client_context(config, err);
	*ssl = *context ? tls_client_session(*context, name, config->insecure, err) : NULL;
	bev = *ssl ? tlsstream_over(loop, fd, *ssl, err) : NULL;
	if (!bev)
		*ssl = NULL;
	return bev;
}

void tlsstream_explain_end(struct bufferevent *bev, SSL *ssl, bool shaking, short what, int error, const char *hint,
	struct err *err)
{
	unsigned long code = ssl ? bufferevent_get_openssl_error(bev) : 0;
	char reason[256];

	if (shaking) {
		/*
		 * libevent puts OpenSSL's result codes (below 16) into the same list as its errors.
		 */
		tls_explain(ssl, code < 16 ? 0 : code, reason, sizeof(reason));
		err_set(err, ERR_TEMPORARY, "TLS handshake: %s%s", reason,
			strstr(reason, "wrong version") ? " (the server does not speak TLS here)" : hint);
	} else if (code >= 16) { /* in TLS 1.3 a server refuses a certificate after the handshake */
		tls_explain(ssl, code, reason, sizeof(reason));
		err_set(err, ERR_TEMPORARY, "TLS: %s", reason);
	} else if (what & BEV_EVENT_EOF || !error) {
		err_set(err, ERR_TEMPORARY, "the server closed the connection%s", hint);
	} else {
		err_set(err, ERR_TEMPORARY, "%s%s", strerror(error), hint);
	}
}
