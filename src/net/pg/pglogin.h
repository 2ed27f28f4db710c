/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PGLOGIN_H
#define NET_PG_PGLOGIN_H

/*
 * Parses the login of a connection, byte by byte, for one thing that libpq must not see: a request
 * for a GSSAPI or SSPI login (AuthenticationGSS, AuthenticationGSSContinue, AuthenticationSSPI:
 * PostgreSQL's manual, "Message Formats"). libpq would call the Kerberos library, which looks up
 * names and talks to other servers, and block the process meanwhile. Under TLS nothing can be
 * parsed: see net/kerberos.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed: nothing was sent yet. */
struct pglogin {
	enum { PGLOGIN_SILENT, PGLOGIN_TLS_ANSWER, PGLOGIN_HEAD, PGLOGIN_CODE, PGLOGIN_BODY, PGLOGIN_OPAQUE } state;
	unsigned char words[9]; /* bytes of the client, then of the message being read */
	unsigned have;
	uint32_t left;    /* bytes of the message body that are missing */
	bool complained;  /* an error came first, which tells more */
	const char *asks; /* "GSSAPI" or "SSPI": to be refused */
};

/* Takes what libpq sends, before it is passed on: tells whether TLS follows. */
void pglogin_client(struct pglogin *l, const unsigned char *bytes, size_t len);

/*
 * Takes what the server sends. Returns how many of the bytes libpq may see now: fewer than all
 * until libpq has sent something, or, when asks is set, for ever.
 */
size_t pglogin_server(struct pglogin *l, const unsigned char *bytes, size_t len);

/* Whether the text is libpq's error about such a request under TLS. */
bool pglogin_is_refusal(const char *text);

#endif
