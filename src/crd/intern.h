/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_INTERN_H
#define CRD_INTERN_H

/*
 * Interned texts: the types, reasons and messages of conditions and the names of common targets,
 * which nearly every object repeats. They are stored once in a static table; any other text is an
 * ordinary copy. The caller owns what these functions return and must free it with intern_free
 * only. A text missing from the table only costs memory.
 */

#include "base/err.h"
#include "base/json.h"

const char *intern_dup(const char *text);             /* NULL gives NULL */
void intern_free(const char *text);                   /* NULL is fine */
void intern_set(const char **slot, const char *text); /* frees the previous text, which may be `text`; NULL is fine */
void intern_take(const char **slot, char *text);      /* the same; takes an allocated text */

/* Like json_get_string; the caller owns *out (intern_free), a previous text is freed. */
int intern_get(const struct json_at *at, const char *key, const char **out, struct err *err);

#endif
