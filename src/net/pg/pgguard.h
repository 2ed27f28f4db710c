/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PGGUARD_H
#define NET_PG_PGGUARD_H

/*
 * Judges the messages of a PostgreSQL server (PostgreSQL's manual, "Message Formats") before libpq
 * sees them, in every state of a connection: libpq stores a message of any length before it looks
 * at it, keeps each setting that a server reports, computes as many iterations of SCRAM as a server
 * asks for, and calls the Kerberos library, which blocks, when a server wants that. Pure:
 * net/pg/pgpump carries the bytes.
 *
 * A session is reset after each statement of a trigger: DISCARD ALL is sent right behind it
 * (PGGUARD_RESET), so that it runs in the same session even behind a pooler, and its answer is
 * taken out of the stream here. A session that cannot be reset is not used again.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define PGGUARD_LOGIN_MAX    ((size_t)64 << 10) /* bytes until the login is complete */
#define PGGUARD_ANSWER_MAX   ((size_t)1 << 20)  /* of the answer to one statement */
#define PGGUARD_IDLE_MAX     ((size_t)64 << 10) /* after it, until the next statement */
#define PGGUARD_LISTEN_MAX   ((size_t)16 << 20) /* on a connection that listens, from one statement to the next */
#define PGGUARD_MESSAGE_MAX  ((size_t)16 << 10) /* of one message that is no answer: notifications have 8,000 bytes */
#define PGGUARD_SETTINGS_MAX ((size_t)4 << 10)  /* of settings that a server reports during the login */

/* DISCARD ALL as a simple query. */
#define PGGUARD_RESET "Q\0\0\0\20DISCARD ALL"

struct pgguard {
	bool listens;    /* the connection is for notifications; set before the first byte */
	bool channel;    /* channel_binding=require: a login by SCRAM alone; set before the first byte */
	bool logs_in;    /* a login by SCRAM is its owner's, not libpq's; set before the first byte */
	bool complained; /* the server refused the login with a message of its own */
	bool worn;       /* the session is not to be used for another statement */
	struct err err;  /* ERR_NONE; else why the server is not listened to any more */
	/*
	 * What it said for that login, in the bytes that were taken last, and its code; NULL:
	 * nothing.
	 */
	const unsigned char *said;
	size_t said_len;
	unsigned said_code;
	/* For pgguard.c. */
	enum { PGGUARD_LOGIN, PGGUARD_OPEN, PGGUARD_DEAF } phase;
	bool authenticated, proved; /* AuthenticationOk came; a login by SCRAM was complete before */
	bool ours;                  /* the login by SCRAM that is under way */
	bool drops;                 /* of the message under way */
	uint32_t left;              /* bytes of it that are missing */
	unsigned due;               /* answers, each two steps: of a statement (even) and of its reset (odd) */
	size_t bytes;               /* in this state */
	size_t settings;
};

/*
 * Takes what the server sent. Returns how many of the bytes are done with; of these, *kept, moved
 * to the front, are for libpq. The others must come again, with what follows them. All may be
 * altered.
 */
size_t pgguard_take(struct pgguard *g, unsigned char *bytes, size_t len, size_t *kept);

void pgguard_opened(struct pgguard *g); /* the login is complete */
void pgguard_asked(struct pgguard *g);  /* a statement goes out; with PGGUARD_RESET behind it unless g->listens */

#endif
