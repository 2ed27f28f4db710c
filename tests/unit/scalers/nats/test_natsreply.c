/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of a monitoring port, as nats-server 2.9 and 2.11 send them, and malformed ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "scalers/nats/natsreply.h"

/* ---- /jsz ---- */

#define BEGIN  "{\"server_id\":\"NA\",\"reserved_memory\":18446744073709551615,\"account_details\":["
#define STREAM "{\"name\":\"shop\",\"id\":\"AC\",\"stream_detail\":[{\"name\":\"other\"},{\"name\":\"orders\""
#define FOUND  BEGIN STREAM ",\"consumer_detail\":[{\"name\":\"another\"},{\"name\":\"worker\""
#define END    "}]}]}]}"

static const struct row {
	const char *body;
	enum natsreply_found found;
	double lag;
	const char *leader;
	bool is_cluster;
	const char *says; /* part of the error; "": none */
} rows[] = {
	{ FOUND ",\"num_pending\":7,\"num_ack_pending\":3" END, NATSREPLY_CONSUMER, 10, "", false, "" },
	{ FOUND ",\"num_pending\":0,\"num_ack_pending\":0" END, NATSREPLY_CONSUMER, 0, "", false, "" },
	{ FOUND ",\"num_pending\":7,\"num_ack_pending\":0,\"cluster\":{\"name\":\"c\",\"leader\":\"n2\"}}]}]}],"
		"\"meta_cluster\":{\"leader\":\"n3\",\"cluster_size\":3}}",
		NATSREPLY_CONSUMER, 7, "n2", true, "" },
	/* no leader during an election */
	{ FOUND ",\"num_pending\":7,\"num_ack_pending\":0,\"cluster\":{\"name\":\"c\"}" END, NATSREPLY_CONSUMER, 7, "",
		false, "" },
	/* found by its ID, whatever its name */
	{ BEGIN "{\"name\":\"x\",\"id\":\"ID\",\"stream_detail\":[{\"name\":\"orders\",\"consumer_detail\":"
		"[{\"name\":\"worker\",\"num_pending\":1,\"num_ack_pending\":1}]}]}]}",
		NATSREPLY_CONSUMER, 2, "", false, "" },
	/* partly found */
	{ FOUND END, NATSREPLY_CONSUMER, 0, "", false, "the consumer's num_pending is not a number of messages" },
	{ BEGIN STREAM ",\"consumer_detail\":[]}]}]}", NATSREPLY_NO_CONSUMER, 0, "", false, "" },
	{ BEGIN STREAM "}]}]}", NATSREPLY_NO_CONSUMER, 0, "", false, "" },
	{ BEGIN "{\"name\":\"shop\",\"id\":\"AC\",\"stream_detail\":[]}]}", NATSREPLY_NO_STREAM, 0, "", false, "" },
	{ BEGIN "{\"name\":\"shop\",\"id\":\"AC\"}]}", NATSREPLY_NO_STREAM, 0, "", false, "" },
	{ BEGIN "{\"name\":\"$G\",\"id\":\"$G\"}]}", NATSREPLY_NO_ACCOUNT, 0, "", false, "" },
	{ BEGIN "]}", NATSREPLY_NO_ACCOUNT, 0, "", false, "" },
	{ "{\"server_id\":\"NA\"}", NATSREPLY_NO_ACCOUNT, 0, "", false, "" },
	/* invalid values are errors, not 0 */
	{ FOUND ",\"num_pending\":7" END, NATSREPLY_CONSUMER, 0, "", false, "num_ack_pending is not a number" },
	{ FOUND ",\"num_pending\":1e999,\"num_ack_pending\":0" END, NATSREPLY_CONSUMER, 0, "", false, "not JSON" },
	{ FOUND ",\"num_pending\":-1,\"num_ack_pending\":0" END, NATSREPLY_CONSUMER, 0, "", false,
		"num_pending is not" },
	{ FOUND ",\"num_pending\":\"7\",\"num_ack_pending\":0" END, NATSREPLY_CONSUMER, 0, "", false,
		"num_pending is" },
	{ FOUND ",\"num_pending\":7.5,\"num_ack_pending\":0" END, NATSREPLY_CONSUMER, 0, "", false,
		"num_pending is not" },
	{ FOUND ",\"num_pending\":7,\"num_ack_pending\":null" END, NATSREPLY_CONSUMER, 0, "", false,
		"num_ack_pending" },
	{ FOUND ",\"num_pending\":7,\"num_ack_pending\":0,\"cluster\":{\"leader\":\"a b\"}" END, NATSREPLY_CONSUMER, 0,
		"", false, "leader in the answer is not a valid name" },
	{ "{\"server_id\":\"NA\",\"disabled\":true}", NATSREPLY_NO_ACCOUNT, 0, "", false, "JetStream is not enabled" },
	{ "{\"account_details\":[]}", NATSREPLY_NO_ACCOUNT, 0, "", false, "the answer has no server_id" },
	{ "{\"server_id\":7}", NATSREPLY_NO_ACCOUNT, 0, "", false, "the answer has no server_id" },
	{ "{\"server_id\":\"a\\nb\"}", NATSREPLY_NO_ACCOUNT, 0, "", false,
		"server_id in the answer is not a valid name" },
	{ "[]", NATSREPLY_NO_ACCOUNT, 0, "", false, "is this the monitoring port of a NATS server?" },
	{ "", NATSREPLY_NO_ACCOUNT, 0, "", false, "the answer is not JSON" },
	{ "<html>", NATSREPLY_NO_ACCOUNT, 0, "", false, "the answer is not JSON" },
	{ FOUND ",\"num_pending\":7,\"num_ack_", NATSREPLY_NO_ACCOUNT, 0, "", false, "the answer is not JSON" },
};

