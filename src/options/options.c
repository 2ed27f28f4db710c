/* SPDX-License-Identifier: Apache-2.0 */
#include "options/options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/dnsname.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/auth/auth.h"

#define CONFIG_MAX_BYTES (1024 * 1024)
#define SECOND           INT64_C(1000)
#define HOUR             (3600 * SECOND)

/* ---- The table ---- */

static const char *const cloud_identities[] = { AUTH_CLOUD_WORDS, NULL };
static const char *const tls_versions[] = { "TLS10", "TLS11", "TLS12", "TLS13", NULL };

static const struct option table[] = {
#define AT(member) .offset = offsetof(struct options, member)
	{ "config", OPTION_TEXT, AT(config), "FILE", "file of options, \"name = value\" lines, see kscaled.conf(5)" },
	{ "kubeconfig", OPTION_TEXT, AT(kubeconfig), "PATH",
		"cluster and credentials; default: the Pod's service account", .env_also = "KUBECONFIG" },
	{ "renew-token", OPTION_BOOL, AT(renew_token), "BOOL",
		"renew the token in the kubeconfig's tokenFile if that is below --state-dir, where kscaled join puts "
		"it",
		.initial = "true" },
	{ "namespace", OPTION_OPTIONAL_LABEL, AT(namespace_), "NS",
		"kscaled's namespace, of its Lease and certificate Secret; default: the service account's, else "
		"\"kscaled\"",
		.env_also = "POD_NAMESPACE" },
	{ "watch-namespace", OPTION_LABELS, AT(watch_namespaces), "NS[,NS]", "namespaces to watch; empty: all",
		.env_also = "WATCH_NAMESPACE" },
	{ "bind-address", OPTION_ADDRESS, AT(bind_address), "ADDRESS",
		"address of the external metrics; default: all addresses, IPv4 and IPv6" },
	{ "secure-port", OPTION_PORT, AT(secure_port), "PORT", "port of the external metrics (HTTPS); 0: any free one",
		.initial = "8443" },
	{ "status-address", OPTION_HOST_PORT, AT(status_address), "HOST:PORT",
		"plain HTTP for /healthz, /readyz and /metrics", .initial = "127.0.0.1:8080" },
	{ "insight-socket", OPTION_TEXT, AT(insight_socket), "PATH",
		"Unix socket for kscaled get and kscaled explain on this host, open to its owner; default: none" },
	{ "insight-socket-group", OPTION_TEXT, AT(insight_socket_group), "GROUP",
		"group that may open --insight-socket" },
	{ "service-name", OPTION_LABEL, AT(service_name), "NAME",
		"Service behind the APIService; the certificate has its DNS names", .initial = "kscaled" },
	{ "tls-cert-file", OPTION_TEXT, AT(tls_cert_file), "PATH",
		"serving certificate (PEM), reloaded when it changes; default: kscaled runs its own CA" },
	{ "tls-private-key-file", OPTION_TEXT, AT(tls_private_key_file), "PATH", "private key of --tls-cert-file" },
	{ "leader-elect", OPTION_BOOL, AT(leader_elect), "BOOL", "act only while holding the Lease",
		.initial = "true" },
	{ "lease-name", OPTION_SUBDOMAIN, AT(lease_name), "NAME", "name of the Lease in kscaled's namespace",
		.initial = "operator.keda.sh" },
	{ "lease-duration", OPTION_DURATION, AT(lease_duration_ms), "DURATION",
		"how long a silent leader keeps the Lease; whole seconds", .initial = "15s", .least = SECOND,
		.most = HOUR },
	{ "renew-deadline", OPTION_DURATION, AT(renew_deadline_ms), "DURATION",
		"a leader that cannot renew for this long stops acting", .initial = "10s", .least = 1, .most = HOUR },
	{ "retry-period", OPTION_DURATION, AT(retry_period_ms), "DURATION", "time between two checks of the Lease",
		.initial = "2s", .least = 1, .most = HOUR },
	{ "metrics-max-age", OPTION_DURATION, AT(metrics_max_age_ms), "DURATION",
		"age up to which a reading is answered from the cache; 0: always ask the source", .initial = "1s",
		.most = HOUR },
	{ "metrics-deadline", OPTION_DURATION, AT(metrics_deadline_ms), "DURATION", "time limit for a source to answer",
		.initial = "3s", .least = 10, .most = 60 * SECOND },
	{ "metered-interval", OPTION_DURATION, AT(metered_interval_ms), "DURATION",
		"minimum time between queries to a source that bills each request (aws-cloudwatch); 0: no minimum",
		.initial = "15s", .most = HOUR },
	{ "wake-interval", OPTION_DURATION, AT(wake_interval_ms), "DURATION",
		"minimum time between checks of an object that push events cause", .initial = "100ms", .least = 10,
		.most = 60 * SECOND },
	{ "http-timeout", OPTION_MILLISECONDS, AT(http_timeout_ms), "DURATION",
		"time limit for a source over HTTP, if its trigger has no timeout; a bare number is milliseconds",
		.env_also = "KEDA_HTTP_DEFAULT_TIMEOUT", .initial = "3s", .least = 1, .most = HOUR },
	{ "http-min-tls-version", OPTION_TEXT, AT(http_min_tls_version), "VERSION",
		"minimum TLS version for sources over HTTP, gRPC and Redis: TLS10, TLS11, TLS12 or TLS13",
		.env_also = "KEDA_HTTP_MIN_TLS_VERSION", .initial = "TLS12", .words = tls_versions },
	{ "http-tls-cipher-list", OPTION_TEXT, AT(http_tls_cipher_list), "NAME[:NAME]",
		"cipher suites for these, by their IANA names; default: the usual secure ones",
		.env_also = "KEDA_HTTP_TLS_CIPHER_LIST" },
	{ "ca-dir", OPTION_TEXT, AT(ca_dir), "DIR[,DIR]",
		"directories of certificates (PEM) that these trust besides the system's; need not exist",
		.initial = "/custom/ca" },
	{ "require-tls", OPTION_BOOL, AT(require_tls), "BOOL",
		"refuse triggers that connect to Redis, a database, a broker or an external scaler without TLS",
		.initial = "false" },
	{ "max-source-connections", OPTION_COUNT, AT(max_source_connections), "COUNT",
		"maximum of concurrent connections to triggers' servers, shared by namespaces; the limit of open files "
		"may lower it",
		.initial = "2048", .least = 16, .most = 65536 },
	{ "log-level", OPTION_LEVEL, AT(log_level), "LEVEL", "debug, info, warn or error", .initial = "info" },
	{ "log-format", OPTION_FORMAT, AT(log_format), "FORMAT", "text or json", .initial = "text" },
	{ "identity", OPTION_TEXT, AT(identity), "TEXT",
		"identity in the Lease; default: the Pod's or host's name and a nonce kept in --state-dir" },
	{ "state-dir", OPTION_TEXT, AT(state_dir), "DIR", "directory for state that outlives a restart",
		.initial = "/var/lib/kscaled" },
	{ "keda-namespace", OPTION_OPTIONAL_LABEL, AT(keda_namespace), "NS",
		"stay passive while KEDA's Lease in this namespace is held; empty: ignore KEDA", .initial = "keda" },
	{ "take-over", OPTION_BOOL, AT(take_over), "BOOL",
		"act even if KEDA runs, and take over an APIService that points to another Service",
		.initial = "false" },
	{ "release-apiservice-on-stop", OPTION_BOOL, AT(release_apiservice_on_stop), "BOOL",
		"delete the APIServices when the leader stops, so that nothing in the cluster waits for it; the next "
		"leader creates them again",
		.initial = "false" },
	{ "webhook", OPTION_BOOL, AT(webhook), "BOOL",
		"serve the admission webhook and maintain its ValidatingWebhookConfiguration", .initial = "true" },
	{ "restrict-secret-access", OPTION_BOOL, AT(restrict_secret_access), "BOOL",
		"read Secrets only in --cluster-object-namespace; triggers that need others are refused",
		.env_also = "KEDA_RESTRICT_SECRET_ACCESS", .initial = "false" },
	{ "cloud-identity", OPTION_TEXT, AT(cloud_identity), "WHO",
		"triggers that may use kscaled's own identity at a cloud: none, cluster (by a "
		"ClusterTriggerAuthentication), all",
		.initial = AUTH_CLOUD_INITIAL, .words = cloud_identities },
	{ "azure-trusted-hosts", OPTION_TEXT, AT(azure_trusted_hosts), "HOST[,HOST]",
		"servers besides Microsoft's, or suffixes of their names, that may get kscaled's own Azure token; *: "
		"any" },
	{ "aws-trusted-hosts", OPTION_TEXT, AT(aws_trusted_hosts), "HOST[,HOST]",
		"servers besides Amazon MSK's, or suffixes of their names, that may get requests signed with kscaled's "
		"own AWS identity; *: any" },
	{ "cloud-metadata", OPTION_BOOL, AT(cloud_metadata), "BOOL",
		"allow the machine's identity, from the cloud's metadata server", .initial = "false" },
	{ "cluster-object-namespace", OPTION_OPTIONAL_LABEL, AT(cluster_object_namespace), "NS",
		"namespace of the Secrets and ConfigMaps of ClusterTriggerAuthentications; default: kscaled's",
		.env_also = "KEDA_CLUSTER_OBJECT_NAMESPACE" },
	{ "filepath-auth-root-path", OPTION_TEXT, AT(filepath_auth_root_path), "DIR",
		"directory of the files that ClusterTriggerAuthentications name (filePath); default: none may be "
		"read" },
	{ "vault-trusted-addresses", OPTION_TEXT, AT(vault_trusted_addresses), "URL[,URL]",
		"Vault servers where TriggerAuthentications may have kscaled log in as itself (hashiCorpVault); "
		"default: none; *: any" },
	{ "vault-jwt-file", OPTION_TEXT, AT(vault_jwt_file), "PATH",
		"service account token for logging in to Vault; default: requests one for kscaled's account" },
	{ "vault-jwt-audience", OPTION_TEXT, AT(vault_jwt_audience), "TEXT",
		"audience of that token, as in Vault's role; it is valid nowhere else", .initial = "vault" },
	{ "vault-credential-dir", OPTION_TEXT, AT(vault_credential_dir), "DIR",
		"directory of the tokens that objects name for Vault (credential.serviceAccount); default: none may be "
		"read" },
	{ "allow-local-sources", OPTION_BOOL, AT(allow_local_sources), "BOOL",
		"allow triggers' servers and Vault on loopback and Unix sockets", .initial = "false" },
	{ "bound-service-account-token-expiry", OPTION_DURATION, AT(bound_service_account_token_expiry_ms), "DURATION",
		"lifetime of the service account tokens requested for triggers",
		.env_also = "KEDA_BOUND_SERVICE_ACCOUNT_TOKEN_EXPIRY", .initial = "1h", .least = HOUR,
		.most = 6 * HOUR },
	{ "sandbox", OPTION_BOOL, AT(sandbox), "BOOL",
		"after the start, allow only files that options and libraries name and no programs, as far as the "
		"kernel can enforce it",
		.initial = "true" },
	{ .name = NULL },
#undef AT
};

