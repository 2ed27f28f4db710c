/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_ELASTICSEARCH_SEARCHREQUEST_H
#define SCALERS_ELASTICSEARCH_SEARCHREQUEST_H

/*
 * What is sent to Elasticsearch and OpenSearch: path and body of a search, and the address that
 * stands in a Cloud ID. Made of a trigger's parameters when it is built. Pure.
 */

#include <stdbool.h>

#include "base/err.h"

/* Lists in parameters have at most so many pieces. */
#define SEARCHREQUEST_PIECES_MAX 1000
#define SEARCHREQUEST_BODY_MAX   ((size_t)256 << 10)

/*
 * "/jobs,logs-2026/_search", or "/_search/template" behind the indexes. What is percent-encoded in
 * their names stays so. The caller owns *out. ERR_INVALID does not show them.
 */
int searchrequest_path(const char *indexes, bool is_template, char **out, struct err *err);

/*
 * {"id", "params"} of the name of a search template and of "key:value;key:value"; a value ends with
 * its piece, whatever colons are in it. NULL: no parameters. The caller owns *out.
 */
int searchrequest_template(const char *name, const char *parameters, bool values_may_be_empty, char **out,
	struct err *err);

/*
 * "https://ID.HOST" of name:base64(HOST$ID$...). The caller owns *out. ERR_INVALID does not show
 * it.
 */
int searchrequest_cloud(const char *cloud_id, char **out, struct err *err);

#endif
