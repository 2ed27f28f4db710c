/* SPDX-License-Identifier: Apache-2.0 */

/*
 * SRV and TXT records, with examples of MongoDB's specification "Initial DNS Seedlist Discovery":
 * hosts inside and outside of the domain, permitted options, and precedence.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/mongo/mongoseeds.h"

#define SEED "test1.test.build.10gen.cc"
#define HOME "localhost.test.build.10gen.cc"

struct row {
	struct mongoendpoint_config config;
	const char *srv[4], *txt[3];
	const char *set, *source; /* expected; source NULL: an error */
	const char *error;
};

#define FOR(...)                                                                                                       \
	{                                                                                                              \
		.seed = SEED, ##__VA_ARGS__                                                                            \
	}

static const struct row rows[] = {
	{ FOR(), { HOME, "b.test.build.10gen.cc" }, { NULL }, NULL, "admin", NULL },
	{ FOR(.source = "shop"), { HOME }, { NULL }, NULL, "shop", NULL },
	/* The TXT record supplies defaults for the connection string. */
	{ FOR(.source = "shop"), { HOME }, { "replicaSet=repl0&authSource=thisDB" }, "repl0", "thisDB", NULL },
	{ FOR(.source = "otherDB", .source_given = true), { HOME }, { "replicaSet=repl0;authSource=thisDB" }, "repl0",
		"otherDB", NULL },
	{ FOR(.set = "rs7"), { HOME }, { "REPLICASET=repl0&&AuthSource=a%2Fb+c" }, "rs7", "a/b c", NULL },
	{ FOR(), { HOME }, { "" }, NULL, "admin", NULL },
	{ FOR(), { HOME }, { "loadBalanced=false" }, NULL, "admin", NULL },
	{ FOR(.unbalanced = true), { HOME }, { "loadBalanced=true" }, NULL, "admin", NULL },
	{ FOR(), { HOME }, { "loadBalanced=true" }, NULL, NULL,
		"the TXT record of " SEED " says loadBalanced=true, which is not supported" },
	{ FOR(), { HOME }, { "loadBalanced=maybe" }, NULL, NULL, "loadBalanced must be true or false" },
	{ FOR(), { HOME }, { "authSource=" }, NULL, NULL, "authSource must not be empty" },
	{ FOR(), { HOME }, { "socketTimeoutMS=500" }, NULL, NULL, "has an option \"socketTimeoutMS\": only" },
	{ FOR(), { HOME }, { "replicaSet=a&ssl=false" }, NULL, NULL, "has an option \"ssl\": only" },
	{ FOR(), { HOME }, { "tls=false" }, NULL, NULL, "has an option \"tls\": only" },
	{ FOR(), { HOME }, { "authSource" }, NULL, NULL, "is not name=value" },
	{ FOR(), { HOME }, { "=x" }, NULL, NULL, "is not name=value" },
	{ FOR(), { HOME }, { "authSource=%zz" }, NULL, NULL, "percent-encoded" },
	{ FOR(), { HOME }, { "replicaSet=a", "authSource=b" }, NULL, NULL,
		SEED " has several TXT records, of which MongoDB allows one" },
	/* Hosts. */
	{ FOR(), { HOME, "localhost.test.build.10gen.com" }, { NULL }, NULL, NULL,
		"the SRV record of _mongodb._tcp." SEED
		" names the host localhost.test.build.10gen.com, which is not below test.build.10gen.cc" },
	{ FOR(), { "test.build.10gen.cc" }, { NULL }, NULL, NULL, "which is not below test.build.10gen.cc" },
	{ FOR(), { "localhost.build.10gen.cc" }, { NULL }, NULL, NULL, "which is not below" },
	{ FOR(), { "evil-test.build.10gen.cc" }, { NULL }, NULL, NULL, "which is not below" },
	{ FOR(), { "eviltest.build.10gen.cc" }, { NULL }, NULL, NULL, "which is not below" },
	{ FOR(), { "cc" }, { NULL }, NULL, NULL, "which is not below" },
	{ FOR(), { "deep.down.TEST.build.10GEN.cc" }, { NULL }, NULL, "admin", NULL },
	{ { .seed = SEED "." }, { HOME }, { NULL }, NULL, "admin", NULL },
	/* A name of fewer than three labels is the domain itself. */
	{ { .seed = "localhost" }, { "test_1.localhost" }, { NULL }, NULL, "admin", NULL },
	{ { .seed = "localhost" }, { "localhost" }, { NULL }, NULL, NULL, "which is not below localhost" },
	{ { .seed = "localhost" }, { "localhost.mongodb" }, { NULL }, NULL, NULL, "which is not below localhost" },
	{ { .seed = "localhost" }, { "test_1.cluster_1localhost" }, { NULL }, NULL, NULL,
		"which is not below localhost" },
	{ { .seed = "mongo.local" }, { "mongo.local" }, { NULL }, NULL, NULL, "which is not below mongo.local" },
	{ { .seed = "mongo.local." }, { "test_1.mongo.local" }, { NULL }, NULL, "admin", NULL },
	{ { .seed = "mongo.local" }, { "test_1.evil.local" }, { NULL }, NULL, NULL, "which is not below mongo.local" },
	{ { .seed = "blogs.mongodb.com" }, { "cluster.testmongodb.com" }, { NULL }, NULL, NULL,
		"which is not below mongodb.com" },
	/* As many as wanted. */
	{ FOR(.max_hosts = 2), { HOME, "b." HOME, "c." HOME }, { NULL }, NULL, "admin", NULL },
	{ FOR(.max_hosts = 9), { HOME, "b." HOME, "c." HOME }, { NULL }, NULL, "admin", NULL },
	{ FOR(.max_hosts = 2, .service = "other"), { "a.b" }, { NULL }, NULL, NULL,
		"record of _other._tcp." SEED " names" },
	{ FOR(.max_hosts = 2), { HOME }, { "replicaSet=a" }, NULL, NULL,
		"srvMaxHosts cannot be a positive value if a replica set name is specified, as the TXT record "
		"of " SEED },
};

