/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's look-ups: TriggerAuthentications, files, tokens, values of Vault; kept while held,
 * renewed in time, with notifications of changes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakeloop.h"
#include "../../fakes/fakeobjects.h"
#include "../../fakes/fakevault.h"

#include "base/base64.h"
#include "base/log.h"
#include "base/mem.h"
#include "cache/auth/holders.h"
#include "cache/auth/lookups.h"
#include "cache/auth/vaultvalues.h"

#define TA     "/apis/keda.sh/v1alpha1/namespaces/shop/triggerauthentications/redis"
#define CTA    "/apis/keda.sh/v1alpha1/clustertriggerauthentications/redis"
#define WORKER "/api/v1/namespaces/shop/serviceaccounts/worker"
#define MINUTE (60 * 1000)

static struct {
	struct kube *kube;
	struct store *store;
	struct references *references;
	struct lookups *lookups;
	char root[64], told[256], logged[512]; /* the last line */
	struct err err;
} t;

static void on_owner(void *arg, struct object *o, unsigned changes)
{
	const char *owner = o->key;

	assert_int_equal(changes, OBJECT_NEEDS);
	assert_ptr_equal(arg, &t);
	assert_true(strlen(t.told) + strlen(owner) + 2 < sizeof(t.told));
	strcat(t.told, owner);
	strcat(t.told, " ");
}

static void on_line(void *arg, enum log_level level, const char *line)
{
	(void)arg;
	(void)level;
	assert_null(strstr(line, "s3cret"));
	assert_null(strstr(line, "token-"));
	snprintf(t.logged, sizeof(t.logged), "%s", line);
}

static void on_triggerauth(void *arg, const char *key)
{
	lookups_follow(arg, key);
}

static void begin(const struct lookups_config *config)
{
	t.store = store_new(t.kube, NULL);
	t.references = references_new(t.kube);
	t.lookups = lookups_new(t.kube, t.store, t.references, NULL, config);
	lookups_listen(t.lookups, on_owner, &t);
	store_listen(t.store, &(struct store_events){ .on_triggerauth = on_triggerauth }, t.lookups);
}

/* The store and the references notify lookups, so they end with it. */
static void end(void)
{
	lookups_free(t.lookups);
	references_free(t.references);
	store_free(t.store);
	fakeobjects_end();
}

static void start(const char *root)
{
	begin(&(struct lookups_config){ .cluster_namespace = "ops", .file_root = root, .token_life_ms = 60 * MINUTE });
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	strcpy(t.root, "/tmp/lookups-XXXXXX");
	assert_non_null(mkdtemp(t.root));
	log_set_sink(on_line, NULL);
	t.kube = fakecluster_start(fakeloop_start());
	fakevault_start();
	start(t.root);
	return 0;
}

static int teardown(void **state)
{
	MEM_AUTO char *file = mem_printf("%s/auth.json", t.root);

	(void)state;
	end();
	fakeloop_advance(0);
	fakevault_end();
	fakecluster_end();
	fakeloop_end();
	log_set_sink(NULL, NULL);
	unlink(file);
	return rmdir(t.root);
}

static void watch(void)
{
	store_start(t.store, NULL, 0);
	fakeloop_advance(10);
	t.told[0] = '\0';
}

static void expect_err(enum err_kind kind, const char *message)
{
	if (t.err.kind != kind || strcmp(t.err.msg, message) != 0)
		fail_msg("%s: \"%s\", not \"%s\"", err_kind_name(t.err.kind), t.err.msg, message);
}

static void expect_told(const char *owners)
{
	assert_string_equal(t.told, owners);
	t.told[0] = '\0';
}

/* ---- TriggerAuthentications ---- */

static enum reference_state find_auth(const char *owner, bool cluster)
{
	const struct auth_lookup *l = lookups_begin(t.lookups, fakeobject(owner));
	const struct triggerauth *auth;
	enum reference_state state;

	err_clear(&t.err);
	state = l->triggerauth(l->arg, cluster, "shop", "redis", &auth, &t.err);
	lookups_end(t.lookups);
	return state;
}

