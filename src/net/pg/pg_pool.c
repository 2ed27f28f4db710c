/* SPDX-License-Identifier: Apache-2.0 */
/* Creates and frees the pool. */
#include <libpq-fe.h>
#include <stdlib.h>

#include "base/mem.h"
#include "net/pg/pg_parts.h"

/*
 * libpq uses these variables as defaults for connection strings, but kscaled's own environment must
 * not affect triggers.
 */
static void forget_environment(void)
{
	static const char *const files[] = { "PGSYSCONFDIR", "PGSERVICEFILE", "PGREQUIRESSL", "PGLOCALEDIR" };
	PQconninfoOption *options = PQconndefaults();

	for (const PQconninfoOption *o = options; o && o->keyword; o++) {
		if (o->envvar)
			unsetenv(o->envvar);
	}
	PQconninfoFree(options);
	for (size_t i = 0; i < MEM_COUNT(files); i++)
		unsetenv(files[i]);
}

struct pg_pool *pg_pool_new(struct loop *loop, int64_t ask_ms, struct webtoken_store *tokens, struct salter *salter)
{
	struct pg_pool *p = mem_zalloc(sizeof(*p));

	p->loop = loop;
	p->tokens = tokens;
	p->salter = salter;
	p->statement_timeout_ms = ask_ms - ask_ms / 10; /* the server ends the query before our deadline */
	p->queries = pool_new(loop, &pg_protocol, p);
	forget_environment();
	return p;
}

void pg_pool_free(struct pg_pool *p)
{
	if (!p)
		return;
	pg_listen_free_all(p);
	pool_free(p->queries);
	free(p);
}
