/* SPDX-License-Identifier: Apache-2.0 */
#include "net/vault/vaultreply.h"

#include "../fixture.h"
#include "base/json.h"
#include "base/mem.h"

static char *quoted(const char *text)
{
	char *copy = mem_dup(text);

	for (char *c = copy; *c != '\0'; c++)
		if (*c == '\'')
			*c = '"';
	return copy;
}

static json_t *given(const char *text)
{
	char *body = quoted(text);
	struct err err = { 0 };
	json_t *answer = vaultreply_parse(200, body, strlen(body), NULL, &err);

	if (answer == NULL)
		fail_msg("%s: %s", text, err.msg);
	free(body);
	return answer;
}

static void errors_quote_the_server(void **state)
{
	static const char *const secrets[] = { "t0ken", "", "jwt", NULL };
	static const struct {
		int status;
		const char *body;
		enum err_kind kind;
		const char *msg;
	} rows[] = {
		{ 403, "{'errors':['1 error occurred:\\n\\t* permission denied\\n\\n']}", ERR_DENIED,
			"HTTP 403: 1 error occurred: * permission denied" },
		{ 401, "", ERR_DENIED, "HTTP 401" },
		{ 404, "{'errors':[]}", ERR_MISSING, "HTTP 404: nothing is there" },
		{ 404, "{'data':null,'warnings':['Invalid path for a versioned K/V secrets engine.']}", ERR_MISSING,
			"HTTP 404: Invalid path for a versioned K/V secrets engine." },
		{ 404, "{'data':{'data':null,'metadata':{}},'warnings':null}", ERR_MISSING,
			"HTTP 404: nothing is there" },
		{ 503, "{'errors':['Vault is sealed']}", ERR_TEMPORARY, "HTTP 503: Vault is sealed" },
		{ 429, "<html>", ERR_TEMPORARY, "HTTP 429" },
		{ 400, "{'errors':['what is t0ken?']}", ERR_TEMPORARY, "HTTP 400" },
		{ 400, "{'errors':['jwt']}", ERR_TEMPORARY, "HTTP 400" },
		{ 500, "{'errors':[5]}", ERR_TEMPORARY, "HTTP 500" },
		{ 500, "{'errors':['\\u0001\\u0000x']}", ERR_TEMPORARY, "HTTP 500" },
		{ 204, "", ERR_TEMPORARY, "the answer is not a JSON object: is this a Vault server?" },
		{ 200, "[]", ERR_TEMPORARY, "the answer is not a JSON object: is this a Vault server?" },
		/* the parser would quote it */
		{ 200, "{'data':{'pw':99999999999999999999}}", ERR_TEMPORARY,
			"the answer is not a JSON object: is this a Vault server?" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *body = quoted(rows[i].body);
		struct err err = { 0 };

		assert_null(vaultreply_parse(rows[i].status, body, strlen(body), secrets, &err));
		assert_string_equal(err.msg, rows[i].msg);
		assert_int_equal(err.kind, rows[i].kind);
		assert_int_equal(err.http_status, rows[i].status >= 300 ? rows[i].status : 0);
		free(body);
	}
}

static void long_words_are_cut_between_characters(void **state)
{
	struct buf body = BUF_INIT((size_t)1 << 16);
	struct err err = { 0 };

	(void)state;
	buf_puts(&body, "{\"errors\":[\"x");
	for (int i = 0; i < 300; i++)
		buf_puts(&body, "\xc3\xa4");
	buf_puts(&body, "\"]}");
	assert_null(vaultreply_parse(500, body.data, body.len, NULL, &err));
	assert_int_equal(strlen(err.msg), strlen("HTTP 500: ") + 199);
	buf_done(&body);
}

static void tokens(void **state)
{
	struct vaultreply_token t;
	struct err err = { 0 };
	json_t *answer = given("{'auth':{'client_token':'hvs.abc','lease_duration':3600,'renewable':true}}");

	(void)state;
	assert_int_equal(vaultreply_login(answer, &t, &err), 0);
	assert_string_equal(t.token, "hvs.abc");
	assert_int_equal(t.ttl_ms, 3600000);
	assert_true(t.renewable);
	mem_free_secret(t.token);
	assert_int_equal(vaultreply_renewal(answer, &t, &err), 0);
	assert_null(t.token);
	assert_int_equal(vaultreply_lookup(answer, &t, &err), -1);
	assert_string_equal(err.msg, "the answer has no `data`");
	json_decref(answer);
	answer = given("{'data':{'ttl':0,'renewable':false}}");
	assert_int_equal(vaultreply_lookup(answer, &t, &err), 0);
	assert_int_equal(t.ttl_ms, 0);
	assert_false(t.renewable);
	assert_int_equal(vaultreply_login(answer, &t, &err), -1);
	assert_string_equal(err.msg, "the answer has no `auth`");
	json_decref(answer);
}

static void odd_tokens(void **state)
{
	static const char *const rows[] = { "{}", "{'client_token':5}", "{'client_token':''}",
		"{'client_token':'a\\nX-Other: b'}", "{'client_token':'a\\u0000b'}", "{'client_token':'a b'}",
		"{'client_token':'\\u00e4'}" };
	struct vaultreply_token t;
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = mem_printf("{'auth':%s}", rows[i]);
		json_t *answer = given(text);

		assert_int_equal(vaultreply_login(answer, &t, &err), -1);
		assert_string_equal(err.msg, "the answer has no token");
		json_decref(answer);
		free(text);
	}
	json_t *answer = given("{'data':{'ttl':-5,'renewable':1}}");
	assert_int_equal(vaultreply_lookup(answer, &t, &err), 0);
	assert_int_equal(t.ttl_ms, 0);
	assert_false(t.renewable);
	json_decref(answer);
	answer = given("{'auth':{'lease_duration':9223372036854775807}}");
	assert_int_equal(vaultreply_renewal(answer, &t, &err), 0);
	assert_int_equal(t.ttl_ms, INT64_C(315360000000));
	json_decref(answer);
}