static void authentications_are_followed(void **state)
{
	(void)state;
	assert_int_equal(find_auth("shop/web", false), REFERENCE_UNREAD);
	expect_err(ERR_WAITING, "TriggerAuthentication shop/redis is not read yet");
	fakecluster_trouble("/clustertriggerauthentications", ERR_DENIED, "forbidden");
	store_start(t.store, NULL, 0);
	fakeloop_advance(10);
	assert_non_null(strstr(t.told, "shop/web "));
	t.told[0] = '\0';
	assert_int_equal(find_auth("shop/web", false), REFERENCE_MISSING);
	expect_err(ERR_MISSING, "TriggerAuthentication shop/redis does not exist");
	assert_int_equal(find_auth("shop/api", true), REFERENCE_UNREAD);
	expect_err(ERR_TEMPORARY,
		"ClusterTriggerAuthentication redis is not read yet: watching clustertriggerauthentications: "
		"forbidden");
	fakecluster_apply(TA, "{'spec':{'env':[]}}");
	fakeloop_advance(10);
	expect_told("shop/web ");
	assert_int_equal(find_auth("shop/web", false), REFERENCE_FOUND);
	fakecluster_change(TA, "{'status':{'scaledobjects':'web'},'metadata':{'labels':{'a':'b'}}}");
	fakeloop_advance(10);
	expect_told("");
	fakecluster_change(TA, "{'spec':{'podIdentity':{'provider':'none'}}}");
	fakeloop_advance(10);
	expect_told("shop/web ");
	fakecluster_delete(TA);
	fakeloop_advance(10);
	expect_told("shop/web ");
	holdings_release(fakeobject("shop/web"));
	fakecluster_apply(TA, "{'spec':{'env':[]}}");
	fakeloop_advance(10);
	expect_told("");
}

/* ---- Service accounts' tokens ---- */

/* The value; NULL: none. */
static const char *token(const char *owner, const char *account)
{
	const struct auth_lookup *l = lookups_begin(t.lookups, fakeobject(owner));
	const char *value = NULL;
	enum reference_state state;

	err_clear(&t.err);
	state = l->token(l->arg, "shop", account, &value, &t.err);
	lookups_end(t.lookups);
	assert_int_equal(state == REFERENCE_FOUND, value != NULL);
	return value;
}

static void a_token_is_shared_and_renewed(void **state)
{
	(void)state;
	watch();
	fakecluster_apply(WORKER, "{}");
	assert_null(token("shop/web", "worker"));
	expect_err(ERR_WAITING, "the token of ServiceAccount shop/worker is not read yet");
	assert_null(token("shop/api", "worker"));
	fakeloop_advance(10);
	expect_told("shop/web shop/api ");
	assert_string_equal(token("shop/web", "worker"), "token-1 of worker");
	assert_int_equal(fakecluster_calls(KUBE_REVIEW, "/token"), 1);
	assert_string_equal(fakecluster_last_body(KUBE_REVIEW, "/serviceaccounts/worker/token"),
		"{\"apiVersion\":\"authentication.k8s.io/"
		"v1\",\"kind\":\"TokenRequest\",\"spec\":{\"expirationSeconds\":3600}}");
	fakeloop_advance(47 * MINUTE);
	assert_string_equal(token("shop/web", "worker"), "token-1 of worker");
	/* A failed renewal keeps the old token and is retried. */
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_REVIEW, "/token", 1, 500);
	fakeloop_advance(MINUTE + 500);
	assert_string_equal(token("shop/web", "worker"), "token-1 of worker");
	expect_told("");
	fakeloop_advance(2000);
	expect_told("shop/web shop/api ");
	assert_string_equal(token("shop/web", "worker"), "token-2 of worker");
	/* Without holders it is dropped. */
	holdings_release(fakeobject("shop/web"));
	holdings_release(fakeobject("shop/api"));
	fakeloop_advance(120 * MINUTE);
	assert_int_equal(fakecluster_calls(KUBE_REVIEW, "/token"), 3);
}

static void token_errors(void **state)
{
	(void)state;
	watch();
	token("shop/web", "worker");
	fakeloop_advance(10);
	expect_told("shop/web ");
	assert_null(token("shop/web", "worker"));
	expect_err(ERR_MISSING, "ServiceAccount shop/worker does not exist");
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_REVIEW, "/token", FAKECLUSTER_ANY, 403);
	fakeloop_advance(1500);
	assert_null(token("shop/web", "worker"));
	expect_err(ERR_MISSING, "ServiceAccount shop/worker does not exist"); /* a denial may pass */
	fakeloop_advance(60000);
	assert_null(token("shop/web", "worker"));
	expect_err(ERR_DENIED,
		"a token of ServiceAccount shop/worker (create on serviceaccounts/token): HTTP 403 refused by the "
		"test");
	fakecluster_heal();
	fakecluster_apply(WORKER, "{}");
	fakeloop_advance(60000);
	assert_non_null(token("shop/web", "worker"));
	assert_null(token("shop/web", "../secrets/x"));
	expect_err(ERR_MISSING, "\"../secrets/x\" is not a valid ServiceAccount name");
}

