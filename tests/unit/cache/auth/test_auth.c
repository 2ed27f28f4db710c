/* SPDX-License-Identifier: Apache-2.0 */
/* The sources of a trigger's parameters, their order, and the errors. The look-up is a fake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cache/auth/auth.h"

#define TEXT(text) ((char[]){ text })

static struct {
	struct triggerauth auth;
	struct scaledobject so;
	struct scaledjob sj;
	bool job; /* the trigger belongs to a ScaledJob */
	struct trigger trigger;
	struct workload target;
	struct workload_container container;
	struct auth_lookup lookup;
	struct strmap file;
	char asked[512];
	struct strmap out;
	struct pod_identity identity;
	struct err err;
} t;

/* ---- The look-up ---- */

static enum reference_state find_triggerauth(void *arg, bool cluster, const char *namespace_, const char *name,
	const struct triggerauth **out, struct err *err)
{
	(void)arg;
	assert_string_equal(namespace_, "shop");
	*out = &t.auth;
	if (strcmp(name, "redis") == 0 && cluster == !*t.auth.meta.namespace_)
		return REFERENCE_FOUND;
	err_set(err, ERR_MISSING, "%s %s does not exist",
		cluster ? "ClusterTriggerAuthentication" : "TriggerAuthentication", name);
	return REFERENCE_MISSING;
}

static void note(const char *what)
{
	assert_true(strlen(t.asked) + strlen(what) + 2 < sizeof(t.asked));
	strcat(t.asked, what);
	strcat(t.asked, " ");
}

/*
 * Key "empty" is empty, "blank" has nothing but blanks, "gone" is not there, "late" not read yet;
 * all others have "<kind> <name> <key>".
 */
static enum reference_state find_key(void *arg, enum keydata_kind kind, const char *namespace_, const char *name,
	const char *key, const char **out, struct err *err)
{
	static char value[200];
	const char *kind_name = keydata_kind_name(kind);
	MEM_AUTO char *path = mem_printf("%s:%s/%s/%s", kind_name, namespace_, name, key);

	(void)arg;
	note(path);
	snprintf(value, sizeof(value), "%s %s %s", kind_name, name, key);
	*out = strcmp(key, "empty") == 0 ? "" : strcmp(key, "blank") == 0 ? " \t\n" : value;
	if (strcmp(key, "gone") == 0 || strcmp(name, "bare") == 0) {
		err_set(err, ERR_MISSING, "%s %s/%s has no key \"%s\"", kind_name, namespace_, name, key);
		return REFERENCE_MISSING;
	}
	if (strcmp(key, "late") == 0) {
		err_set(err, ERR_WAITING, "waits for %s %s/%s", kind_name, namespace_, name);
		return REFERENCE_UNREAD;
	}
	return REFERENCE_FOUND;
}

static enum reference_state find_all(void *arg, enum keydata_kind kind, const char *namespace_, const char *name,
	const struct strmap **out, struct err *err)
{
	static char key[] = "FROM";
	static struct strmap_pair pairs[] = { { key, "envFrom" } };
	static const struct strmap all = { pairs, 1 };
	MEM_AUTO char *path = mem_printf("%s:%s/%s", keydata_kind_name(kind), namespace_, name);

	(void)arg;
	(void)err;
	note(path);
	*out = &all;
	return REFERENCE_FOUND;
}

static enum reference_state find_file(void *arg, const char *path, const struct strmap **out, struct err *err)
{
	(void)arg;
	*out = &t.file;
	if (strcmp(path, "redis.json") == 0)
		return REFERENCE_FOUND;
	err_set(err, ERR_MISSING, "/etc/%s: No such file or directory", path);
	return REFERENCE_MISSING;
}

static enum reference_state find_vault(void *arg, const struct triggerauth *auth, size_t secret, const char *namespace_,
	const char **out, struct err *err)
{
	static char value[200];

	(void)arg;
	assert_string_equal(namespace_, "shop");
	snprintf(value, sizeof(value), "vault %s", auth->vault->secrets[secret].path);
	*out = value;
	if (strcmp(auth->vault->secrets[secret].path, "sealed") != 0)
		return REFERENCE_FOUND;
	err_set(err, ERR_DENIED, "Vault https://vault: permission denied");
	return REFERENCE_DENIED;
}

static enum reference_state find_token(void *arg, const char *namespace_, const char *service_account, const char **out,
	struct err *err)
{
	static char value[200];

