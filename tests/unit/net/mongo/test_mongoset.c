/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The search for the member to ask, over a few servers with fixed greetings: the order of tries,
 * the member found, and the explanation if there is none.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "net/mongo/mongoset.h"

#define PASSWORD "s3cret"

/* Per host its role: "P" primary, "S" secondary, "A" neither, and so on. */
struct server {
	const char *name;
	char what;
	const char *set, *members[5];
};

static const struct server trio[] = {
	{ "a", 'S', "rs0", { "c:27017", "a:27017", "b:27017" } },
	{ "b", 'A', "rs0", { "c:27017", "a:27017", "b:27017" } },
	{ "c", 'P', "rs0", { "c:27017", "a:27017", "b:27017" } },
	{ "alone", 'P', NULL, { NULL } },
	{ "router", 'R', NULL, { NULL } },
	{ "ghost", 'G', NULL, { NULL } },
	{ "old", 'O', "rs0", { NULL } },
	{ "stranger", 'P', "rs1", { NULL } },
	{ "lost", 'S', "rs0", { "dead:1", "bad host", PASSWORD ".example:1", "lost" } },
	{ "few", 'S', "rs2", { "few:27017" } },
};

static bool say(struct mongoset *s, const struct mongoendpoint_host *host)
{
	struct mongoreply_hello h = { .newest = 21 };
	struct err err;

	for (size_t i = 0; i < MEM_COUNT(trio); i++) {
		const struct server *one = &trio[i];

		if (strcmp(host->name, one->name) != 0)
			continue;
		h.is_primary = one->what == 'P' || one->what == 'R';
		h.is_secondary = one->what == 'S';
		h.is_router = one->what == 'R';
		h.is_unready = one->what == 'G';
		h.newest = one->what == 'O' ? 5 : 21;
		h.set = (char *)(uintptr_t)one->set;
		h.members = (char **)(uintptr_t)one->members;
		while (one->members[h.count])
			h.count++;
		return mongoset_judge(s, &h);
	}
	err_set(&err, ERR_TEMPORARY, "connecting: Connection refused");
	mongoset_failed(s, &err);
	return false;
}

struct row {
	const char *hosts, *set;
	enum mongoendpoint_reads reads;
	bool direct;
	const char *tried; /* in this order; '!' marks the one taken */
	const char *error;
};

