/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Connection strings and queries: whatever is written, it is read inside its bounds, and an error
 * has nothing of it.
 */

#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "net/pg/pg.h"
#include "net/pg/pgendpoint.h"
#include "net/pg/pgstring.h"
#include "scalers/sql/pgquery.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	MEM_AUTO char *text = mem_dupn((const char *)data, size);
	size_t len = strlen(text), bytes = 0;
	struct strmap parts = { 0 };
	struct err err = { .kind = ERR_NONE };
	struct pgendpoint *e;
	int failed = pgstring_parse(text, &parts, &err);

	must(!failed == (err.kind == ERR_NONE));
	/* Nothing grows by being read, but "require" for "true", and commas. */
	for (size_t i = 0; i < parts.count; i++)
		bytes += strlen(parts.pairs[i].key) + strlen(parts.pairs[i].value);
	must(bytes <= 2 * len + 64);
	strmap_done_secret(&parts);
	e = pgendpoint_new(&(struct pgendpoint_config){ .connection = text }, &err);
	must(!e || (e->base.key && e->base.name));
	endpoint_unref(e);
	must(!pgquery_is_several(text) || strchr(text, ';'));
	return 0;
}
