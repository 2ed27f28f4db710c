/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_ELASTICSEARCH_SEARCHREPLY_H
#define SCALERS_ELASTICSEARCH_SEARCHREPLY_H

/*
 * Reads answers of Elasticsearch and OpenSearch to a search (doc/keda.md 8.9): the number, or the
 * error. Both answer with status 200 even if shards failed or the search timed out; the number then
 * covers only part of the documents and is usually too small, so this is an error here. Pure.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "scalers/values/jsonpath.h"

/* Borrowed. */
struct searchreply_rule {
	const struct jsonpath *path;
	bool null_is_zero; /* ignoreNullValues; applies to complete searches only */
};

/* body: with status 200. ERR_TEMPORARY: the search is incomplete; ERR_INVALID: anything else. */
int searchreply_read(const struct searchreply_rule *rule, const char *body, size_t len, double *out, struct err *err);

/*
 * The server's error message from the body of any other answer: "index_not_found_exception: no such
 * index [jobs]", without control characters. "": there is none. Returns out.
 */
#define SEARCHREPLY_WORDS 240
char *searchreply_words(const char *body, size_t len, char out[SEARCHREPLY_WORDS]);

#endif
