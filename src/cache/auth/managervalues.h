/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_AUTH_MANAGERVALUES_H
#define CACHE_AUTH_MANAGERVALUES_H

/*
 * The secrets that TriggerAuthentications read from clouds' secret managers (a table for each:
 * net/secretmanagers), a kind of cache/auth/secretvalues: one per (manager, login, secret). Read
 * again each minute, or each hour for a fixed version; later if the manager asks for that.
 */

#include "cache/auth/secretvalues.h"
#include "net/secretmanagers/secretmanager.h"

struct managervalues_source { /* borrowed; texts are copied, a reference to access is taken */
	const struct secretmanager *manager;
	struct webaccess *access; /* authenticates the requests */
	struct secretmanager_secret secret;
	const char *member;     /* of the value; NULL or "": all of it */
	const char *namespace_; /* the object's, for turns (net/web/webclient) */
};

/* As secretvalues_get. */
enum reference_state managervalues_get(struct secretvalues *s, struct object *owner,
	const struct managervalues_source *source, const char **value, struct err *err);

#endif
