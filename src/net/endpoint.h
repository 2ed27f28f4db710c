/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_ENDPOINT_H
#define NET_ENDPOINT_H

/*
 * What the endpoints of all protocols share: a server, whom we are there, and how it is trusted, as
 * an unchanging, counted value without I/O. Connections are shared by its key. A protocol's
 * endpoint begins with a struct endpoint and adds its own settings. (Over HTTP server and access
 * are told apart: net/http/httphost, net/web/webaccess.)
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/fingerprint.h"
#include "base/hash.h"
#include "net/tls.h"

struct endpoint {
	unsigned count;               /* of owners */
	char *key;                    /* identity without secrets: server, settings, fingerprint of the credentials */
	char *name;                   /* for messages: "db.shop:5432" */
	char *namespace_;             /* whose trigger named it first; "": not known */
	bool shared;                  /* others use its connections, too */
	struct tls_client_config tls; /* its texts are owned; NULL for none */
	void (*done)(struct endpoint *e); /* frees and wipes what the protocol added */
	char *place;                      /* its namespace and key, when it stands for all that have both; or NULL */
	UT_hash_handle hh;                /* by that */
};

/* Zeroed, of `size` bytes, of which the first are a struct endpoint. The caller owns one count. */
void *endpoint_new(size_t size, void (*done)(struct endpoint *e));
struct endpoint *endpoint_ref(struct endpoint *e);
void endpoint_unref(struct endpoint *e); /* NULL is fine; wipes with the last count */

/*
 * The one for all of its namespace that have its key: e itself, or one that is there already, with
 * a count more, and e's is given back. A thousand triggers of one server keep one.
 */
struct endpoint *endpoint_unique(struct endpoint *e);

void endpoint_set_namespace(struct endpoint *e, const char *namespace_); /* once; NULL is "" */
/* Connections of e are used by whoever named `other`, too, which has the same key. */
void endpoint_share(struct endpoint *e, const struct endpoint *other);
/* Who answers for its connections (net/descriptors); borrowed; "": several. */
const char *endpoint_namespace(const struct endpoint *e);

/* NULL for what is not given or empty. */
char *endpoint_dup_given(const char *text);

/* Copies what is given; an empty text is none. */
void endpoint_take_tls(struct endpoint *e, const struct tls_client_config *given);
int endpoint_check_tls(const struct endpoint *e, struct err *err); /* reads the PEMs */

/* Of the secrets and the TLS material; returns out. */
char *endpoint_fingerprint(const struct endpoint *e, const char *const *secrets, size_t count,
	char out[FINGERPRINT_TEXT]);

#endif
