/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PGGUARD_H
#define NET_PG_PGGUARD_H

/*
 * Checks the messages of a PostgreSQL server (PostgreSQL's manual, "Message Formats") before libpq
 * reads them, in every state of a connection: libpq stores a message of any length before it looks
 * at it, stores each setting that a server reports, computes as many SCRAM iterations as a server
 * requests, and calls the Kerberos library, which blocks, if a server asks for that. Pure:
 * net/pg/pgpump moves the bytes.
 *
 * A session is reset after each statement of a trigger: DISCARD ALL is sent together with it
 * (PGGUARD_RESET), so that it runs in the same session even behind a pooler; its answer is removed
 * from the stream here. A session that cannot be reset is not used again.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define PGGUARD_LOGIN_MAX    ((size_t)64 << 10) /* bytes until the login is complete */
#define PGGUARD_ANSWER_MAX   ((size_t)1 << 20)  /* of the answer to one statement */
#define PGGUARD_IDLE_MAX     ((size_t)64 << 10) /* after it, until the next statement */
#define PGGUARD_LISTEN_MAX   ((size_t)16 << 20) /* on a connection that listens, from one statement to the next */
#define PGGUARD_MESSAGE_MAX  ((size_t)16 << 10) /* of a message outside answers; notifications have 8,000 bytes */
#define PGGUARD_SETTINGS_MAX ((size_t)4 << 10)  /* of settings that a server reports during the login */

/* DISCARD ALL as a simple query. */
#define PGGUARD_RESET "Q\0\0\0\20DISCARD ALL"

struct pgguard {
	bool listens;    /* the connection is for notifications; set before the first byte */
	bool channel;    /* channel_binding=require: SCRAM logins only; set before the first byte */
	bool logs_in;    /* the owner does SCRAM logins, not libpq; set before the first byte */
	bool complained; /* the server refused the login with a message of its own */
	bool worn;       /* the session must not be used for another statement */
	struct err err;  /* ERR_NONE; else why no more of the server's data is accepted */
	/* for the owner's login: the server's message in the last bytes, and its code; NULL */
	const unsigned char *said;
	size_t said_len;
	unsigned said_code;
	/* For pgguard.c. */
	enum { PGGUARD_LOGIN, PGGUARD_OPEN, PGGUARD_DEAF } phase;
	bool authenticated, proved; /* AuthenticationOk was received; a SCRAM login completed before */
	bool ours;                  /* the owner does the current SCRAM login */
	bool drops;                 /* the current message is dropped */
	uint32_t left;              /* missing bytes of the current message */
	unsigned due;               /* expected answers, two steps each: statement (even) and reset (odd) */
	size_t bytes;               /* received in this state */
	size_t settings;
};

/*
 * Checks bytes from the server. Returns how many were consumed; the first *kept bytes are now those
 * for libpq. The rest must be passed again together with the bytes that follow. Modifies bytes.
 */
size_t pgguard_take(struct pgguard *g, unsigned char *bytes, size_t len, size_t *kept);

void pgguard_opened(struct pgguard *g); /* the login is complete */
void pgguard_asked(struct pgguard *g);  /* a statement is sent, followed by PGGUARD_RESET unless g->listens */

#endif
