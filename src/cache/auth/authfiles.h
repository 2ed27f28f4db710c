/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_AUTH_AUTHFILES_H
#define CACHE_AUTH_AUTHFILES_H

/*
 * The files that ClusterTriggerAuthentications name (filePath), below one folder: each a JSON
 * object of strings. Checked every 10 s while in use, and read again when changed; a partly written
 * file keeps its previous content for one check. Held as in cache/auth/holders. Contents are wiped
 * when freed and never in an error.
 */

#include "base/err.h"
#include "base/strmap.h"
#include "cache/auth/references.h"
#include "net/loop.h"

struct authfiles;

#define AUTHFILES_BYTES_MAX (1 << 20)
#define AUTHFILES_CHECK_MS  10000
#define AUTHFILES_NONE      "no files are read: --filepath-auth-root-path is not set"

struct authfiles *authfiles_new(struct loop *loop, const char *root /* NULL or "": no files are read */);
void authfiles_free(struct authfiles *f);
void authfiles_listen(struct authfiles *f, object_fn fn, void *arg); /* one */

/*
 * path: relative, without ".."; links must not leave the folder. *values is borrowed until the end
 * of the turn. Never REFERENCE_UNREAD. REFERENCE_MISSING does not distinguish missing and invalid
 * files; the log has the reason.
 */
enum reference_state authfiles_get(struct authfiles *f, struct object *owner, const char *path,
	const struct strmap **values, struct err *err);

#endif
