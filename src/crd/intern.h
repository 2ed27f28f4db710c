/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_INTERN_H
#define CRD_INTERN_H

/*
 * Texts that nearly every object carries: the types, reasons and messages of conditions, the words
 * of the usual targets. A thousand ScaledObjects and their HPAs say the same forty sentences, each
 * twice (as stored and as wanted), so those stand once in a table here and cost nothing; any other
 * text is an ordinary copy. What these functions give is owned by who asked and freed by
 * intern_free only, whichever of both it is. A sentence that is worded anew elsewhere and not here
 * is still right, only dearer.
 */

#include "base/err.h"
#include "base/json.h"

const char *intern_dup(const char *text);             /* NULL gives NULL */
const char *intern_take(char *text);                  /* takes an allocated one; NULL gives NULL */
void intern_free(const char *text);                   /* NULL is fine */
void intern_set(const char **slot, const char *text); /* frees the older one; text may be that or NULL */
void intern_clear(const char **slot);                 /* to NULL */

/*
 * As json_get_string: *out is the caller's, for intern_free; an older one is freed; absent leaves
 * it.
 */
int intern_get(const struct json_at *at, const char *key, const char **out, struct err *err);

#endif
