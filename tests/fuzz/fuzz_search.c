/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The first byte chooses. Below 128: an answer of Elasticsearch or OpenSearch, and how it is read:
 * a number or an error on one line. From there: what a trigger says of indexes, a template's
 * parameters and a Cloud ID, as the request that is made of it.
 */

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "scalers/elasticsearch/searchreply.h"
#include "scalers/elasticsearch/searchrequest.h"

static void check_line(const struct err *err)
{
	must(err->kind == ERR_INVALID || err->kind == ERR_TEMPORARY);
	must(err->msg[0] != '\0' && strpbrk(err->msg, "\r\n\t") == NULL);
}

static void try_answer(unsigned how, const char *body, size_t len)
{
	static const char *const locations[] = { "hits.total.value", "aggregations.n.value", "hits.hits.#",
		"hits.hits.0._source.n" };
	struct jsonpath *path = jsonpath_compile(locations[(how >> 1) % 4], NULL);
	const struct searchreply_rule rule = { path, how & 1 };
	char words[SEARCHREPLY_WORDS];
	struct err err = { 0 };
	double value = NAN;

	if (searchreply_read(&rule, body, len, &value, &err) == 0)
		must(isfinite(value));
	else
		check_line(&err);
	must(strlen(searchreply_words(body, len, words)) < sizeof(words) && strpbrk(words, "\r\n\t") == NULL);
	jsonpath_free(path);
}

static void try_text(unsigned how, const char *text)
{
	MEM_AUTO char *path = NULL, *body = NULL, *url = NULL;
	struct err err = { 0 };
	json_t *sent;

	if (searchrequest_path(text, how & 1, &path, &err) == 0) {
		const char *end = strchr(path + 1, '/');

		must(path[0] == '/' && end > path + 1 && strpbrk(path, " ?#\\\r\n") == NULL);
		must(strcmp(end, how & 1 ? "/_search/template" : "/_search") == 0);
	}
	if (searchrequest_template("name", text, how & 2, &body, &err) == 0) {
		sent = json_loads(body, JSON_REJECT_DUPLICATES, NULL);
		must(json_object_size(json_object_get(sent, "params")) <= SEARCHREQUEST_PIECES_MAX);
		must(strcmp(json_string_value(json_object_get(sent, "id")), "name") == 0);
		json_decref(sent);
	}
	if (searchrequest_cloud(text, &url, &err) == 0)
		must(strncmp(url, "https://", 8) == 0 && strlen(url) > 9);
	else
		must(err.kind == ERR_INVALID);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned how = size > 0 ? data[0] : 0;
	MEM_AUTO char *rest = mem_dupn((const char *)data + (size > 0),
		size - (size > 0)); /* the sanitizer sees what reads on */

	if (how < 128)
		try_answer(how, rest, size - (size > 0));
	else
		try_text(how, rest);
	return 0;
}
