/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/triggerauth.h"

#include "base/buf.h"
#include "given.h"

#define GIVEN_TA(spec)      "{'metadata':{'name':'ta','namespace':'shop'},'spec':" spec "}"
#define VAULT(rest)         GIVEN_TA("{'hashiCorpVault':{'address':'http://v'," rest "}}")
#define VAULT_SECRETS(list) VAULT("'authentication':'token','secrets':" list)
#define OAUTH2(rest)        GIVEN_TA("{'oauth2':{'clientId':'c','tokenUrl':'http://t'" rest "}}")

static struct triggerauth *given_triggerauth(const char *quoted)
{
	struct err err = { 0 };
	json_t *value = given_json(quoted);
	struct triggerauth *t = triggerauth_decode(value, &err);

	json_decref(value);
	if (t == NULL)
		fail_msg("%s: %s", quoted, err.msg);
	return t;
}

static void test_plain_sources(void **state)
{
	struct triggerauth *t = given_triggerauth(
		"{'metadata':{'name':'ta','namespace':'shop','uid':'u','annotations':{'kubectl.kubernetes.io/"
		"last-applied-configuration':'{}','a':'b'}},'spec':{"
		"'podIdentity':{'provider':'aws','identityId':'','identityTenantId':'t','identityAuthorityHost':'h','"
		"roleArn':'arn','externalID':'x','identityOwner':'keda'},"
		"'secretTargetRef':[{'parameter':'password','name':'redis','key':'pw'},{'parameter':'username','name':'"
		"redis','key':'user'}],"
		"'configMapTargetRef':[{'parameter':'host','name':'settings','key':'redis-host'}],"
		"'env':[{'parameter':'a','name':'A'},{'parameter':'b','name':'B','containerName':'main'},{'parameter':'"
		"c','name':'C','containerName':''}],"
		"'filePath':'team/"
		"creds.json','boundServiceAccountToken':[{'parameter':'token','serviceAccountName':'reader'}]},"
		"'status':{'scaledobjects':'a,b','scaledjobs':5}}");

	(void)state;
	assert_null(t->spec_err);
	assert_string_equal(t->meta.name, "ta");
	assert_string_equal(t->meta.namespace_, "shop");
	assert_int_equal(t->meta.annotations.count, 1);
	assert_string_equal(t->identity->provider, "aws");
	assert_string_equal(t->identity->identity_id, "");
	assert_string_equal(t->identity->identity_tenant_id, "t");
	assert_string_equal(t->identity->identity_authority_host, "h");
	assert_string_equal(t->identity->role_arn, "arn");
	assert_string_equal(t->identity->external_id, "x");
	assert_string_equal(t->identity->identity_owner, "keda");
	assert_int_equal(t->secret_count, 2);
	assert_string_equal(t->secrets[1].parameter, "username");
	assert_string_equal(t->secrets[1].name, "redis");
	assert_string_equal(t->secrets[1].key, "user");
	assert_int_equal(t->config_map_count, 1);
	assert_string_equal(t->config_maps[0].key, "redis-host");
	assert_int_equal(t->env_count, 3);
	assert_null(t->env[0].container);
	assert_string_equal(t->env[1].container, "main");
	assert_null(t->env[2].container);
	assert_string_equal(t->file_path, "team/creds.json");
	assert_int_equal(t->token_count, 1);
	assert_string_equal(t->tokens[0].service_account, "reader");
	assert_string_equal(t->used_by_scaledobjects, "a,b");
	assert_null(t->used_by_scaledjobs);
	assert_null(t->vault);
	assert_null(t->oauth2);
	assert_false(t->azure_key_vault || t->gcp_secret_manager || t->aws_secret_manager);
	triggerauth_free(t);
	triggerauth_free(NULL);
}

