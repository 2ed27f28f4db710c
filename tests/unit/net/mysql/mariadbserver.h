/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_NET_MYSQL_MARIADBSERVER_H
#define TESTS_UNIT_NET_MYSQL_MARIADBSERVER_H

/*
 * Starts a real MariaDB on loopback and a Unix socket, with TLS. Users: plain (password "s3cret"),
 * none (no password), tlsonly (REQUIRE SSL), ed (client_ed25519). Database shop.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "../fixture.h"

struct mariadbserver {
	char *ca_pem; /* CA of its certificate, which is for localhost, 127.0.0.1 and ::1 */
	char folder[64], socket[96];
	uint16_t port;
	pid_t pid;
};

bool mariadbserver_there(void);
void mariadbserver_make(struct mariadbserver *w, struct fixture *f); /* and starts it */
void mariadbserver_start(struct mariadbserver *w);
void mariadbserver_stop(struct mariadbserver *w, int signo);
void mariadbserver_freeze(const struct mariadbserver *w); /* stopped when this returns; SIGCONT ends it */
void mariadbserver_remove(struct mariadbserver *w);
void mariadbserver_sql(const struct mariadbserver *w, const char *sql); /* as root; by the mariadb program */

#endif
