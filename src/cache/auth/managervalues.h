/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_AUTH_MANAGERVALUES_H
#define CACHE_AUTH_MANAGERVALUES_H

/*
 * The secrets that TriggerAuthentications read from clouds' secret managers (a table for each:
 * net/secretmanagers), a kind of cache/auth/secretvalues: one per (manager, login, secret). Read
 * again each minute, or each hour for a fixed version; later if the manager asks for that, and
 * sooner after a source has refused an owner's value, as after a rotation.
 */

#include "base/err.h"
#include "cache/auth/references.h"
#include "net/loop.h"
#include "net/secretmanagers/secretmanager.h"
#include "net/web/webtoken.h"

struct managervalues;

struct managervalues_source { /* borrowed; texts are copied, a reference to access is taken */
	const struct secretmanager *manager;
	struct webaccess *access; /* authenticates the requests */
	struct secretmanager_secret secret;
	const char *member;     /* of the value; NULL or "": all of it */
	const char *namespace_; /* the object's, for turns (net/web/webclient) */
};

/* apart_ms: minimum time between reads of a refused value, as reads are billed. */
struct managervalues *managervalues_new(struct loop *loop, struct webclient *web, struct webtoken_store *tokens,
	int64_t apart_ms);
void managervalues_free(struct managervalues *v);
void managervalues_listen(struct managervalues *v, object_fn fn, void *arg); /* one */

/* A source has refused this object: one of its values may have changed. */
void managervalues_reread(struct managervalues *v, const struct object *owner);

/* *value is borrowed until the end of the turn. Once REFERENCE_FOUND a secret stays so. */
enum reference_state managervalues_get(struct managervalues *v, struct object *owner,
	const struct managervalues_source *source, const char **value, struct err *err);

#endif