static void test_vault(void **state)
{
	struct triggerauth *t = given_triggerauth(GIVEN_TA(
		"{'hashiCorpVault':{'address':'https://"
		"vault:8200','namespace':'team','authentication':'kubernetes','role':'r','mount':'k8s',"
		"'credential':{'token':'s.1','serviceAccount':'/var/token','serviceAccountName':'sa'},'secrets':["
		"{'parameter':'p','path':'secret/data/"
		"x','key':'pw'},{'parameter':'p','path':'x','key':'k','type':'secretV2'},{'parameter':'p','path':'x','"
		"key':'k','type':'secret'},"
		"{'parameter':'cert','path':'pki/issue/"
		"web','key':'certificate','type':'pki','pkiData':{'commonName':'cn','altNames':'an','ipSans':'ip','"
		"uriSans':'uri','otherSans':'os','ttl':'1h','format':'pem'}}]}}"));
	const struct triggerauth_vault *v = t->vault;

	(void)state;
	assert_null(t->spec_err);
	assert_string_equal(v->address, "https://vault:8200");
	assert_string_equal(v->namespace_, "team");
	assert_true(v->kubernetes);
	assert_string_equal(v->role, "r");
	assert_string_equal(v->mount, "k8s");
	assert_string_equal(v->token, "s.1");
	assert_string_equal(v->service_account_file, "/var/token");
	assert_string_equal(v->service_account_name, "sa");
	assert_int_equal(v->secret_count, 4);
	assert_int_equal(v->secrets[0].type, VAULT_TYPE_ANY);
	assert_string_equal(v->secrets[0].path, "secret/data/x");
	assert_null(v->secrets[0].common_name);
	assert_int_equal(v->secrets[1].type, VAULT_TYPE_SECRET_V2);
	assert_int_equal(v->secrets[2].type, VAULT_TYPE_SECRET);
	assert_int_equal(v->secrets[3].type, VAULT_TYPE_PKI);
	assert_string_equal(v->secrets[3].common_name, "cn");
	assert_string_equal(v->secrets[3].alt_names, "an");
	assert_string_equal(v->secrets[3].ip_sans, "ip");
	assert_string_equal(v->secrets[3].uri_sans, "uri");
	assert_string_equal(v->secrets[3].other_sans, "os");
	assert_string_equal(v->secrets[3].ttl, "1h");
	assert_string_equal(v->secrets[3].format, "pem");
	triggerauth_free(t);
	t = given_triggerauth(VAULT_SECRETS("[{'parameter':'p','path':'x','key':'k','type':''}]"));
	assert_null(t->spec_err);
	assert_false(t->vault->kubernetes);
	assert_null(t->vault->token);
	assert_int_equal(t->vault->secrets[0].type, VAULT_TYPE_ANY);
	triggerauth_free(t);
}

static void test_oauth2(void **state)
{
	struct triggerauth *t = given_triggerauth(
		"{'metadata':{'name':'cta'},'spec':{'oauth2':{'type':'clientCredentials','clientId':'c','tokenUrl':'"
		"https://t','scopes':['a','b'],"
		"'clientSecret':{'valueFrom':{'secretKeyRef':{'name':'s','key':'k'}}},'tokenUrlParams':{'x':'1','a':'2'"
		"}}}}");

	(void)state;
	assert_null(t->spec_err);
	assert_string_equal(t->meta.namespace_, "");
	assert_string_equal(t->oauth2->type, "clientCredentials");
	assert_string_equal(t->oauth2->client_id, "c");
	assert_string_equal(t->oauth2->token_url, "https://t");
	assert_string_equal(t->oauth2->secret.name, "s");
	assert_string_equal(t->oauth2->secret.key, "k");
	assert_int_equal(t->oauth2->scope_count, 2);
	assert_string_equal(t->oauth2->scopes[1], "b");
	assert_string_equal(strmap_get(&t->oauth2->token_url_params, "a"), "2");
	triggerauth_free(t);
	t = given_triggerauth(OAUTH2(""));
	assert_null(t->spec_err);
	assert_null(t->oauth2->type);
	assert_null(t->oauth2->secret.name);
	assert_int_equal(t->oauth2->scope_count, 0);
	triggerauth_free(t);
}

#define REF(name, key) "{'valueFrom':{'secretKeyRef':{'name':'" name "','key':'" key "'}}}"

static void test_secret_managers(void **state)
{
	struct triggerauth *t = given_triggerauth(
		GIVEN_TA("{'awsSecretManager':{'region':'eu-west-1','podIdentity':{'provider':'aws','roleArn':'arn'},"
			 "'credentials':{'accessKey':" REF("s", "id") ",'accessSecretKey':" REF("s",
				 "key") ",'accessToken':" REF("s",
				 "token") "},"
					  "'secrets':[{'parameter':'p','name':'n','versionId':'v','versionStage':'st','"
					  "secretKey':'m'},"
					  "{'parameter':'q','name':'n'}]},"
					  "'azureKeyVault':{'vaultUri':'https://"
					  "v','credentials':{'clientId':'c','tenantId':'t','clientSecret':" REF("az",
						  "k") "},"
						       "'cloud':{'type':'Private','keyVaultResourceURL':'https://"
						       "r','activeDirectoryEndpoint':'https://a'},"
						       "'secrets':[{'parameter':'p','name':'n','version':'v'}]},"
						       "'gcpSecretManager':{'credentials':{'clientSecret':" REF("g",
							       "json") "},"
								       "'podIdentity':null,'secrets':[{'parameter':'p',"
								       "'id':'i','version':'2'}]}}"));
	const struct triggerauth_manager *m = t->aws_secret_manager;

	(void)state;
	assert_null(t->spec_err);
	assert_string_equal(m->region, "eu-west-1");
	assert_string_equal(m->identity->role_arn, "arn");
	assert_string_equal(m->key_id.key, "id");
	assert_string_equal(m->secret.name, "s");
	assert_string_equal(m->secret.key, "key");
	assert_string_equal(m->session_token.key, "token");
	assert_int_equal(m->secret_count, 2);
	assert_string_equal(m->secrets[0].version, "v");
	assert_string_equal(m->secrets[0].stage, "st");
	assert_string_equal(m->secrets[0].member, "m");
	assert_string_equal(m->secrets[1].parameter, "q");
	assert_null(m->secrets[1].version);
	m = t->azure_key_vault;
	assert_string_equal(m->vault_uri, "https://v");
	assert_string_equal(m->client_id, "c");
	assert_string_equal(m->tenant_id, "t");
	assert_string_equal(m->secret.key, "k");
	assert_string_equal(m->cloud, "Private");
	assert_string_equal(m->resource, "https://r");
	assert_string_equal(m->authority, "https://a");
	assert_string_equal(m->secrets[0].version, "v");
	assert_null(m->identity);
	m = t->gcp_secret_manager;
	assert_string_equal(m->secret.name, "g");
	assert_string_equal(m->secrets[0].name, "i");
	assert_string_equal(m->secrets[0].version, "2");
	assert_null(m->identity);
	triggerauth_free(t);
}