static void consumers(void **state)
{
	static const struct natsreply_wanted wanted = { "shop", "ID", "orders", "worker" };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct natsreply_jsz said;
		struct err err = { 0 };
		int rc = natsreply_jsz(rows[i].body, strlen(rows[i].body), &wanted, &said, &err);

		if ((rc == 0) != (*rows[i].says == '\0') || !strstr(err.msg, rows[i].says))
			fail_msg("%s: %d, \"%s\"", rows[i].body, rc, err.msg);
		if (rc)
			continue;
		if (said.found != rows[i].found || strcmp(said.leader, rows[i].leader) != 0 ||
			said.is_cluster != rows[i].is_cluster)
			fail_msg("%s: %d %s %d", rows[i].body, said.found, said.leader, said.is_cluster);
		assert_true(said.found != NATSREPLY_CONSUMER || said.lag == rows[i].lag);
		assert_string_equal(said.id, "NA");
	}
}

/* By name only, or by ID only. */
static void accounts(void **state)
{
	static const char body[] = FOUND ",\"num_pending\":7,\"num_ack_pending\":3" END;
	static const struct {
		struct natsreply_wanted wanted;
		enum natsreply_found found;
	} cases[] = {
		{ { "shop", NULL, "orders", "worker" }, NATSREPLY_CONSUMER },
		{ { NULL, "AC", "orders", "worker" }, NATSREPLY_CONSUMER },
		{ { "other", "AC", "orders", "worker" }, NATSREPLY_CONSUMER },
		{ { "AC", NULL, "orders", "worker" }, NATSREPLY_NO_ACCOUNT },
		{ { NULL, "shop", "orders", "worker" }, NATSREPLY_NO_ACCOUNT },
		{ { "shop", NULL, "Orders", "worker" }, NATSREPLY_NO_STREAM },
		{ { "shop", NULL, "other", "worker" }, NATSREPLY_NO_CONSUMER },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		struct natsreply_jsz said;
		struct err err = { 0 };

		assert_int_equal(natsreply_jsz(body, strlen(body), &cases[i].wanted, &said, &err), 0);
		assert_int_equal(said.found, cases[i].found);
	}
}

static void too_many_values(void **state)
{
	static const struct natsreply_wanted wanted = { "shop", NULL, "orders", "worker" };
	struct buf body = BUF_INIT((size_t)1 << 20);
	struct natsreply_jsz said;
	struct err err = { 0 };

	(void)state;
	buf_puts(&body, "[0");
	for (int i = 0; i < 100000; i++)
		buf_puts(&body, ",0");
	buf_puts(&body, "]");
	assert_int_equal(natsreply_jsz(buf_text(&body), body.len, &wanted, &said, &err), -1);
	assert_non_null(strstr(err.msg, "too many streams and consumers for one answer"));
	buf_done(&body);
}