	(void)arg;
	(void)err;
	snprintf(value, sizeof(value), "token %s/%s", namespace_, service_account);
	*out = value;
	return REFERENCE_FOUND;
}

/* ---- Fixture ---- */

static struct workload_env variables[] = {
	{ .name = TEXT("PLAIN"),
		.source = WORKLOAD_ENV_VALUE,
		.value = TEXT("plain $(PW)"),
		.ref_name = TEXT(""),
		.ref_key = TEXT("") },
	{ .name = TEXT("PW"),
		.source = WORKLOAD_ENV_SECRET_KEY,
		.value = TEXT(""),
		.ref_name = TEXT("creds"),
		.ref_key = TEXT("pw") },
	{ .name = TEXT("URL"),
		.source = WORKLOAD_ENV_VALUE,
		.value = TEXT("redis://$(PW)"),
		.ref_name = TEXT(""),
		.ref_key = TEXT("") },
	{ .name = TEXT("EMPTY"),
		.source = WORKLOAD_ENV_VALUE,
		.value = TEXT(""),
		.ref_name = TEXT(""),
		.ref_key = TEXT("") },
	{ .name = TEXT("GONE"),
		.source = WORKLOAD_ENV_SECRET_KEY,
		.value = TEXT(""),
		.ref_name = TEXT("creds"),
		.ref_key = TEXT("gone") },
	{ .name = TEXT("LATE"),
		.source = WORKLOAD_ENV_CONFIGMAP_KEY,
		.value = TEXT(""),
		.ref_name = TEXT("conf"),
		.ref_key = TEXT("late") },
};

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.auth.meta.namespace_ = mem_dup("shop");
	t.auth.meta.name = mem_dup("redis");
	t.so.meta.namespace_ = mem_dup("shop");
	t.so.spec.target_name = mem_dup("web");
	t.so.spec.triggers = &t.trigger;
	t.so.spec.trigger_count = 1;
	t.trigger.auth_name = mem_dup("redis");
	t.container.name = mem_dup("main");
	t.container.env = variables;
	t.container.env_count = sizeof(variables) / sizeof(variables[0]);
	t.target.name = mem_dup("web");
	t.target.containers = &t.container;
	t.target.container_count = 1;
	t.lookup = (struct auth_lookup){
		.triggerauth = find_triggerauth,
		.key = find_key,
		.all = find_all,
		.file = find_file,
		.vault = find_vault,
		.token = find_token,
		.cluster_namespace = "ops",
	};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(t.auth.meta.namespace_);
	free(t.auth.meta.name);
	free(t.so.meta.namespace_);
	free(t.so.spec.target_name);
	free(t.trigger.auth_name);
	free(t.trigger.auth_kind);
	free(t.container.name);
	free(t.target.name);
	strmap_done(&t.file);
	strmap_done(&t.out);
	strmap_done(&t.trigger.metadata);
	return 0;
}

static const struct scaled *of(void)
{
	static struct scaled view;

	view = t.job ? scaled_of_job(&t.sj) : scaled_of_object(&t.so);
	return &view;
}

/* A ScaledJob with the same name, namespace and trigger; target is its Pod template. */
static void as_job(void)
{
	t.job = true;
	t.sj.meta = t.so.meta;
	t.sj.spec.triggers = &t.trigger;
	t.sj.spec.trigger_count = 1;
	t.sj.spec.polling_interval_s = INT32_UNSET;
}

static void in_cluster(void)
{
	free(t.auth.meta.namespace_);
	t.auth.meta.namespace_ = mem_dup("");
	free(t.trigger.auth_kind);
	t.trigger.auth_kind = mem_dup("ClusterTriggerAuthentication");
}

static int resolve(void)
{
	strmap_done(&t.out);
	t.asked[0] = '\0';
	err_clear(&t.err);
	return auth_params(&t.lookup, of(), &t.trigger, &t.target, &t.out, &t.identity, &t.err);
}

static void expect(const char *parameter, const char *value)
{
	const char *is;

	if (resolve())
		fail_msg("%s", t.err.msg);
	is = strmap_get(&t.out, parameter);
	if (!is || strcmp(is, value) != 0)
		fail_msg("%s is \"%s\", not \"%s\"", parameter, is ? is : "(absent)", value);
}

