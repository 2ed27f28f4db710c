/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_WEB_WEBACCESS_H
#define NET_WEB_WEBACCESS_H

/*
 * A trigger's credentials and TLS settings for an HTTP server (net/web/webclient). Immutable and
 * reference-counted: a query and its requests in progress share one; wiped with the last reference.
 * Scalers make one from their parameters (scalers/login/httpauth), and its key becomes part of the
 * query's key.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/http/webrequest.h"
#include "net/identity/identity.h"
#include "net/sign/sigv4.h"

struct webaccess; /* shared, counted */

/* Texts are copied; NULL or "": not given. All credentials that are given are sent. */
struct webaccess_config {
	const char *bearer; /* Authorization: Bearer */
	/* Authorization: Basic; the password may be empty */
	const char *username, *password;
	const char *header_name, *header_value; /* any header */
	const char *query_name, *query_value;   /* a query parameter */
	/*
	 * its credential is fetched and sent as bearer token or, with a service, signs the requests
	 * (AWS Signature Version 4). A reference is taken; NULL
	 */
	struct identity *identity;
	const char *region, *service;
	const char *ca_pem;             /* trusted in addition to the system's roots */
	struct tlsroots *roots;         /* of ca_pem; a reference is taken; NULL: looked up */
	const char *cert_pem, *key_pem; /* client certificate and key: both or none */
	bool insecure;                  /* no verification (unsafeSsl) */
	bool operators;                 /* set by webaccess_for_operator */
};

/*
 * Checks the settings: PEMs are parsed, header texts must be single lines. NULL with ERR_INVALID,
 * which names the field, never its value. Returns one reference.
 */
struct webaccess *webaccess_new(const struct webaccess_config *config, struct err *err);
struct webaccess *webaccess_ref(struct webaccess *a); /* NULL gives NULL */
void webaccess_unref(struct webaccess *a);            /* NULL is fine */

/*
 * For query keys. Holds no secret; equal for equal settings within this process. "open" for NULL.
 */
const char *webaccess_key(const struct webaccess *a);

/*
 * Whether words (such as the host that a redirect leads to), from a server's answer, contain a
 * secret that the access sent (base/echo). a may be NULL. Credentials fetched for an identity are
 * not checked here.
 */
bool webaccess_echoes_secret(const struct webaccess *a, const char *words, const char *answer);

/*
 * Whether words made from a response must be hidden, as they repeat a secret of the access or of
 * the identity's credential.
 */
bool webaccess_must_hide(const struct webaccess *a, const struct webresponse *response, const char *words);

/* ---- For net/web ---- */

/* Borrowed; texts that were not given are NULL. */
const struct webaccess_config *webaccess_config(const struct webaccess *a); /* NULL gives NULL */
struct identity *webaccess_identity(const struct webaccess *a);             /* borrowed; NULL: none */
/*
 * The cached signing key of the credential with this serial (net/identity), for the access's region
 * and service; empty if the serial differs from the last call's. Wiped with the access.
 */
struct sigv4_day *webaccess_signing_day(struct webaccess *a, uint64_t serial);
/* The access for an identity's own exchange: its trust and client certificate. One reference. */
struct webaccess *webaccess_for_identity(const struct identity *i);
/*
 * The access for a server that the administrator configured: trusts only ca_pem, or only the
 * system's roots (NULL); options for triggers' servers (net/tls/tlsrules) do not apply. One
 * reference.
 */
struct webaccess *webaccess_for_operator(const char *ca_pem, bool insecure);
/* The same trust without credentials, for a redirect to another server. */
struct webaccess *webaccess_without_credentials(const struct webaccess *a);

#endif
