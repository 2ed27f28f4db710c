/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_ENDPOINT_H
#define NET_ENDPOINT_H

/*
 * What endpoints of all protocols share: a server, our credentials there, and how its certificate
 * is verified. An endpoint is immutable, reference-counted and does no I/O; connections are shared
 * by its key. A protocol's struct begins with a struct endpoint and adds its own settings. (HTTP
 * keeps server and access apart: net/http/httphost, net/web/webaccess.)
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/fingerprint.h"
#include "base/hash.h"
#include "net/tls/tls.h"

struct endpoint {
	unsigned count;               /* references */
	char *key;                    /* identity without secrets: server, settings, a fingerprint of the credentials */
	size_t key_len;               /* for net/pool, which looks it up for each call; 0: not computed yet */
	unsigned key_hash;            /* likewise */
	char *name;                   /* for messages: "db.shop:5432" */
	char *namespace_;             /* of the trigger that made it; "": unknown */
	bool shared;                  /* other namespaces use its connections, too */
	struct tls_client_config tls; /* texts and roots are owned; NULL for none */
	void (*done)(struct endpoint *e); /* frees and wipes the protocol's own fields */
	char *place;       /* namespace and key if it is the unique one (endpoint_unique); otherwise NULL */
	UT_hash_handle hh; /* by place */
};

/* Allocates `size` zeroed bytes, which begin with a struct endpoint, with one reference. */
void *endpoint_new(size_t size, void (*done)(struct endpoint *e));
/* `endpoint` below is a struct endpoint, or one of a protocol. */
void *endpoint_ref(void *endpoint);  /* returns it */
void endpoint_unref(void *endpoint); /* wipes and frees with the last reference; NULL is fine */

/*
 * Returns the unique endpoint of this namespace and key: this one or, if one exists already, that
 * one with a new reference, and this one loses its own. So a thousand triggers of one server share
 * one endpoint.
 */
void *endpoint_unique(void *endpoint);

void endpoint_set_namespace(struct endpoint *e, const char *namespace_); /* at most once; NULL means "" */
/* Sets the name: the servers as given, truncated. */
void endpoint_set_name(struct endpoint *e, const char *servers);
/* Notes that the connections of e also serve `other`, which has the same key. */
void endpoint_share(struct endpoint *e, const struct endpoint *other);
/* The namespace that its connections count for (net/descriptors); borrowed; "" for several. */
const char *endpoint_namespace(const struct endpoint *e);

/*
 * Copies the texts; an empty one counts as none. The roots are the given ones, or those of the CA
 * text.
 */
void endpoint_take_tls(struct endpoint *e, const struct tls_client_config *given);
/*
 * Parses the PEM texts. An encrypted key is decrypted and kept without its password, so that no
 * connection pays for that again.
 */
int endpoint_check_tls(struct endpoint *e, struct err *err);

/* For a key: " tls", " tls-insecure", or "" without TLS. */
const char *endpoint_tls_word(const struct endpoint *e, bool tls);

/* Fingerprint of the secrets and the TLS texts; returns out. */
char *endpoint_fingerprint(const struct endpoint *e, const char *const *secrets, size_t count,
	char out[FINGERPRINT_TEXT]);

#endif
