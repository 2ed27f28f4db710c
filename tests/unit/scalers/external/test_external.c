/* SPDX-License-Identifier: Apache-2.0 */
/* external and external-push: parameters, keys, requests, answers, and the stream. */
#include "../../fakes/fakepki.h"
#include "../../fakes/h2server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../pairs.h"
#include "../tlsrows.h"
#include "base/mem.h"
#include "scalers/external/externalmessages.h"
#include "scalers/external/externalscaler.pb-c.h"
#include "scalers/scalerbuild.h"
#include "scalers/sources.h"
#include "scalers/types.h"

#define NEEDED "scalerAddress=s:1"

/* PEM texts by their names in the rows. */
static struct x509_pair authority, other_authority, client;

static int make_pems(void **state)
{
	static const char *const names[] = { "client.test", NULL };

	(void)state;
	fakepki_authority("one", INT64_C(1750000000000), 3600, &authority);
	fakepki_authority("other", INT64_C(1750000000000), 3600, &other_authority);
	fakepki_certificate(&authority, names, INT64_C(1750000000000), 3600, &client);
	return 0;
}

static int forget_pems(void **state)
{
	(void)state;
	x509_pair_done(&authority);
	x509_pair_done(&other_authority);
	x509_pair_done(&client);
	return 0;
}

static void put_pems(struct strmap *auth)
{
	const struct {
		const char *name, *pem;
	} pems[] = {
		{ "CA", authority.cert_pem },
		{ "OTHER-CA", other_authority.cert_pem },
		{ "CERT", client.cert_pem },
		{ "KEY", client.key_pem },
	};

	for (size_t i = 0; i < auth->count; i++) {
		MEM_AUTO char *key = mem_dup(auth->pairs[i].key);

		for (size_t n = 0; n < MEM_COUNT(pems); n++)
			if (strcmp(auth->pairs[i].value, pems[n].name) == 0)
				strmap_set(auth, key, pems[n].pem);
	}
}

static int build(const char *type, const char *metadata, const char *auth, const char *object, struct scaler *out,
	struct err *err)
{
	struct strmap m = { 0 }, a = { 0 }, env = { 0 }, unresolved = { 0 };
	struct scaler_params params = { .type = type,
		.namespace_ = "shop",
		.object = object,
		.index = 2,
		.metadata = &m,
		.auth = &a,
		.env = &env,
		.unresolved = &unresolved };
	int failed;

	pairs_fill(&m, metadata);
	pairs_fill(&a, auth);
	put_pems(&a);
	strmap_set(&env, "TOKEN", "s3cret");
	strmap_set(&env, "OTHER", "another");
	strmap_set(&env, "EMPTY", "");
	strmap_set(&unresolved, "BROKEN", "is in a Secret that does not exist");
	failed = scaler_build(&params, out, err);
	strmap_done(&m);
	strmap_done(&a);
	strmap_done(&env);
	strmap_done(&unresolved);
	return failed;
}

/* ---- Parameters ---- */