/* ---- Files ---- */

static void put_file(const char *text)
{
	MEM_AUTO char *path = mem_printf("%s/auth.json", t.root);
	MEM_AUTO char *new = mem_printf("%s/new", t.root);
	FILE *file = fopen(new, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(rename(new, path), 0); /* another inode, even at the same time */
}

static enum reference_state read_file(const char *path, const char *key, char value[64])
{
	const struct auth_lookup *l = lookups_begin(t.lookups, fakeobject("shop/web"));
	const struct strmap *values = NULL;
	enum reference_state state;

	err_clear(&t.err);
	state = l->file(l->arg, path, &values, &t.err);
	snprintf(value, 64, "%s", state == REFERENCE_FOUND && strmap_get(values, key) ? strmap_get(values, key) : "");
	lookups_end(t.lookups);
	return state;
}

static void a_changed_file_is_read_again(void **state)
{
	/* The same error for a missing and an invalid file; the log has the difference. */
	static const char wrong[] = "\"auth.json\" below --filepath-auth-root-path cannot be used: see kscaled's log";
	char value[64];

	(void)state;
	assert_int_equal(read_file("auth.json", "user", value), REFERENCE_MISSING);
	expect_err(ERR_INVALID, wrong);
	assert_non_null(strstr(t.logged, "auth.json: No such file or directory"));
	put_file("{\"user\":\"one\"}");
	fakeloop_advance(10000);
	expect_told("shop/web ");
	assert_int_equal(read_file("auth.json", "user", value), REFERENCE_FOUND);
	assert_string_equal(value, "one");
	fakeloop_advance(30000);
	expect_told("");
	put_file("{\"user\":\"two\"}");
	fakeloop_advance(10000);
	expect_told("shop/web ");
	read_file("./auth.json", "user", value);
	assert_string_equal(value, "two");
	put_file("{\"user\":2}");
	fakeloop_advance(20000);
	assert_int_equal(read_file("auth.json", "user", value), REFERENCE_MISSING);
	expect_err(ERR_INVALID, wrong);
	assert_non_null(strstr(t.logged, "auth.json: \"user\" is not a string"));
	put_file("[\"s3cret\"]");
	fakeloop_advance(10000);
	read_file("auth.json", "user", value);
	expect_err(ERR_INVALID, wrong);
	assert_non_null(strstr(t.logged, "auth.json: is not a JSON object"));
}

/* A file written in place may be read when only partly written. */
static void a_partly_written_file_keeps_its_values(void **state)
{
	char value[64];

	(void)state;
	put_file("{\"user\":\"one\"}");
	assert_int_equal(read_file("auth.json", "user", value), REFERENCE_FOUND);
	put_file("{\"user\":\"tw");
	fakeloop_advance(10000);
	expect_told("");
	assert_int_equal(read_file("auth.json", "user", value), REFERENCE_FOUND);
	assert_string_equal(value, "one");
	put_file("{\"user\":\"two\"}");
	fakeloop_advance(10000);
	expect_told("shop/web ");
	read_file("auth.json", "user", value);
	assert_string_equal(value, "two");
	/* A file that stays invalid is reported at the second check, though it did not change. */
	put_file("{");
	fakeloop_advance(10000);
	expect_told("");
	fakeloop_advance(10000);
	expect_told("shop/web ");
	assert_int_equal(read_file("auth.json", "user", value), REFERENCE_MISSING);
	fakeloop_advance(30000);
	expect_told("");
}

static void no_file_is_read_outside_the_folder(void **state)
{
	static const char *const paths[] = { "", "/etc/passwd", "..", "../x", "a/../../x", "a/.." };
	MEM_AUTO char *link = mem_printf("%s/link", t.root);
	char value[64];

	(void)state;
	put_file("{\"user\":\"one\"}");
	assert_int_equal(symlink("/proc/self/cmdline", link), 0);
	assert_int_equal(read_file("link", "x", value), REFERENCE_MISSING);
	expect_err(ERR_INVALID, "\"link\" below --filepath-auth-root-path cannot be used: see kscaled's log");
	assert_non_null(strstr(t.logged, "lies outside of the folder"));
	unlink(link);
	assert_int_equal(symlink("auth.json", link), 0);
	fakeloop_advance(10000);
	assert_int_equal(read_file("link", "user", value), REFERENCE_FOUND);
	assert_string_equal(value, "one");
	unlink(link);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		MEM_AUTO char *message =
			mem_printf("\"%s\" must be a path below --filepath-auth-root-path, without \"..\"", paths[i]);

		assert_int_equal(read_file(paths[i], "x", value), REFERENCE_DENIED);
		expect_err(ERR_INVALID, message);
	}
	end();
	start(NULL);
	assert_int_equal(read_file("auth.json", "x", value), REFERENCE_DENIED);
	expect_err(ERR_DENIED, "no files are read: --filepath-auth-root-path is not set");
}

