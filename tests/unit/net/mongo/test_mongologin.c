/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Logins with the test vectors of MongoDB's authentication specification: SCRAM-SHA-1 over its
 * digest of the password, SCRAM-SHA-256 as in RFC 7677; and refusals.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/base64.h"
#include "base/mem.h"
#include "mongotext.h"
#include "net/mongo/mongologin.h"
#include "net/sign/scram.h"

static struct mongoendpoint *endpoint(enum mongoendpoint_mechanism mechanism, const char *source)
{
	struct mongoendpoint_host host = { (char *)(uintptr_t) "db", 1 };
	struct err err = { 0 };
	struct mongoendpoint *e = mongoendpoint_new(
		&(struct mongoendpoint_config){
			.hosts = &host,
			.count = 1,
			.mechanism = mechanism,
			.username = "user",
			.password = "pencil",
			.source = source,
		},
		&err);

	if (!e)
		fail_msg("%s", err.msg);
	return e;
}

static void expect_payload(const struct buf *message, const char *text)
{
	size_t len = strlen(text);

	for (size_t i = 0; i + len <= message->len; i++)
		if (memcmp(message->data + i, text, len) == 0)
			return;
	fail_msg("no %s in the message", text);
}

/* Takes one answer; returns as mongologin_step. */
static int step(struct mongologin *l, const char *payload, bool done, struct buf *out, struct err *err)
{
	MEM_AUTO char *base64 = base64_encode(payload, strlen(payload));
	MEM_AUTO char *text =
		mem_printf("{\"conversationId\": 9, \"done\": %s, \"payload\": {\"$binary\": {\"base64\": "
			   "\"%s\", \"subType\": \"00\"}}, \"ok\": 1.0}",
			done ? "true" : "false", base64);
	struct mongofilter made = mongotext_make(text);
	struct scram_memory memory = { .of = "" };
	int rc;

	buf_reset(out);
	rc = mongologin_step(l, mongotext_document(&made), 7, out, err);
	if (rc == MONGOLOGIN_SALT) {
		assert_int_equal(out->len, 0);
		assert_true(scram_salt(mongologin_scram(l), &memory, SCRAM_ITERATIONS_MAX));
		rc = mongologin_prove(l, 7, out, err);
	}
	mongofilter_done(&made);
	return rc;
}

static const struct vector {
	enum mongoendpoint_mechanism mechanism;
	bool sha256; /* the server has it */
	const char *nonce, *name, *server_first, *proof, *server_final;
} vectors[] = {
	{ MONGOENDPOINT_SCRAM_SHA1, true, "fyko+d2lbbFgONRv9qkxdawL", "SCRAM-SHA-1",
		"r=fyko+d2lbbFgONRv9qkxdawLHo+Vgk7qvUOKUwuWLIWg4l/9SraGMHEE,s=rQ9ZY3MntBeuP3E1TDVC4w==,i=10000",
		"p=MC2T8BvbmWRckDw8oWl5IVghwCY=", "v=UMWeI25JD1yNYZRMpZ4VHvhZ9e0=" },
	{ MONGOENDPOINT_SCRAM, false, "fyko+d2lbbFgONRv9qkxdawL", "SCRAM-SHA-1",
		"r=fyko+d2lbbFgONRv9qkxdawLHo+Vgk7qvUOKUwuWLIWg4l/9SraGMHEE,s=rQ9ZY3MntBeuP3E1TDVC4w==,i=10000",
		"p=MC2T8BvbmWRckDw8oWl5IVghwCY=", "v=UMWeI25JD1yNYZRMpZ4VHvhZ9e0=" },
	{ MONGOENDPOINT_SCRAM, true, "rOprNGfwEbeRWgbNEkqO", "SCRAM-SHA-256",
		"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
		"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=", "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=" },
	{ MONGOENDPOINT_SCRAM_SHA256, false, "rOprNGfwEbeRWgbNEkqO", "SCRAM-SHA-256",
		"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
		"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=", "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=" },
};

static void good_logins(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(vectors); i++) {
		const struct vector *v = &vectors[i];
		struct mongoendpoint *e = endpoint(v->mechanism, "people");
		struct mongoreply_hello hello = { .sha256 = v->sha256 };

		for (int short_way = 0; short_way < 2; short_way++) {
			struct mongologin *l = mongologin_new(e, e->source, &hello, v->nonce);
			struct buf out = BUF_INIT(4096);
			struct err err = { 0 };

			mongologin_start(l, 7, &out);
			expect_payload(&out, v->name);
			expect_payload(&out, "people");
			expect_payload(&out, "n,,n=user,r=");
			assert_int_equal(step(l, v->server_first, false, &out, &err), 1);
			expect_payload(&out, v->proof);
			/* Servers before 4.4 report success only after one more message. */
			assert_int_equal(step(l, v->server_final, short_way, &out, &err), !short_way);
			if (!short_way)
				assert_int_equal(step(l, "", true, &out, &err), 0);
			mongologin_free(l);
			buf_done(&out);
		}
		endpoint_unref(e);
	}
}

static void bad_logins(void **state)
{
	struct mongoendpoint *e = endpoint(MONGOENDPOINT_SCRAM, NULL);
	struct mongoreply_hello hello = { .sha256 = true };
	const struct vector *v = &vectors[2];
	struct buf out = BUF_INIT(4096);
	struct err err = { 0 };
	struct mongologin *l;
	static const char *const answers[] = {
		"{\"ok\": 0, \"code\": 18, \"errmsg\": \"Authentication failed.\"}",
		"{\"ok\": 0, \"errmsg\": \"who says pencil?\"}",
		"{\"ok\": 1}",
		"{\"ok\": 1, \"payload\": \"text\"}",
		"{\"nothing\": 1}",
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(answers); i++) {
		struct mongofilter made = mongotext_make(answers[i]);

		l = mongologin_new(e, e->source, &hello, v->nonce);
		mongologin_start(l, 7, &out);
		assert_int_equal(mongologin_step(l, mongotext_document(&made), 7, &out, &err), -1);
		assert_int_equal(strncmp(err.msg, "logging in (SCRAM-SHA-256): ", 28), 0);
		assert_null(strstr(err.msg, "pencil"));
		mongologin_free(l);
		mongofilter_done(&made);
	}

	/* A wrong nonce, too few iterations, a wrong proof, and an endless exchange. */
	l = mongologin_new(e, e->source, &hello, v->nonce);
	assert_int_equal(step(l, "r=other,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", false, &out, &err), -1);
	assert_int_equal(step(l, "r=rOprNGfwEbeRWgbNEkqOx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=1", false, &out, &err), -1);
	assert_int_equal(err.kind, ERR_DENIED);
	assert_int_equal(step(l, v->server_first, false, &out, &err), 1);
	assert_int_equal(step(l, "v=AAAA", true, &out, &err), -1);
	assert_int_equal(err.kind, ERR_DENIED);
	mongologin_free(l);
	l = mongologin_new(e, e->source, &hello, v->nonce);
	/* "done" before the server's proof does not count */
	assert_int_equal(step(l, v->server_first, true, &out, &err), 1);
	assert_int_equal(step(l, v->server_final, false, &out, &err), 1);
	assert_int_equal(step(l, "more", false, &out, &err), -1);
	assert_non_null(strstr(err.msg, "asks for one step more than the mechanism has"));
	mongologin_free(l);
	buf_done(&out);
	endpoint_unref(e);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_logins),
		cmocka_unit_test(bad_logins),
	};

	return cmocka_run_group_tests_name("net/mongo/mongologin", tests, NULL, NULL);
}