#define OPTIONS          (MEM_COUNT(table) - 1)
#define FIRST_BUT_CONFIG 1 /* config is the first: it is needed before the others */

static const struct option version_option[] = {
	{ "version", OPTION_END, .help = "print the version" },
	{ .name = NULL },
};

const struct commandline options_line = {
	.name = "run",
	.summary = "runs the daemon; so does kscaled with flags only",
	.usage = "[OPTION]...",
	.tables = { { .options = table }, { .options = version_option } },
	.variables = true,
};

static const struct option *option_named(const char *name, size_t len)
{
	for (size_t i = 0; i < OPTIONS; i++)
		if (strlen(table[i].name) == len && memcmp(table[i].name, name, len) == 0)
			return &table[i];
	return NULL;
}

/* ---- Values ---- */

static int put_text(const char *text, char **out)
{
	free(*out);
	*out = text[0] != '\0' ? mem_dup(text) : NULL;
	return 0;
}

/* Ignores blanks and quotes of a value like `"a", "b"` in a manifest. */
static int read_labels(const char *text, char **out, struct err *err)
{
	struct buf list = BUF_INIT(CONFIG_MAX_BYTES);
	static const char around[] = " \t\"'";

	for (const char *p = text; *p != '\0';) {
		p += strspn(p, around);
		size_t len = strcspn(p, ", \t\"'");
		if (len > 0 && !dnsname_is_label(p, len)) {
			err_set(err, ERR_INVALID, "\"%.*s\" is not a namespace: lower-case letters, digits and -",
				len < 64 ? (int)len : 64, p);
			buf_done(&list);
			return -1;
		}
		if (len > 0 && list.len > 0)
			buf_putc(&list, ',');
		buf_append(&list, p, len);
		p += len;
		p += strspn(p, around);
		if (*p != '\0' && *p != ',') {
			buf_done(&list);
			return err_set(err, ERR_INVALID, "\"%.64s\": separate namespaces by commas", text);
		}
		p += *p == ',' ? 1 : 0;
	}
	int result = put_text(buf_text(&list), out);
	buf_done(&list);
	return result;
}