/* ---- Vault ---- */

#define TEXT(text) ((char[]){ text })
static struct triggerauth_vault_secret secret = { .parameter = TEXT("password"),
	.path = TEXT("kv/redis"),
	.key = TEXT("pw") };

/* For a namespaced object of shop; with "" for a cluster-wide one. */
static const char *vault_of(const char *namespace_, const char *owner, const struct triggerauth_vault *v)
{
	const struct triggerauth auth = { .meta = { .namespace_ = (char *)(uintptr_t)namespace_ },
		.vault = (struct triggerauth_vault *)(uintptr_t)v };
	const struct auth_lookup *l = lookups_begin(t.lookups, fakeobject(owner));
	const char *value = NULL;
	enum reference_state state;

	err_clear(&t.err);
	state = l->vault(l->arg, &auth, 0, "shop", &value, &t.err);
	lookups_end(t.lookups);
	return state == REFERENCE_FOUND ? value : NULL;
}

static const char *vault(const char *owner, const struct triggerauth_vault *v)
{
	return vault_of("shop", owner, v);
}

static void a_value_of_vault_is_shared_and_read_again(void **state)
{
	const struct triggerauth_vault v = { .address = TEXT("https://vault"),
		.token = TEXT("t"),
		.secrets = &secret,
		.secret_count = 1 };

	(void)state;
	fakevault_value("s3cret", 10000);
	assert_null(vault("shop/web", &v));
	expect_err(ERR_WAITING, "kv/redis of Vault https://vault is not read yet");
	assert_null(vault("shop/api", &v));
	fakeloop_advance(10);
	expect_told("shop/web shop/api ");
	assert_string_equal(vault("shop/web", &v), "s3cret");
	assert_string_equal(fakevault_last(), "https://vault kv/redis t - -");
	assert_string_equal(fakevault_asker(), "shop");
	assert_int_equal(fakevault_reads(), 1);
	/* After its 10 s; the same value is no change. */
	fakeloop_advance(9900);
	assert_int_equal(fakevault_reads(), 1);
	fakeloop_advance(200);
	assert_int_equal(fakevault_reads(), 2);
	expect_told("");
	/* A failed read keeps the value and is retried. */
	fakevault_fail(ERR_TEMPORARY, "sealed");
	fakeloop_advance(20000);
	assert_true(fakevault_reads() > 4);
	assert_string_equal(vault("shop/web", &v), "s3cret");
	expect_told("");
	fakevault_value("s3cret2", 0);
	fakeloop_advance(60000);
	expect_told("shop/web shop/api ");
	assert_string_equal(vault("shop/api", &v), "s3cret2");
	holdings_release(fakeobject("shop/web"));
	holdings_release(fakeobject("shop/api"));
}

/* As a certificate and its key, which one response has. */
static void keys_of_one_path_come_from_one_read(void **state)
{
	struct triggerauth_vault_secret user = secret, none = secret;
	struct triggerauth_vault v = { .address = TEXT("https://vault"),
		.token = TEXT("t"),
		.secrets = &secret,
		.secret_count = 1 };

	(void)state;
	user.key = TEXT("user");
	none.key = TEXT("none");
	fakevault_value("s3cret", 10000);
	vault("shop/web", &v);
	fakeloop_advance(10);
	assert_string_equal(vault("shop/web", &v), "s3cret");
	v.secrets = &user;
	assert_string_equal(vault("shop/api", &v), "u");
	v.secrets = &none;
	assert_null(vault("shop/api", &v));
	expect_err(ERR_MISSING, "Vault https://vault: kv/redis: no key \"none\"");
	assert_int_equal(fakevault_reads(), 1);
	fakeloop_advance(10000);
	assert_int_equal(fakevault_reads(), 2);
}

