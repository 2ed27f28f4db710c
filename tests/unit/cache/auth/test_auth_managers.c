/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secret managers as sources: their requests, identities and errors. The look-up is a fake, which
 * records what is asked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakekey.h"

#include "base/mem.h"
#include "cache/auth/auth.h"
#include "net/identity/awsrole.h"

#define TEXT(text) ((char *)(uintptr_t)(text)) /* never written to */

static struct {
	struct triggerauth auth;
	struct triggerauth_manager manager;
	struct triggerauth_managed secrets[2];
	struct triggerauth_identity identity;
	struct scaledobject so;
	struct trigger trigger;
	struct workload *target; /* borrowed; NULL */
	char account[100];       /* the ServiceAccount that was asked for, and its annotation */
	struct auth_lookup lookup;
	char asked[512]; /* one line for each secret asked of the manager */
	struct webaccess *access;
	struct strmap out;
	struct err err;
} t;

static enum reference_state find_triggerauth(void *arg, bool cluster, const char *namespace_, const char *name,
	const struct triggerauth **out, struct err *err)
{
	(void)arg;
	(void)cluster;
	(void)namespace_;
	(void)name;
	(void)err;
	*out = &t.auth;
	return REFERENCE_FOUND;
}

/* All ServiceAccounts have it but "bare". */
static enum reference_state find_annotation(const char *namespace_, const char *name, const char *key, const char **out,
	struct err *err)
{
	snprintf(t.account, sizeof(t.account), "%s/%s %s", namespace_, name, key);
	*out = " arn:aws:iam::1:role/worker\n";
	if (strcmp(name, "bare") != 0)
		return REFERENCE_FOUND;
	err_set(err, ERR_MISSING, "ServiceAccount %s/%s has no annotation", namespace_, name);
	return REFERENCE_MISSING;
}

/* Key "gone" is not there, "late" not read yet, "blank" has only blanks, "odd" one inside. */
static enum reference_state find_key(void *arg, enum keydata_kind kind, const char *namespace_, const char *name,
	const char *key, const char **out, struct err *err)
{
	static char value[200];

	(void)arg;
	if (kind == KEYDATA_SERVICE_ACCOUNT)
		return find_annotation(namespace_, name, key, out, err);
	assert_int_equal(kind, KEYDATA_SECRET);
	snprintf(value, sizeof(value), " %s/%s/%s\n", namespace_, name, key);
	*out = strcmp(key, "blank") == 0 ? " \n" : strcmp(key, "odd") == 0 ? "a b" : value;
	if (strcmp(key, "gone") == 0) {
		err_set(err, ERR_MISSING, "Secret %s/%s has no key \"%s\"", namespace_, name, key);
		return REFERENCE_MISSING;
	}
	if (strcmp(key, "late") == 0) {
		err_set(err, ERR_WAITING, "waits for Secret %s/%s", namespace_, name);
		return REFERENCE_UNREAD;
	}
	return REFERENCE_FOUND;
}

static const char *shown(const char *text)
{
	return text ? text : "-";
}

/* Secret "sealed" is denied, "empty" has no value; all others have "value of <name>". */
static enum reference_state find_managed(void *arg, const struct managervalues_source *source, const char **out,
	struct err *err)
{
	static char value[200];
	const struct secretmanager_secret *s = &source->secret;
	size_t len = strlen(t.asked);

