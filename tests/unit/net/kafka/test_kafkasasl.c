/* SPDX-License-Identifier: Apache-2.0 */

/* Messages of logins, and the broker's answers. For the exchange of SCRAM see test_scram.c. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/kafka/kafkasasl.h"
#include "net/sign/scram.h"

static struct kafkamessages_authenticate says(int16_t error, const char *message, const char *bytes)
{
	return (struct kafkamessages_authenticate){ error, { message, strlen(message) }, { bytes, strlen(bytes) } };
}

static void plain(void **state)
{
	struct kafkasasl *s = kafkasasl_new(&(struct kafkasasl_login){ .mechanism = KAFKASASL_PLAIN,
		.username = "reader",
		.password = "open-sesamy" });
	struct kafkamessages_authenticate answer;
	struct buf out = BUF_INIT(4096);
	struct err err = { 0 };

	(void)state;
	assert_int_equal(kafkasasl_start(s, &out, &err), 0);
	assert_int_equal(out.len, 1 + 6 + 1 + 11);
	assert_memory_equal(out.data, "\0reader\0open-sesamy", out.len);
	buf_reset(&out);
	answer = says(0, "", "");
	assert_int_equal(kafkasasl_step(s, &answer, &out, &err), 0);
	answer = says(58, "Authentication failed: Invalid username or password\n\x7f", "");
	assert_int_equal(kafkasasl_step(s, &answer, &out, &err), -1);
	assert_int_equal(err.kind, ERR_DENIED);
	assert_string_equal(err.msg, "SaslAuthenticate (PLAIN): Authentication failed: Invalid username or password  ");
	answer = says(58, "", "");
	assert_int_equal(kafkasasl_step(s, &answer, &out, &err), -1);
	assert_non_null(strstr(err.msg, "SASL_AUTHENTICATION_FAILED"));
	answer = says(58, "who says open-sesamy?", "");
	assert_int_equal(kafkasasl_step(s, &answer, &out, &err), -1);
	assert_null(strstr(err.msg, "sesamy"));
	answer = says(0, "", "more");
	assert_int_equal(kafkasasl_step(s, &answer, &out, &err), -1);
	buf_done(&out);
	kafkasasl_free(s);
}

static void offered_mechanisms(void **state)
{
	struct kafkasasl *s = kafkasasl_new(&(struct kafkasasl_login){ .mechanism = KAFKASASL_SCRAM_SHA512,
		.username = "u",
		.password = "p",
		.nonce = "n" });
	struct kafkamessages_handshake h = { .error = KAFKA_UNSUPPORTED_MECHANISM, .mechanisms = "PLAIN, GSSAPI" };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(kafkasasl_judge_handshake(s, &h, &err), -1);
	assert_string_equal(err.msg,
		"SaslHandshake: the broker does not offer SCRAM-SHA-512 on this listener; it offers PLAIN, GSSAPI");
	h.error = 34;
	assert_int_equal(kafkasasl_judge_handshake(s, &h, &err), -1);
	assert_non_null(strstr(err.msg, "set sasl to none"));
	h.error = 0;
	assert_int_equal(kafkasasl_judge_handshake(s, &h, &err), 0);
	kafkasasl_free(s);
}

static void bearer(void **state)
{
	struct strmap extensions = { 0 };
	struct kafkamessages_authenticate answer;
	struct buf out = BUF_INIT(4096);
	struct err err = { 0 };
	struct kafkasasl *s;

	(void)state;
	strmap_set(&extensions, "cluster", "lkc-1");
	strmap_set(&extensions, "pool", "p");
	s = kafkasasl_new(&(struct kafkasasl_login){ .mechanism = KAFKASASL_OAUTHBEARER,
		.token = "t0ken",
		.extensions = &extensions });
	assert_int_equal(kafkasasl_start(s, &out, &err), 0);
	assert_string_equal(buf_text(&out), "n,,\001auth=Bearer t0ken\001cluster=lkc-1\001pool=p\001\001");
	buf_reset(&out);
	/*
	 * The broker first says why the token was rejected, and refuses once that is acknowledged.
	 */
	answer = says(0, "", "{\"status\":\"invalid_token\"}");
	assert_int_equal(kafkasasl_step(s, &answer, &out, &err), 1);
	assert_string_equal(buf_text(&out), "\001");
	answer = says(58, "{\"status\":\"invalid_token\"}", "");
	assert_int_equal(kafkasasl_step(s, &answer, &out, &err), -1);
	assert_non_null(strstr(err.msg, "invalid_token"));
	answer = says(58, "no to t0ken", "");
	assert_int_equal(kafkasasl_step(s, &answer, &out, &err), -1);
	assert_null(strstr(err.msg, "t0ken"));
	strmap_done(&extensions);
	buf_done(&out);
	kafkasasl_free(s);
}

