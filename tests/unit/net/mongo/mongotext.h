/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_NET_MONGO_MONGOTEXT_H
#define TESTS_UNIT_NET_MONGO_MONGOTEXT_H

/* A server's documents, written as Extended JSON. */

#include "net/mongo/mongofilter.h"
#include "net/mongo/mongowire.h"

/* The document of a text; freed by the test (mongofilter_done). Fails if the text is invalid. */
struct mongofilter mongotext_make(const char *text);

static inline struct mongowire_document mongotext_document(const struct mongofilter *made)
{
	return (struct mongowire_document){ made->bytes, made->len };
}

#endif
