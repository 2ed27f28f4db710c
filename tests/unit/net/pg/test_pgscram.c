/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Messages of SCRAM logins. test_scram has the cryptography, tests/live/test_postgresql.py a real
 * server.
 */

#include "../fixture.h"

#include <stdio.h>

#include "base/mem.h"
#include "net/pg/pgscram.h"

struct world {
	struct fixture *f;
	struct salter *salter;
	struct scram_memory memory;
	struct pgscram *scram;
	unsigned said, failed;
	unsigned char last[512];
	size_t len;
};

static void on_say(void *arg, const unsigned char *bytes, size_t len)
{
	struct world *w = arg;

	assert_true(len < sizeof(w->last));
	memcpy(w->last, bytes, len);
	w->last[len] = 0;
	w->len = len;
	w->said++;
}

static void on_failed(void *arg, const struct err *why)
{
	(void)why;
	((struct world *)arg)->failed++;
}

static int setup(void **state)
{
	static const struct pgscram_handler handler = { .say = on_say, .failed = on_failed };
	struct world *w = mem_zalloc(sizeof(*w));
	void *f;

	if (fixture_setup(&f) < 0)
		return -1;
	w->f = f;
	w->salter = salter_new(w->f->loop);
	w->scram = pgscram_new(&(struct pgscram_config){ .salter = w->salter,
				       .password = "open-sesame",
				       .memory = &w->memory,
				       .namespace_ = "shop" },
		&handler, w);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	void *f = w->f;

	pgscram_free(w->scram);
	salter_free(w->salter);
	mem_free_ptr(&w);
	return fixture_teardown(&f);
}

/* The server's nonce begins with the client's. */
static char *server_says(const struct world *w, unsigned iterations)
{
	const char *nonce = memmem(w->last, w->len, ",r=", 3);

	assert_non_null(nonce);
	return mem_printf("r=%sserver,s=QSXCR+Q6sek8bf92,i=%u", nonce + 3, iterations);
}

static void messages(void **state)
{
	struct world *w = *state;
	MEM_AUTO char *says = NULL;
	struct err err;
	size_t head = 5 + sizeof("SCRAM-SHA-256") + 4;

	assert_int_equal(pgscram_take(w->scram, PGSCRAM_BEGIN, "SCRAM-SHA-256\0", 15, &err), 0);
	assert_int_equal(w->said, 1);
	assert_int_equal(w->last[0], 'p');
	assert_int_equal(w->last[4], w->len - 1);
	assert_string_equal((char *)w->last + 5, "SCRAM-SHA-256");
	assert_int_equal(w->last[head - 1], w->len - head);
	assert_memory_equal(w->last + head, "n,,n=,r=", 8);
	says = server_says(w, 4096);
	assert_int_equal(pgscram_take(w->scram, PGSCRAM_CONTINUE, says, strlen(says), &err), 0);
	assert_int_equal(w->said, 1); /* not computed here */
	UNTIL(w->f, w->said == 2);
	assert_int_equal(w->last[4], w->len - 1);
	assert_memory_equal(w->last + 5, "c=biws,r=", 9);
	assert_non_null(memmem(w->last, w->len, ",p=", 3));
	assert_int_equal(pgscram_take(w->scram, PGSCRAM_FINAL, "v=AAAA", 6, &err), -1);
	assert_int_equal(err.kind, ERR_DENIED);
}

/* Any scram_iterations up to the limit. */
static void few_and_many_iterations(void **state)
{
	static const unsigned counts[] = { 1, 100000, 100001, 2147483647 };
	struct world *w = *state;
	MEM_AUTO char *says = NULL;
	struct err err;

	pgscram_take(w->scram, PGSCRAM_BEGIN, "", 0, &err);
	for (size_t i = 0; i < MEM_COUNT(counts); i++) {
		static const struct pgscram_handler handler = { .say = on_say, .failed = on_failed };

		pgscram_free(w->scram);
		w->scram = pgscram_new(&(struct pgscram_config){ .salter = w->salter,
					       .password = "x",
					       .memory = &w->memory,
					       .namespace_ = "" },
			&handler, w);
		pgscram_take(w->scram, PGSCRAM_BEGIN, "", 0, &err);
		free(says);
		says = server_says(w, counts[i]);
		assert_int_equal(pgscram_take(w->scram, PGSCRAM_CONTINUE, says, strlen(says), &err),
			counts[i] > 100000 ? -1 : 0);
	}
}

static void passwords(void **state)
{
	(void)state;
	assert_true(pgscram_may_use("open sesame~"));
	assert_false(pgscram_may_use("s\xc3\xa9same")); /* left to libpq, which applies SASLprep */
	assert_false(pgscram_may_use("a\tb"));
	assert_false(pgscram_may_use(""));
	assert_false(pgscram_may_use(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(messages, setup, teardown),
		cmocka_unit_test_setup_teardown(few_and_many_iterations, setup, teardown),
		cmocka_unit_test(passwords),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
