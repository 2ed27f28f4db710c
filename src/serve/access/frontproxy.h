/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_ACCESS_FRONTPROXY_H
#define SERVE_ACCESS_FRONTPROXY_H

/*
 * The aggregator as a client: whether a connection's certificate is the front proxy's, and which
 * user it speaks for. Keeps ConfigMap kube-system/extension-apiserver-authentication by a watch of
 * that one name. A broken ConfigMap leaves the last good one in force; a deleted one trusts nobody.
 */

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "kube/client.h"
#include "net/http/httpd.h"
#include "serve/access/identity.h"

struct frontproxy;

struct frontproxy *frontproxy_new(struct kube *kube); /* starts the watch */
void frontproxy_free(struct frontproxy *f);

/*
 * NULL, or why nobody can come through the front proxy at the moment, for /readyz and 401; borrowed
 * until the loop turns.
 */
const char *frontproxy_trouble(const struct frontproxy *f);
/*
 * Grows with each change of the ConfigMap: what was verified under another number is verified
 * again. Never 0.
 */
unsigned frontproxy_version(const struct frontproxy *f);

/*
 * Whether the client certificate of this connection is the front proxy's: signed by its CA, for
 * client use, valid now, its common name allowed. err says what is not.
 */
int frontproxy_verify(const struct frontproxy *f, SSL *tls, struct err *err);

/*
 * Whom a connection spoke for last, and in which words; kept with it, zero at first. It answers
 * only for the very same bytes in all headers that name a user, in their order, under the same
 * ConfigMap.
 */
struct frontproxy_memo {
	unsigned version;      /* of the ConfigMap */
	struct buf headers;    /* each that names something of the user, and its value, each with its NUL */
	struct identity *user; /* owns a count; NULL: nothing is remembered */
};
void frontproxy_forget(struct frontproxy_memo *memo);

/*
 * The user that a verified front proxy speaks for, by its headers; NULL when it names none (err
 * says so) or names absurdly many groups. The caller owns one count.
 */
struct identity *frontproxy_user(const struct frontproxy *f, const struct httpd_request *r,
	struct frontproxy_memo *memo, struct err *err);

#endif