static void expect_failure(enum err_kind kind, const char *message)
{
	assert_int_equal(resolve(), -1);
	if (t.err.kind != kind || strcmp(t.err.msg, message) != 0)
		fail_msg("%s: \"%s\", not \"%s\"", err_kind_name(t.err.kind), t.err.msg, message);
	assert_int_equal(t.out.count, 0);
}

/* ---- Which TriggerAuthentication ---- */

static void no_reference_no_parameters(void **state)
{
	(void)state;
	free(t.trigger.auth_name);
	t.trigger.auth_name = NULL;
	assert_int_equal(resolve(), 0);
	assert_int_equal(t.out.count, 0);
}

static void missing_authentication(void **state)
{
	(void)state;
	free(t.trigger.auth_name);
	t.trigger.auth_name = mem_dup("other");
	expect_failure(ERR_MISSING, "TriggerAuthentication other does not exist");
	free(t.trigger.auth_kind);
	t.trigger.auth_kind = mem_dup("AzureThing");
	expect_failure(ERR_INVALID,
		"authenticationRef.kind \"AzureThing\" is unknown: TriggerAuthentication or "
		"ClusterTriggerAuthentication");
}

static void unreadable_authentication(void **state)
{
	struct err wrong = { .kind = ERR_INVALID, .msg = "spec.env: must be an array, not a number" };

	(void)state;
	t.auth.spec_err = &wrong;
	expect_failure(ERR_INVALID, "TriggerAuthentication shop/redis: spec.env: must be an array, not a number");
}

/* ---- Secrets and ConfigMaps ---- */

static struct triggerauth_key password = { TEXT("password"), TEXT("creds"), TEXT("pw") };
static struct triggerauth_key configured = { TEXT("password"), TEXT("conf"), TEXT("pw") };

static void namespaced_reads_its_own_namespace(void **state)
{
	(void)state;
	t.auth.secrets = &password;
	t.auth.secret_count = 1;
	expect("password", "Secret creds pw");
	assert_string_equal(t.asked, "Secret:shop/creds/pw ");
}

static void cluster_wide_reads_the_cluster_object_namespace(void **state)
{
	(void)state;
	in_cluster();
	t.auth.secrets = &password;
	t.auth.secret_count = 1;
	expect("password", "Secret creds pw");
	assert_string_equal(t.asked, "Secret:ops/creds/pw ");
}

static void missing_empty_or_late_values(void **state)
{
	struct triggerauth_key keys[] = { { TEXT("user"), TEXT("creds"), TEXT("late") },
		{ TEXT("password"), TEXT("creds"), TEXT("gone") } };
	struct triggerauth_key empty = { TEXT("password"), TEXT("creds"), TEXT("empty") },
			       blank = { TEXT("password"), TEXT("creds"), TEXT("blank") };

	(void)state;
	t.auth.secrets = keys;
	t.auth.secret_count = 1;
	expect_failure(ERR_WAITING,
		"TriggerAuthentication shop/redis: secretTargetRef parameter \"user\": waits for Secret shop/creds");
	/*
	 * An error that needs a correction is reported before a temporary one; both were looked up.
	 */
	t.auth.secret_count = 2;
	expect_failure(ERR_MISSING,
		"TriggerAuthentication shop/redis: secretTargetRef parameter \"password\": Secret shop/creds has no "
		"key \"gone\"");
	assert_string_equal(t.asked, "Secret:shop/creds/late Secret:shop/creds/gone ");
	t.auth.secrets = &empty;
	t.auth.secret_count = 1;
	expect_failure(ERR_INVALID,
		"TriggerAuthentication shop/redis: secretTargetRef parameter \"password\": key \"empty\" of Secret "
		"shop/creds is empty");
	/* Triggers trim: the password would be empty. */
	t.auth.secrets = &blank;
	expect_failure(ERR_INVALID,
		"TriggerAuthentication shop/redis: secretTargetRef parameter \"password\": key \"blank\" of Secret "
		"shop/creds is empty");
}

