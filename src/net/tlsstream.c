/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tlsstream.h"

#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <openssl/ssl.h>

struct bufferevent *tlsstream_new(struct loop *loop, int fd, SSL_CTX **context, const struct tls_client_config *config,
	const char *name, SSL **ssl, struct err *err)
{
	struct bufferevent *bev;

	if (!*context)
		*context = tls_client_context(config, err);
	*ssl = *context ? tls_client_session(*context, name, config->insecure, err) : NULL;
	if (!*ssl)
		return NULL;
	bev = bufferevent_openssl_socket_new(loop_base(loop), fd, *ssl, BUFFEREVENT_SSL_CONNECTING,
		BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
	if (!bev) {
		SSL_free(*ssl);
		*ssl = NULL;
		err_set(err, ERR_TEMPORARY, "the TLS stream could not be set up");
		return NULL;
	}
	bufferevent_openssl_set_allow_dirty_shutdown(bev, 1);
	return bev;
}