	(void)arg;
	assert_string_equal(source->namespace_, "shop");
	snprintf(t.asked + len, sizeof(t.asked) - len, "%s %s%s%s %s %s %s %s\n", source->manager->label, s->endpoint,
		s->project ? " of " : "", s->project ? s->project : "", s->name, shown(s->version), shown(s->stage),
		shown(source->member));
	webaccess_unref(t.access);
	t.access = webaccess_ref(source->access);
	snprintf(value, sizeof(value), "value of %s", s->name);
	*out = strcmp(s->name, "empty") == 0 ? " " : value;
	if (strcmp(s->name, "sealed") != 0)
		return REFERENCE_FOUND;
	err_set(err, ERR_DENIED, "manager: permission denied");
	return REFERENCE_DENIED;
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.auth.meta.namespace_ = TEXT("shop");
	t.auth.meta.name = TEXT("db");
	t.so.meta.namespace_ = TEXT("shop");
	t.so.spec.triggers = &t.trigger;
	t.so.spec.trigger_count = 1;
	t.trigger.auth_name = TEXT("db");
	t.secrets[0] = (struct triggerauth_managed){ .parameter = TEXT("password"), .name = TEXT("redis") };
	t.manager.secrets = t.secrets;
	t.manager.secret_count = 1;
	t.lookup = (struct auth_lookup){ .triggerauth = find_triggerauth,
		.key = find_key,
		.managed = find_managed,
		.cluster_namespace = "ops" };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	strmap_done(&t.out);
	webaccess_unref(t.access);
	return 0;
}

static int resolve(void)
{
	const struct scaled of = scaled_of_object(&t.so);
	struct pod_identity identity;

	strmap_done(&t.out);
	t.asked[0] = '\0';
	err_clear(&t.err);
	return auth_params(&t.lookup, &of, &t.trigger, t.target, &t.out, &identity, &t.err);
}

static void expect_asked(const char *asked)
{
	if (resolve())
		fail_msg("%s", t.err.msg);
	assert_string_equal(t.asked, asked);
}

static void expect_failure(enum err_kind kind, const char *message)
{
	MEM_AUTO char *whole = mem_printf("TriggerAuthentication shop/db: %s", message);

	assert_int_equal(resolve(), -1);
	assert_string_equal(t.err.msg, whole);
	assert_int_equal(t.err.kind, kind);
	assert_int_equal(t.out.count, 0);
}

/* identity of the last request */
static const struct identity *who(void)
{
	return webaccess_identity(t.access);
}

/* ---- AWS ---- */

#define AWS "AWS Secrets Manager https://secretsmanager.eu-west-1.amazonaws.com "

static void with_aws_keys(void)
{
	t.auth.aws_secret_manager = &t.manager;
	t.manager.region = TEXT("eu-west-1");
	t.manager.key_id = (struct triggerauth_ref){ TEXT("aws"), TEXT("id") };
	t.manager.secret = (struct triggerauth_ref){ TEXT("aws"), TEXT("key") };
}

static void aws_by_keys(void **state)
{
	(void)state;
	with_aws_keys();
	expect_asked(AWS "redis - - -\n");
	assert_string_equal(strmap_get(&t.out, "password"), "value of redis");
	assert_string_equal(identity_label(who()), "AWS keys");
	assert_string_equal(webaccess_config(t.access)->region, "eu-west-1");
	assert_string_equal(webaccess_config(t.access)->service, "secretsmanager");
	t.manager.secret_count = 2;
	t.secrets[1] = (struct triggerauth_managed){ .parameter = TEXT("user"),
		.name = TEXT("redis"),
		.version = TEXT("v"),
		.stage = TEXT("s"),
		.member = TEXT("m") };
	expect_asked(AWS "redis - - -\n" AWS "redis v s m\n");
	assert_int_equal(t.out.count, 2);
	t.manager.region = TEXT("cn-north-1");
	t.manager.secret_count = 1;
	expect_asked("AWS Secrets Manager https://secretsmanager.cn-north-1.amazonaws.com.cn redis - - -\n");
}

/* Defaults from kscaled's environment. */
static void aws_region_and_url(void **state)
{
	(void)state;
	with_aws_keys();
	t.manager.region = NULL;
	expect_failure(ERR_INVALID, "awsSecretManager.region: missing, and kscaled's environment has no AWS_REGION");
	t.lookup.aws_region = "eu-north-1";
	expect_asked("AWS Secrets Manager https://secretsmanager.eu-north-1.amazonaws.com redis - - -\n");
	t.manager.region = TEXT("eu-west-1");
	expect_asked(AWS "redis - - -\n");
	t.lookup.aws_secrets_url = "http://127.0.0.1:4566//";
	expect_asked("AWS Secrets Manager http://127.0.0.1:4566 redis - - -\n");
	t.manager.region = TEXT("evil.example/");
	expect_failure(ERR_INVALID, "awsSecretManager.region: is not the name of an AWS region, such as eu-west-1");
}

