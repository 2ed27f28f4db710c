/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_AUTH_MANAGERVALUES_H
#define CACHE_AUTH_MANAGERVALUES_H

/*
 * The values that TriggerAuthentications read from secret managers of clouds (a table for each:
 * net/secretmanagers), one per (manager, login, secret), shared: who wants several members of one
 * secret has them of one reading. Read again each minute, or each hour where one version is named,
 * whose value stays; later if the manager asks for that, and sooner where a source has refused what
 * an owner was given, as after a rotation. Owners are notified when the value changes, not at each
 * read; if a read fails, or gives nothing, the old value stays and the read is retried. Held as in
 * cache/auth/holders. Values are wiped when freed and never in an error.
 */

#include "base/err.h"
#include "cache/auth/references.h"
#include "net/loop.h"
#include "net/secretmanagers/secretmanager.h"
#include "net/web/webtoken.h"

struct managervalues;

struct managervalues_source { /* borrowed; texts are copied, of access a reference is taken */
	const struct secretmanager *manager;
	struct webaccess *access; /* as whom it is asked */
	struct secretmanager_secret secret;
	const char *member;     /* of the value; NULL or "": the whole */
	const char *namespace_; /* the object's, for turns (net/web/webclient) */
};

/* apart_ms: a refused value is not read again sooner after it was read, as readings are billed. */
struct managervalues *managervalues_new(struct loop *loop, struct webclient *web, struct webtoken_store *tokens,
	int64_t apart_ms);
void managervalues_free(struct managervalues *v);
void managervalues_listen(struct managervalues *v, object_fn fn, void *arg); /* one */

/* A source has refused this object; one of its values may be another one now. */
void managervalues_doubt(struct managervalues *v, const struct object *owner);

/* *value is borrowed until the end of the turn. Once REFERENCE_FOUND a secret stays so. */
enum reference_state managervalues_get(struct managervalues *v, struct object *owner,
	const struct managervalues_source *source, const char **value, struct err *err);

#endif
