/* SPDX-License-Identifier: Apache-2.0 */

/*
 * SCRAM-SHA-1 and SCRAM-SHA-256 with the vectors of RFC 5802 and RFC 7677, SCRAM-SHA-512 with one
 * computed by another program.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/sign/scram.h"

static const struct exchange {
	enum scram_hash hash;
	const char *user, *password, *nonce, *first, *server_first, *final, *server_final;
} exchanges[] = {
	{ SCRAM_SHA1, "user", "pencil", "fyko+d2lbbFgONRv9qkxdawL", "n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL",
		"r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
		"c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
		"v=rmF9pqV8S7suAoZWja4dJRkFsKQ=" },
	{ SCRAM_SHA256, "user", "pencil", "rOprNGfwEbeRWgbNEkqO", "n,,n=user,r=rOprNGfwEbeRWgbNEkqO",
		"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
		"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+"
		"Ute9ytag9zjfMHgsqmmiz7AndVQ=",
		"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=" },
	{ SCRAM_SHA512, "us=er,", "pencil", "fyko+d2lbbFgONRv9qkxdawL", "n,,n=us=3Der=2C,r=fyko+d2lbbFgONRv9qkxdawL",
		"r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=Yin2FuHTt/M0kJWb0t9OI32n2VmOGi3m+JfjOvuDF88=,i=4096",
		"c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p="
		"hOOiw3Ho3gNroMHaXNgwsnPGTJHZhStARe8YrftdNgoASkA5yoNN4PFORmpsbyYBdcfdPE1wjJv2k4CjnfrZRQ==",
		"v=hgbINE2kkU+8OXdFHs2G3Qx3re2jg/kXNNBOUushJmXjDBSsZxqgOPXV2vboaG4A4dknUyCUh6tdTpbHqeRn9Q==" },
};

/* Our last message after the server's first; NULL with err. */
static char *final_of(struct scram *s, const char *server_first, struct err *err)
{
	struct scram_memory memory = { .of = "" };

	if (scram_take(s, server_first, strlen(server_first), err))
		return NULL;
	while (!scram_salt(s, &memory, 1000))
		;
	return scram_final(s, err);
}

static void vectors(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(exchanges); i++) {
		const struct exchange *x = &exchanges[i];
		struct scram *s = scram_new(x->hash, x->user, x->password, x->nonce);
		MEM_AUTO char *first = scram_first(s), *final = NULL;
		struct err err = { 0 };

		assert_string_equal(first, x->first);
		/* Without an exchange there is no proof. */
		assert_int_equal(scram_verify(s, x->server_final, strlen(x->server_final), &err), -1);
		final = final_of(s, x->server_first, &err);
		if (!final)
			fail_msg("%s", err.msg);
		assert_string_equal(final, x->final);
		assert_int_equal(scram_verify(s, x->server_final, strlen(x->server_final), &err), 0);
		scram_free(s);
	}
}

