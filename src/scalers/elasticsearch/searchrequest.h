/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_ELASTICSEARCH_SEARCHREQUEST_H
#define SCALERS_ELASTICSEARCH_SEARCHREQUEST_H

/*
 * Makes the path and body of a search from a trigger's parameters, and the address of a deployment
 * from its Cloud ID. Pure.
 */

#include <stdbool.h>

#include "base/err.h"

/* Of a list in a parameter. */
#define SEARCHREQUEST_PIECES_MAX 1000
#define SEARCHREQUEST_BODY_MAX   ((size_t)256 << 10)

/*
 * "/jobs,logs-2026/_search", or with "/_search/template" after the indexes. Names that are already
 * percent-encoded are left unchanged. The caller owns *out. ERR_INVALID does not show the names.
 */
int searchrequest_path(const char *indexes, bool is_template, char **out, struct err *err);

/*
 * {"id", "params"} from the name of a search template and "key:value;key:value" (NULL: no
 * parameters). Values may contain colons. The caller owns *out.
 */
int searchrequest_template(const char *name, const char *parameters, bool values_may_be_empty, char **out,
	struct err *err);

/*
 * "https://ID.HOST" from name:base64(HOST$ID$...). The caller owns *out. ERR_INVALID does not show
 * cloud_id.
 */
int searchrequest_cloud(const char *cloud_id, char **out, struct err *err);

#endif