static struct mongoendpoint *endpoint(const struct mongoendpoint_config *config)
{
	struct err err = { 0 };
	struct mongoendpoint *e = mongoendpoint_new(config, &err);

	if (!e)
		fail_msg("%s", err.msg);
	return e;
}

static struct dnsrecord_list list_of(const char *const *texts, struct dnsrecord room[4])
{
	struct dnsrecord_list list = { .at = room };

	for (; list.count < 3 && texts[list.count]; list.count++)
		room[list.count] = (struct dnsrecord){ (char *)(uintptr_t)texts[list.count], 27017 };
	return list;
}

static void records(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		const struct row *r = &rows[i];
		struct mongoendpoint *e = endpoint(&r->config);
		struct dnsrecord srv_room[4], txt_room[4];
		struct dnsrecord_list srv = list_of(r->srv, srv_room), txt = list_of(r->txt, txt_room);
		struct mongoseeds seeds;
		struct err err = { 0 };
		int rc = mongoseeds_read(e, &srv, &txt, &seeds, &err);

		if (rc != (r->error ? -1 : 0) || (rc && !strstr(err.msg, r->error)))
			fail_msg("%zu: %d, \"%s\", not \"%s\"", i, rc, err.msg, r->error ? r->error : "");
		if (rc == 0) {
			size_t most = r->config.max_hosts > 0 ? r->config.max_hosts : 50;

			assert_int_equal(seeds.count, srv.count < most ? srv.count : most);
			assert_true(r->set ? seeds.set && strcmp(seeds.set, r->set) == 0 : !seeds.set);
			assert_string_equal(seeds.source, r->source);
		} else {
			assert_int_equal(err.kind, ERR_INVALID);
		}
		mongoseeds_done(&seeds);
		endpoint_unref(e);
	}
}

/*
 * Every host is chosen at times, never twice at once; if all are taken, they keep the server's
 * order.
 */
static void chosen_at_random(void **state)
{
	struct mongoendpoint *some = endpoint(&(struct mongoendpoint_config)FOR(.max_hosts = 3));
	struct mongoendpoint *all = endpoint(&(struct mongoendpoint_config)FOR());
	struct dnsrecord records[DNSRECORD_MAX];
	struct dnsrecord_list srv = { 10, records }, txt = { 0 };
	struct mongoseeds seeds;
	unsigned seen = 0;
	struct err err;

	(void)state;
	for (size_t i = 0; i < DNSRECORD_MAX; i++)
		records[i] = (struct dnsrecord){ mem_dup(HOME), (uint16_t)(1 + i) };
	for (int round = 0; round < 1000; round++) {
		unsigned now = 0;

		assert_int_equal(mongoseeds_read(some, &srv, &txt, &seeds, &err), 0);
		assert_int_equal(seeds.count, 3);
		for (size_t i = 0; i < seeds.count; i++)
			now |= 1u << seeds.hosts[i].port;
		assert_int_equal(__builtin_popcount(now), 3);
		seen |= now;
		mongoseeds_done(&seeds);
	}
	assert_int_equal(seen, 0x7fe);
	assert_int_equal(mongoseeds_read(all, &srv, &txt, &seeds, &err), 0);
	for (size_t i = 0; i < seeds.count; i++)
		assert_int_equal(seeds.hosts[i].port, 1 + i);
	mongoseeds_done(&seeds);
	srv.count = DNSRECORD_MAX;
	assert_int_equal(mongoseeds_read(all, &srv, &txt, &seeds, &err), 0);
	assert_int_equal(seeds.count, MONGOENDPOINT_HOSTS_MAX);
	mongoseeds_done(&seeds);
	for (size_t i = 0; i < DNSRECORD_MAX; i++)
		mem_free_ptr(&records[i].text);
	endpoint_unref(some);
	endpoint_unref(all);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(records),
		cmocka_unit_test(chosen_at_random),
	};

	return cmocka_run_group_tests_name("net/mongo/mongoseeds", tests, NULL, NULL);
}