#define NONCE "r=rOprNGfwEbeRWgbNEkqOabc,"
static void wrong_first_messages(void **state)
{
	static const struct {
		const char *message, *error;
	} rows[] = {
		{ "", "makes no sense" },
		{ "r=other,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "does not begin with ours" },
		{ "r=rOprNGfwEbeRWgbNEkqO,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "does not begin with ours" },
		{ NONCE "s=,i=4096", "salt" },
		{ NONCE "s=!!!,i=4096", "salt" },
		{ NONCE "s=W22ZaJ0SNY7soEsUEjb6gQ==", "makes no sense" },
		{ NONCE "s=W22ZaJ0SNY7soEsUEjb6gQ==,i=", "makes no sense" },
		{ NONCE "s=W22ZaJ0SNY7soEsUEjb6gQ==,i=-1", "makes no sense" },
		{ NONCE "s=W22ZaJ0SNY7soEsUEjb6gQ==,i=9999999999", "makes no sense" },
		{ NONCE "s=W22ZaJ0SNY7soEsUEjb6gQ==,i=1", "too few" },
		{ NONCE "s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4095", "too few" },
		{ NONCE "s=W22ZaJ0SNY7soEsUEjb6gQ==,i=100001", "more than 100000" },
		{ "m=ext," NONCE "s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "makes no sense" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct scram *s = scram_new(SCRAM_SHA256, "user", "pencil", "rOprNGfwEbeRWgbNEkqO");
		struct err err = { 0 };

		assert_int_equal(scram_take(s, rows[i].message, strlen(rows[i].message), &err), -1);
		if (!strstr(err.msg, rows[i].error))
			fail_msg("%s: %s", rows[i].message, err.msg);
		assert_int_equal(err.kind, ERR_DENIED);
		scram_free(s);
	}
}

static void a_server_that_does_not_know_the_password(void **state)
{
	static const char *const messages[] = { "", "v=", "v=AAAA", "e=invalid-proof",
		"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G8=", "x=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=" };
	const struct exchange *x = &exchanges[0];

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(messages); i++) {
		struct scram *s = scram_new(x->hash, x->user, x->password, x->nonce);
		struct err err = { 0 };
		MEM_AUTO char *final = final_of(s, x->server_first, &err);

		assert_non_null(final);
		assert_int_equal(scram_verify(s, messages[i], strlen(messages[i]), &err), -1);
		assert_int_equal(err.kind, ERR_DENIED);
		scram_free(s);
	}
}

/* Each call runs as many iterations as requested; a known salt needs none. */
static void in_pieces(void **state)
{
	const struct exchange *x = &exchanges[1];
	struct scram_memory memory = { .of = "" }, nothing = { .of = "" };
	struct err err = { 0 };
	unsigned pieces = 0;

	(void)state;
	for (int login = 0; login < 2; login++) {
		struct scram *s = scram_new(x->hash, x->user, x->password, x->nonce);
		MEM_AUTO char *final = NULL;

		/* No proof before salting is done. */
		assert_null(scram_final(s, &err));
		assert_int_equal(scram_take(s, x->server_first, strlen(x->server_first), &err), 0);
		assert_null(scram_final(s, &err));
		for (pieces = 1; !scram_salt(s, &memory, 1000); pieces++)
			;
		assert_int_equal(pieces, login == 0 ? 5 : 1);
		final = scram_final(s, &err);
		assert_string_equal(final, x->final);
		/* Only one first message is accepted. */
		assert_int_equal(scram_take(s, x->server_first, strlen(x->server_first), &err), -1);
		scram_free(s);
	}
	scram_forget(&memory);
	assert_memory_equal(&memory, &nothing, sizeof(memory));
}

/* Another password, salt, count or hash is a miss. */
static void remembered_salts(void **state)
{
	static const struct {
		enum scram_hash hash;
		const char *password, *salt_and_number;
	} others[] = {
		{ SCRAM_SHA256, "pencil2", "s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096" },
		{ SCRAM_SHA256, "pencil", "s=W22ZaJ0SNY7soEsUEjb6gA==,i=4096" },
		{ SCRAM_SHA256, "pencil", "s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4097" },
		{ SCRAM_SHA512, "pencil", "s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096" },
	};

	(void)state;
	for (size_t i = 0; i <= MEM_COUNT(others); i++) {
		struct scram_memory memory = { .of = "" };

		for (int login = 0; login < 2; login++) {
			bool other = login == 1 && i < MEM_COUNT(others);
			struct scram *s = scram_new(other ? others[i].hash : SCRAM_SHA256, "user",
				other ? others[i].password : "pencil", "n");
			MEM_AUTO char *message = mem_printf("r=nx,%s",
				other ? others[i].salt_and_number : "s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096");
			struct err err = { 0 };

			assert_int_equal(scram_take(s, message, strlen(message), &err), 0);
			assert_int_equal(scram_salt(s, &memory, 1), login == 1 && !other);
			while (!scram_salt(s, &memory, 1000))
				;
			scram_free(s);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors),
		cmocka_unit_test(wrong_first_messages),
		cmocka_unit_test(in_pieces),
		cmocka_unit_test(remembered_salts),
		cmocka_unit_test(a_server_that_does_not_know_the_password),
	};

	return cmocka_run_group_tests_name("net/sign/scram", tests, NULL, NULL);
}
