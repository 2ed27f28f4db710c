/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/elasticsearch/searchrequest.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "scalers/params.h"

/* Servers accept request lines of 4 KiB by default. */
#define PATH_MAX_BYTES ((size_t)16 << 10)

/* ---- The path ---- */

/* Whether each % begins an escape: users escape for KEDA, which sends the text unchanged. */
static bool is_escaped(const char *text)
{
	for (; (text = strchr(text, '%')) != NULL; text++)
		if (!isxdigit((unsigned char)text[1]) || !isxdigit((unsigned char)text[2]))
			return false;
	return true;
}

static bool put_index(struct buf *path, const char *piece)
{
	MEM_AUTO char *index = params_trimmed(piece);

	if (!index)
		return true;
	if (strcmp(index, ".") == 0 || strcmp(index, "..") == 0)
		return false;
	buf_puts(path, path->len > 1 ? "," : "");
	buf_put_percent(path, index, is_escaped(index) ? "*:%" : "*:");
	return true;
}

int searchrequest_path(const char *indexes, bool is_template, char **out, struct err *err)
{
	MEM_AUTO char *copy = mem_dup(indexes);
	struct buf path = BUF_INIT(PATH_MAX_BYTES);
	char *rest = copy, *piece;
	bool good = true;
	size_t names;

	buf_puts(&path, "/");
	while (good && (piece = strsep(&rest, ";")) != NULL)
		good = put_index(&path, piece);
	names = path.len;
	buf_puts(&path, is_template ? "/_search/template" : "/_search");
	if (!good)
		params_wrong(err, "index", "must not name . or .. as an index");
	else if (names == 1)
		params_wrong(err, "index", "must name at least one index; separate several by semicolons");
	else if (buf_failed(&path))
		params_wrong(err, "index", "is too long: the path may have %zu bytes", PATH_MAX_BYTES);
	good = good && names > 1 && !buf_failed(&path);
	*out = buf_take(&path);
	if (good)
		return 0;
	mem_free_ptr(out);
	return -1;
}

/* ---- The body ---- */

static int put_parameter(json_t *params, const char *piece, bool values_may_be_empty, struct err *err)
{
	const char *colon = strchr(piece, ':');
	MEM_AUTO char *text = params_trimmed(piece), *name = colon ? mem_dupn(piece, (size_t)(colon - piece)) : NULL,
		      *key = params_trimmed(name), *value = colon ? params_trimmed(colon + 1) : NULL;

	if (!text)
		return 0;
	if (!key || (!value && !values_may_be_empty))
		return err_set_about(err, "parameters", "invalid parameter format \"%.120s\", expected key:value",
			text);
	if (json_object_set_new(params, key, json_string(value ? value : "")))
		return params_wrong(err, "parameters", "is not UTF-8");
	if (json_object_size(params) > SEARCHREQUEST_PIECES_MAX)
		return params_wrong(err, "parameters", "has more than %d pieces", SEARCHREQUEST_PIECES_MAX);
	return 0;
}

static int put_parameters(json_t *params, const char *parameters, bool values_may_be_empty, struct err *err)
{
	MEM_AUTO char *copy = mem_dup(parameters);
	char *rest = copy, *piece;

	while ((piece = strsep(&rest, ";")) != NULL)
		if (put_parameter(params, piece, values_may_be_empty, err))
			return -1;
	return 0;
}

int searchrequest_template(const char *name, const char *parameters, bool values_may_be_empty, char **out,
	struct err *err)
{
	json_t *body = json_pack("{ss}", "id", name), *params = json_object();
	int rc = body ? put_parameters(params, parameters ? parameters : "", values_may_be_empty, err)
		      : params_wrong(err, "searchTemplateName", "is not UTF-8");

	if (rc == 0 && json_object_size(params) > 0)
		json_object_set(body, "params", params);
	*out = rc == 0 ? json_text(body) : NULL;
	json_decref(params);
	json_decref(body);
	return rc;
}

/* ---- The address of an Elastic Cloud deployment ---- */

/* Decodes base64 to a text; NULL: it is invalid. */
static char *decode(const char *text)
{
	size_t len = 0;
	char *plain = base64_decode(text, &len);

	if (plain && strlen(plain) == len)
		return plain;
	free(plain);
	return NULL;
}

int searchrequest_cloud(const char *cloud_id, char **out, struct err *err)
{
	const char *colon = strchr(cloud_id, ':');
	MEM_AUTO char *place = colon && !strchr(colon + 1, ':') ? decode(colon + 1) : NULL;
	size_t host = place ? strcspn(place, "$") : 0,
	       id = host > 0 && place[host] ? strcspn(place + host + 1, "$") : 0;

	if (id == 0)
		return params_wrong(err, "cloudID",
			"must be name:base64, as Elastic Cloud shows it: the encoded part must "
			"be host$id");
	*out = mem_printf("https://%.*s.%.*s", (int)id, place + host + 1, (int)host, place);
	return 0;
}
