/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/keydata.h"

#include "base/buf.h"
#include "given.h"

struct read {
	struct strmap out, unreadable;
	struct err err;
	int rc;
};

static bool all_but_dropped(void *arg, const char *key)
{
	++*(int *)arg;
	return strcmp(key, "dropped") != 0;
}

static struct read read_data(enum keydata_kind kind, const char *quoted, int *asked)
{
	struct read r = { .rc = 0 };
	json_t *object = given_json(quoted);

	r.rc = keydata_decode(kind, object, asked != NULL ? all_but_dropped : NULL, asked, &r.out, &r.unreadable,
		&r.err);
	json_decref(object);
	return r;
}

static void read_done(struct read *r)
{
	strmap_done_secret(&r->out);
	strmap_done_secret(&r->unreadable);
}

static void test_secret(void **state)
{
	int asked = 0;
	struct read r = read_data(KEYDATA_SECRET,
		"{'data':{'user':'YWRtaW4=','pw':'cMOkw58=','none':'','null':null,'latin':'cOQ=','dropped':'eA=='},'"
		"stringData':{'other':'x'}}",
		&asked);

	(void)state;
	assert_int_equal(r.rc, 0);
	assert_int_equal(asked, 6);
	assert_int_equal(r.out.count, 5);
	assert_int_equal(r.unreadable.count, 0);
	assert_string_equal(strmap_get(&r.out, "user"), "admin");
	assert_string_equal(strmap_get(&r.out, "pw"), "p\xc3\xa4\xc3\x9f");
	assert_string_equal(strmap_get(&r.out, "none"), "");
	assert_string_equal(strmap_get(&r.out, "null"), "");
	assert_string_equal(strmap_get(&r.out, "latin"), "p\xe4"); /* a password need not be UTF-8 */
	read_done(&r);
}

static void test_config_map(void **state)
{
	struct read r = read_data(KEYDATA_CONFIG_MAP,
		"{'data':{'host':'redis','port':'6379','dropped':''},'binaryData':{'bin':'AAE='}}", NULL);

	(void)state;
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.out.count, 3);
	assert_string_equal(strmap_get(&r.out, "host"), "redis");
	assert_null(strmap_get(&r.out, "bin"));
	read_done(&r);
	r = read_data(KEYDATA_CONFIG_MAP, "{'metadata':{'name':'x'}}", NULL);
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.out.count, 0);
	assert_string_equal(keydata_kind_name(KEYDATA_SECRET), "Secret");
	assert_string_equal(keydata_kind_name(KEYDATA_CONFIG_MAP), "ConfigMap");
}

static void test_service_account(void **state)
{
	struct read r = read_data(KEYDATA_SERVICE_ACCOUNT,
		"{'metadata':{'name':'x','annotations':{'eks.amazonaws.com/role-arn':'arn:aws:iam::1:role/x'}},'"
		"secrets':[]}",
		NULL);

	(void)state;
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.out.count, 1);
	assert_string_equal(strmap_get(&r.out, "eks.amazonaws.com/role-arn"), "arn:aws:iam::1:role/x");
	read_done(&r);
	r = read_data(KEYDATA_SERVICE_ACCOUNT, "{'metadata':{'name':'x'},'data':{'a':'b'}}", NULL);
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.out.count, 0);
	r = read_data(KEYDATA_SERVICE_ACCOUNT, "{'metadata':{'annotations':[]}}", NULL);
	assert_int_equal(r.rc, -1);
	assert_string_equal(keydata_kind_name(KEYDATA_SERVICE_ACCOUNT), "ServiceAccount");
	assert_string_equal(keydata_plural(KEYDATA_SERVICE_ACCOUNT), "serviceaccounts");
	assert_string_equal(keydata_key_called(KEYDATA_SERVICE_ACCOUNT), "annotation");
}

static void test_unreadable(void **state)
{
	struct read r = read_data(KEYDATA_SECRET,
		"{'data':{'good':'eA==','nul':'YQBi','garbage':'not "
		"base64!','cut':'eA=','number':5,'hole':'eA==\\u0000'}}",
		NULL);

	(void)state;
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.out.count, 1);
	assert_string_equal(strmap_get(&r.out, "good"), "x");
	assert_int_equal(r.unreadable.count, 5);
	assert_string_equal(strmap_get(&r.unreadable, "nul"), "contains a NUL character");
	assert_string_equal(strmap_get(&r.unreadable, "garbage"), "is not base64");
	assert_string_equal(strmap_get(&r.unreadable, "cut"), "is not base64");
	assert_string_equal(strmap_get(&r.unreadable, "number"), "is not a string");
	assert_string_equal(strmap_get(&r.unreadable, "hole"), "is not base64");
	read_done(&r);
}

static void test_wrong(void **state)
{
	struct buf many = BUF_INIT((size_t)1 << 20);
	struct read r = read_data(KEYDATA_SECRET, "[]", NULL);

	(void)state;
	assert_int_equal(r.rc, -1);
	assert_string_equal(r.err.msg, "not a Kubernetes object");
	r = read_data(KEYDATA_SECRET, "{'data':'x'}", NULL);
	assert_int_equal(r.rc, -1);
	assert_int_equal(r.err.kind, ERR_INVALID);
	assert_string_equal(r.err.msg, "data: must be an object, not a string");
	buf_puts(&many, "{'data':{");
	for (int i = 0; i <= 20000; i++)
		buf_printf(&many, "%s'k%05d':''", i > 0 ? "," : "", i);
	buf_puts(&many, "}}");
	r = read_data(KEYDATA_CONFIG_MAP, buf_text(&many), NULL);
	assert_int_equal(r.rc, -1);
	assert_string_equal(r.err.msg, "data: too many keys");
	read_done(&r);
	buf_done(&many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_secret),
		cmocka_unit_test(test_config_map),
		cmocka_unit_test(test_service_account),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
