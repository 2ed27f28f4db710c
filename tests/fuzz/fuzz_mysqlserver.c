/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A MySQL server, which is somebody's, from its greeting on: the packets of the login, of the
 * session's settings and of a result. The connector reads them, in a co-routine, over our I/O; what
 * becomes of a value is ours. The same bytes are a value and a column's name.
 */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "net/mysql/mysqlvalue.h"
#include "peer.h"
#include "source.h"

/*
 * The connector asks for room for as many columns as the server says there will be, up to half a
 * terabyte, before it has seen one, and does not touch it. It gets none here, as on a machine that
 * gives out no more memory than it has.
 */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "max_allocation_size_mb=256:allocator_may_return_null=1";
}

static void check_value(const uint8_t *data, size_t size)
{
	MEM_AUTO char *name = mem_dupn((const char *)data, size);
	struct mysqlvalue value = { 0 };
	size_t len;

	mysqlvalue_take(&value, (const char *)data, size);
	must(!value.is_number || isfinite(value.number));
	mysqlvalue_name(&value, name);
	len = strlen(value.column);
	must(len < sizeof(value.column));
	for (size_t i = 0, step; i < len; i += step) {
		step = utf8_step(value.column + i, len - i);
		must(step > 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct loop *loop;
	static struct question *question;

	if (!loop) {
		loop = peer_start(PEER_SPEAKS_FIRST);
		question = source_question("mysql",
			"host=127.0.0.1|port=#|username=u|dbName=d|query=SELECT 1|queryValue=5",
			"password=" SOURCE_SECRET);
	}
	check_value(data, size);
	source_try(loop, question, SOURCE_ASK, data, size);
	return 0;
}