static void restricted_secrets_are_denied_and_never_read_elsewhere(void **state)
{
	struct err err = { 0 };

	(void)state;
	t.lookup.restrict_secrets = true;
	t.auth.secrets = &password;
	t.auth.secret_count = 1;
	expect_failure(ERR_DENIED,
		"TriggerAuthentication shop/redis: secretTargetRef parameter \"password\": Secret shop/creds is not "
		"read: --restrict-secret-access allows Secrets of namespace ops only");
	assert_string_equal(t.asked, "");
	/* Triggers whose source is a Secret get the same error. */
	assert_true(auth_denies_secrets(&t.lookup, "shop", &err));
	assert_int_equal(err.kind, ERR_DENIED);
	assert_string_equal(err.msg, "--restrict-secret-access allows Secrets of namespace ops only");
	err_clear(&err);
	assert_false(auth_denies_secrets(&t.lookup, "ops", &err));
	assert_int_equal(err.kind, ERR_NONE);
	/* ConfigMaps and Secrets of the one namespace are allowed. */
	t.auth.secret_count = 0;
	t.auth.config_maps = &configured;
	t.auth.config_map_count = 1;
	expect("password", "ConfigMap conf pw");
	in_cluster();
	t.auth.secret_count = 1;
	expect("password", "Secret creds pw");
}

/* ---- The order ---- */

static struct triggerauth_env from_env = { .parameter = TEXT("password"), .name = TEXT("URL") };
static struct triggerauth_vault_secret in_vault = { .parameter = TEXT("password"),
	.path = TEXT("kv/redis"),
	.key = TEXT("pw") };
static struct triggerauth_vault vault = { .address = TEXT("https://vault"), .secrets = &in_vault, .secret_count = 1 };
static struct triggerauth_token token = { TEXT("password"), TEXT("worker") };

static void later_sources_win(void **state)
{
	(void)state;
	t.auth.env = &from_env;
	t.auth.env_count = 1;
	expect("password", "redis://Secret creds pw");
	t.auth.config_maps = &configured;
	t.auth.config_map_count = 1;
	expect("password", "ConfigMap conf pw");
	t.auth.secrets = &password;
	t.auth.secret_count = 1;
	expect("password", "Secret creds pw");
	t.auth.vault = &vault;
	expect("password", "vault kv/redis");
	t.auth.tokens = &token;
	t.auth.token_count = 1;
	expect("password", "token shop/worker");
}

static void a_file_replaces_everything(void **state)
{
	(void)state;
	t.auth.env = &from_env;
	t.auth.env_count = 1;
	t.auth.secrets = &password;
	t.auth.secret_count = 1;
	t.auth.file_path = TEXT("redis.json");
	expect_failure(ERR_INVALID,
		"TriggerAuthentication shop/redis: filePath: only a ClusterTriggerAuthentication may read files");
	in_cluster();
	strmap_set(&t.file, "username", "u");
	expect("username", "u");
	assert_int_equal(t.out.count, 1);
	assert_string_equal(t.asked, "");
	strmap_set(&t.file, "password", "");
	expect_failure(ERR_INVALID,
		"ClusterTriggerAuthentication redis: filePath parameter \"password\": its value in the file is empty");
	t.auth.file_path = TEXT("none.json");
	expect_failure(ERR_MISSING,
		"ClusterTriggerAuthentication redis: filePath: /etc/none.json: No such file or directory");
}

static void vault_errors(void **state)
{
	struct triggerauth_vault_secret sealed = { .parameter = TEXT("password"),
		.path = TEXT("sealed"),
		.key = TEXT("pw") };
	struct triggerauth_vault one = { .address = TEXT("https://vault"), .secrets = &sealed, .secret_count = 1 };

	(void)state;
	t.auth.vault = &one;
	expect_failure(ERR_DENIED,
		"TriggerAuthentication shop/redis: hashiCorpVault parameter \"password\": Vault https://vault: "
		"permission denied");
	/* An error without any look-up, so also in `kscaled check`. */
	one.kubernetes = true;
	one.mount = TEXT("kubernetes");
	expect_failure(ERR_INVALID,
		"TriggerAuthentication shop/redis: hashiCorpVault: authentication kubernetes needs mount and role");
	one.role = TEXT("reader");
	expect_failure(ERR_DENIED,
		"TriggerAuthentication shop/redis: hashiCorpVault parameter \"password\": Vault https://vault: "
		"permission denied");
}