/* Both of the same reading, also when they are renewed, and after a source has refused them. */
static void a_certificate_and_its_key_stay_a_pair(void **state)
{
	struct triggerauth_vault_secret certificate = { .parameter = TEXT("cert"),
		.path = TEXT("pki/issue/web"),
		.key = TEXT("certificate"),
		.type = VAULT_TYPE_PKI,
		.common_name = TEXT("a") };
	struct triggerauth_vault_secret key = certificate, other = certificate;
	struct triggerauth_vault v = { .address = TEXT("https://vault"),
		.token = TEXT("t"),
		.secrets = &certificate,
		.secret_count = 1 };
	struct triggerauth_vault of_key = v, of_other = v;

	(void)state;
	key.key = TEXT("private_key");
	other.common_name = TEXT("b");
	of_key.secrets = &key;
	of_other.secrets = &other;
	fakevault_value("s3cret", 40 * MINUTE);
	vault("shop/web", &v);
	vault("shop/api", &of_key);
	fakeloop_advance(10);
	assert_string_equal(vault("shop/web", &v), "CERT-1");
	assert_string_equal(vault("shop/api", &of_key), "KEY-1");
	expect_told("shop/web shop/api ");
	fakeloop_advance(40 * MINUTE);
	expect_told("shop/web shop/api ");
	assert_string_equal(vault("shop/web", &v), "CERT-2");
	assert_string_equal(vault("shop/api", &of_key), "KEY-2");
	fakeloop_advance(MINUTE);
	lookups_reread(t.lookups, fakeobject("shop/api"));
	fakeloop_advance(8 * MINUTE);
	assert_int_equal(fakevault_reads(), 2);
	fakeloop_advance(2 * MINUTE);
	expect_told("shop/web shop/api ");
	assert_string_equal(vault("shop/web", &v), "CERT-3");
	assert_string_equal(vault("shop/api", &of_key), "KEY-3");
	/* Another request is another certificate. */
	assert_null(vault("shop/other", &of_other));
	fakeloop_advance(10);
	assert_string_equal(vault("shop/other", &of_other), "CERT-4");
}

static void vault_is_left_alone_for_its_retry_after(void **state)
{
	const struct triggerauth_vault v = { .address = TEXT("https://vault"),
		.token = TEXT("t"),
		.secrets = &secret,
		.secret_count = 1 };

	(void)state;
	fakevault_fail(ERR_TEMPORARY, "kv/redis: HTTP 429");
	fakevault_retry_after(5 * MINUTE);
	vault("shop/web", &v);
	fakeloop_advance(5 * MINUTE - 100);
	assert_int_equal(fakevault_reads(), 1);
	fakeloop_advance(200);
	assert_int_equal(fakevault_reads(), 2);
}

static void vault_failures_are_reported_once_by_kind(void **state)
{
	const struct triggerauth_vault v = { .address = TEXT("https://vault"),
		.token = TEXT("t"),
		.secrets = &secret,
		.secret_count = 1 };

	(void)state;
	vault("shop/web", &v);
	fakeloop_advance(10);
	expect_told("shop/web ");
	assert_null(vault("shop/web", &v));
	expect_err(ERR_MISSING, "Vault https://vault: kv/redis: no secret there");
	fakeloop_advance(10000);
	expect_told("");
	fakevault_fail(ERR_TEMPORARY, "kv/redis: timed out");
	fakeloop_advance(60000);
	expect_told("shop/web ");
	vault("shop/web", &v);
	expect_err(ERR_TEMPORARY, "Vault https://vault: kv/redis: timed out");
	fakevault_value("s3cret", 0);
	fakeloop_advance(60000);
	expect_told("shop/web ");
	assert_string_equal(vault("shop/web", &v), "s3cret");
}

static void own_login(const char *vault_token, const char *trusted)
{
	end();
	begin(&(struct lookups_config){ .cluster_namespace = "ops",
		.file_root = t.root,
		.token_life_ms = 60 * MINUTE,
		.own_namespace = "home",
		.vault_jwt_audience = "vault",
		.vault_credential_dir = t.root,
		.vault_token = vault_token,
		.vault_trusted = trusted });
}

static void required_login_settings(void **state)
{
	static const char needs[] =
		"authentication \"token\" needs credential.token, or VAULT_TOKEN in the environment of kscaled";
	struct triggerauth_vault v = { .address = TEXT("https://vault"), .secrets = &secret, .secret_count = 1 };

	(void)state;
	own_login(NULL, "*");
	fakevault_value("s3cret", 0);
	assert_null(vault("shop/web", &v));
	expect_err(ERR_INVALID, needs);
	assert_null(vault_of("", "shop/web", &v));
	expect_err(ERR_INVALID, needs);
	own_login("from-env", "*");
	vault("shop/web", &v);
	fakeloop_advance(10);
	assert_string_equal(fakevault_last(), "https://vault kv/redis from-env - -");
	v.token = TEXT("theirs");
	vault("shop/web", &v);
	fakeloop_advance(10);
	assert_string_equal(fakevault_last(), "https://vault kv/redis theirs - -");
}

