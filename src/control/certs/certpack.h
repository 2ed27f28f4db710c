/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_CERTS_CERTPACK_H
#define CONTROL_CERTS_CERTPACK_H

/*
 * The content of Secret `kscaled-certs`, as a value: our CA, which can sign for our names alone
 * (x509_make_ca), the serving certificate that it signed and, for a day, the previous CA. Finds
 * what is wrong or due, and makes the next content: a good CA is kept, and only the serving
 * certificate is renewed. No I/O; the time is an argument.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/tls/x509.h"

struct certpack {                 /* owns its texts; zeroed it is empty; members are NULL if absent or not base64 */
	struct x509_pair serving; /* tls.crt, tls.key */
	struct x509_pair ca;      /* ca.crt, ca.key */
	char *old_ca;             /* ca-old.crt */
};
void certpack_done(struct certpack *p);                               /* wipes the keys */
void certpack_copy(struct certpack *to, const struct certpack *from); /* into an empty one */

enum certpack_need {
	CERTPACK_NOTHING,
	CERTPACK_SERVING, /* a new serving certificate */
	CERTPACK_CA,      /* a new CA, and so a new serving certificate */
};

struct certpack_state {
	bool usable; /* the serving certificate can be served now */
	enum certpack_need need;
	int64_t due_unix_ms;   /* if nothing is needed now: when something will be */
	int64_t until_unix_ms; /* end of the serving certificate; 0 if unreadable */
	char why[256];         /* what is wrong, for people */
};

/*
 * dns_names: NULL-terminated. Each certificate is due when a third of its life is left; a CA with
 * its key that is not confined to these names is due at once. A CA without its key, or with that of
 * another certificate (a Secret made by someone else), is kept as long as its serving certificate
 * is good.
 */
void certpack_judge(const struct certpack *p, const char *const *dns_names, int64_t now_unix_ms,
	struct certpack_state *out);

struct certpack_plan {
	const char *const *dns_names;
	int64_t now_unix_ms;
	int64_t serving_valid_s, ca_valid_s;
	/*
	 * the CA that our clients may still trust, if the pack has another one (the Secret was
	 * deleted or overwritten); may be NULL
	 */
	const char *trusted_ca;
};

/*
 * Fills *out (empty before) with the successor of p (which may be empty). A replaced CA, or the
 * trusted one, stays in the bundle as the old one for a day while it is valid. ERR_INVALID if no
 * certificate can be made for the names.
 */
int certpack_renew(const struct certpack *p, enum certpack_need need, const struct certpack_plan *plan,
	struct certpack *out, struct err *err);

/*
 * The CAs to trust: ours and, for a day while it is valid, the previous one. PEM; the caller owns
 * it; NULL if there is no CA.
 */
char *certpack_bundle(const struct certpack *p, int64_t now_unix_ms);

/*
 * From and to the Secret. The text is a secret (mem_free_secret). resource_version NULL: the object
 * to create; otherwise a merge patch under it, which leaves type and labels alone.
 */
void certpack_decode(const json_t *secret, struct certpack *out);
char *certpack_encode(const struct certpack *p, const char *namespace_, const char *name, const char *resource_version);

#endif
