/* SPDX-License-Identifier: Apache-2.0 */
#include "net/mongo/mongofilter.h"

#include <bson/bson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int invalid(struct err *err, const char *why)
{
	return err_set(err, ERR_INVALID, "failed to parse query: %s", why);
}

/* libbson would read an array as an object with numbers as keys. */
static int check_text(const char *text, struct err *err)
{
	if (strlen(text) > MONGOFILTER_TEXT_MAX)
		return err_set(err, ERR_INVALID, "failed to parse query: it has more than %zu KiB",
			MONGOFILTER_TEXT_MAX >> 10);
	if (text[strspn(text, " \t\r\n")] != '{')
		return invalid(err, "it must be a JSON object, {...}");
	return 0;
}

/* Reads the only object into *first. */
static int read_one(bson_json_reader_t *reader, bson_t *first, struct err *err)
{
	bson_t second = BSON_INITIALIZER;
	bson_error_t why = { 0 };
	int more = bson_json_reader_read(reader, first, &why);

	if (more == 1 && bson_count_keys(first) == 0)
		more = invalid(err, "empty bson document");
	else if (more == 1 && (more = bson_json_reader_read(reader, &second, &why)) == 1)
		more = invalid(err, "there is more than one JSON object");
	else if (more < 0)
		invalid(err, why.message);
	bson_destroy(&second);
	return more;
}

int mongofilter_parse(const char *text, struct mongofilter *out, struct err *err)
{
	bson_json_reader_t *reader;
	bson_t document = BSON_INITIALIZER;
	int rc;

	if (check_text(text, err))
		return -1;
	reader = bson_json_data_reader_new(false, 0);
	bson_json_data_reader_ingest(reader, (const uint8_t *)text, strlen(text));
	rc = read_one(reader, &document, err);
	if (rc == 0) {
		out->len = document.len;
		out->bytes = mem_alloc(document.len);
		memcpy(out->bytes, bson_get_data(&document), document.len);
	}
	bson_destroy(&document);
	bson_json_reader_destroy(reader);
	return rc;
}

void mongofilter_done(struct mongofilter *f)
{
	free(f->bytes);
	*f = (struct mongofilter){ 0 };
}