static bool owns_text(enum option_kind kind)
{
	return kind <= OPTION_LABELS;
}

static int set_value(struct options *o, const struct option *option, const char *text, struct err *err)
{
	void *member = (char *)o + option->offset;
	struct option checked = *option;
	const char *borrowed;

	if (!owns_text(option->kind))
		return commandline_set(option, text, o, err);
	if (option->kind == OPTION_LABELS)
		return read_labels(text, member, err);
	checked.offset = 0;
	return commandline_set(&checked, text, &borrowed, err) < 0 ? -1 : put_text(text, member);
}

static int take_flag(struct options *o, const struct commandline_given *flags, const struct option *option,
	struct err *err)
{
	const char *value = flags->value[option - table];

	if (value != NULL && set_value(o, option, value, err) < 0)
		return err_wrap(err, "flag --%s", option->name);
	return 0;
}

/* ---- The environment ---- */

/*
 * An empty variable counts as not set. Unknown variables are no error: Kubernetes adds
 * KSCALED_PORT, KSCALED_SERVICE_HOST and others to Pods if a Service is named kscaled.
 */
static int take_environment(struct options *o, const struct option *option, struct err *err)
{
	char own[COMMANDLINE_VARIABLE];
	const char *name = commandline_variable(option, own), *value = getenv(name);

	if ((value == NULL || value[0] == '\0') && option->env_also != NULL) {
		name = option->env_also;
		value = getenv(name);
	}
	if (value != NULL && value[0] != '\0' && set_value(o, option, value, err) < 0)
		return err_wrap(err, "environment %s", name);
	return 0;
}

