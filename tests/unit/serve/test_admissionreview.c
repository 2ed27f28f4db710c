/* SPDX-License-Identifier: Apache-2.0 */
/* The envelope that the API server sends, and the answer to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "serve/admissionreview.h"

#define ENVELOPE(request)                                                                                              \
	"{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":" request "}"
#define KIND          "\"kind\":{\"group\":\"keda.sh\",\"version\":\"v1alpha1\",\"kind\":\"ScaledObject\"}"
#define REQUEST(rest) ENVELOPE("{\"uid\":\"u-1\"," KIND rest "}")

static void a_review_is_read(void **state)
{
	static const char body[] = REQUEST(",\"namespace\":\"shop\",\"operation\":\"UPDATE\",\"dryRun\":true,"
					   "\"object\":{\"a\":1},\"oldObject\":{\"b\":2}");
	struct admissionreview r;
	struct err err;

	(void)state;
	if (admissionreview_read(body, strlen(body), &r, &err) < 0)
		fail_msg("%s", err.msg);
	assert_string_equal(r.uid, "u-1");
	assert_string_equal(r.operation, "UPDATE");
	assert_string_equal(r.namespace_, "shop");
	assert_true(r.dry_run);
	assert_int_equal(json_integer_value(json_object_get(r.object, "a")), 1);
	assert_int_equal(json_integer_value(json_object_get(r.old_object, "b")), 2);
	admissionreview_done(&r);
}

static void nulls_are_absent(void **state)
{
	static const char body[] = REQUEST(
		",\"operation\":\"CREATE\",\"dryRun\":null,\"object\":{},\"oldObject\":null");
	struct admissionreview r;

	(void)state;
	assert_int_equal(admissionreview_read(body, strlen(body), &r, NULL), 0);
	assert_false(r.dry_run);
	assert_null(r.old_object);
	assert_string_equal(r.namespace_, "");
	admissionreview_done(&r);
}

static void errors_name_the_field(void **state)
{
	static const struct {
		const char *body, *message;
	} cases[] = {
		{ "", "the body: " },
		{ "x", "the body: " },
		{ "[]", "the body is a \"\" of \"\", not an AdmissionReview of admission.k8s.io/v1" },
		{ "{\"apiVersion\":\"admission.k8s.io/v1beta1\",\"kind\":\"AdmissionReview\",\"request\":{}}",
			"the body is a \"AdmissionReview\" of \"admission.k8s.io/v1beta1\", not" },
		{ ENVELOPE("null"), "request: missing" },
		{ ENVELOPE("7"), "request: missing" },
		{ ENVELOPE("{}"), "request.uid: must have 1 to 128 characters" },
		{ ENVELOPE("{\"uid\":7}"), "request.uid: must have 1 to 128 characters" },
		{ ENVELOPE("{\"uid\":\"u\"}"),
			"request.kind:  of group \"\" is not validated here, but kinds of keda.sh" },
		{ ENVELOPE("{\"uid\":\"u\",\"kind\":{\"group\":\"batch\",\"kind\":\"Job\"}}"),
			"request.kind: Job of group \"batch\" is not validated here, but kinds of keda.sh" },
		{ REQUEST(""), "request.operation: missing" },
		{ REQUEST(",\"operation\":\"CREATE\""), "request.object: missing" },
		{ REQUEST(",\"operation\":\"CREATE\",\"object\":[]"), "request.object: missing" },
		{ REQUEST(",\"operation\":\"UPDATE\",\"object\":{}"), "request.oldObject: missing" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct admissionreview r;
		struct err err = { 0 };

		assert_int_equal(admissionreview_read(cases[i].body, strlen(cases[i].body), &r, &err), -1);
		assert_null(r.document);
		assert_int_equal(err.kind, ERR_INVALID);
		if (strncmp(err.msg, cases[i].message, strlen(cases[i].message)) != 0)
			fail_msg("%s: %s", cases[i].body, err.msg);
	}
}

/* Anyone may send one: its memory cost is known before it is parsed. */
static void too_many_values_are_refused(void **state)
{
	struct admissionreview r;
	struct buf body = BUF_INIT(1 << 20);
	struct err err;

	(void)state;
	buf_puts(&body, "{\"request\":{\"object\":{\"a\":[{}");
	for (int i = 0; i < JSON_FOREIGN_VALUES_MAX / 2; i++)
		buf_puts(&body, ",{}");
	buf_puts(&body, "]}}}");
	assert_int_equal(admissionreview_read(body.data, body.len, &r, &err), -1);
	assert_string_equal(err.msg, "the body: it has more than 100000 values and names");
	buf_done(&body);
}

static void long_texts_are_cut(void **state)
{
	char *body = mem_zalloc(200001);
	struct admissionreview r;
	struct err err;

	(void)state;
	memset(body, '[', 200000);
	assert_int_equal(admissionreview_read(body, 200000, &r, &err), -1);
	memset(body, 'u', 200000);
	memcpy(body, "{\"kind\":\"", 9);
	memcpy(body + 199998, "\"}", 2);
	assert_int_equal(admissionreview_read(body, 200000, &r, &err), -1);
	free(body);
}

static void expect_answer(const char *uid, const struct admit_verdict *verdict, const char *expected)
{
	struct buf out = BUF_INIT(65536);

	admissionreview_write(&out, uid, verdict);
	assert_string_equal(buf_text(&out), expected);
	buf_done(&out);
}

static void answers(void **state)
{
	static const char *const warnings[] = { "one", "t\"wo" };
	const struct admit_verdict yes = { .allowed = true },
				   no = { .allowed = false, .message = "spec.x: \"y\"", .reason = "incorrect-spec" };
	const struct admit_verdict careful = { .allowed = true, .warnings = warnings, .warning_count = 2 };

	(void)state;
	expect_answer("u-1", &yes,
		"{\"apiVersion\":\"admission.k8s.io/"
		"v1\",\"kind\":\"AdmissionReview\",\"response\":{\"uid\":\"u-1\",\"allowed\":true}}\n");
	expect_answer("u\"2", &no,
		"{\"apiVersion\":\"admission.k8s.io/"
		"v1\",\"kind\":\"AdmissionReview\",\"response\":{\"uid\":\"u\\\"2\",\"allowed\":false,\"status\":{"
		"\"metadata\":{},\"status\":\"Failure\","
		"\"message\":\"spec.x: \\\"y\\\"\",\"reason\":\"Forbidden\",\"code\":403}}}\n");
	expect_answer("u", &careful,
		"{\"apiVersion\":\"admission.k8s.io/"
		"v1\",\"kind\":\"AdmissionReview\",\"response\":{\"uid\":\"u\",\"allowed\":true,\"warnings\":[\"one\","
		"\"t\\\"wo\"]}}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_review_is_read),
		cmocka_unit_test(nulls_are_absent),
		cmocka_unit_test(errors_name_the_field),
		cmocka_unit_test(too_many_values_are_refused),
		cmocka_unit_test(long_texts_are_cut),
		cmocka_unit_test(answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