static void msk(void **state)
{
	struct kafkasasl *s = kafkasasl_new(&(struct kafkasasl_login){ .mechanism = KAFKASASL_AWS_MSK_IAM,
		.token = "{\"version\":1}",
		.within = "session-secret" });
	struct kafkamessages_authenticate answer;
	struct buf out = BUF_INIT(4096);
	struct err err = { 0 };

	(void)state;
	assert_string_equal(kafkasasl_name(KAFKASASL_AWS_MSK_IAM), "AWS_MSK_IAM");
	assert_int_equal(kafkasasl_start(s, &out, &err), 0);
	assert_string_equal(buf_text(&out), "{\"version\":1}");
	answer = says(0, "", "{\"version\":\"2020_10_22\",\"request-id\":\"r\"}");
	assert_int_equal(kafkasasl_step(s, &answer, &out, &err), 0);
	answer = says(58, "[r]: Access denied", "");
	assert_int_equal(kafkasasl_step(s, &answer, &out, &err), -1);
	assert_string_equal(err.msg, "SaslAuthenticate (AWS_MSK_IAM): [r]: Access denied");
	answer = says(58, "no to session-secret", "");
	assert_int_equal(kafkasasl_step(s, &answer, &out, &err), -1);
	assert_null(strstr(err.msg, "session-secret"));
	buf_done(&out);
	kafkasasl_free(s);
}

static void scram(void **state)
{
	static const char first[] =
		"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
	struct kafkasasl *s = kafkasasl_new(&(struct kafkasasl_login){ .mechanism = KAFKASASL_SCRAM_SHA256,
		.username = "user",
		.password = "pencil",
		.nonce = "rOprNGfwEbeRWgbNEkqO" });
	struct kafkamessages_authenticate answer = says(0, "", first);
	struct scram_memory memory = { .of = "" };
	struct buf out = BUF_INIT(4096);
	struct err err = { 0 };

	(void)state;
	assert_int_equal(kafkasasl_start(s, &out, &err), 0);
	assert_string_equal(buf_text(&out), "n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
	buf_reset(&out);
	assert_int_equal(kafkasasl_step(s, &answer, &out, &err), KAFKASASL_SALT);
	assert_int_equal(kafkasasl_prove(s, &out, &err), -1);
	assert_true(scram_salt(kafkasasl_scram(s), &memory, 4096));
	assert_int_equal(kafkasasl_prove(s, &out, &err), 1);
	assert_non_null(strstr(buf_text(&out), ",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="));
	/* The broker must prove that it knows the password, too. */
	answer = says(0, "", "v=AAAA");
	assert_int_equal(kafkasasl_step(s, &answer, &out, &err), -1);
	assert_non_null(strstr(err.msg, "does not prove"));
	answer = says(0, "", "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
	assert_int_equal(kafkasasl_step(s, &answer, &out, &err), 0);
	buf_done(&out);
	kafkasasl_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain),
		cmocka_unit_test(offered_mechanisms),
		cmocka_unit_test(bearer),
		cmocka_unit_test(msk),
		cmocka_unit_test(scram),
	};

	return cmocka_run_group_tests_name("net/kafka/kafkasasl", tests, NULL, NULL);
}
