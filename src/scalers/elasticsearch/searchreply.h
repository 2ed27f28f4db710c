/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_ELASTICSEARCH_SEARCHREPLY_H
#define SCALERS_ELASTICSEARCH_SEARCHREPLY_H

/*
 * What Elasticsearch and OpenSearch answer to a search (doc/keda.md 8.9): a number of it, or what
 * went wrong. Both say with status 200 that only some shards answered, or that time ran out; the
 * number is then of a part of the documents, mostly too small, and so it is an error here. Pure.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "scalers/values/jsonpath.h"

/* How an answer is read. Borrowed. */
struct searchreply_rule {
	const struct jsonpath *path;
	bool null_is_zero; /* ignoreNullValues, for searches that were whole */
};

/* The body of an answer with status 200. ERR_TEMPORARY: of a part; ERR_INVALID: anything else. */
int searchreply_read(const struct searchreply_rule *rule, const char *body, size_t len, double *out, struct err *err);

/*
 * The server's own words in the body of any other answer: "index_not_found_exception: no such index
 * [jobs]", without control characters. "": there are none. Returns out.
 */
#define SEARCHREPLY_WORDS 240
char *searchreply_words(const char *body, size_t len, char out[SEARCHREPLY_WORDS]);

#endif
