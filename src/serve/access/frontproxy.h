/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_ACCESS_FRONTPROXY_H
#define SERVE_ACCESS_FRONTPROXY_H

/*
 * The aggregator as a client: whether a connection's certificate is the front proxy's, and which
 * user its headers name. Watches ConfigMap kube-system/extension-apiserver-authentication by name.
 * If it becomes invalid the last valid one stays in force; if it is deleted no one is trusted.
 */

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "kube/client.h"
#include "net/httpd/httpd.h"
#include "serve/access/requester.h"

struct frontproxy;

struct frontproxy *frontproxy_new(struct kube *kube); /* starts the watch */
void frontproxy_free(struct frontproxy *f);

/*
 * Why no front proxy is trusted at the moment, for /readyz and 401; NULL: one is. Borrowed until
 * the loop turns.
 */
const char *frontproxy_trouble(const struct frontproxy *f);
/*
 * Grows with each change of the ConfigMap: what was verified under an older version must be
 * verified again. Never 0.
 */
unsigned frontproxy_version(const struct frontproxy *f);

/*
 * Whether the client certificate of this connection is the front proxy's: signed by its CA, for
 * client use, valid now, with an allowed common name. err says what is wrong.
 */
int frontproxy_verify(const struct frontproxy *f, SSL *tls, struct err *err);

/*
 * A connection's last user and the headers that named it; kept with the connection, zeroed at
 * first. It is used only for the same bytes in all headers that name a user, in the same order,
 * under the same ConfigMap.
 */
struct frontproxy_memo {
	unsigned version;       /* of the ConfigMap */
	struct buf headers;     /* names and values of those that name the user, each with its NUL */
	struct requester *user; /* owns a reference; NULL: none is cached */
};
void frontproxy_forget(struct frontproxy_memo *memo);

/*
 * The user named by the headers of a verified front proxy; NULL and ERR_DENIED if they name none,
 * or too many groups or extra values. The caller owns one reference.
 */
struct requester *frontproxy_user(const struct frontproxy *f, const struct httpd_request *r,
	struct frontproxy_memo *memo, struct err *err);

#endif
