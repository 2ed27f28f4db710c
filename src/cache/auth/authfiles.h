/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_AUTH_AUTHFILES_H
#define CACHE_AUTH_AUTHFILES_H

/*
 * The files that ClusterTriggerAuthentications name (filePath), below one folder: each a JSON
 * object of texts. Looked at every 10 s while somebody needs them, read again when they changed;
 * one that is caught half written keeps what it said before for one look. Held as
 * cache/auth/holders says. What was read is wiped when freed and is in no error.
 */

#include "base/err.h"
#include "base/strmap.h"
#include "cache/auth/references.h"
#include "net/loop.h"

struct authfiles;

#define AUTHFILES_BYTES_MAX (1 << 20)
#define AUTHFILES_LOOK_MS   10000

struct authfiles *authfiles_new(struct loop *loop, const char *root /* NULL or "": no file may be read */);
void authfiles_free(struct authfiles *f);
void authfiles_listen(struct authfiles *f, object_fn fn, void *arg); /* one */

/*
 * path: relative, without ".."; links may not lead out of the folder. *values is borrowed until
 * the loop turns. Never REFERENCE_UNREAD. REFERENCE_MISSING says the same of a file that is not
 * there and of one that is wrong; the log says why.
 */
enum reference_state authfiles_get(struct authfiles *f, struct object *owner, const char *path,
	const struct strmap **values, struct err *err);

#endif
