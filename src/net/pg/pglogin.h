/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PGLOGIN_H
#define NET_PG_PGLOGIN_H

/*
 * Reads along while libpq is let in, byte by byte, for the one thing that it must not see: a server
 * that asks for a login by GSSAPI or SSPI (AuthenticationGSS, AuthenticationGSSContinue,
 * AuthenticationSSPI: PostgreSQL's manual, "Message Formats"). libpq would call the Kerberos
 * library, which looks names up and talks to other servers, and nothing else would happen
 * meanwhile. Under TLS nothing can be read here: see net/kerberos.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialised: nobody has said anything yet. */
struct pglogin {
	enum { PGLOGIN_SILENT, PGLOGIN_TLS_ANSWER, PGLOGIN_HEAD, PGLOGIN_CODE, PGLOGIN_BODY, PGLOGIN_OPAQUE } state;
	unsigned char words[9]; /* of the client, then of the message that is being read */
	unsigned have;
	uint32_t left;    /* of the message's body */
	bool complained;  /* an error came first: it says more */
	const char *asks; /* "GSSAPI" or "SSPI": refused */
};

/* What libpq sends, before it is passed on: whether there will be TLS. */
void pglogin_client(struct pglogin *l, const unsigned char *bytes, size_t len);

/*
 * What the server sends: how many of these bytes libpq may see now. Fewer than all: until libpq has
 * spoken, or, when asks is set, for ever.
 */
size_t pglogin_server(struct pglogin *l, const unsigned char *bytes, size_t len);

/* What libpq says itself when it is asked for such a login under TLS. */
bool pglogin_is_refusal(const char *text);

#endif
