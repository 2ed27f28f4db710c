/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters of the etcd trigger (doc/keda.md 8.5): accepted, defaulted, rejected with their
 * message; equal questions. The live tests cover the requests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "../pairs.h"
#include "base/buf.h"
#include "base/mem.h"
#include "net/tls/tlsrules.h"
#include "scalers/etcd/etcdquestion.h"
#include "scalers/scaler.h"

static int build(const char *metadata, const char *auth, struct scaler *out, struct err *err)
{
	const struct scaler_params params = { .type = "etcd", .index = 1 };

	return pairs_build(&params, metadata, auth, "USER=reader|PASSWORD=secret-value|EMPTY=", out, err);
}

#define REST  "watchKey=shop/jobs|value=5"
#define BASE  "endpoints=e:2379|" REST
#define LOGIN "username=reader|password=secret-value"

static const struct {
	const char *metadata, *auth, *urls; /* URLs of the members, each followed by a blank */
	int64_t target_milli, progress_ms;
	double activation;
} goods[] = {
	{ BASE, NULL, "http://e:2379 ", 5000, 600000, 0 },
	{ BASE, LOGIN, "http://e:2379 ", 5000, 600000, 0 },
	{ BASE "|usernameFromEnv=USER|passwordFromEnv=PASSWORD", NULL, "http://e:2379 ", 5000, 600000, 0 },
	{ "endpoints=http://e:2379/, https://f:2379,,[::1]:2379|watchKey=shop/jobs|value=0.5|activationValue=2.5|"
	  "watchProgressNotifyInterval=1",
		NULL, "http://e:2379 https://f:2379 http://[::1]:2379 ", 500, 1000, 2.5 },
	{ "endpoints=https://e:2379,f:2379|" REST, "tls=enable", "https://e:2379 https://f:2379 ", 5000, 600000, 0 },
	{ BASE, "tls=disable|ca=nonsense|cert=secret-value", "http://e:2379 ", 5000, 600000, 0 },
};

static void accepted(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(goods); i++) {
		struct buf urls = BUF_INIT(4096);
		const struct etcdquestion *q;
		struct scaler s;
		struct err err = { 0 };

		if (build(goods[i].metadata, goods[i].auth, &s, &err))
			fail_msg("%s: %s", goods[i].metadata, err.msg);
		q = s.question->data;
		for (size_t k = 0; k < q->cluster->count; k++)
			buf_printf(&urls, "%s ", q->cluster->members[k]->url);
		assert_string_equal(buf_text(&urls), goods[i].urls);
		assert_string_equal(q->key, "shop/jobs");
		assert_ptr_equal(strstr(s.question->source, "etcd e:2379"), s.question->source);
		assert_string_equal(s.metric_name, "s1-etcd-shop-jobs");
		assert_int_equal(s.target.milli, goods[i].target_milli);
		assert_int_equal(q->progress_s * 1000, goods[i].progress_ms);
		assert_true(s.activation == goods[i].activation);
		assert_null(strstr(s.question->key, "secret-value"));
		assert_null(s.unknown);
		buf_done(&urls);
		scaler_done(&s);
	}
}

static const struct {
	const char *metadata, *auth, *message;
} bads[] = {
	{ REST, NULL, "trigger 1 (etcd): missing required parameter \"endpoints\" in [triggerMetadata]" },
	{ "endpoints=e:1|value=5", NULL, "missing required parameter \"watchKey\"" },
	{ "endpoints=e:1|watchKey=a", NULL, "missing required parameter \"value\"" },
	{ "endpoints=e:1|watchKey=a|value=0", NULL, "\"value\" value \"0\" must be greater than 0" },
	{ BASE "|activationValue=x", NULL, "\"activationValue\" value \"x\"" },
	{ BASE "|watchProgressNotifyInterval=0", NULL, "watchProgressNotifyInterval must be greater than 0" },
	{ BASE "|watchProgressNotifyInterval=-5", NULL, "watchProgressNotifyInterval must be greater than 0" },
	{ BASE "|watchProgressNotifyInterval=3000000000", NULL, "is more than 2147483647 seconds" },
	{ "endpoints=e|" REST, NULL, "parameter \"endpoints\", piece 1: must be host:port" },
	{ "endpoints=e:1, f:0|" REST, NULL, "parameter \"endpoints\", piece 2: must be host:port" },
	{ "endpoints=http://e:1/a|" REST, NULL, "piece 1: must be host:port" },
	{ "endpoints=http://u:p@e:1|" REST, NULL, "piece 1: must be host:port" },
	{ "endpoints=ftp://e:1|" REST, NULL, "piece 1: must be host:port" },
	{ "endpoints=unix:///run/etcd|" REST, NULL, "piece 1: must be host:port" },
	{ "endpoints=e e:1|" REST, NULL, "piece 1: address \"e e:1\" must be host:port" },
	{ "endpoints=, |" REST, NULL, "parameter \"endpoints\" has no endpoint" },
	{ "endpoints=http://e:1|" REST, "tls=enable", "must not be http:// when tls is enabled" },
	{ BASE, "tls=on",
		"unable to set param \"tls\" value from authParams (not shown): must be one of disable, enable" },
	{ BASE, "tls=enable|key=secret-value", "cert must be provided with key" },
	{ BASE, "tls=enable|cert=secret-value", "key must be provided with cert" },
	{ BASE, "tls=enable|ca=secret-value", "certificate" },
	{ BASE, "password=secret-value", "username must be provided with password" },
	{ BASE, "username=reader", "password must be provided with username" },
	{ BASE "|usernameFromEnv=USER|passwordFromEnv=EMPTY", NULL, "has no environment variable EMPTY with a value" },
};