/* ---- /varz ---- */

#define WHO "{\"server_id\":\"NA\",\"server_name\":\"n1\""

static const struct {
	const char *body, *hosts; /* each followed by a blank */
	bool are_routes;
	const char *says;
} servers[] = {
	{ WHO ",\"connect_urls\":[\"10.0.0.1:4222\",\"10.0.0.2:4222\"],\"cluster\":{\"urls\":[\"n-3:6222\"]}}",
		"10.0.0.1 10.0.0.2 ", false, "" },
	{ WHO ",\"connect_urls\":[\"[fd00::1]:4222\",\"nats-0.example.com:4222\",\"NATS-0.example.com:4443\"]}",
		"fd00::1 nats-0.example.com ", false, "" },
	{ WHO ",\"cluster\":{\"name\":\"c\",\"urls\":[\"nats-0.nats:6222\",\"nats-1.nats:6222\"]}}",
		"nats-0.nats nats-1.nats ", true, "" },
	{ WHO ",\"connect_urls\":[],\"cluster\":{\"urls\":[\"10.0.0.1:6222\"]}}", "10.0.0.1 ", true, "" },
	{ WHO "}", "", true, "" },
	{ WHO ",\"connect_urls\":7,\"cluster\":[]}", "", true, "" },
	/* invalid addresses are skipped */
	{ WHO ",\"connect_urls\":[\"a/b:1\",\"u@h:1\",\"h?x:1\",\"h#x:1\",\":1\",\"\",\"a b:1\",\"a\\nb:1\",7,null,"
	      "\"-x:1\",\"[::1\",\"h:99999\",\"a%20b:1\",\"ok:1\"]}",
		"ok ", false, "" },
	{ "{\"server_id\":\"NA\"}", "", false, "the answer has no server_name and server_id" },
	{ "{\"server_name\":\"n1\"}", "", false, "the answer has no server_name and server_id" },
	{ "{\"server_id\":\"NA\",\"server_name\":\"n 1\"}", "", false,
		"server_name in the answer is not a valid name" },
	{ "\"NATS\"", "", false, "the answer is not JSON" },
};

static void clusters(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(servers); i++) {
		struct buf hosts = BUF_INIT(4096);
		struct natsreply_varz said;
		struct err err = { 0 };
		int rc = natsreply_varz(servers[i].body, strlen(servers[i].body), &said, &err);

		if ((rc == 0) != (*servers[i].says == '\0') || !strstr(err.msg, servers[i].says))
			fail_msg("%s: %d, \"%s\"", servers[i].body, rc, err.msg);
		for (size_t k = 0; k < said.count; k++)
			buf_printf(&hosts, "%s ", said.hosts[k]);
		assert_string_equal(buf_text(&hosts), servers[i].hosts);
		assert_true(rc || said.are_routes == servers[i].are_routes);
		assert_true(rc || strcmp(said.name, "n1") == 0);
		natsreply_varz_done(&said);
		buf_done(&hosts);
	}
}

static void hosts_are_limited(void **state)
{
	struct buf body = BUF_INIT(65536);
	struct natsreply_varz said;
	struct err err = { 0 };

	(void)state;
	buf_puts(&body, WHO ",\"connect_urls\":[\"h:1\"");
	for (int i = 0; i < 200; i++)
		buf_printf(&body, ",\"h%d:1\"", i);
	buf_puts(&body, "]}");
	assert_int_equal(natsreply_varz(buf_text(&body), body.len, &said, &err), 0);
	assert_int_equal(said.count, NATSREPLY_HOSTS_MAX);
	natsreply_varz_done(&said);
	buf_done(&body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(consumers),
		cmocka_unit_test(accounts),
		cmocka_unit_test(too_many_values),
		cmocka_unit_test(clusters),
		cmocka_unit_test(hosts_are_limited),
	};

	return cmocka_run_group_tests_name("scalers/nats/natsreply", tests, NULL, NULL);
}