static const struct row rows[] = {
	{ "alone", NULL, MONGOENDPOINT_PRIMARY, false, "alone!", NULL },
	{ "c", NULL, MONGOENDPOINT_PRIMARY, false, "c!", NULL },
	/* Another member names the primary. */
	{ "a", NULL, MONGOENDPOINT_PRIMARY, false, "a c!", NULL },
	{ "a,b", "rs0", MONGOENDPOINT_PRIMARY, false, "a c!", NULL },
	{ "gone,b", "rs0", MONGOENDPOINT_PRIMARY, false, "gone b c!", NULL },
	{ "a", NULL, MONGOENDPOINT_PRIMARY, true, "a!", NULL },
	{ "c", NULL, MONGOENDPOINT_SECONDARY, false, "c a!", NULL },
	{ "c,b,a", NULL, MONGOENDPOINT_SECONDARY_PREFERRED, false, "c a!", NULL },
	{ "a,c", NULL, MONGOENDPOINT_PRIMARY_PREFERRED, false, "a c!", NULL },
	{ "few", NULL, MONGOENDPOINT_PRIMARY_PREFERRED, false, "few few!", NULL },
	{ "b,a", NULL, MONGOENDPOINT_NEAREST, false, "b c!", NULL },
	{ "router,a", NULL, MONGOENDPOINT_PRIMARY, false, "router!", NULL },
	{ "stranger,c", "rs0", MONGOENDPOINT_PRIMARY, false, "stranger c!", NULL },
	{ "alone,c", NULL, MONGOENDPOINT_PRIMARY, false, "alone c!", NULL },
	/* Nobody. */
	{ "gone", NULL, MONGOENDPOINT_PRIMARY, false, "gone", "connecting: Connection refused" },
	{ "few", NULL, MONGOENDPOINT_PRIMARY, false, "few", "it is a secondary" },
	{ "old", NULL, MONGOENDPOINT_PRIMARY, false, "old", "it is older than MongoDB 3.6, or not a MongoDB server" },
	{ "ghost", NULL, MONGOENDPOINT_PRIMARY, false, "ghost", "its replica set is not initiated" },
	{ "router", "rs0", MONGOENDPOINT_PRIMARY, false, "router", "it is a mongos" },
	{ "alone", "rs0", MONGOENDPOINT_PRIMARY, false, "alone", "it is in no replica set, but replicaSet is given" },
	{ "stranger", "rs0", MONGOENDPOINT_PRIMARY, false, "stranger", "another replica set than replicaSet says" },
	{ "few,stranger", NULL, MONGOENDPOINT_PRIMARY, false, "few stranger",
		"no primary found: few:27017: it is a secondary; stranger:27017: it is in another replica set than the "
		"previous hosts" },
	/*
	 * Named members that are not addresses, or that repeat the password, are neither tried nor
	 * shown.
	 */
	{ "lost", NULL, MONGOENDPOINT_PRIMARY, false, "lost dead",
		"no primary found: lost:27017: it is a secondary; dead:1: connecting: Connection refused" },
	{ "x1,x2,x3,x4", NULL, MONGOENDPOINT_NEAREST, false, "x1 x2 x3 x4",
		"no member that may be asked found: x1:27017: connecting: Connection refused; x2:27017: connecting: "
		"Connection refused; x3:27017: connecting: Connection refused; ..." },
};

static struct mongoendpoint *endpoint_of(const struct row *row)
{
	struct mongoendpoint_host hosts[8];
	struct mongoendpoint_config config = { .hosts = hosts,
		.set = row->set,
		.reads = row->reads,
		.direct = row->direct,
		.mechanism = MONGOENDPOINT_SCRAM,
		.username = "u",
		.password = PASSWORD };
	MEM_AUTO char *names = mem_dup(row->hosts);
	char *rest = names, *name;
	struct mongoendpoint *e;
	struct err err = { 0 };

	while ((name = strsep(&rest, ",")) != NULL)
		assert_int_equal(mongoendpoint_parse_host(name, &hosts[config.count++]), 0);
	e = mongoendpoint_new(&config, &err);
	if (!e)
		fail_msg("%s: %s", row->hosts, err.msg);
	for (size_t i = 0; i < config.count; i++)
		mem_free_ptr(&hosts[i].name);
	return e;
}

static void searches(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct mongoendpoint *e = endpoint_of(&rows[i]);
		struct mongoset *s = mongoset_new(e, NULL);
		const struct mongoendpoint_host *host;
		struct buf tried = BUF_INIT(256);
		struct err err = { 0 };
		bool found = false;

		while (!found && (host = mongoset_next(s)) != NULL) {
			buf_printf(&tried, "%s%s", tried.len > 0 ? " " : "", host->name);
			found = say(s, host);
			if (found)
				buf_putc(&tried, '!');
		}
		if (strcmp(buf_text(&tried), rows[i].tried) != 0)
			fail_msg("row %zu: tried %s, not %s", i, buf_text(&tried), rows[i].tried);
		if (!found) {
			mongoset_explain(s, &err);
			if (!strstr(err.msg, rows[i].error))
				fail_msg("row %zu: %s", i, err.msg);
			assert_null(strstr(err.msg, PASSWORD));
		}
		buf_done(&tried);
		mongoset_free(s);
		endpoint_unref(e);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(searches),
	};

	return cmocka_run_group_tests_name("net/mongo/mongoset", tests, NULL, NULL);
}