/* Errors name the field's path and quote no value that may be secret. */
static void test_wrong(void **state)
{
	static const struct {
		const char *object, *msg;
	} rows[] = {
		{ "{'metadata':{'name':'ta'}}", "spec: missing" },
		{ GIVEN_TA("[]"), "spec: must be an object, not an array" },
		{ GIVEN_TA("{'secretTargetRef':{}}"), "spec.secretTargetRef: must be an array, not an object" },
		{ GIVEN_TA("{'secretTargetRef':[null]}"), "spec.secretTargetRef[0]: missing" },
		{ GIVEN_TA("{'secretTargetRef':['x']}"), "spec.secretTargetRef[0]: must be an object, not a string" },
		{ GIVEN_TA("{'secretTargetRef':[{'parameter':'a','name':'b','key':'c'},{'parameter':'a','name':'b'}]}"),
			"spec.secretTargetRef[1].key: missing" },
		{ GIVEN_TA("{'configMapTargetRef':[{'parameter':'a','name':'','key':'c'}]}"),
			"spec.configMapTargetRef[0].name: must not be empty" },
		{ GIVEN_TA("{'configMapTargetRef':[{'parameter':1,'name':'','key':'c'}]}"),
			"spec.configMapTargetRef[0].parameter: must be a string, not a number" },
		{ GIVEN_TA("{'env':[{'parameter':'a'}]}"), "spec.env[0].name: missing" },
		{ GIVEN_TA("{'boundServiceAccountToken':[{'parameter':'a'}]}"),
			"spec.boundServiceAccountToken[0].serviceAccountName: missing" },
		{ GIVEN_TA("{'filePath':{'x':1}}"), "spec.filePath: must be a string, not an object" },
		{ GIVEN_TA("{'podIdentity':{'identityId':'x'}}"), "spec.podIdentity.provider: missing" },
		{ GIVEN_TA("{'podIdentity':'none'}"), "spec.podIdentity: must be an object, not a string" },
		{ GIVEN_TA("{'hashiCorpVault':7}"), "spec.hashiCorpVault: must be an object, not a number" },
		{ GIVEN_TA("{'hashiCorpVault':{'authentication':'token'}}"), "spec.hashiCorpVault.address: missing" },
		{ VAULT("'secrets':[]"), "spec.hashiCorpVault.authentication: missing" },
		{ VAULT("'authentication':'approle'"),
			"spec.hashiCorpVault.authentication: \"approle\" is not supported" },
		{ VAULT("'authentication':'token'"), "spec.hashiCorpVault.secrets: missing" },
		{ VAULT("'authentication':'token','secrets':[]"), "spec.hashiCorpVault.secrets: missing" },
		{ VAULT("'authentication':'token','credential':{'token':5}"),
			"spec.hashiCorpVault.credential.token: must be a string, not a number" },
		{ VAULT_SECRETS("[{'parameter':'p','path':'x','key':'k','type':'kv'}]"),
			"spec.hashiCorpVault.secrets[0].type: \"kv\" is not supported" },
		{ VAULT_SECRETS("[{'parameter':'p','path':'x'}]"), "spec.hashiCorpVault.secrets[0].key: missing" },
		{ VAULT_SECRETS("[{'parameter':'p','path':'x','key':'k','pkiData':[]}]"),
			"spec.hashiCorpVault.secrets[0].pkiData: must be an object, not an array" },
		{ GIVEN_TA("{'oauth2':{'clientId':'c'}}"), "spec.oauth2.tokenUrl: missing" },
		{ OAUTH2(",'type':'password'"), "spec.oauth2.type: \"password\" is not supported" },
		{ GIVEN_TA("{'awsSecretManager':[]}"), "spec.awsSecretManager: must be an object, not an array" },
		{ GIVEN_TA("{'awsSecretManager':{}}"), "spec.awsSecretManager.secrets: missing" },
		{ GIVEN_TA("{'awsSecretManager':{'secrets':[{'parameter':'p'}]}}"),
			"spec.awsSecretManager.secrets[0].name: missing" },
		{ GIVEN_TA("{'awsSecretManager':{'credentials':{'accessKey':{}},'secrets':[]}}"),
			"spec.awsSecretManager.credentials.accessKey.valueFrom.secretKeyRef: missing" },
		{ GIVEN_TA("{'awsSecretManager':{'credentials':7}}"),
			"spec.awsSecretManager.credentials: must be an object, not a number" },
		{ GIVEN_TA("{'awsSecretManager':{'podIdentity':{}}}"),
			"spec.awsSecretManager.podIdentity.provider: missing" },
		{ GIVEN_TA("{'awsSecretManager':{'secrets':[{'parameter':'p','name':'n'}],'region':1}}"),
			"spec.awsSecretManager.region: must be a string, not a number" },
		{ GIVEN_TA("{'azureKeyVault':{'secrets':[{'parameter':'p','name':'n'}]}}"),
			"spec.azureKeyVault.vaultUri: missing" },
		{ GIVEN_TA("{'azureKeyVault':{'vaultUri':'u','cloud':{},'secrets':[{'parameter':'p','name':'n'}]}}"),
			"spec.azureKeyVault.cloud.type: missing" },
		{ GIVEN_TA("{'gcpSecretManager':{'secrets':[{'parameter':'p','name':'n'}]}}"),
			"spec.gcpSecretManager.secrets[0].id: missing" },
		{ OAUTH2(",'scopes':['a',null]"), "spec.oauth2.scopes[1]: must be a string" },
		{ OAUTH2(",'clientSecret':{}"), "spec.oauth2.clientSecret.valueFrom.secretKeyRef: missing" },
		{ OAUTH2(",'clientSecret':{'valueFrom':{'secretKeyRef':{'name':'s'}}}"),
			"spec.oauth2.clientSecret.valueFrom.secretKeyRef.key: missing" },
		{ OAUTH2(",'tokenUrlParams':{'a':1}"), "spec.oauth2.tokenUrlParams.a: must be a string, not a number" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct triggerauth *t = given_triggerauth(rows[i].object);

		if (t->spec_err == NULL)
			fail_msg("accepted: %s", rows[i].object);
		assert_int_equal(t->spec_err->kind, ERR_INVALID);
		assert_string_equal(t->spec_err->msg, rows[i].msg);
		triggerauth_free(t);
	}
}

static void test_other_parts_are_decoded(void **state)
{
	struct triggerauth *t = given_triggerauth(
		GIVEN_TA("{'podIdentity':5,'secretTargetRef':[{'parameter':'a','name'"
			 ":'b','key':'c'}],'filePath':6,'awsSecretManager':{'region':'r'}}"));

	(void)state;
	assert_string_equal(t->spec_err->msg, "spec.podIdentity: must be an object, not a number");
	assert_int_equal(t->secret_count, 1);
	assert_non_null(t->aws_secret_manager);
	triggerauth_free(t);
}

static void test_caps(void **state)
{
	struct buf text = BUF_INIT((size_t)1 << 20);
	struct triggerauth *t;

	(void)state;
	buf_puts(&text, "{'metadata':{'name':'ta'},'spec':{'env':[");
	for (int i = 0; i <= TRIGGERAUTH_ENTRIES_MAX; i++)
		buf_printf(&text, "%s{'parameter':'p','name':'n'}", i > 0 ? "," : "");
	buf_puts(&text, "]}}");
	t = given_triggerauth(buf_text(&text));
	assert_string_equal(t->spec_err->msg, "spec.env: 1001 entries are too many: at most 1000");
	assert_int_equal(t->env_count, 0);
	triggerauth_free(t);
	buf_done(&text);
}

static void test_no_metadata(void **state)
{
	struct err err = { 0 };
	json_t *value = given_json("{'spec':{}}");

	(void)state;
	assert_null(triggerauth_decode(value, &err));
	assert_string_equal(err.msg, "metadata.name: missing");
	json_decref(value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_sources),
		cmocka_unit_test(test_vault),
		cmocka_unit_test(test_oauth2),
		cmocka_unit_test(test_secret_managers),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_other_parts_are_decoded),
		cmocka_unit_test(test_caps),
		cmocka_unit_test(test_no_metadata),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
