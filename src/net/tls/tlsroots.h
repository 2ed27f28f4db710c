/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_TLS_TLSROOTS_H
#define NET_TLS_TLSROOTS_H

/*
 * The authorities that objects name (`ca`), as stores that connections share. OpenSSL takes up to
 * 0.4 ms and 6 KiB per certificate; reading a text of 256 for each connection would stop the loop
 * for 0.1 s. Every user of a text (net/endpoint, net/web/webaccess, net/identity) holds one of
 * these. The store is made when it is first needed, charged to the namespace that paid when the
 * text was registered (net/tls/computing), and dropped when others need the room: from the
 * namespace that has most.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

typedef struct x509_store_st X509_STORE;

#define TLSROOTS_TEXT_MAX 256  /* certificates of one text; a system's whole bundle has 150 */
#define TLSROOTS_KEPT_MAX 2048 /* certificates in stores that are kept */
#define TLSROOTS_IDLE_MAX 256  /* certificates of texts without a reference */

struct tlsroots; /* shared, counted */

/*
 * The one for this text and namespace, with a reference. Reads nothing yet. NULL for NULL and "".
 */
struct tlsroots *tlsroots_get(const char *ca_pem);
/*
 * For a file of this host, which may hold more certificates than a text; charged to kscaled itself.
 */
struct tlsroots *tlsroots_get_of_file(const char *ca_pem);
struct tlsroots *tlsroots_ref(struct tlsroots *r); /* NULL gives NULL */
void tlsroots_unref(struct tlsroots *r);           /* NULL is fine */

/*
 * Its store, borrowed until the next call of this module; to keep it, take a reference
 * (SSL_CTX_set1_cert_store). It must not be changed. NULL with err: ERR_INVALID, the text has no
 * certificate or too many; ERR_TEMPORARY, the namespace must wait before it is read.
 */
X509_STORE *tlsroots_store(struct tlsroots *r, struct err *err);

/*
 * A path that does not exist, unique per text: libcurl, which does not get the text, must not share
 * connections of different trust.
 */
const char *tlsroots_path(const struct tlsroots *r);

/* Number of certificates in stores that are kept, for tests. */
size_t tlsroots_kept(void);

#endif
