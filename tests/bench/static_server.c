/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The yardstick of the benchmark: a bare evhttp server over TLS that gives one fixed answer, with
 * the library's own means only and nothing of kscaled. What a request costs beside it is what
 * kscaled adds.
 *
 *   static_server PORT CERT KEY
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <openssl/ssl.h>

static const char answer[] = "{\"kind\":\"ExternalMetricValueList\",\"apiVersion\":\"external.metrics.k8s.io/"
			     "v1beta1\",\"metadata\":{},\"items\":[{\"metricName\":\"s0-redis-x\","
			     "\"metricLabels\":null,\"timestamp\":\"2026-01-02T03:04:05Z\",\"value\":\"0\"}]}\n";

static struct bufferevent *on_connection(struct event_base *base, void *ctx)
{
	return bufferevent_openssl_socket_new(base, -1, SSL_new(ctx), BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE);
}

static void on_request(struct evhttp_request *request, void *arg)
{
	struct evbuffer *body = evbuffer_new();

	(void)arg;
	evbuffer_add(body, answer, sizeof(answer) - 1);
	evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type", "application/json");
	evhttp_send_reply(request, 200, "OK", body);
	evbuffer_free(body);
}

int main(int argc, char **argv)
{
	struct event_base *base = event_base_new();
	struct evhttp *http = evhttp_new(base);
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct evconnlistener *listener;
	int on = 1;

	if (argc != 4 || SSL_CTX_use_certificate_chain_file(ctx, argv[2]) != 1 ||
		SSL_CTX_use_PrivateKey_file(ctx, argv[3], SSL_FILETYPE_PEM) != 1) {
		fprintf(stderr, "usage: static_server PORT CERT KEY\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	address.sin_port = htons((uint16_t)atoi(argv[1]));
	listener = evconnlistener_new_bind(base, NULL, NULL, LEV_OPT_REUSEABLE | LEV_OPT_CLOSE_ON_FREE, 128,
		(struct sockaddr *)&address, sizeof(address));
	if (!listener) {
		perror("listen");
		return 1;
	}
	setsockopt(evconnlistener_get_fd(listener), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	evhttp_bind_listener(http, listener);
	evhttp_set_bevcb(http, on_connection, ctx);
	evhttp_set_gencb(http, on_request, NULL);
	return event_base_dispatch(base);
}
