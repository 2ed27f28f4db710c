/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TLS server that never says anything: after each handshake it sends session tickets without end,
 * for which the other side has work but no data. No server that exists does so, and Python's ssl
 * sends no tickets by itself.
 *
 *   tls_flood PORT CERT KEY
 */
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* OpenSSL does not say it when a ticket cannot be sent. */
static int is_open(int fd)
{
	struct pollfd p = { .fd = fd };

	return poll(&p, 1, 0) == 0;
}

static void flood(SSL_CTX *ctx, int fd)
{
	SSL *ssl = SSL_new(ctx);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	SSL_set_fd(ssl, fd);
	if (SSL_accept(ssl) == 1) {
		while (is_open(fd) && SSL_new_session_ticket(ssl) == 1 && SSL_do_handshake(ssl) == 1)
			;
		printf("flooded\n");
	}
	fflush(stdout);
	_exit(0);
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1, fd;

	if (argc != 4 || SSL_CTX_use_certificate_chain_file(ctx, argv[2]) != 1 ||
		SSL_CTX_use_PrivateKey_file(ctx, argv[3], SSL_FILETYPE_PEM) != 1) {
		fprintf(stderr, "usage: tls_flood PORT CERT KEY\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	address.sin_port = htons((unsigned short)atoi(argv[1]));
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(listener, 128) < 0) {
		perror("tls_flood");
		return 2;
	}
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		if (fork() == 0)
			flood(ctx, fd);
		close(fd);
	}
	return 1;
}