/* Empty means not given, as in KEDA, except for credentials. */
static void empty_values(void **state)
{
	static const struct {
		const char *parameter;
		bool may;
	} rows[] = { { "port", true }, { "vhostName", true }, { "ca", true }, { "username", true },
		{ "keyParamName", true }, { "saslTokenProvider", true }, { "password", false },
		{ "sentinelPassword", false }, { "keyPassword", false }, { "personalAccessToken", false },
		{ "token", false }, { "key", false }, { "apiKey", false }, { "awsAccessKeyId", false },
		{ "clientSecret", false }, { "GoogleApplicationCredentials", false } };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		MEM_AUTO char *parameter = mem_dup(rows[i].parameter);
		struct triggerauth_key keys[] = {
			{ .parameter = parameter, .name = TEXT("creds"), .key = TEXT("full") },
			{ .parameter = parameter, .name = TEXT("creds"), .key = TEXT("blank") },
		};

		t.auth.secrets = keys;
		t.auth.secret_count = 2;
		if (rows[i].may)
			expect(parameter, " \t\n"); /* it also replaces an earlier source's value */
		else if (resolve() == 0)
			fail_msg("%s may not be empty", parameter);
	}
}

/* ---- Env ---- */

static void unavailable_variables(void **state)
{
	static const struct {
		const char *name, *container;
		enum err_kind kind;
		const char *message;
	} cases[] = {
		{ "NONE", NULL, ERR_INVALID, "container \"main\" of the scale target web has no variable NONE" },
		{ "EMPTY", NULL, ERR_INVALID, "variable EMPTY of container \"main\" is empty" },
		{ "GONE", "main", ERR_INVALID,
			"variable GONE of container \"main\" is not available: Secret shop/creds has no key \"gone\"" },
		{ "LATE", NULL, ERR_WAITING, "waits for ConfigMap shop/conf" },
		{ "PW", "side", ERR_INVALID, "web has no container \"side\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		MEM_AUTO char *name = mem_dup(cases[i].name);
		MEM_AUTO char *container = mem_dup(cases[i].container);
		MEM_AUTO char *message = mem_printf("TriggerAuthentication shop/redis: env parameter \"password\": %s",
			cases[i].message);
		struct triggerauth_env env = { .parameter = TEXT("password"), .name = name, .container = container };

		t.auth.env = &env;
		t.auth.env_count = 1;
		expect_failure(cases[i].kind, message);
	}
	t.target.container_count = 0;
	t.auth.env = &from_env;
	expect_failure(ERR_INVALID,
		"TriggerAuthentication shop/redis: env parameter \"password\": the scale target has no containers to "
		"take variable URL from");
	as_job();
	expect_failure(ERR_INVALID,
		"TriggerAuthentication shop/redis: env parameter \"password\": the Pod template has no containers to "
		"take variable URL from");
	t.target.container_count = 1;
}

/* Only named variables and those they refer to are looked up. */
static void only_named_variables_are_resolved(void **state)
{
	struct strmap env = { 0 }, unresolved = { 0 };

	(void)state;
	strmap_set(&t.trigger.metadata, "addressFromEnv", " URL ");
	strmap_set(&t.trigger.metadata, "FromEnv", "LATE");
	strmap_set(&t.trigger.metadata, "passwordFromEnv", "");
	strmap_set(&t.trigger.metadata, "listName", "GONE");
	assert_int_equal(auth_environment(&t.lookup, of(), &t.target, &env, &unresolved, &t.err), 0);
	assert_string_equal(strmap_get(&env, "URL"), "redis://Secret creds pw");
	assert_string_equal(t.asked, "Secret:shop/creds/pw ");
	assert_int_equal(unresolved.count, 0);
	strmap_done(&env);
	/* Restricted: it exists, but may not be read. */
	t.lookup.restrict_secrets = true;
	assert_int_equal(auth_environment(&t.lookup, of(), &t.target, &env, &unresolved, &t.err), 0);
	assert_null(strmap_get(&env, "URL"));
	assert_string_equal(strmap_get(&unresolved, "URL"),
		"refers to PW, which is not available: Secret shop/creds is not read: --restrict-secret-access allows "
		"Secrets of namespace ops only");
	strmap_done(&env);
	strmap_done(&unresolved);
	t.so.spec.env_source_container = TEXT("side");
	assert_int_equal(auth_environment(&t.lookup, of(), &t.target, &env, &unresolved, &t.err), -1);
	assert_string_equal(t.err.msg, "spec.scaleTargetRef.envSourceContainerName: web has no container \"side\"");
	assert_int_equal(auth_environment(&t.lookup, of(), NULL, &env, &unresolved, &t.err), 0);
}

static void target_needed_for_variables(void **state)
{
	(void)state;
	assert_false(auth_needs_target(&t.lookup, of()));
	t.auth.env = &from_env;
	t.auth.env_count = 1;
	assert_true(auth_needs_target(&t.lookup, of()));
	t.auth.env_count = 0;
	strmap_set(&t.trigger.metadata, "passwordFromEnv", "");
	assert_false(auth_needs_target(&t.lookup, of()));
	strmap_set(&t.trigger.metadata, "passwordFromEnv", "PW");
	assert_true(auth_needs_target(&t.lookup, of()));
	strmap_set(&t.trigger.metadata, "passwordFromEnv", "");
	t.so.spec.env_source_container = TEXT("side");
	assert_true(auth_needs_target(&t.lookup, of()));
	t.so.spec.env_source_container = TEXT("");
	assert_false(auth_needs_target(&t.lookup, of()));
}

static void a_scaledjob_has_its_pod_template(void **state)
{
	struct triggerauth_env none = { .parameter = TEXT("password"), .name = TEXT("NONE") };
	struct strmap env = { 0 }, unresolved = { 0 };

	(void)state;
	as_job();
	assert_false(auth_needs_target(&t.lookup, of()));
	strmap_set(&t.trigger.metadata, "addressFromEnv", "URL");
	assert_true(auth_needs_target(&t.lookup, of()));
	assert_int_equal(auth_environment(&t.lookup, of(), &t.target, &env, &unresolved, &t.err), 0);
	assert_string_equal(strmap_get(&env, "URL"), "redis://Secret creds pw");
	assert_string_equal(t.asked, "Secret:shop/creds/pw ");
	strmap_done(&env);
	t.sj.spec.env_source_container = TEXT("side");
	assert_int_equal(auth_environment(&t.lookup, of(), &t.target, &env, &unresolved, &t.err), -1);
	assert_string_equal(t.err.msg, "spec.envSourceContainerName: web has no container \"side\"");
	t.auth.env = &from_env;
	t.auth.env_count = 1;
	expect("password", "redis://Secret creds pw");
	t.auth.env = &none;
	expect_failure(ERR_INVALID,
		"TriggerAuthentication shop/redis: env parameter \"password\": container \"main\" of the Pod template "
		"has no variable NONE");
	t.auth.env_count = 0;
	t.auth.vault = &vault;
	expect("password", "vault kv/redis");
}

/* ---- Oauth2 ---- */

static void oauth2_becomes_parameters(void **state)
{
	char *scopes[] = { TEXT("read"), TEXT("write all") };
	struct triggerauth_oauth2 oauth2 = {
		.client_id = TEXT("id"),
		.token_url = TEXT("https://idp/token"),
		.secret = { TEXT("creds"), TEXT("client") },
		.scopes = scopes,
		.scope_count = 2,
	};

	(void)state;
	t.auth.oauth2 = &oauth2;
	expect("oauthTokenURI", "https://idp/token");
	expect("clientID", "id");
	expect("clientSecret", "Secret creds client");
	expect("scopes", "read,write all");
	assert_null(strmap_get(&t.out, "endpointParams"));
	strmap_set(&oauth2.token_url_params, "resource", "a b/c&d=\xC3\xA4");
	strmap_set(&oauth2.token_url_params, "audience", "me");
	expect("endpointParams", "audience=me&resource=a+b%2Fc%26d%3D%C3%A4");
	strmap_done(&oauth2.token_url_params);
	oauth2.type = TEXT("password");
	expect_failure(ERR_INVALID,
		"TriggerAuthentication shop/redis: oauth2.type \"password\" is unknown: only clientCredentials is "
		"supported");
	oauth2.type = TEXT("clientCredentials");
	oauth2.secret.key = TEXT("gone");
	expect_failure(ERR_MISSING,
		"TriggerAuthentication shop/redis: oauth2 parameter \"clientSecret\": Secret shop/creds has no key "
		"\"gone\"");
}

/* ---- Unsupported ---- */

static void unsupported_providers(void **state)
{
	struct triggerauth_identity identity = { 0 };

	(void)state;
	t.auth.identity = &identity;
	assert_int_equal(resolve(), 0);
	/* a type that does not read podIdentity ignores it, and the workload's role */
	identity.provider = TEXT("azure-workload");
	t.trigger.type = TEXT("redis");
	assert_int_equal(resolve(), 0);
	identity.provider = TEXT("aws");
	identity.identity_owner = TEXT("workload");
	t.target.service_account = TEXT("bare");
	assert_int_equal(resolve(), 0);
	t.trigger.type = TEXT("aws-sqs-queue");
	expect_failure(ERR_MISSING,
		"TriggerAuthentication shop/redis: podIdentity: the workload's role: ServiceAccount shop/bare has no "
		"key \"eks.amazonaws.com/role-arn\"");
	identity.identity_owner = NULL;
	t.trigger.type = NULL;
	identity.provider = TEXT("none");
	assert_int_equal(resolve(), 0);
	identity.provider = TEXT("azure");
	expect_failure(ERR_INVALID, "TriggerAuthentication shop/redis: podIdentity provider \"azure\" is unknown");
}

/* ---- Identities at clouds ---- */

static void identities_of_triggers(void **state)
{
	struct triggerauth_identity identity = { .provider = TEXT("aws"),
		.role_arn = TEXT("arn"),
		.external_id = TEXT("x"),
		.identity_owner = TEXT("keda") };

	(void)state;
	t.auth.identity = &identity;
	assert_int_equal(resolve(), 0);
	assert_string_equal(t.identity.provider, "aws");
	assert_string_equal(t.identity.role_arn, "arn");
	assert_string_equal(t.identity.external_id, "x");
	identity = (struct triggerauth_identity){ .provider = TEXT("gcp") };
	assert_int_equal(resolve(), 0);
	assert_string_equal(t.identity.provider, "gcp");
	/* an unknown type has its own error */
	identity = (struct triggerauth_identity){ .provider = TEXT("azure-workload"),
		.identity_id = TEXT("id"),
		.identity_tenant_id = TEXT("tenant"),
		.identity_authority_host = TEXT("https://login.microsoftonline.us") };
	t.trigger.type = TEXT("nothing");
	t.lookup.azure_trusted = "core.local";
	assert_int_equal(resolve(), 0);
	assert_string_equal(t.identity.provider, "azure-workload");
	assert_string_equal(t.identity.identity_id, "id");
	assert_string_equal(t.identity.identity_tenant_id, "tenant");
	assert_string_equal(t.identity.identity_authority_host, "https://login.microsoftonline.us");
	assert_string_equal(t.identity.azure_trusted, "core.local");
	t.trigger.type = NULL;
	t.auth.identity = NULL;
	assert_int_equal(resolve(), 0);
	assert_null(t.identity.provider);
}

#define ROLE "eks.amazonaws.com/role-arn"

/* The workload's namespace counts, also with a ClusterTriggerAuthentication. */
static void workload_role(void **state)
{
	struct triggerauth_identity identity = { .provider = TEXT("aws"), .identity_owner = TEXT("workload") };

	(void)state;
	t.auth.identity = &identity;
	assert_true(auth_needs_target(&t.lookup, of()));
	expect("awsRoleArn", "ServiceAccount default " ROLE);
	assert_string_equal(t.asked, "ServiceAccount:shop/default/" ROLE " ");
	assert_string_equal(t.identity.provider, "aws");
	assert_null(t.identity.role_arn);
	in_cluster();
	t.target.service_account = TEXT("worker");
	expect("awsRoleArn", "ServiceAccount worker " ROLE);
	assert_string_equal(t.asked, "ServiceAccount:shop/worker/" ROLE " ");
	identity.role_arn = TEXT("arn");
	expect_failure(ERR_INVALID,
		"ClusterTriggerAuthentication redis: roleArn can't be set if KEDA isn't identity owner, current value: "
		"'workload'");
	identity.role_arn = NULL;
	identity.identity_owner = TEXT("keda");
	assert_false(auth_needs_target(&t.lookup, of()));
	assert_int_equal(resolve(), 0);
	assert_string_equal(t.asked, "");
	identity.provider = TEXT("aws-eks");
	assert_true(auth_needs_target(&t.lookup, of()));
	expect("awsRoleArn", "ServiceAccount worker " ROLE);
	assert_string_equal(t.identity.provider, "aws-eks");
	identity.provider = TEXT("aws");
	identity.identity_owner = TEXT("workload");
	t.target.service_account = TEXT("bare");
	expect_failure(ERR_MISSING,
		"ClusterTriggerAuthentication redis: podIdentity: the workload's role: ServiceAccount shop/bare has no "
		"key \"" ROLE "\"");
	t.target.container_count = 0;
	expect_failure(ERR_INVALID,
		"ClusterTriggerAuthentication redis: podIdentity: the scale target has no Pod template, so no "
		"ServiceAccount with a role");
	t.target.no_environment = TEXT("grant get on widgets");
	expect_failure(ERR_INVALID, "ClusterTriggerAuthentication redis: podIdentity: grant get on widgets");
}

/* KEDA's deprecated aws-eks: the trigger's keys or identityOwner apply. */
static void aws_eks_without_a_role(void **state)
{
	struct triggerauth_identity identity = { .provider = TEXT("aws-eks") };
	struct triggerauth_key role = { .parameter = TEXT("awsRoleArn"), .name = TEXT("creds"), .key = TEXT("arn") };

	(void)state;
	t.auth.identity = &identity;
	t.auth.secrets = &role;
	t.auth.secret_count = 1;
	t.target.service_account = TEXT("bare");
	assert_int_equal(resolve(), 0);
	assert_int_equal(t.out.count, 0);
	assert_string_equal(t.identity.provider, "aws-eks");
	/* no Pod template: not an error */
	t.target.container_count = 0;
	expect("awsRoleArn", "Secret creds arn");
	t.target.no_environment = TEXT("grant get on widgets");
	expect_failure(ERR_INVALID, "TriggerAuthentication shop/redis: podIdentity: grant get on widgets");
}

/* It takes precedence over other sources' role, as in KEDA. */
static void workload_role_takes_precedence(void **state)
{
	struct triggerauth_identity identity = { .provider = TEXT("aws-eks") };
	struct triggerauth_key role = { .parameter = TEXT("awsRoleArn"), .name = TEXT("creds"), .key = TEXT("arn") };

	(void)state;
	t.auth.identity = &identity;
	t.auth.secrets = &role;
	t.auth.secret_count = 1;
	expect("awsRoleArn", "ServiceAccount default " ROLE);
	assert_string_equal(t.asked, "Secret:shop/creds/arn ServiceAccount:shop/default/" ROLE " ");
	t.auth.secret_count = 0;
	t.auth.file_path = TEXT("redis.json");
	strmap_set(&t.file, "awsRoleArn", "of-the-file");
	in_cluster();
	expect("awsRoleArn", "ServiceAccount default " ROLE);
	t.auth.file_path = NULL;
}

/* Also for triggers without an authentication, which may ask for it in their metadata. */
static void kscaleds_own_identity(void **state)
{
	static const bool may[3][3] = { /* without authentication, with a namespaced one, with a cluster-wide one */
		[AUTH_CLOUD_NONE] = { false, false, false },
		[AUTH_CLOUD_CLUSTER] = { false, false, true },
		[AUTH_CLOUD_ALL] = { true, true, true }
	};
	char *named = t.trigger.auth_name;

	(void)state;
	for (int place = 0; place < 3; place++) {
		t.trigger.auth_name = place == 0 ? NULL : named;
		if (place == 2)
			in_cluster();
		for (int option = AUTH_CLOUD_NONE; option <= AUTH_CLOUD_ALL; option++) {
			t.lookup.cloud = (enum auth_cloud)option;
			assert_int_equal(resolve(), 0);
			assert_int_equal(t.identity.may_be_kscaled, may[option][place]);
		}
	}
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(no_reference_no_parameters),
		CASE(missing_authentication),
		CASE(unreadable_authentication),
		CASE(namespaced_reads_its_own_namespace),
		CASE(cluster_wide_reads_the_cluster_object_namespace),
		CASE(missing_empty_or_late_values),
		CASE(empty_values),
		CASE(restricted_secrets_are_denied_and_never_read_elsewhere),
		CASE(later_sources_win),
		CASE(a_file_replaces_everything),
		CASE(vault_errors),
		CASE(unavailable_variables),
		CASE(only_named_variables_are_resolved),
		CASE(target_needed_for_variables),
		CASE(a_scaledjob_has_its_pod_template),
		CASE(oauth2_becomes_parameters),
		CASE(unsupported_providers),
		CASE(identities_of_triggers),
		CASE(workload_role),
		CASE(workload_role_takes_precedence),
		CASE(aws_eks_without_a_role),
		CASE(kscaleds_own_identity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