#define V1  "{'data':{'pw':'one','n':5432,'yes':true,'real':1.5,'list':['a'],'null':null,'nul':'a\\u0000','empty':''}}"
#define V2  "{'data':{'data':{'pw':'two'},'metadata':{'version':1}}}"
#define PKI "{'data':{'certificate':'C','ca_chain':['A','B'],'none':[],'odd':['A',5],'expiration':1700000000}}"

static void values(void **state)
{
	static const struct {
		const char *answer;
		enum vault_engine engine;
		const char *key, *value;
		enum err_kind kind;
	} rows[] = {
		{ V1, VAULT_ENGINE_ANY, "pw", "one", 0 },
		{ V1, VAULT_ENGINE_KV1, "pw", "one", 0 },
		{ V1, VAULT_ENGINE_KV1, "n", "5432", 0 },
		{ V1, VAULT_ENGINE_KV1, "yes", "true", 0 },
		{ V1, VAULT_ENGINE_KV1, "empty", "", 0 },
		{ V2, VAULT_ENGINE_ANY, "pw", "two", 0 },
		{ V2, VAULT_ENGINE_KV2, "pw", "two", 0 },
		{ "{'data':{'data':'a key of that name'}}", VAULT_ENGINE_ANY, "data", "a key of that name", 0 },
		{ PKI, VAULT_ENGINE_PKI, "certificate", "C", 0 },
		{ PKI, VAULT_ENGINE_PKI, "ca_chain", "A\nB", 0 },
		{ PKI, VAULT_ENGINE_PKI, "none", "", 0 },
		{ PKI, VAULT_ENGINE_PKI, "expiration", "1700000000", 0 },
		{ V1, VAULT_ENGINE_KV1, "none", "no key \"none\"", ERR_MISSING },
		{ V1, VAULT_ENGINE_KV1, "null", "no key \"null\"", ERR_MISSING },
		{ V1, VAULT_ENGINE_KV1, "real",
			"key \"real\": the value is not a string, integer or boolean: store it as a string",
			ERR_INVALID },
		{ V1, VAULT_ENGINE_KV1, "list",
			"key \"list\": the value is not a string, integer or boolean: store it as a string",
			ERR_INVALID },
		{ V1, VAULT_ENGINE_KV1, "nul", "key \"nul\": the value contains a NUL character", ERR_INVALID },
		{ V1, VAULT_ENGINE_KV2, "pw",
			"not a secret of key-value engine 2: the answer has no `data` in its data", ERR_MISSING },
		{ V2, VAULT_ENGINE_KV1, "pw", "no key \"pw\"", ERR_MISSING },
		{ "{'data':{'data':null}}", VAULT_ENGINE_ANY, "pw", "the answer has no data: was it deleted?",
			ERR_MISSING },
		{ "{'data':null}", VAULT_ENGINE_KV1, "pw", "the answer has no data: was it deleted?", ERR_MISSING },
		{ "{'data':[]}", VAULT_ENGINE_KV2, "pw", "the answer has no data: was it deleted?", ERR_MISSING },
		{ PKI, VAULT_ENGINE_PKI, "odd", "key \"odd\": the list contains a value that is not a string",
			ERR_INVALID },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = { 0 };
		json_t *answer = given(rows[i].answer);
		const json_t *data = vaultreply_data(answer, rows[i].engine, &err);
		char *value = data != NULL ? vaultreply_value(data, rows[i].engine, rows[i].key, &err) : NULL;

		if ((value == NULL) != (rows[i].kind != ERR_NONE))
			fail_msg("row %zu: %s", i, value != NULL ? value : err.msg);
		assert_string_equal(value != NULL ? value : err.msg, rows[i].value);
		assert_int_equal(err.kind, rows[i].kind);
		mem_free_secret(value);
		json_decref(answer);
	}
}

