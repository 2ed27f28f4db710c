/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_WEB_WEBACCESS_H
#define NET_WEB_WEBACCESS_H

/*
 * The credentials and TLS settings of a trigger for an HTTP server (net/web/webclient). Immutable
 * and reference-counted, so that a query and its requests under way share one; wiped with the last
 * reference. Scalers make one from their parameters (scalers/login/httpauth), and its key becomes
 * part of the query's key.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/http/webrequest.h"
#include "net/identity/identity.h"
#include "net/sign/sigv4.h"

struct webaccess; /* shared, counted */

/*
 * Texts are copied; NULL or "" means not given. Several kinds of credentials may be given: all are
 * sent.
 */
struct webaccess_config {
	const char *bearer; /* Authorization: Bearer */
	/* Authorization: Basic, when there is a username; the password may be empty */
	const char *username, *password;
	const char *header_name, *header_value; /* any header */
	const char *query_name, *query_value;   /* a query parameter */
	/*
	 * whose credential is fetched and used: sent as bearer token or, when a service is given,
	 * requests are signed with it (AWS Signature Version 4). A reference is taken; NULL
	 */
	struct identity *identity;
	const char *region, *service;
	const char *ca_pem;             /* trusted in addition to the system's roots */
	struct tlsroots *roots;         /* ca_pem's; a reference is taken; NULL: looked up */
	const char *cert_pem, *key_pem; /* client certificate and key: both or none */
	bool insecure;                  /* no verification (unsafeSsl) */
	bool operators;                 /* of webaccess_for_operator */
};

/*
 * Checks the settings (parses the PEMs; texts for headers must not hold line breaks). NULL with
 * ERR_INVALID, which names the field, never its value. Returns one reference.
 */
struct webaccess *webaccess_new(const struct webaccess_config *config, struct err *err);
struct webaccess *webaccess_ref(struct webaccess *a); /* NULL gives NULL */
void webaccess_unref(struct webaccess *a);            /* NULL is fine */

/* For query keys: no secret; equal for equal settings within this process. "open" for NULL. */
const char *webaccess_key(const struct webaccess *a);

/*
 * Whether words show a secret that was sent with the access (base/echo), as a host's name does that
 * a server redirects to. a may be NULL. What was fetched for an identity is not checked here.
 */
bool webaccess_echoes_secret(const struct webaccess *a, const char *words, const char *answer);

/*
 * Whether words made from a response must not be shown, as they repeat a secret that was sent for
 * it, be it the access's or an identity's credential.
 */
bool webaccess_must_hide(const struct webaccess *a, const struct webresponse *response, const char *words);

/* ---- For net/web ---- */

/* Borrowed; texts that were not given are NULL. */
const struct webaccess_config *webaccess_config(const struct webaccess *a); /* NULL gives NULL */
struct identity *webaccess_identity(const struct webaccess *a);             /* borrowed; NULL: there is none */
/*
 * Where what is derived of the credential with this serial (net/identity) for its region and
 * service is kept; empty for another serial than last time. Wiped with the access.
 */
struct sigv4_day *webaccess_signing_day(struct webaccess *a, uint64_t serial);
/* What an identity's servers are shown: its trust and client certificate. One reference. */
struct webaccess *webaccess_for_identity(const struct identity *i);
/*
 * How whoever runs kscaled trusts a server of his: by ca_pem alone, or by the system's roots alone
 * (NULL); options for triggers' servers (net/tls/tlsrules) do not apply. One reference.
 */
struct webaccess *webaccess_for_operator(const char *ca_pem, bool insecure);
/* The same trust without credentials: for another server that a redirect leads to. */
struct webaccess *webaccess_without_credentials(const struct webaccess *a);

#endif
