/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_METRICSAPI_XMLVALUE_H
#define SCALERS_METRICSAPI_XMLVALUE_H

/*
 * Reads the number at a dot path of an XML document as it arrives, without building a tree. KEDA
 * cannot read any XML answer (doc/keda.md 8.10), so the path language is ours:
 *
 *   stats.queue.length     element names from the root on; the value is the element's text, trimmed
 *   stats.queue.1.length   the second of several elements of that name (counted from 0). Several
 *                          elements without an index are an error
 *   stats.queue.@length    an attribute
 *
 * A name without a colon matches any namespace prefix; one with a colon is compared literally. The
 * whole document must be well-formed, and may have 100,000 elements. Document types and thus custom
 * entities are refused, so nothing can expand. Pure.
 */

#include "scalers/values/dotpath.h"

/* Checks what only XML requires: an index follows a name, an attribute is last. ERR_INVALID. */
int xmlvalue_check(const struct dotpath *path, struct err *err);

struct xmlvalue;

struct xmlvalue *xmlvalue_new(const struct dotpath *path /* borrowed until the end */);
void xmlvalue_free(struct xmlvalue *x); /* NULL is fine */
/* Parses the next bytes. -1: the document is invalid, xmlvalue_end says why; do not feed more. */
int xmlvalue_feed(struct xmlvalue *x, const char *bytes, size_t len);
size_t xmlvalue_buffered(const struct xmlvalue *x); /* bytes buffered until the tag or comment ends */
/* Ends the document. ERR_INVALID as jsonpath_number. */
int xmlvalue_end(struct xmlvalue *x, double *out, struct err *err);

#endif