static void accepted(void **state)
{
	static const struct {
		const char *metadata, *auth, *source, *unknown;
	} rows[] = {
		{ NEEDED, "", "external s:1", NULL },
		{ "scalerAddress= dns:///scaler.shop:50051 ", "", "external scaler.shop:50051", NULL },
		{ NEEDED "|enableTLS=true|unsafeSsl=1|anything=goes|listFromEnv=NONE", "", "external s:1", NULL },
		{ NEEDED "|caCert=x", "", "external s:1", "\"caCert\"" },
		{ NEEDED "|caCert=x", "caCert=CA", "external s:1", NULL },
		{ NEEDED, "caCert=CA|tlsClientCert=CERT|tlsClientKey=KEY", "external s:1", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct scaler s;
		struct err err = { 0 };

		if (build("external", rows[i].metadata, rows[i].auth, "web", &s, &err))
			fail_msg("row %zu: %s", i, err.msg);
		assert_string_equal(s.question->source, rows[i].source);
		assert_string_equal(s.metric_name, "s2-external");
		assert_true(s.undescribed);
		if ((rows[i].unknown == NULL) != (s.unknown == NULL) ||
			(s.unknown && strcmp(s.unknown, rows[i].unknown) != 0))
			fail_msg("row %zu: unknown %s", i, s.unknown ? s.unknown : "none");
		scaler_done(&s);
	}
}

static void rejected(void **state)
{
	static const struct {
		const char *metadata, *auth, *said;
	} rows[] = {
		{ "a=b", "", "missing required parameter \"scalerAddress\" in [triggerMetadata]" },
		{ "a=b", "scalerAddress=s:1", "missing required parameter \"scalerAddress\" in [triggerMetadata]" },
		{ "scalerAddress=a:b", "", "parameter \"scalerAddress\": address \"a:b\" must be host:port" },
		{ "scalerAddress=unix:/x", "",
			"parameter \"scalerAddress\": address \"unix:/x\": \"unix\" is not supported here: write "
			"host:port, or dns:///host:port" },
		{ NEEDED "|enableTLS=yes", "",
			"unable to set param \"enableTLS\" value \"yes\": must be true or false" },
		{ NEEDED "|unsafeSsl=2", "", "unable to set param \"unsafeSsl\" value \"2\": must be true or false" },
		{ NEEDED, "caCert=x", "parameter \"scalerAddress\": TLS: CA: no PEM certificate in it" },
		{ NEEDED, "tlsClientCert=c",
			"parameters \"tlsClientCert\" and \"tlsClientKey\" belong together: only tlsClientCert is "
			"given" },
		{ NEEDED, "tlsClientKey=k",
			"parameters \"tlsClientCert\" and \"tlsClientKey\" belong together: only tlsClientKey is "
			"given" },
		{ NEEDED "|xFromEnv=BROKEN", "",
			"parameter \"xFromEnv\": environment variable BROKEN of the target's container is in a Secret "
			"that does not exist" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		MEM_AUTO char *said = mem_printf("trigger 2 (external-push): %s", rows[i].said);
		struct scaler s;
		struct err err = { 0 };

		assert_int_equal(build("external-push", rows[i].metadata, rows[i].auth, "web", &s, &err), -1);
		if (err.kind != ERR_INVALID || strcmp(err.msg, said) != 0)
			fail_msg("row %zu: %s", i, err.msg);
	}
}

static void questions(void **state)
{
	static const struct {
		const char *a, *a_auth, *b, *b_auth, *b_object;
		bool same;
	} rows[] = {
		{ NEEDED "|q=1", "", NEEDED "|q=1", "", "web", true },
		{ NEEDED, "", "scalerAddress=dns:///s:1", "", "web", false }, /* sent to the server */
		{ NEEDED "|q=1", "", NEEDED "|q=2", "", "web", false },
		{ NEEDED, "", NEEDED, "", "other", false },
		{ NEEDED, "", NEEDED, "caCert=CA", "web", false },
		{ NEEDED, "caCert=OTHER-CA", NEEDED, "caCert=CA", "web", false },
		{ NEEDED "|enableTLS=true", "", NEEDED "|enableTLS=true|unsafeSsl=true", "", "web", false },
		{ NEEDED "|qFromEnv=TOKEN", "", NEEDED "|qFromEnv=OTHER", "", "web", false },
		{ NEEDED "|qFromEnv=NONE", "", NEEDED, "", "web", true },
		{ NEEDED "|qFromEnv=EMPTY", "", NEEDED, "", "web", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct scaler a, b;

		assert_int_equal(build("external", rows[i].a, rows[i].a_auth, "web", &a, NULL), 0);
		assert_int_equal(build("external", rows[i].b, rows[i].b_auth, rows[i].b_object, &b, NULL), 0);
		if ((strcmp(a.question->key, b.question->key) == 0) != rows[i].same)
			fail_msg("row %zu: \"%s\" and \"%s\"", i, a.question->key, b.question->key);
		assert_null(strstr(a.question->key, "s3cret"));
		scaler_done(&a);
		scaler_done(&b);
	}
}

static void each_metric_has_a_scaler_of_its_own(void **state)
{
	struct scaler whole, one, two;
	struct described queue = { mem_dup("a.b:c"), { 2500, QUANTITY_DECIMAL_SI } },
			 load = { mem_dup("load"), { 1000, QUANTITY_DECIMAL_SI } };

	(void)state;
	assert_int_equal(build("external", NEEDED, "", "web", &whole, NULL), 0);
	scaler_narrow(&whole, &queue, 0, &one);
	scaler_narrow(&whole, &load, 1, &two);
	assert_string_equal(one.metric_name, "s2-a.b:c"); /* not normalised (C.4) */
	assert_int_equal(one.target.milli, 2500);
	assert_false(one.undescribed);
	assert_string_not_equal(one.question->key, two.question->key);
	assert_string_not_equal(one.question->key, whole.question->key);
	scaler_done(&whole);
	scaler_done(&one);
	scaler_done(&two);
	free(queue.name);
	free(load.name);
}

/* ---- Messages ---- */

static void requests(void **state)
{
	struct strmap metadata = { 0 };
	struct buf out = BUF_INIT(1 << 20);
	Externalscaler__GetMetricsRequest *request;

	(void)state;
	pairs_fill(&metadata, NEEDED "|list=jobs");
	externalmessages_put(&out, "shop", "web", &metadata, "queue");
	request = externalscaler__get_metrics_request__unpack(NULL, out.len, (const uint8_t *)out.data);
	assert_non_null(request);
	assert_string_equal(request->metricname, "queue");
	assert_string_equal(request->scaledobjectref->name, "web");
	assert_string_equal(request->scaledobjectref->namespace_, "shop");
	assert_int_equal(request->scaledobjectref->n_scalermetadata, 2);
	assert_string_equal(request->scaledobjectref->scalermetadata[0]->key, "list");
	assert_string_equal(request->scaledobjectref->scalermetadata[0]->value, "jobs");
	externalscaler__get_metrics_request__free_unpacked(request, NULL);
	buf_done(&out);
	strmap_done(&metadata);
}

#define BYTES(text)    text, sizeof(text) - 1
#define DOUBLE_2_5     "\x19\0\0\0\0\0\0\x04\x40"
#define DOUBLE_MINUS_1 "\x19\0\0\0\0\0\0\xf0\xbf"
#define DOUBLE_NAN     "\x19\0\0\0\0\0\0\xf8\x7f"
#define DOUBLE_TINY    "\x19\0\0\0\0\0\0\x30\x3f" /* 2 to the -12 */

static void descriptions(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *said; /* "name target,...", or the error */
	} rows[] = {
		{ BYTES("\x0a\x05\x0a\x01"
			"a\x10\x05"),
			"a 5000," },
		{ BYTES("\x0a\x0e\x0a\x01"
			"a\x10\x05" DOUBLE_2_5),
			"a 2500," },
		{ BYTES("\x0a\x0e\x0a\x01"
			"a\x10\x05" DOUBLE_MINUS_1),
			"a 5000," },
		{ BYTES("\x0a\x05\x0a\x01"
			"b\x10\x05\x0a\x05\x0a\x01"
			"a\x10\x01"),
			"b 5000,a 1000," },
		{ BYTES("\x0a\x08\x0a\x01"
			"a\x10\x05\xf8\x01\x07"),
			"a 5000," }, /* an unknown field */
		{ BYTES(""), "the server returned no metric" },
		{ BYTES("\x0a\x02\x10\x05"),
			"metricName \"\" cannot be the name of a metric: 1 to 253 characters of text, no '/' and no "
			"'%'" },
		{ BYTES("\x0a\x07\x0a\x03"
			"a/b\x10\x05"),
			"metricName \"a/b\" cannot be the name of a metric: 1 to 253 characters of text, no '/' and no "
			"'%'" },
		{ BYTES("\x0a\x07\x0a\x03"
			"a\nb\x10\x05"),
			"metricName \"a?b\" cannot be the name of a metric: 1 to 253 characters of text, no '/' and no "
			"'%'" },
		{ BYTES("\x0a\x05\x0a\x01"
			"a\x10\x05\x0a\x05\x0a\x01"
			"A\x10\x01"),
			"metricName \"A\" occurs twice" },
		{ BYTES("\x0a\x03\x0a\x01"
			"a"),
			"metric \"a\": its target must be greater than 0 (at least 0.001), not targetSize 0, "
			"targetSizeFloat 0" },
		{ BYTES("\x0a\x0e\x0a\x01"
			"a\x10\x05" DOUBLE_NAN),
			"metric \"a\": targetSizeFloat is not a finite number" },
		{ BYTES("\x0a\x0e\x0a\x01"
			"a\x10\x05" DOUBLE_TINY),
			"metric \"a\": its target must be greater than 0 (at least 0.001), not targetSize 5, "
			"targetSizeFloat 0.000244141" },
		{ BYTES("\x0a\x0d\x0a\x01"
			"a\x10\xff\xff\xff\xff\xff\xff\xff\xff\x7f"),
			"metric \"a\": its target must be greater than 0 (at least 0.001), not targetSize "
			"9223372036854775807, targetSizeFloat 0" },
		{ BYTES("\x0a\x55garbage"), "the answer is not a valid GetMetricSpecResponse, or is too large" },
		{ BYTES("\xff\xff\xff"), "the answer is not a valid GetMetricSpecResponse, or is too large" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct description d = { 0 };
		struct err err = { 0 };
		char text[256] = "";

		if (externalmessages_get_description(rows[i].bytes, rows[i].len, &d, &err))
			snprintf(text, sizeof(text), "%s", err.msg);
		for (size_t k = 0; k < d.count; k++)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s %lld,", d.metrics[k].name,
				(long long)d.metrics[k].target.milli);
		if (strcmp(text, rows[i].said) != 0)
			fail_msg("row %zu: \"%s\", not \"%s\"", i, text, rows[i].said);
		description_done(&d);
	}
}

static void values(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		double value;
		const char *said; /* NULL: the value */
	} rows[] = {
		{ BYTES("\x0a\x05\x0a\x01"
			"a\x10\x07"),
			7, NULL },
		{ BYTES("\x0a\x0e\x0a\x01"
			"a\x10\x07" DOUBLE_2_5),
			2.5, NULL },
		{ BYTES("\x0a\x0e\x0a\x01"
			"a\x10\x07" DOUBLE_MINUS_1),
			7, NULL },
		{ BYTES("\x0a\x0c\x0a\x01"
			"a" DOUBLE_MINUS_1),
			-1, NULL },
		{ BYTES("\x0a\x00"), 0, NULL }, /* the server's own 0 */
		{ BYTES("\x0a\x02\x10\x07\x0a\x02\x10\x05"), 12, NULL },
		{ BYTES(""), 0, "the answer has no value" },
		{ BYTES("\x0a\x0e\x0a\x01"
			"a\x10\x07" DOUBLE_NAN),
			0, "metricValueFloat is not a number" },
		{ BYTES("\x0a"), 0, "the answer is not a valid GetMetricsResponse, or is too large" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err err = { 0 };
		double value = 99;
		int failed = externalmessages_get_value(rows[i].bytes, rows[i].len, &value, &err);

		if (failed ? !rows[i].said || strcmp(err.msg, rows[i].said) != 0
			   : rows[i].said != NULL || !(value >= rows[i].value && value <= rows[i].value))
			fail_msg("row %zu: %g \"%s\"", i, value, err.msg);
	}
}

/* 4 MiB of empty elements would be 100 MiB of structs. */
static void memory_is_limited(void **state)
{
	size_t len = (size_t)4 << 20;
	char *bytes = mem_alloc(len);
	struct description d = { 0 };
	struct err err = { 0 };
	double value;

	(void)state;
	for (size_t i = 0; i < len; i += 2) {
		bytes[i] = 0x0a;
		bytes[i + 1] = 0;
	}
	assert_int_equal(externalmessages_get_description(bytes, len, &d, &err), -1);
	assert_string_equal(err.msg, "the answer is not a valid GetMetricSpecResponse, or is too large");
	assert_int_equal(externalmessages_get_value(bytes, len, &value, &err), -1);
	free(bytes);
}

/* ---- Against a server ---- */

static struct {
	struct loop *loop;
	struct loop_timer tick;
	struct scaler_sources sources;
	struct h2server *server;
	struct scaler whole, one;
	/*
	 * of answers, by the parity of the request; NULL: an error that contains a value of the
	 * environment
	 */
	const char *text[2];
	size_t len[2];
	uint32_t stream;
	unsigned looks, done;
	double value;
	enum activity activity;
	char said[512];
} w;

static bool on_request(void *arg, unsigned request, uint32_t stream, const struct buf *message, struct buf *out)
{
	(void)arg;
	(void)message;
	w.stream = stream;
	if (w.text[request % 2])
		h2server_answer(out, stream, w.text[request % 2], w.len[request % 2]);
	else
		h2server_trailers_only(out, stream, "16", "the token s3cret is wrong");
	return true;
}

static bool on_stream(void *arg, unsigned request, uint32_t stream, const struct buf *message, struct buf *out)
{
	(void)arg;
	(void)request;
	(void)message;
	w.stream = stream;
	h2server_headers(out, stream);
	return true;
}

static void on_tick(void *arg)
{
	(void)arg;
	loop_timer_set(&w.tick, 5);
}

static void start(h2server_fn fn)
{
	struct described queue = { mem_dup("queue"), { 5000, QUANTITY_DECIMAL_SI } };
	char metadata[96];

	memset(&w, 0, sizeof(w));
	w.loop = loop_new(NULL);
	loop_timer_init(&w.tick, w.loop, on_tick, NULL);
	loop_timer_set(&w.tick, 0);
	w.server = h2server_start(w.loop, fn, NULL);
	w.sources = (struct scaler_sources){ .loop = w.loop, .grpc = grpc_pool_new(w.loop) };
	snprintf(metadata, sizeof(metadata), "scalerAddress=127.0.0.1:%u|tokenFromEnv=TOKEN", h2server_port(w.server));
	assert_int_equal(build("external-push", metadata, "", "web", &w.whole, NULL), 0);
	scaler_narrow(&w.whole, &queue, 0, &w.one);
	free(queue.name);
}

static void end(void)
{
	scaler_done(&w.whole);
	scaler_done(&w.one);
	grpc_pool_free(w.sources.grpc);
	h2server_end(w.server);
	loop_timer_done(&w.tick);
	loop_free(w.loop);
}

#define UNTIL(condition)                                                                                               \
	do {                                                                                                           \
		int64_t until_ms = loop_now_ms(w.loop) + 20000;                                                        \
		while (!(condition)) {                                                                                 \
			if (loop_now_ms(w.loop) > until_ms)                                                            \
				fail_msg("never came true: %s", #condition);                                           \
			loop_turn(w.loop);                                                                             \
		}                                                                                                      \
	} while (0)

static void on_answer(void *arg, const struct answer *answer, const struct err *err)
{
	(void)arg;
	w.done++;
	snprintf(w.said, sizeof(w.said), "%s", err ? err->msg : "");
	w.value = answer ? answer->value : 99;
	w.activity = answer ? answer->activity : ACTIVITY_BY_THRESHOLD;
}

static void answers(const char *first, size_t first_len, const char *second, size_t second_len)
{
	w.text[0] = first;
	w.text[1] = second;
	w.len[0] = first_len;
	w.len[1] = second_len;
	w.done = 0;
}

static void *ask(struct question *q, int64_t within_ms)
{
	return question_ask(q, &w.sources, loop_now_ms(w.loop) + within_ms, on_answer, NULL);
}

static void asking_needs_value_and_activity(void **state)
{
	char said[512];

	(void)state;
	start(on_request);
	answers(BYTES("\x0a\x02\x10\x07"), BYTES("\x08\x01"));
	ask(w.one.question, 5000);
	UNTIL(w.done);
	assert_string_equal(w.said, "");
	assert_true(w.value >= 7 && w.value <= 7);
	assert_int_equal(w.activity, ACTIVITY_ACTIVE);
	answers(BYTES("\x0a\x02\x10\x07"), BYTES(""));
	ask(w.one.question, 5000);
	UNTIL(w.done);
	assert_int_equal(w.activity, ACTIVITY_INACTIVE);
	answers(BYTES("\x0a\x02\x10\x07"), BYTES("\xff"));
	ask(w.one.question, 5000);
	UNTIL(w.done);
	snprintf(said, sizeof(said), "%s: IsActive: the answer is not a valid IsActiveResponse, or is too large",
		w.one.question->source);
	assert_string_equal(w.said, said);
	answers(NULL, 0, BYTES("\x08\x01"));
	ask(w.one.question, 5000);
	UNTIL(w.done);
	snprintf(said, sizeof(said), "%s: the server's message is not shown, as it contains the value of tokenFromEnv",
		w.one.question->source);
	assert_string_equal(w.said, said);
	answers(BYTES("\x0a\x02\x10\x07"), BYTES("\x08\x01"));
	question_cancel(ask(w.one.question, 5000));
	question_cancel(ask(w.whole.question, 5000));
	ask(w.one.question, 5000);
	UNTIL(w.done);
	assert_int_equal(w.done, 1); /* not answered for the cancelled ones, which were asked before */
	assert_int_equal(h2server_connections(w.server), 1);
	end();
}

static void on_look(void *arg)
{
	(void)arg;
	w.looks++;
}

static void send_message(const char *bytes, size_t len)
{
	struct buf out = BUF_INIT(1024);

	h2server_message(&out, w.stream, bytes, len);
	h2server_send(w.server, &out);
	buf_done(&out);
}

static void streams_wake_and_reconnect(void **state)
{
	void *watch;
	const struct scaler_type *type = &external_push_scaler_type;
	struct buf out = BUF_INIT(1 << 20);
	int64_t lost_ms;

	(void)state;
	start(on_stream);
	assert_null(external_scaler_type.watch);
	assert_null(type->watch(&w.sources, w.whole.question, on_look, NULL)); /* its metrics are unknown */
	watch = type->watch(&w.sources, w.one.question, on_look, NULL);
	assert_int_equal(type->watch_report(watch).state, WATCH_STARTING);
	UNTIL(type->watch_report(watch).state == WATCH_ON);
	assert_int_equal(w.looks, 0);
	send_message(BYTES("")); /* result=false */
	send_message(BYTES("\x08\x01"));
	UNTIL(w.looks);
	assert_int_equal(w.looks, 1);
	lost_ms = loop_now_ms(w.loop);
	h2server_close(w.server);
	UNTIL(type->watch_report(watch).state == WATCH_FAILING);
	assert_non_null(strstr(type->watch_report(watch).why, "external 127.0.0.1"));
	UNTIL(type->watch_report(watch).state == WATCH_ON);
	assert_true(loop_now_ms(w.loop) - lost_ms >= 1500);
	assert_int_equal(w.looks, 2); /* messages in between were missed */
	for (int i = 0; i < 1500; i++)
		h2server_message(&out, w.stream, "", 0);
	h2server_send(w.server, &out);
	UNTIL(type->watch_report(watch).state == WATCH_FAILING);
	assert_non_null(strstr(type->watch_report(watch).why, "more than 1000 messages in a second"));
	type->unwatch(watch);
	buf_done(&out);
	end();
}

static int build_of_row(const char *metadata, const char *auth, struct scaler *out, struct err *err)
{
	return build("external", metadata, auth, "web", out, err);
}

static void tls_may_be_required(void **state)
{
	static const struct tlsrow rows[] = {
		{ NEEDED, NULL, false },
		{ NEEDED "|enableTLS=false", NULL, false },
		{ NEEDED "|enableTLS=true", NULL, true },
		{ NEEDED "|enableTLS=true|unsafeSsl=true", NULL, true },
		{ NEEDED, "caCert=CA", true },
	};

	(void)state;
	tlsrows_check(rows, MEM_COUNT(rows), build_of_row, "set enableTLS");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted),
		cmocka_unit_test(rejected),
		cmocka_unit_test(questions),
		cmocka_unit_test(each_metric_has_a_scaler_of_its_own),
		cmocka_unit_test(requests),
		cmocka_unit_test(descriptions),
		cmocka_unit_test(values),
		cmocka_unit_test(memory_is_limited),
		cmocka_unit_test(asking_needs_value_and_activity),
		cmocka_unit_test(tls_may_be_required),
		cmocka_unit_test(streams_wake_and_reconnect),
	};

	return cmocka_run_group_tests(tests, make_pems, forget_pems);
}