static void aws_keys_are_needed(void **state)
{
	static const char expected[] =
		"awsSecretManager: AccessKeyID and AccessSecretKey are expected when not using a pod identity "
		"provider: give credentials.accessKey and credentials.accessSecretKey";

	(void)state;
	with_aws_keys();
	t.manager.key_id.name = NULL;
	expect_failure(ERR_INVALID, expected);
	t.manager.identity = &t.identity;
	t.identity.provider = TEXT("none");
	expect_failure(ERR_INVALID, expected);
	with_aws_keys();
	t.manager.secret.key = TEXT("gone");
	expect_failure(ERR_MISSING,
		"awsSecretManager.credentials.accessSecretKey: Secret shop/aws has no key \"gone\"");
	t.manager.secret.key = TEXT("late");
	expect_failure(ERR_WAITING, "awsSecretManager.credentials.accessSecretKey: waits for Secret shop/aws");
	t.manager.secret.key = TEXT("blank");
	expect_failure(ERR_INVALID,
		"awsSecretManager.credentials.accessSecretKey: key \"blank\" of Secret shop/aws is empty");
	t.manager.secret.key = TEXT("key");
	t.manager.session_token = (struct triggerauth_ref){ TEXT("aws"), TEXT("gone") };
	expect_failure(ERR_MISSING, "awsSecretManager.credentials.accessToken: Secret shop/aws has no key \"gone\"");
	t.manager.session_token.key = TEXT("odd");
	expect_failure(ERR_INVALID,
		"awsSecretManager.credentials: the AWS session token contains a blank, a line break or another invalid "
		"character");
	assert_string_equal(t.asked, "");
	t.manager.session_token.key = TEXT("token");
	expect_asked(AWS "redis - - -\n");
	t.lookup.restrict_secrets = true;
	assert_int_equal(resolve(), -1);
	assert_int_equal(t.err.kind, ERR_DENIED);
}

static void aws_identities(void **state)
{
	(void)state;
	with_aws_keys();
	t.manager.identity = &t.identity;
	t.identity.provider = TEXT("aws");
	expect_failure(ERR_INVALID,
		"awsSecretManager.podIdentity asks for kscaled's own identity at the cloud, which needs a "
		"ClusterTriggerAuthentication or option cloud-identity all: give credentials instead");
	t.lookup.cloud = AUTH_CLOUD_ALL;
	expect_asked(AWS "redis - - -\n");
	assert_string_equal(identity_label(who()), "kscaled's own AWS identity");
	t.identity.role_arn = TEXT("arn:aws:iam::1:role/r");
	expect_asked(AWS "redis - - -\n");
	assert_string_equal(identity_label(who()), "AWS role");
	t.lookup.cloud = AUTH_CLOUD_CLUSTER;
	assert_int_equal(resolve(), -1);
	t.auth.meta.namespace_ = TEXT("");
	t.trigger.auth_kind = TEXT("ClusterTriggerAuthentication");
	expect_asked(AWS "redis - - -\n");
	t.identity.identity_owner = TEXT("keda");
	expect_asked(AWS "redis - - -\n");
	t.lookup.cloud = AUTH_CLOUD_NONE;
	assert_int_equal(resolve(), -1);
	t.auth.meta.namespace_ = TEXT("shop");
	t.trigger.auth_kind = NULL;
	t.identity.provider = TEXT("gcp");
	expect_failure(ERR_INVALID, "awsSecretManager: pod identity provider gcp not supported: only aws is");
}