static void expect_denied(const char *address, const char *instead)
{
	MEM_AUTO char *wanted = mem_printf("address \"%s\" is not one of --vault-trusted-addresses, the only "
					   "ones where kscaled logs in as itself for a TriggerAuthentication: give %s",
		address, instead);

	expect_err(ERR_DENIED, wanted);
}

/* The object's author chooses the address, whose server sees the login. */
static void kscaled_logs_in_as_itself_at_trusted_servers_only(void **state)
{
	static const char list[] = "https://vault/, https://second:8200/base,,";
	static const struct {
		const char *trusted, *address;
		bool is;
	} cases[] = {
		{ list, "https://vault", true },
		{ list, "https://vault/", true },
		{ list, "HTTPS://Vault", true },
		{ list, "https://second:8200/base", true },
		{ list, "https://vault.evil", false },
		{ list, "https://vaul", false },
		{ list, "http://vault", false },
		{ list, "https://vault:8200", false },
		{ list, "https://second:8200", false },
		{ list, "", false },
		{ list, "*", false },
		{ NULL, "https://vault", false },
		{ "", "https://vault", false },
		{ "https://*", "https://vault", false },
		{ "*", "https://vault", true },
		{ "https://second, *", "https://vault", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *address = cases[i].address;
		struct triggerauth_vault v = { .address = (char *)(uintptr_t)address,
			.secrets = &secret,
			.secret_count = 1,
			.mount = TEXT("k8s"),
			.role = TEXT("r") };
		MEM_AUTO char *seen = mem_printf("%s kv/redis own - -", address);
		MEM_AUTO char *theirs = mem_printf("%s kv/redis theirs - -", address);
		unsigned reads;

		own_login("own", cases[i].trusted);
		watch();
		fakecluster_apply(WORKER, "{}");
		reads = fakevault_reads();
		assert_null(vault("shop/web", &v));
		if (!cases[i].is)
			expect_denied(address, "credential.token");
		fakeloop_advance(10);
		assert_int_equal(fakevault_reads() > reads, cases[i].is);
		/* Who writes one for the whole cluster may have it anywhere. */
		vault_of("", "shop/web", &v);
		fakeloop_advance(10);
		assert_string_equal(fakevault_last(), seen);
		/* The object's own login takes precedence, at any address. */
		v.token = TEXT("theirs");
		vault("shop/web", &v);
		fakeloop_advance(10);
		assert_string_equal(fakevault_last(), theirs);
		v.kubernetes = true;
		assert_null(vault("shop/web", &v));
		if (cases[i].is)
			assert_int_equal(t.err.kind, ERR_WAITING);
		else
			expect_denied(address, "credential.serviceAccountName");
		vault_of("", "shop/web", &v);
		assert_int_not_equal(t.err.kind, ERR_DENIED);
		v.service_account_name = TEXT("worker");
		vault("shop/web", &v);
		assert_int_not_equal(t.err.kind, ERR_DENIED);
		holdings_release(fakeobject("shop/web"));
		fakecluster_delete(WORKER);
	}
}

/* The refusal must not reveal whether kscaled has a token. */
static void the_refusal_does_not_depend_on_the_token(void **state)
{
	struct triggerauth_vault v = { .address = TEXT("https://vault"), .secrets = &secret, .secret_count = 1 };

	(void)state;
	own_login(NULL, NULL);
	assert_null(vault("shop/web", &v));
	expect_denied("https://vault", "credential.token");
}

static void a_service_account_logs_in_with_its_newest_token(void **state)
{
	const struct triggerauth_vault v = {
		.address = TEXT("https://vault"),
		.kubernetes = true,
		.mount = TEXT("k8s"),
		.role = TEXT("r"),
		.service_account_name = TEXT("worker"),
		.secrets = &secret,
		.secret_count = 1,
	};

	(void)state;
	watch();
	fakecluster_apply(WORKER, "{}");
	fakevault_value("s3cret", 0);
	assert_null(vault("shop/web", &v));
	expect_err(ERR_WAITING, "the token of ServiceAccount shop/worker is not read yet");
	fakeloop_advance(10);
	expect_told("shop/web ");
	vault("shop/web", &v);
	fakeloop_advance(10);
	expect_told("shop/web ");
	assert_string_equal(vault("shop/web", &v), "s3cret");
	assert_string_equal(fakevault_last(), "https://vault kv/redis token-1 of worker r k8s");
	fakeloop_advance(49 * MINUTE);
	expect_told("shop/web "); /* of the token; the value stays */
	assert_string_equal(vault("shop/web", &v), "s3cret");
	fakeloop_advance(2 * MINUTE);
	assert_string_equal(fakevault_last(), "https://vault kv/redis token-2 of worker r k8s");
	expect_told("");
}

static void put_jwt(const char *claims)
{
	MEM_AUTO char *encoded = base64_encode(claims, strlen(claims));
	MEM_AUTO char *jwt = mem_printf("eyJhbGciOiJub25lIn0.%.*s.c2ln\n", (int)strcspn(encoded, "="), encoded);

	put_file(jwt);
}

static struct triggerauth_vault by_kubernetes(char *file)
{
	static char address[] = "https://vault", mount[] = "k8s", role[] = "r";

	return (struct triggerauth_vault){
		.address = address,
		.kubernetes = true,
		.mount = mount,
		.role = role,
		.service_account_file = file,
		.secrets = &secret,
		.secret_count = 1,
	};
}

/* The author of a TriggerAuthentication must not have any file sent to a server of his. */
static void only_a_service_accounts_token_is_sent(void **state)
{
	MEM_AUTO char *path = mem_printf("%s/auth.json", t.root);
	MEM_AUTO char *message = mem_printf("Vault https://vault: credential.serviceAccount \"%s\" below "
					    "--vault-credential-dir cannot be used: see kscaled's log",
		path);
	const struct triggerauth_vault v = by_kubernetes(path), relative = by_kubernetes(TEXT("auth.json"));
	const struct vaultvalues_source source = { .jwt_file = path };
	static const char *const wrong[] = { "s3cret", "", "a.b", "a.b.c", "eyJhbGciOiJub25lIn0.!!!.x" };
	char *jwt;

	(void)state;
	own_login(NULL, "https://vault");
	fakevault_value("s3cret", 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		put_file(wrong[i]);
		assert_int_equal(vaultvalues_read_jwt(&source, &jwt, &t.err), -1);
		assert_null(jwt);
	}
	put_jwt("{\"sub\":\"alice\"}");
	vault("shop/web", &v);
	fakeloop_advance(10);
	assert_null(vault("shop/web", &v));
	expect_err(ERR_INVALID, message);
	assert_int_equal(fakevault_reads(), 0);
	put_jwt("{\"sub\":\"system:serviceaccount:shop:x\"}");
	fakeloop_advance(5000);
	assert_string_equal(vault("shop/web", &v), "s3cret");
	assert_non_null(strstr(fakevault_last(), ".c2ln r k8s"));
	vault("shop/web", &relative);
	fakeloop_advance(10);
	assert_string_equal(vault("shop/web", &relative), "s3cret");
}

/* The error is the same for every fault of a file, wherever it lies. */
static void files_outside_the_folder_look_missing(void **state)
{
	MEM_AUTO char *none = mem_printf("%s/none", t.root), *link = mem_printf("%s/link", t.root),
		      *up = mem_printf("%s/../%s/none", t.root, t.root + strlen("/tmp/"));
	char outside[] = "/tmp/lookups-outside-XXXXXX";
	char *paths[] = { none, link, up, outside, TEXT("/etc/passwd"), TEXT("/etc"), TEXT("../../etc/passwd") };
	const struct triggerauth_vault unread = by_kubernetes(none);
	int fd = mkstemp(outside);
	static const char jwt[] = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJzeXN0ZW06c2VydmljZWFjY291bnQ6czp4In0.c2ln";

	(void)state;
	assert_int_equal(write(fd, jwt, strlen(jwt)), strlen(jwt));
	assert_int_equal(close(fd), 0);
	assert_int_equal(symlink(outside, link), 0);
	own_login(NULL, "https://vault");
	fakevault_value("s3cret", 0);
	for (size_t i = 0; i < MEM_COUNT(paths); i++) {
		const struct triggerauth_vault v = by_kubernetes(paths[i]);
		MEM_AUTO char *message = mem_printf("Vault https://vault: credential.serviceAccount \"%s\" below "
						    "--vault-credential-dir cannot be used: see kscaled's log",
			paths[i]);

		vault("shop/web", &v);
		fakeloop_advance(10);
		assert_null(vault("shop/web", &v));
		expect_err(ERR_INVALID, message);
	}
	assert_int_equal(fakevault_reads(), 0);
	unlink(link);
	unlink(outside);
	end();
	begin(&(struct lookups_config){ .cluster_namespace = "ops",
		.token_life_ms = 60 * MINUTE,
		.own_namespace = "home",
		.vault_jwt_audience = "vault",
		.vault_trusted = "*" });
	assert_null(vault("shop/web", &unread));
	expect_err(ERR_INVALID, "credential.serviceAccount: no files are read: --vault-credential-dir is not set");
}

/* kscaled's token for the API server, which can read every Secret, is never sent to Vault. */
static void kscaled_logs_in_with_a_token_for_vault_alone(void **state)
{
	static const char own[] = "/api/v1/namespaces/home/serviceaccounts/kscaled";
	char kedas[] = "/var/run/secrets/kubernetes.io/serviceaccount/token";
	char *files[] = { NULL, TEXT(""), kedas };

	(void)state;
	own_login(NULL, "https://vault");
	watch();
	fakecluster_apply(own, "{}");
	fakevault_value("s3cret", 0);
	for (size_t i = 0; i < MEM_COUNT(files); i++) {
		const struct triggerauth_vault v = by_kubernetes(files[i]);

		vault("shop/web", &v);
		fakeloop_advance(10);
		vault("shop/web", &v);
		fakeloop_advance(10);
		assert_string_equal(vault("shop/web", &v), "s3cret");
	}
	assert_string_equal(fakevault_last(), "https://vault kv/redis token-1 of kscaled r k8s");
	assert_int_equal(fakevault_reads(), 1);
	assert_string_equal(fakecluster_last_body(KUBE_REVIEW, "/serviceaccounts/kscaled/token"),
		"{\"apiVersion\":\"authentication.k8s.io/"
		"v1\",\"kind\":\"TokenRequest\",\"spec\":{\"expirationSeconds\":3600,\"audiences\":[\"vault\"]}}");
}

static void a_file_with_kscaleds_token_is_for_vault_alone(void **state)
{
	MEM_AUTO char *path = mem_printf("%s/auth.json", t.root);
	static const struct {
		const char *audience;
		bool good;
	} rows[] = {
		{ "\"vault\"", true },
		{ "[\"vault\"]", true },
		{ "[\"vault\",\"https://kubernetes.default.svc\"]", false },
		{ "[\"https://kubernetes.default.svc\"]", false },
		{ "\"vaults\"", false },
		{ "[]", false },
		{ "null", false },
	};
	const struct triggerauth_vault v = by_kubernetes(NULL);
	const struct vaultvalues_source source = { .jwt_file = path, .jwt_audience = "vault" };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		MEM_AUTO char *claims = mem_printf("{\"sub\":\"system:serviceaccount:home:kscaled\",\"aud\":%s}",
			rows[i].audience);
		char *jwt = NULL;

		put_jwt(claims);
		assert_int_equal(vaultvalues_read_jwt(&source, &jwt, &t.err), rows[i].good ? 0 : -1);
		assert_int_equal(jwt != NULL, rows[i].good);
		mem_free_secret(jwt);
	}
	assert_non_null(
		strstr(t.err.msg, "auth.json: is not a token for the audience \"vault\" (--vault-jwt-audience) alone"));
	end();
	begin(&(struct lookups_config){ .cluster_namespace = "ops",
		.token_life_ms = 60 * MINUTE,
		.own_namespace = "home",
		.vault_jwt_file = path,
		.vault_jwt_audience = "vault",
		.vault_trusted = "*" });
	vault("shop/web", &v);
	fakeloop_advance(10);
	assert_null(vault("shop/web", &v));
	expect_err(ERR_INVALID, "Vault https://vault: --vault-jwt-file cannot be used: see kscaled's log");
	put_jwt("{\"sub\":\"system:serviceaccount:home:kscaled\",\"aud\":[\"vault\"]}");
	fakevault_value("s3cret", 0);
	fakeloop_advance(5000);
	assert_string_equal(vault("shop/web", &v), "s3cret");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(authentications_are_followed),
		CASE(a_token_is_shared_and_renewed),
		CASE(token_errors),
		CASE(a_changed_file_is_read_again),
		CASE(a_partly_written_file_keeps_its_values),
		CASE(no_file_is_read_outside_the_folder),
		CASE(a_value_of_vault_is_shared_and_read_again),
		CASE(keys_of_one_path_come_from_one_read),
		CASE(a_certificate_and_its_key_stay_a_pair),
		CASE(vault_is_left_alone_for_its_retry_after),
		CASE(vault_failures_are_reported_once_by_kind),
		CASE(required_login_settings),
		CASE(kscaled_logs_in_as_itself_at_trusted_servers_only),
		CASE(the_refusal_does_not_depend_on_the_token),
		CASE(a_service_account_logs_in_with_its_newest_token),
		CASE(only_a_service_accounts_token_is_sent),
		CASE(files_outside_the_folder_look_missing),
		CASE(kscaled_logs_in_with_a_token_for_vault_alone),
		CASE(a_file_with_kscaleds_token_is_for_vault_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