static void validity(void **state)
{
	static const struct {
		const char *answer;
		enum vault_engine engine;
		int64_t good_for_ms;
		bool leased;
	} rows[] = {
		/* as from key-value engine 1 */
		{ "{'lease_id':'','lease_duration':2764800,'data':{}}", VAULT_ENGINE_KV1, 0, false },
		{ "{'lease_id':'db/creds/1','lease_duration':90,'data':{}}", VAULT_ENGINE_ANY, 60000, true },
		{ "{'lease_id':'','data':{'expiration':1090}}", VAULT_ENGINE_PKI, 60000, false },
		{ "{'lease_id':'','data':{'expiration':1090}}", VAULT_ENGINE_ANY, 0, false },
		{ "{'lease_id':'l','lease_duration':30,'data':{'expiration':1090}}", VAULT_ENGINE_PKI, 20000, true },
		{ "{'lease_id':'l','lease_duration':300,'data':{'expiration':1090}}", VAULT_ENGINE_PKI, 60000, true },
		{ "{'data':{'expiration':5}}", VAULT_ENGINE_PKI, 666, false }, /* expired already */
		{ "{'data':{'expiration':9223372036854775807}}", VAULT_ENGINE_PKI, INT64_C(210240000000), false },
		{ "{'data':{'expiration':-9223372036854775808}}", VAULT_ENGINE_PKI, 666, false },
		{ "{}", VAULT_ENGINE_PKI, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *answer = given(rows[i].answer);
		bool leased;

		assert_int_equal(vaultreply_good_for_ms(answer, rows[i].engine, 1000500, &leased), rows[i].good_for_ms);
		assert_int_equal(leased, rows[i].leased);
		json_decref(answer);
	}
}

static void paths(void **state)
{
	static const struct {
		const char *path, *encoded, *msg;
	} rows[] = {
		{ "secret/data/x", "secret/data/x", NULL },
		{ "//secret/data/x/", "secret/data/x", NULL },
		{ "a b/c?d#e%41", "a%20b/c%3Fd%23e%2541", NULL },
		{ "\xc3\xa4/..x/x../...", "%C3%A4/..x/x../...", NULL },
		{ "", NULL, "the path is empty" },
		{ "///", NULL, "the path is empty" },
		{ "secret/../sys", NULL, "path \"secret/../sys\" has \".\" or \"..\" in it" },
		{ "..", NULL, "path \"..\" has \".\" or \"..\" in it" },
		{ "a/./b", NULL, "path \"a/./b\" has \".\" or \"..\" in it" },
		{ "a/..", NULL, "path \"a/..\" has \".\" or \"..\" in it" },
	};
	struct err err = { 0 };
	char longest[5000];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *encoded = vaultreply_path("", rows[i].path, "", &err);

		if (rows[i].encoded != NULL)
			assert_string_equal(encoded, rows[i].encoded);
		else
			assert_string_equal(encoded == NULL ? err.msg : encoded, rows[i].msg);
		free(encoded);
	}
	char *login = vaultreply_path("auth/", "team/k8s", "/login", &err);
	assert_string_equal(login, "auth/team/k8s/login");
	free(login);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_null(vaultreply_path("", longest, "", &err));
	assert_string_equal(err.msg, "the path is too long");
}

static void bodies(void **state)
{
	char *body = vaultreply_login_body(&(struct vault_login){ .jwt = "j", .role = "a\"b", .mount = "m" });

	(void)state;
	assert_string_equal(body, "{\"jwt\":\"j\",\"role\":\"a\\\"b\"}");
	mem_free_secret(body);
	body = vaultreply_issue_body(&(struct vault_secret){ .common_name = "cn",
		.alt_names = "",
		.ip_sans = "ip",
		.uri_sans = "u",
		.other_sans = "o",
		.ttl = "1h",
		.format = "pem" });
	assert_string_equal(body,
		"{\"common_name\":\"cn\",\"ip_sans\":\"ip\",\"uri_sans\":\"u\",\"other_sans\":\"o\",\"ttl\":\"1h\","
		"\"format\":\"pem\"}");
	free(body);
	body = vaultreply_issue_body(&(struct vault_secret){ .alt_names = NULL });
	assert_string_equal(body, "{}");
	free(body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_quote_the_server),
		cmocka_unit_test(long_words_are_cut_between_characters),
		cmocka_unit_test(tokens),
		cmocka_unit_test(odd_tokens),
		cmocka_unit_test(values),
		cmocka_unit_test(validity),
		cmocka_unit_test(paths),
		cmocka_unit_test(bodies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