/* The role of the scale target's ServiceAccount; roleArn is ignored, as in KEDA. */
static void aws_as_the_workload(void **state)
{
	struct workload_container container = { .name = TEXT("worker") };
	struct workload target = { .containers = &container, .container_count = 1 };
	const struct scaled of = scaled_of_object(&t.so);
	struct identity *expected = awsrole_new("eu-west-1", "arn:aws:iam::1:role/worker", NULL, true);

	(void)state;
	with_aws_keys();
	t.manager.identity = &t.identity;
	t.identity.provider = TEXT("aws");
	assert_false(auth_needs_target(&t.lookup, &of));
	t.identity.identity_owner = TEXT("workload");
	t.identity.role_arn = TEXT("arn:aws:iam::1:role/other");
	assert_true(auth_needs_target(&t.lookup, &of));
	assert_int_equal(resolve(), -1);
	assert_non_null(strstr(t.err.msg, "awsSecretManager.podIdentity asks for kscaled's own identity"));
	t.lookup.cloud = AUTH_CLOUD_ALL;
	expect_failure(ERR_INVALID,
		"awsSecretManager.podIdentity: the scale target has no Pod template, so no ServiceAccount with a role");
	t.target = &target;
	expect_asked(AWS "redis - - -\n");
	assert_string_equal(t.account, "shop/default eks.amazonaws.com/role-arn");
	assert_string_equal(identity_key(who()), identity_key(expected));
	target.service_account = TEXT("bare");
	expect_failure(ERR_MISSING,
		"awsSecretManager.podIdentity: the workload's role: ServiceAccount shop/bare has no annotation");
	identity_unref(expected);
}

/* ---- Azure ---- */

#define AZURE "Azure Key Vault https://shop.vault.azure.net "

static void with_azure_secret(void)
{
	t.auth.azure_key_vault = &t.manager;
	t.manager.vault_uri = TEXT("https://shop.vault.azure.net/");
	t.manager.client_id = TEXT("client");
	t.manager.tenant_id = TEXT("tenant");
	t.manager.secret = (struct triggerauth_ref){ TEXT("azure"), TEXT("key") };
	t.manager.cloud = t.manager.resource = t.manager.authority = NULL;
}

static int file(void *arg, const char *path, struct buf *out, struct err *err)
{
	(void)arg;
	(void)path;
	(void)err;
	buf_puts(out, "j.w.t");
	return 0;
}

static const char *env(void *arg, const char *name)
{
	static const char *const set[][2] = { { "AZURE_FEDERATED_TOKEN_FILE", "/token" }, { "AZURE_CLIENT_ID", "own" },
		{ "AZURE_TENANT_ID", "home" } };

	(void)arg;
	for (size_t i = 0; i < MEM_COUNT(set); i++)
		if (strcmp(set[i][0], name) == 0)
			return set[i][1];
	return NULL;
}

/* The identity's token request. */
static void expect_token_request(const char *url, const char *form)
{
	static const struct identity_environment environment = { .env = env, .file = file };
	struct identity_exchange x = { .identity = who(), .environment = &environment };
	struct webrequest r = { 0 };
	struct credential got = { 0 };
	struct err err = { 0 };

	assert_int_equal(identity_next(&x, &r, &got, &err), EXCHANGE_SEND);
	assert_string_equal(r.url, url);
	assert_string_equal(r.body, form);
	webrequest_done(&r);
	identity_exchange_done(&x);
}

#define FORM(scope)                                                                                                    \
	"client_id=client&grant_type=client_credentials&scope=https%3A%2F%2F" scope                                    \
	"%2F.default&client_secret=shop%2Fazure%2Fkey"

