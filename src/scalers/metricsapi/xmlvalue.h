/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_METRICSAPI_XMLVALUE_H
#define SCALERS_METRICSAPI_XMLVALUE_H

/*
 * The number at a dot path of an XML answer, read as it comes: no tree is built. In KEDA no XML
 * answer can be read at all (keda-scalers.md A.8), so the path is ours:
 *
 *   stats.queue.length     names of elements from the root's on; the value is the element's text,
 *                          without white space at its ends
 *   stats.queue.1.length   the second of several: counted from 0 among those of that name. Where
 *                          several stand and no index says which, that is an error
 *   stats.queue.@length    an attribute
 *
 * A name without a colon fits with any namespace prefix, one with a colon is compared as it is
 * written in the answer. The whole answer must be well-formed. Document types are refused, and with
 * them entities of one's own: nothing can grow. Pure.
 */

#include "scalers/metricsapi/dotpath.h"

/*
 * What only this format minds: an index behind no name, an attribute that is not the last.
 * ERR_INVALID.
 */
int xmlvalue_check(const struct dotpath *path, struct err *err);

struct xmlvalue;

struct xmlvalue *xmlvalue_new(const struct dotpath *path /* borrowed until the end */);
void xmlvalue_free(struct xmlvalue *x); /* NULL is fine */
/* The next bytes of the answer. -1: it is none, as xmlvalue_end says; no more of it is wanted. */
int xmlvalue_feed(struct xmlvalue *x, const char *bytes, size_t len);
size_t xmlvalue_kept(const struct xmlvalue *x); /* bytes, until the end of the tag or comment comes */
/* There is no more. ERR_INVALID as jsonpath_number */
int xmlvalue_end(struct xmlvalue *x, double *out, struct err *err);

#endif
