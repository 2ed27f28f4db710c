/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Storage accounts: connection strings as Azure's Go library reads them, requests, and Azure's
 * errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/text.h"
#include "net/http/httpurl.h"
#include "scalers/azure/storageaccount.h"

static const struct storageaccount_service queues = { .name = "queue",
	.endpoint = "QueueEndpoint",
	.service = AZURECLOUD_QUEUE,
	.no_connection = "no connection",
	.no_account = "no account" };

static int read_one(const char *connection, const char *account, const struct pod_identity *pod, const char *cloud,
	struct storageaccount *out, struct err *err)
{
	struct strmap metadata = { 0 };
	struct scaler_params params = { .type = "azure-queue", .metadata = &metadata, .identity = pod };
	int rc;

	if (cloud) {
		strmap_set(&metadata, "cloud", cloud);
		strmap_set(&metadata, "endpointSuffix", "queue.core.local:8443");
	}
	rc = storageaccount_read(&params, &queues, connection, account, false, out, err);
	strmap_done(&metadata);
	return rc;
}

/* base64 of "secret-value" */
#define KEY "c2VjcmV0LXZhbHVl"

static void connection_strings(void **state)
{
	static const struct {
		const char *text, *url, *account, *sas; /* url NULL: refused, with */
		const char *error;
	} rows[] = {
		{ "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=" KEY
		  ";EndpointSuffix=core.usgovcloudapi.net",
			"https://shop.queue.core.usgovcloudapi.net/", "shop", NULL, NULL },
		{ "AccountName=shop;AccountKey=" KEY ";", "https://shop.queue.core.windows.net/", "shop", NULL, NULL },
		{ "AccountName=shop;;AccountKey=" KEY, "https://shop.queue.core.windows.net/", "shop", NULL, NULL },
		{ "AccountName=old;AccountName=shop;AccountKey=" KEY, "https://shop.queue.core.windows.net/", "shop",
			NULL, NULL },
		{ "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=" KEY
		  ";BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1;"
		  "QueueEndpoint=http://127.0.0.1:10001/devstoreaccount1",
			"http://127.0.0.1:10001/devstoreaccount1/", "devstoreaccount1", NULL, NULL },
		{ "QueueEndpoint=https://shop.queue.core.windows.net/;SharedAccessSignature=sv=2021-12-02&sig=a%2Bb%3D",
			"https://shop.queue.core.windows.net/", NULL, "sv=2021-12-02", NULL },
		{ "AccountName=shop;SharedAccessSignature=?sig=a%2Bb&sv=1&sp=r&",
			"https://shop.queue.core.windows.net/", NULL, "sv=1&sp=r", NULL },
		/* a key takes precedence over a signature, but needs the account */
		{ "AccountName=shop;AccountKey=" KEY ";SharedAccessSignature=sig=a",
			"https://shop.queue.core.windows.net/", "shop", NULL, NULL },
		{ "QueueEndpoint=https://h;AccountKey=" KEY ";SharedAccessSignature=sig=a", "https://h/", NULL, "",
			NULL },
		{ "secret-value", NULL, NULL, NULL,
			"parameter \"connection\": connection string is either blank or malformed" },
		{ "UseDevelopmentStorage=true", NULL, NULL, NULL,
			"parameter \"connection\": connection string needs either AccountName or QueueEndpoint" },
		{ "BlobEndpoint=https://h;AccountKey=" KEY, NULL, NULL, NULL,
			"needs either AccountName or QueueEndpoint" },
		{ "AccountName=shop", NULL, NULL, NULL, "needs either AccountKey or SharedAccessSignature" },
		{ "AccountName=shop;AccountKey=", NULL, NULL, NULL,
			"needs either AccountKey or SharedAccessSignature" },
		{ "AccountName=shop;AccountKey=secret-value", NULL, NULL, NULL, "its AccountKey is not base64" },
		{ "AccountName=shop@e.example/;AccountKey=" KEY, NULL, NULL, NULL,
			"its AccountName is invalid: it has 1 to 63 letters, digits and hyphens" },
		{ "AccountName=sh\nop;AccountKey=" KEY, NULL, NULL, NULL,
			"its AccountName is invalid: it has 1 to 63 letters, digits and hyphens" },
		{ "AccountName=shop;DefaultEndpointsProtocol=ftp;AccountKey=" KEY, NULL, NULL, NULL,
			"its endpoint: must" },
		{ "AccountName=shop;EndpointSuffix=a b;AccountKey=" KEY, NULL, NULL, NULL,
			"its endpoint: is not a URL" },
		{ "AccountName=shop;QueueEndpoint=https://h/?a=b;AccountKey=" KEY, NULL, NULL, NULL,
			"its endpoint has a query" },
		{ "AccountName=shop;SharedAccessSignature=sv=1", NULL, NULL, NULL,
			"its SharedAccessSignature is invalid: it is a query string with a sig" },
		{ "AccountName=shop;SharedAccessSignature=sig=", NULL, NULL, NULL,
			"its SharedAccessSignature is invalid: it is a query string with a sig" },
		{ "AccountName=shop;SharedAccessSignature=sig=a&b c", NULL, NULL, NULL,
			"its SharedAccessSignature is invalid: it is a query string with a sig" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct storageaccount s;
		struct err err = { 0 };
		int rc = read_one(rows[i].text, NULL, NULL, NULL, &s, &err);

		if (rc != (rows[i].url ? 0 : -1))
			fail_msg("%s: %d %s", rows[i].text, rc, err.msg);
		if (rc) {
			if (!strstr(err.msg, rows[i].error))
				fail_msg("%s: %s", rows[i].text, err.msg);
			assert_null(strstr(err.msg, KEY));
			assert_null(strstr(err.msg, "secret-value"));
			continue;
		}
		assert_string_equal(s.login.url, rows[i].url);
		assert_true(text_equal(s.account, rows[i].account) && text_equal(s.sas, rows[i].sas));
		storageaccount_done(&s);
	}
}

static void logins(void **state)
{
	struct pod_identity pod = { .provider = "azure-workload", .may_be_kscaled = true },
			    foreign = { .provider = "aws", .may_be_kscaled = true },
			    forbidden = { .provider = "azure-workload" };
	struct storageaccount s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(read_one(NULL, NULL, NULL, NULL, &s, &err), -1);
	assert_string_equal(err.msg, "no connection");
	assert_int_equal(read_one(NULL, NULL, &pod, NULL, &s, &err), -1);
	assert_string_equal(err.msg, "no account");
	assert_int_equal(read_one("AccountName=shop;AccountKey=" KEY, NULL, &foreign, NULL, &s, &err), -1);
	assert_string_equal(err.msg, "pod identity aws not supported for azure-queue");
	assert_int_equal(read_one(NULL, "shop", &forbidden, NULL, &s, &err), -1);
	assert_non_null(strstr(err.msg, "kscaled's own Azure identity"));
	assert_int_equal(read_one(NULL, "shop", NULL, "Nowhere", &s, &err), -1);
	assert_non_null(strstr(err.msg, "invalid cloud environment Nowhere"));
	/* the connection string is ignored then */
	assert_int_equal(read_one("x", "shop", &pod, NULL, &s, &err), 0);
	assert_string_equal(s.login.url, "https://shop.queue.core.windows.net/");
	assert_non_null(webaccess_identity(s.login.access));
	storageaccount_done(&s);
	assert_int_equal(read_one(NULL, "shop", &pod, "AzureChinaCloud", &s, &err), 0);
	assert_string_equal(s.login.url, "https://shop.queue.core.chinacloudapi.cn/");
	storageaccount_done(&s);
	/* the token goes to allowed hosts only */
	assert_int_equal(read_one(NULL, "shop", &pod, "Private", &s, &err), -1);
	assert_non_null(strstr(err.msg, "shop.queue.core.local is not one of Microsoft's hosts"));
	assert_int_equal(read_one(NULL, "e.example/", &pod, NULL, &s, &err), -1);
	assert_string_equal(err.msg,
		"parameter \"accountName\" value \"e.example/\" is invalid: it has 1 to 63 letters, digits and "
		"hyphens");
	pod.azure_trusted = "core.local";
	assert_int_equal(read_one(NULL, "shop", &pod, "Private", &s, &err), 0);
	assert_string_equal(s.login.url, "https://shop.queue.core.local:8443/");
	storageaccount_done(&s);
}

static void expect_request(const char *connection, const char *name, const char *more, const char *url,
	const char *authorization)
{
	struct storageaccount s;
	struct webrequest r = { 0 };
	struct err err = { 0 };

	assert_int_equal(read_one(connection, NULL, NULL, NULL, &s, &err), 0);
	assert_int_equal(storageaccount_request(&s, name, more, "comp=metadata", 1795717800000, &r, &err), 0);
	assert_string_equal(r.url, url);
	assert_string_equal(strmap_get(&r.headers, "x-ms-date"), "Thu, 26 Nov 2026 18:30:00 GMT");
	assert_string_equal(strmap_get(&r.headers, "x-ms-version"), "2021-12-02");
	if (authorization)
		assert_string_equal(strmap_get(&r.headers, "Authorization"), authorization);
	else
		assert_null(strmap_get(&r.headers, "Authorization"));
	free(r.url);
	strmap_done(&r.headers);
	storageaccount_done(&s);
}

/* Live tests compare signatures with Azurite's. */
static void requests(void **state)
{
	struct storageaccount s;
	struct webrequest r = { 0 };
	struct err err = { 0 };
	MEM_AUTO char *with_signature = NULL;
	static char longest[20000];

	(void)state;
	expect_request("AccountName=shop;AccountKey=" KEY, "or ders/?", "/messages",
		"https://shop.queue.core.windows.net/or%20ders%2F%3F/messages?comp=metadata",
		"SharedKey shop:wDLJSVmBa5vlvtxh2wJGSwLqDyLZILzcaUKeYdAhaH8=");
	expect_request("QueueEndpoint=http://127.0.0.1:1/a/;AccountName=a;AccountKey=" KEY, "$logs", "",
		"http://127.0.0.1:1/a/$logs?comp=metadata", "SharedKey a:kpXdCwfMxz7NGboq3SJ1DqK1EmnmYRt182495A0Jtjs=");
	expect_request("AccountName=shop;SharedAccessSignature=sv=1&sig=secret%2Bvalue", "orders", "",
		"https://shop.queue.core.windows.net/orders?comp=metadata&sv=1", NULL);
	assert_int_equal(read_one("AccountName=shop;SharedAccessSignature=sig=secret%2Bvalue", NULL, NULL, NULL, &s,
				 &err),
		0);
	assert_string_equal(webaccess_config(s.login.access)->query_value, "secret+value");
	with_signature = httpurl_with_parameter("https://h/?a=b", webaccess_config(s.login.access)->query_name,
		webaccess_config(s.login.access)->query_value);
	assert_string_equal(with_signature, "https://h/?a=b&sig=secret%2Bvalue");
	memset(longest, 'a', sizeof(longest) - 1);
	assert_int_equal(storageaccount_request(&s, longest, "", "comp=metadata", 0, &r, &err), -1);
	assert_string_equal(err.msg, "the URL would have more than 16384 bytes");
	storageaccount_done(&s);
}

/* What distinguishes accounts in a question's key. */
static char *key_of(const struct storageaccount *a)
{
	return mem_printf("%s %s %s", a->login.url, a->account ? a->account : "-", webaccess_key(a->login.access));
}

static void keys_of_questions(void **state)
{
	static const struct {
		const char *a, *b;
		bool same;
	} rows[] = {
		{ "AccountName=shop;AccountKey=" KEY, "AccountKey=" KEY ";AccountName=shop;", true },
		{ "AccountName=shop;AccountKey=" KEY, "AccountName=shop;AccountKey=AAAA", false },
		{ "AccountName=shop;AccountKey=" KEY, "AccountName=shop2;AccountKey=" KEY, false },
		{ "AccountName=shop;QueueEndpoint=https://h;AccountKey=" KEY,
			"AccountName=shop2;QueueEndpoint=https://h;AccountKey=" KEY, false },
		{ "AccountName=shop;SharedAccessSignature=sv=1&sig=a",
			"AccountName=shop;SharedAccessSignature=sig=a&sv=1", true },
		{ "AccountName=shop;SharedAccessSignature=sv=1&sig=a",
			"AccountName=shop;SharedAccessSignature=sig=b&sv=1", false },
		{ "AccountName=shop;SharedAccessSignature=sv=1&sig=a",
			"AccountName=shop;SharedAccessSignature=sig=a&sv=2", false },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct storageaccount a, b;
		struct err err = { 0 };

		assert_int_equal(read_one(rows[i].a, NULL, NULL, NULL, &a, &err), 0);
		assert_int_equal(read_one(rows[i].b, NULL, NULL, NULL, &b, &err), 0);
		{
			MEM_AUTO char *a_key = key_of(&a), *b_key = key_of(&b);

			if ((strcmp(a_key, b_key) == 0) != rows[i].same)
				fail_msg("row %zu: %s and %s", i, a_key, b_key);
			assert_null(strstr(a_key, KEY));
		}
		storageaccount_done(&a);
		storageaccount_done(&b);
	}
}

#define ERROR(code, message)                                                                                           \
	"\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>" code "</Code><Message>" message          \
	"\nRequestId:1\nTime:2026</Message><AuthenticationErrorDetail>x</AuthenticationErrorDetail></Error>"

static void errors(void **state)
{
	static const struct {
		int status;
		const char *body;
		enum err_kind kind;
		const char *message;
	} rows[] = {
		{ 200, "", ERR_NONE, "" },
		{ 404, ERROR("QueueNotFound", "The specified queue does not exist."), ERR_MISSING,
			"HTTP status 404, QueueNotFound: The specified queue does not exist." },
		{ 403, ERROR("AuthenticationFailed", "No."), ERR_DENIED,
			"HTTP status 403, AuthenticationFailed: No.; required: the account's key, a shared access "
			"signature with permission r" },
		{ 401, "", ERR_DENIED,
			"HTTP status 401; required: the account's key, a shared access signature with permission r" },
		{ 503, ERROR("ServerBusy", ""), ERR_TEMPORARY, "HTTP status 503, ServerBusy: " },
		{ 500, "<html>", ERR_TEMPORARY, "HTTP status 500" },
		{ 204, "", ERR_INVALID, "HTTP status 204" },
		{ 302, "<Error><Message>x</Message></Error>", ERR_INVALID, "HTTP status 302" },
		{ 400, "<Error><Code>a\tb</Code></Error>", ERR_INVALID, "HTTP status 400, a b" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		const struct webresponse answer = { .status = rows[i].status,
			.body = rows[i].body,
			.len = strlen(rows[i].body) };
		struct err err = { 0 };

		assert_int_equal(storageaccount_expect(&answer, "permission r", &err), rows[i].status == 200 ? 0 : -1);
		assert_int_equal(err.kind, rows[i].kind);
		assert_string_equal(err.msg, rows[i].message);
		assert_int_equal(err.http_status, rows[i].status == 200 ? 0 : rows[i].status);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(connection_strings), cmocka_unit_test(logins),
		cmocka_unit_test(requests), cmocka_unit_test(keys_of_questions), cmocka_unit_test(errors) };

	return cmocka_run_group_tests_name("scalers/azure/storageaccount", tests, NULL, NULL);
}