static void azure_by_secret(void **state)
{
	static const struct {
		const char *uri, *cloud, *resource, *authority; /* given */
		const char *place, *url, *form;
	} rows[] = {
		{ "https://shop.vault.azure.net/", NULL, NULL, NULL, "https://shop.vault.azure.net",
			"https://login.microsoftonline.com/tenant/oauth2/v2.0/token", FORM("vault.azure.net") },
		{ "https://shop.vault.usgovcloudapi.net", NULL, NULL, NULL, "https://shop.vault.usgovcloudapi.net",
			"https://login.microsoftonline.us/tenant/oauth2/v2.0/token", FORM("vault.usgovcloudapi.net") },
		{ "https://shop.vault.azure.cn", "", NULL, NULL, "https://shop.vault.azure.cn",
			"https://login.chinacloudapi.cn/tenant/oauth2/v2.0/token", FORM("vault.azure.cn") },
		{ "https://vault.example:8443", NULL, NULL, NULL, "https://vault.example:8443",
			"https://login.microsoftonline.com/tenant/oauth2/v2.0/token", FORM("vault.azure.net") },
		{ "https://vault.example", "AzureChinaCloud", "https://ignored", NULL, "https://vault.example",
			"https://login.chinacloudapi.cn/tenant/oauth2/v2.0/token", FORM("vault.azure.cn") },
		{ "https://a.vault.local", "Private", "https://vault.local/", "https://login.local/",
			"https://a.vault.local", "https://login.local/tenant/oauth2/v2.0/token", FORM("vault.local") },
		{ "https://a.vault.local", "private", "vault.local", "https://login.local:8443/adfs",
			"https://a.vault.local", "https://login.local:8443/adfs/tenant/oauth2/v2.0/token",
			FORM("vault.local") },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		MEM_AUTO char *asked = mem_printf("Azure Key Vault %s redis - - -\n", rows[i].place);

		with_azure_secret();
		t.manager.vault_uri = TEXT(rows[i].uri);
		t.manager.cloud = TEXT(rows[i].cloud);
		t.manager.resource = TEXT(rows[i].resource);
		t.manager.authority = TEXT(rows[i].authority);
		expect_asked(asked);
		expect_token_request(rows[i].url, rows[i].form);
	}
	t.secrets[0].version = TEXT("4387");
	with_azure_secret();
	expect_asked(AZURE "redis 4387 - -\n");
	assert_string_equal(strmap_get(&t.out, "password"), "value of redis");
}