/*
 * Variables of Kubernetes, Vault and AWS tools. Of several for one member the first that is set
 * counts.
 */
static void take_variables(struct options *o)
{
	static const struct {
		const char *name;
		size_t offset;
	} variables[] = {
#define AT(member) offsetof(struct options, member)
		{ "POD_NAME", AT(pod_name) },
		{ "VAULT_CACERT", AT(vault_ca_file) },
		{ "VAULT_SKIP_VERIFY", AT(vault_skip_verify) },
		{ "VAULT_TOKEN", AT(vault_token) },
		{ "AWS_REGION", AT(aws_region) },
		{ "AWS_DEFAULT_REGION", AT(aws_region) },
		{ "AWS_ENDPOINT_URL_SECRETS_MANAGER", AT(aws_secrets_url) },
#undef AT
	};

	for (size_t i = 0; i < MEM_COUNT(variables); i++) {
		const char *value = getenv(variables[i].name);
		const char **member = (const char **)((char *)o + variables[i].offset);

		if (!*member && value && *value)
			*member = value;
	}
}

/* ---- The config file ---- */

static int read_config(const char *path, struct buf *out, struct err *err)
{
	int failed = file_read(path, FILE_ANY, NULL, out, err);

	if (!failed && strlen(buf_text(out)) != out->len)
		failed = err_set(err, ERR_INVALID, "is not a text file");
	return failed ? err_wrap(err, "config file %s", path) : 0;
}

#define BLANKS " \t\r"

/* One line "name = value". seen_at: the line of each option; 0: none. */
static int take_line(struct options *o, char *line, int number, int seen_at[OPTIONS], struct err *err)
{
	line = text_trim(line, BLANKS);
	if (line[0] == '\0' || line[0] == '#')
		return 0;
	char *equals = strchr(line, '=');
	if (equals == NULL)
		return err_set(err, ERR_INVALID, "\"%.64s\" is not \"name = value\"", line);
	*equals = '\0';
	char *name = text_trim(line, BLANKS);
	const struct option *option = option_named(name, strlen(name));
	if (option == NULL)
		return commandline_unknown(&options_line, name, "", err);
	if (option->offset == offsetof(struct options, config))
		return err_set(err, ERR_INVALID, "config is not allowed in a config file");
	int *seen = &seen_at[option - table];
	if (*seen > 0)
		return err_set(err, ERR_INVALID, "%s is already set in line %d", option->name, *seen);
	*seen = number;
	if (set_value(o, option, text_trim(equals + 1, BLANKS), err) < 0)
		return err_wrap(err, "%s", option->name);
	return 0;
}

