/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_WEB_WEBACCESS_H
#define NET_WEB_WEBACCESS_H

/*
 * Who we are to an HTTP server, and how it is trusted: credentials and TLS of a trigger, for
 * net/web/webget. Unchanging and counted, so that a question and its requests under way share one;
 * wiped with the last count. Scalers make one from their parameters (scalers/httpauth) and put its
 * key into the question's key.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct webaccess; /* shared, counted */

/*
 * Texts are borrowed and copied; NULL or "" is "not given". Of the kinds of credentials several may
 * be given together: each is sent.
 */
struct webaccess_config {
	const char *bearer; /* Authorization: Bearer */
	/* Authorization: Basic, when there is a username; the password may be empty */
	const char *username, *password;
	const char *header_name, *header_value; /* a header of its own */
	const char *query_name, *query_value;   /* a parameter of the URL */
	/* OAuth 2 client credentials: a token is fetched and sent as bearer */
	struct {
		const char *token_url, *client_id, *client_secret;
		const char *scopes; /* separated by blanks */
		const char *params; /* more of the form: "k=v&k=v", escaped */
	} oauth;
	struct { /* AWS Signature Version 4, when there is a key_id */
		const char *region, *service, *key_id, *secret_key, *session_token;
	} aws;
	const char *ca_pem;             /* trusted besides the system's roots */
	const char *cert_pem, *key_pem; /* client certificate, both or none */
	bool insecure;                  /* verifies nothing (unsafeSsl) */
};

/*
 * Checks what it is given (PEMs are read, texts that become headers hold no line breaks).
 * ERR_INVALID names the field, never its value. The caller owns one count.
 */
struct webaccess *webaccess_new(const struct webaccess_config *config, struct err *err);
struct webaccess *webaccess_ref(struct webaccess *a); /* NULL gives NULL */
void webaccess_unref(struct webaccess *a);            /* NULL is fine */

/*
 * For question keys: no secret, the same text for the same access in this process. "open" of NULL.
 */
const char *webaccess_key(const struct webaccess *a);

/*
 * Whether a server's words repeat a secret that it was sent: such words are not shown. a may be
 * NULL. Tokens that were fetched (OAuth) are not known here.
 */
bool webaccess_repeats(const struct webaccess *a, const char *words);

/* ---- For net/web/webget and net/web/webtoken ---- */

/* borrowed, a NULL for each text that was not given */
const struct webaccess_config *webaccess_config(const struct webaccess *a); /* NULL gives NULL */
/*
 * Tells OAuth clients apart (token URL, client, secret, scopes, parameters, trust); NULL when there
 * is none.
 */
const char *webaccess_token_key(const struct webaccess *a);
/*
 * The same trust and client certificate without credentials; with basic set: that user. The caller
 * owns one count.
 */
struct webaccess *webaccess_for_token(const struct webaccess *a, bool basic);
/* The same trust and nothing else: for a server that a redirect leads to. */
struct webaccess *webaccess_for_stranger(const struct webaccess *a);

#endif