static void azure_invalid_settings(void **state)
{
	static const struct {
		const char *uri, *cloud, *resource, *authority, *error;
	} rows[] = {
		{ "http://shop.vault.azure.net", NULL, NULL, NULL,
			"azureKeyVault.vaultUri: must be an https URL without user and query" },
		{ "https://shop.vault.azure.net/?x=", NULL, NULL, NULL,
			"azureKeyVault.vaultUri: must be an https URL without user and query" },
		{ "https://v", "Moon", NULL, NULL,
			"azureKeyVault: cloud.type: parameter \"cloud\": invalid cloud environment Moon: valid are "
			"AzurePublicCloud, AzureUSGovernmentCloud, AzureChinaCloud, AzureGermanCloud and Private" },
		{ "https://v", "Private", NULL, "https://a",
			"azureKeyVault: cloud.type: keyVaultResourceURL must be provided for Private cloud type" },
		{ "https://v", "Private", "https://r", NULL,
			"azureKeyVault: cloud: activeDirectoryEndpoint must be provided for Private cloud type" },
		{ "https://v", "Private", "https://r", "http://a",
			"azureKeyVault: cloud.activeDirectoryEndpoint: must be an https URL without user and query" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		with_azure_secret();
		t.manager.vault_uri = TEXT(rows[i].uri);
		t.manager.cloud = TEXT(rows[i].cloud);
		t.manager.resource = TEXT(rows[i].resource);
		t.manager.authority = TEXT(rows[i].authority);
		expect_failure(ERR_INVALID, rows[i].error);
	}
	with_azure_secret();
	t.manager.vault_uri = TEXT("shop");
	assert_int_equal(resolve(), -1);
	assert_int_equal(t.err.kind, ERR_INVALID);
}

static void azure_credentials_are_needed(void **state)
{
	static const char expected[] =
		"azureKeyVault: clientID, tenantID and clientSecret are expected when not using a pod identity "
		"provider: give credentials";

	(void)state;
	with_azure_secret();
	t.manager.client_id = NULL;
	expect_failure(ERR_INVALID, expected);
	with_azure_secret();
	t.manager.tenant_id = TEXT("");
	expect_failure(ERR_INVALID, expected);
	with_azure_secret();
	t.manager.secret.name = NULL;
	expect_failure(ERR_INVALID, expected);
	with_azure_secret();
	t.manager.secret.key = TEXT("gone");
	expect_failure(ERR_MISSING, "azureKeyVault.credentials.clientSecret: Secret shop/azure has no key \"gone\"");
	with_azure_secret();
	t.manager.tenant_id = TEXT("a/b");
	expect_failure(ERR_INVALID,
		"azureKeyVault: the tenant id \"a/b\" is invalid: it is a GUID or the name of a domain");
}

/* kscaled's own token: who may use it, and which hosts may see it. */
static void azure_workload_identity(void **state)
{
	(void)state;
	with_azure_secret();
	t.manager.identity = &t.identity;
	t.identity.provider = TEXT("aws");
	expect_failure(ERR_INVALID, "azureKeyVault: key vault does not support pod identity provider - aws");
	t.identity.provider = TEXT("azure-workload");
	expect_failure(ERR_INVALID,
		"azureKeyVault.podIdentity asks for kscaled's own identity at the cloud, which needs a "
		"ClusterTriggerAuthentication or option cloud-identity all: give credentials instead");
	t.lookup.cloud = AUTH_CLOUD_ALL;
	expect_asked(AZURE "redis - - -\n");
	expect_token_request("https://login.microsoftonline.com/home/oauth2/v2.0/token",
		"client_id=own&grant_type=client_credentials&scope=https%3A%2F%2Fvault.azure.net%2F.default&"
		"client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer&"
		"client_assertion=j.w.t");
	t.identity.identity_id = TEXT("other");
	t.identity.identity_tenant_id = TEXT("elsewhere");
	expect_asked(AZURE "redis - - -\n");
	expect_token_request("https://login.microsoftonline.com/elsewhere/oauth2/v2.0/token",
		"client_id=other&grant_type=client_credentials&scope=https%3A%2F%2Fvault.azure.net%2F.default&"
		"client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer&"
		"client_assertion=j.w.t");
	t.manager.vault_uri = TEXT("https://evil.example");
	expect_failure(ERR_INVALID,
		"azureKeyVault: podIdentity azure-workload: evil.example is not one of Microsoft's hosts for this "
		"service, and kscaled shows its own Azure token to no other; an administrator can allow it with "
		"--azure-trusted-hosts");
	t.lookup.azure_trusted = "evil.example";
	expect_asked("Azure Key Vault https://evil.example redis - - -\n");
	t.manager.vault_uri = TEXT("https://shop.vault.azure.net.evil.org");
	assert_int_equal(resolve(), -1);
}

/* ---- Google ---- */

#define GOOGLE "Google Secret Manager https://secretmanager.googleapis.com"

static const char *google_key;

static enum reference_state find_google_key(void *arg, enum keydata_kind kind, const char *namespace_, const char *name,
	const char *key, const char **out, struct err *err)
{
	(void)arg;
	(void)kind;
	(void)namespace_;
	(void)name;
	(void)key;
	(void)err;
	*out = google_key;
	return REFERENCE_FOUND;
}

static void with_google_key(const char *key)
{
	t.auth.gcp_secret_manager = &t.manager;
	t.manager.secret = (struct triggerauth_ref){ TEXT("google"), TEXT("key") };
	t.lookup.key = find_google_key;
	google_key = key;
}

static void google_by_key(void **state)
{
	MEM_AUTO char *good = fakekey_google("https://oauth2.googleapis.com/token", "shop");
	MEM_AUTO char *homeless = fakekey_google("https://oauth2.googleapis.com/token", NULL);

	(void)state;
	with_google_key(good);
	t.secrets[0].version = TEXT("3");
	expect_asked(GOOGLE " of shop redis 3 - -\n");
	assert_string_equal(identity_label(who()), "Google token");
	with_google_key(homeless);
	expect_failure(ERR_INVALID,
		"gcpSecretManager.credentials.clientSecret: project_id field is missing in the json credentials");
	with_google_key("{\"type\":\"authorized_user\"}");
	expect_failure(ERR_INVALID,
		"gcpSecretManager.credentials.clientSecret: the key's type is authorized_user, which is not supported: "
		"it must be service_account");
	with_google_key("s3cret");
	expect_failure(ERR_INVALID, "gcpSecretManager.credentials.clientSecret: the key is not a JSON object");
	/* `kscaled check` does not know the key. */
	t.lookup.unknown = "s3cret";
	expect_asked(GOOGLE " redis 3 - -\n");
	t.manager.secret.name = NULL;
	expect_failure(ERR_INVALID,
		"gcpSecretManager: clientSecret is expected when not using a pod identity provider: give "
		"credentials.clientSecret");
}

static void google_identities(void **state)
{
	(void)state;
	with_google_key("");
	t.manager.identity = &t.identity;
	t.identity.provider = TEXT("aws");
	expect_failure(ERR_INVALID,
		"gcpSecretManager: gcp secret manager does not support pod identity provider - aws");
	t.identity.provider = TEXT("gcp");
	assert_int_equal(resolve(), -1);
	assert_non_null(strstr(t.err.msg, "gcpSecretManager.podIdentity asks for kscaled's own identity"));
	t.lookup.cloud = AUTH_CLOUD_ALL;
	expect_asked(GOOGLE " redis - - -\n");
	assert_string_equal(identity_label(who()), "kscaled's own Google token");
}

/* ---- All ---- */

/* KEDA's order: Azure's, Google's, AWS'. */
static void the_last_manager_wins(void **state)
{
	struct triggerauth_managed other = { .parameter = TEXT("password"), .name = TEXT("last") };
	struct triggerauth_manager aws;
	MEM_AUTO char *key = fakekey_google("https://oauth2.googleapis.com/token", "shop");

	(void)state;
	with_aws_keys();
	aws = t.manager;
	aws.secrets = &other;
	with_azure_secret();
	with_google_key(key);
	t.auth.aws_secret_manager = &aws;
	t.lookup.key = find_key;
	assert_int_equal(resolve(), -1); /* Google's key is invalid */
	t.auth.gcp_secret_manager = NULL;
	expect_asked(AZURE "redis - - -\n" AWS "last - - -\n");
	assert_string_equal(strmap_get(&t.out, "password"), "value of last");
}

static void manager_errors(void **state)
{
	(void)state;
	with_aws_keys();
	t.secrets[0].name = TEXT("sealed");
	expect_failure(ERR_DENIED, "awsSecretManager parameter \"password\": manager: permission denied");
	t.secrets[0].name = TEXT("empty");
	expect_failure(ERR_INVALID, "awsSecretManager parameter \"password\": secret \"empty\" is empty");
}

/* The authentication's podIdentity is the trigger's, not the manager's. */
static void later_sources_win(void **state)
{
	struct triggerauth_key key = { TEXT("password"), TEXT("plain"), TEXT("pw") };

	(void)state;
	with_aws_keys();
	t.auth.secrets = &key;
	t.auth.secret_count = 1;
	assert_int_equal(resolve(), 0);
	assert_string_equal(strmap_get(&t.out, "password"), "value of redis");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(aws_by_keys),
		CASE(aws_region_and_url),
		CASE(aws_keys_are_needed),
		CASE(aws_identities),
		CASE(aws_as_the_workload),
		CASE(azure_by_secret),
		CASE(azure_invalid_settings),
		CASE(azure_credentials_are_needed),
		CASE(azure_workload_identity),
		CASE(google_by_key),
		CASE(google_identities),
		CASE(the_last_manager_wins),
		CASE(manager_errors),
		CASE(later_sources_win),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