static void rejected(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(bads); i++) {
		struct scaler s;
		struct err err = { 0 };
		int rc = build(bads[i].metadata, bads[i].auth, &s, &err);

		pairs_refused(rc, bads[i].metadata, &err, bads[i].message);
	}
}

static void limits(void **state)
{
	struct buf metadata = BUF_INIT((size_t)1 << 16);
	struct scaler s;
	struct err err = { 0 };

	(void)state;
	buf_puts(&metadata, REST "|endpoints=e:1");
	for (int i = 1; i < ETCDCLUSTER_MEMBERS_MAX; i++)
		buf_printf(&metadata, ",e%d:1", i);
	assert_int_equal(build(buf_text(&metadata), NULL, &s, &err), 0);
	scaler_done(&s);
	buf_puts(&metadata, ",f:1");
	assert_int_equal(build(buf_text(&metadata), NULL, &s, &err), -1);
	assert_non_null(strstr(err.msg, "more than 32 endpoints"));
	buf_reset(&metadata);
	buf_puts(&metadata, "endpoints=e:1|value=5|watchKey=");
	for (int i = 0; i < 4097; i++)
		buf_putc(&metadata, 'k');
	assert_int_equal(build(buf_text(&metadata), NULL, &s, &err), -1);
	assert_non_null(strstr(err.msg, "\"watchKey\" has more than 4096 bytes"));
	buf_done(&metadata);
}

static void with_tls_required(void **state)
{
	struct scaler s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(tlsrules_set(&(struct tlsrules_config){ .required = true }, &err), 0);
	assert_int_equal(build(BASE, NULL, &s, &err), -1);
	assert_int_equal(err.kind, ERR_DENIED);
	assert_non_null(strstr(err.msg, "set tls to \"enable\""));
	assert_int_equal(build(BASE, "tls=enable", &s, &err), 0);
	scaler_done(&s);
	tlsrules_done();
}

static void questions(void **state)
{
	static const struct pairs_question others[] = {
		{ "endpoints=http://e:2379/|watchKey=shop/jobs|value=9|activationValue=3", LOGIN, true },
		{ BASE "|usernameFromEnv=USER|passwordFromEnv=PASSWORD", NULL, true },
		{ BASE, NULL, false },
		{ BASE, "username=reader|password=other", false },
		{ BASE, "username=another|password=secret-value", false },
		{ BASE, LOGIN "|tls=enable", false },
		{ "endpoints=e:2379,f:2379|" REST, LOGIN, false },
		{ "endpoints=e:2380|" REST, LOGIN, false },
		{ "endpoints=e:2379|value=5|watchKey=shop-jobs", LOGIN, false },
		{ BASE "|watchProgressNotifyInterval=60", LOGIN, false },
	};

	(void)state;
	pairs_questions(others, MEM_COUNT(others), BASE, LOGIN, build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted),
		cmocka_unit_test(rejected),
		cmocka_unit_test(limits),
		cmocka_unit_test(with_tls_required),
		cmocka_unit_test(questions),
	};

	return cmocka_run_group_tests_name("scalers/etcd/etcd", tests, NULL, NULL);
}