static int take_config(struct options *o, struct err *err)
{
	struct buf text = BUF_INIT(CONFIG_MAX_BYTES);
	int seen_at[OPTIONS] = { 0 };
	int number = 0;
	int result = read_config(o->config, &text, err);

	for (char *rest = text.data, *line; result == 0 && (line = strsep(&rest, "\n")) != NULL;) {
		result = take_line(o, line, ++number, seen_at, err);
		if (result < 0)
			err_wrap(err, "%s:%d", o->config, number);
	}
	buf_done(&text);
	return result;
}

/* ---- All sources ---- */

static int check_together(const struct options *o, struct err *err)
{
	if (o->lease_duration_ms <= o->renew_deadline_ms)
		return err_set(err, ERR_INVALID, "lease-duration must be longer than renew-deadline");
	if (o->renew_deadline_ms <= o->retry_period_ms)
		return err_set(err, ERR_INVALID, "renew-deadline must be longer than retry-period");
	if (o->lease_duration_ms % SECOND != 0)
		return err_set(err, ERR_INVALID, "lease-duration must be whole seconds");
	if ((o->tls_cert_file == NULL) != (o->tls_private_key_file == NULL))
		return err_set(err, ERR_INVALID,
			"%s is missing: tls-cert-file and tls-private-key-file belong together",
			o->tls_cert_file == NULL ? "tls-cert-file" : "tls-private-key-file");
	if (o->insight_socket_group != NULL && o->insight_socket == NULL)
		return err_set(err, ERR_INVALID, "insight-socket is missing: insight-socket-group needs it");
	if (o->vault_jwt_audience == NULL)
		return err_set(err, ERR_INVALID,
			"vault-jwt-audience must not be empty: the token would be valid at the API server");
	if (o->state_dir == NULL)
		return err_set(err, ERR_INVALID, "state-dir must not be empty");
	return 0;
}

static int take_all(struct options *o, const struct commandline_given *flags, struct err *err)
{
	take_variables(o);
	for (size_t i = 0; i < OPTIONS; i++)
		if (table[i].initial != NULL && set_value(o, &table[i], table[i].initial, err) < 0)
			return err_wrap(err, "default of %s", table[i].name);
	if (take_environment(o, &table[0], err) < 0 || take_flag(o, flags, &table[0], err) < 0)
		return -1;
	if (o->config != NULL && take_config(o, err) < 0)
		return -1;
	for (size_t i = FIRST_BUT_CONFIG; i < OPTIONS; i++)
		if (take_environment(o, &table[i], err) < 0 || take_flag(o, flags, &table[i], err) < 0)
			return -1;
	return check_together(o, err);
}

int options_load(int argc, char **argv, struct options *out, struct err *err)
{
	struct commandline_given flags;

	memset(out, 0, sizeof(*out));
	/* Wherever they stand, whatever else is wrong. */
	for (int i = 0; i < argc; i++) {
		out->show_help |= strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
		out->show_version |= strcmp(argv[i], "--version") == 0;
	}
	if (out->show_help || out->show_version)
		return 0;
	if (commandline_parse(&options_line, argc, argv, &flags, err) < 0)
		return -1;
	if (take_all(out, &flags, err) < 0) {
		options_done(out);
		return -1;
	}
	return 0;
}

/* The size of an option's value in struct options. */
static size_t size_of(enum option_kind kind)
{
	switch (kind) {
	case OPTION_BOOL: return sizeof(bool);
	case OPTION_PORT: return sizeof(uint16_t);
	case OPTION_LEVEL: return sizeof(enum log_level);
	case OPTION_FORMAT: return sizeof(enum log_format);
	default: return sizeof(int64_t);
	}
}

static bool is_same(const struct option *option, const struct options *a, const struct options *b)
{
	const char *one = (const char *)a + option->offset, *other = (const char *)b + option->offset;
	const char *text, *other_text;

	if (!owns_text(option->kind))
		return memcmp(one, other, size_of(option->kind)) == 0;
	memcpy(&text, one, sizeof(text));
	memcpy(&other_text, other, sizeof(other_text));
	return text_equal(text, other_text);
}

void options_compare(const struct options *old, const struct options *fresh, void (*fn)(void *arg, const char *name),
	void *arg)
{
	for (size_t i = FIRST_BUT_CONFIG; i < OPTIONS; i++)
		if (!is_same(&table[i], old, fresh))
			fn(arg, table[i].name);
}

void options_done(struct options *o)
{
	for (size_t i = 0; i < OPTIONS; i++)
		if (owns_text(table[i].kind))
			mem_free_ptr((char *)o + table[i].offset);
	memset(o, 0, sizeof(*o));
}
