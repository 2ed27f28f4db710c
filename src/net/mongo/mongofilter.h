/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MONGO_MONGOFILTER_H
#define NET_MONGO_MONGOFILTER_H

/*
 * The filter of a count, from Extended JSON (canonical, relaxed, or the older form) to BSON, by
 * libbson. Pure.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define MONGOFILTER_TEXT_MAX ((size_t)64 << 10) /* bytes of the text */

struct mongofilter {    /* a value; empty when zeroed */
	uint8_t *bytes; /* owned: a document */
	size_t len;
};

/*
 * ERR_INVALID: the text is not a JSON object, is empty ("empty bson document", as in KEDA), has
 * more than one object, or is nested deeper than libbson reads (49 levels). The message may quote
 * the text.
 */
int mongofilter_parse(const char *text, struct mongofilter *out, struct err *err);
void mongofilter_done(struct mongofilter *f);

#endif
