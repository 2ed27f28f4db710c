/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../fakes/fakeloop.h"
#include "kube/session.h"

/* From the first request without an answer until one has an answer, whatever it is. */
static void contact_is_lost(void **state)
{
	struct session s = { .loop = *state };
	struct err err;

	err_set(&err, ERR_TEMPORARY, "no route");
	assert_null(session_trouble(&s));
	session_unanswered(&s, "get", &err);
	assert_null(session_trouble(&s));
	fakeloop_advance(9999);
	err_set(&err, ERR_TEMPORARY, "connection refused");
	session_unanswered(&s, "watch", &err);
	assert_null(session_trouble(&s));
	fakeloop_advance(1);
	assert_string_equal(session_trouble(&s), "the API server has not answered for 10 s: connection refused");
	session_answered(&s, "get", 503);
	assert_null(session_trouble(&s));
	session_unanswered(&s, "get", &err);
	assert_null(session_trouble(&s));
	fakeloop_advance(60000);
	assert_string_equal(session_trouble(&s), "the API server has not answered for 60 s: connection refused");
}

/* No requests are no loss of contact. */
static void our_own_silence_does_not_count(void **state)
{
	struct session s = { .loop = *state };

	session_answered(&s, "get", 200);
	fakeloop_advance(3600000);
	assert_null(session_trouble(&s));
}

static int set_up(void **state)
{
	*state = fakeloop_start();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fakeloop_end();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(contact_is_lost, set_up, tear_down),
		cmocka_unit_test_setup_teardown(our_own_silence_does_not_count, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
