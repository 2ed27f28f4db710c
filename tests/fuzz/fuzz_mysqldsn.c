/* SPDX-License-Identifier: Apache-2.0 */

/*
 * MySQL connection strings, and values: nothing of a refused one stands in the message but names of
 * parameters; what is read has an address and no control over more than its variables.
 */

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "net/mysql/mysqlvalue.h"
#include "scalers/sql/mysqldsn.h"

static void as_value(const char *text, size_t size)
{
	struct mysqlvalue value = { 0 };

	mysqlvalue_take(&value, text, size);
	must(!value.is_number || isfinite(value.number));
	mysqlvalue_name(&value, text);
	must(strlen(value.column) < sizeof(value.column));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	MEM_AUTO char *text = mem_dupn((const char *)data, size);
	struct mysqldsn dsn;
	struct err err = { 0 };

	as_value(text, size);
	if (mysqldsn_parse(text, &dsn, &err) == 0) {
		must(dsn.user && dsn.password && dsn.database && dsn.host && *dsn.host);
		must(dsn.port || dsn.tls <= MYSQLENDPOINT_TLS_PREFERRED);
		must(!strpbrk(dsn.database, "@()") || strchr(text, '%'));
		must(!dsn.charset || !strpbrk(dsn.charset, " ;'\"`"));
		must(!dsn.collation || !strpbrk(dsn.collation, " ;'\"`"));
		must(!(dsn.fallback && dsn.tls == MYSQLENDPOINT_TLS_VERIFY));
	} else {
		must(err.kind == ERR_INVALID && err.msg[0]);
	}
	mysqldsn_done(&dsn);
	return 0;
}
