/* SPDX-License-Identifier: Apache-2.0 */
#include "options/options.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/dnsname.h"
#include "base/duration.h"
#include "base/editdist.h"
#include "base/file.h"
#include "base/hostport.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/auth/auth.h"

#define CONFIG_MAX_BYTES (1024 * 1024)
#define SECOND           INT64_C(1000)
#define HOUR             (3600 * SECOND)

/* ---- The table ---- */

enum type {
	TEXT,
	BOOL,
	PORT,
	COUNT,
	DURATION,
	MILLISECONDS /* a DURATION, or a bare number of milliseconds */,
	LEVEL,
	FORMAT,
	HOST_PORT,
	ADDRESS,
	LABEL,
	OPTIONAL_LABEL,
	LABELS,
	SUBDOMAIN
};

static const char *const cloud_identities[] = { AUTH_CLOUD_WORDS, NULL };
static const char *const tls_versions[] = { "TLS10", "TLS11", "TLS12", "TLS13", NULL };

static const struct option {
	const char *name; /* the flag without its dashes, and the key in the config file */
	enum type type;
	size_t offset;
	const char *argument, *help;
	const char *env_also;      /* an alternative variable, if ours is not set; NULL */
	const char *initial;       /* the default as text; NULL: none */
	int64_t least, most;       /* of DURATION and MILLISECONDS, in ms, and of COUNT */
	const char *const *values; /* the values of a TEXT, NULL-terminated; NULL: any */
} table[] = {
#define AT(member) .offset = offsetof(struct options, member)
	{ "config", TEXT, AT(config), "FILE", "file of options, \"name = value\" lines, see kscaled.conf(5)" },
	{ "kubeconfig", TEXT, AT(kubeconfig), "PATH", "cluster and credentials; default: the Pod's service account",
		.env_also = "KUBECONFIG" },
	{ "renew-token", BOOL, AT(renew_token), "BOOL",
		"renew the token in the kubeconfig's tokenFile if that is below --state-dir, where kscaled join puts "
		"it",
		.initial = "true" },
	{ "namespace", OPTIONAL_LABEL, AT(namespace_), "NS",
		"kscaled's namespace, of its Lease and certificate Secret; default: the service account's, else "
		"\"kscaled\"",
		.env_also = "POD_NAMESPACE" },
	{ "watch-namespace", LABELS, AT(watch_namespaces), "NS[,NS]", "namespaces to watch; empty: all",
		.env_also = "WATCH_NAMESPACE" },
	{ "bind-address", ADDRESS, AT(bind_address), "ADDRESS",
		"address of the external metrics; default: all addresses, IPv4 and IPv6" },
	{ "secure-port", PORT, AT(secure_port), "PORT", "port of the external metrics (HTTPS); 0: any free one",
		.initial = "8443" },
	{ "status-address", HOST_PORT, AT(status_address), "HOST:PORT", "plain HTTP for /healthz, /readyz and /metrics",
		.initial = "127.0.0.1:8080" },
	{ "insight-socket", TEXT, AT(insight_socket), "PATH",
		"Unix socket for kscaled get and kscaled explain on this host, open to its owner; default: none" },
	{ "insight-socket-group", TEXT, AT(insight_socket_group), "GROUP", "group that may open --insight-socket" },
	{ "service-name", LABEL, AT(service_name), "NAME",
		"Service behind the APIService; the certificate has its DNS names", .initial = "kscaled" },
	{ "tls-cert-file", TEXT, AT(tls_cert_file), "PATH",
		"serving certificate (PEM), reloaded when it changes; default: kscaled runs its own CA" },
	{ "tls-private-key-file", TEXT, AT(tls_private_key_file), "PATH", "private key of --tls-cert-file" },
	{ "leader-elect", BOOL, AT(leader_elect), "BOOL", "act only while holding the Lease", .initial = "true" },
	{ "lease-name", SUBDOMAIN, AT(lease_name), "NAME", "name of the Lease in kscaled's namespace",
		.initial = "operator.keda.sh" },
	{ "lease-duration", DURATION, AT(lease_duration_ms), "DURATION",
		"how long a silent leader keeps the Lease; whole seconds", .initial = "15s", .least = SECOND,
		.most = HOUR },
	{ "renew-deadline", DURATION, AT(renew_deadline_ms), "DURATION",
		"a leader that cannot renew for this long stops acting", .initial = "10s", .least = 1, .most = HOUR },
	{ "retry-period", DURATION, AT(retry_period_ms), "DURATION", "time between two checks of the Lease",
		.initial = "2s", .least = 1, .most = HOUR },
	{ "metrics-max-age", DURATION, AT(metrics_max_age_ms), "DURATION",
		"age up to which a reading is answered from the cache; 0: always ask the source", .initial = "1s",
		.most = HOUR },
	{ "metrics-deadline", DURATION, AT(metrics_deadline_ms), "DURATION", "time limit for a source to answer",
		.initial = "3s", .least = 10, .most = 60 * SECOND },
	{ "metered-interval", DURATION, AT(metered_interval_ms), "DURATION",
		"minimum time between queries to a source that bills each request (aws-cloudwatch); 0: no minimum",
		.initial = "15s", .most = HOUR },
	{ "wake-interval", DURATION, AT(wake_interval_ms), "DURATION",
		"minimum time between checks of an object that push events cause", .initial = "100ms", .least = 10,
		.most = 60 * SECOND },
	{ "http-timeout", MILLISECONDS, AT(http_timeout_ms), "DURATION",
		"time limit for a source over HTTP, if its trigger has no timeout; a bare number is milliseconds",
		.env_also = "KEDA_HTTP_DEFAULT_TIMEOUT", .initial = "3s", .least = 1, .most = HOUR },
	{ "http-min-tls-version", TEXT, AT(http_min_tls_version), "VERSION",
		"minimum TLS version for sources over HTTP, gRPC and Redis: TLS10, TLS11, TLS12 or TLS13",
		.env_also = "KEDA_HTTP_MIN_TLS_VERSION", .initial = "TLS12", .values = tls_versions },
	{ "http-tls-cipher-list", TEXT, AT(http_tls_cipher_list), "NAME[:NAME]",
		"cipher suites for these, by their IANA names; default: the usual secure ones",
		.env_also = "KEDA_HTTP_TLS_CIPHER_LIST" },
	{ "ca-dir", TEXT, AT(ca_dir), "DIR[,DIR]",
		"directories of certificates (PEM) that these trust besides the system's; need not exist",
		.initial = "/custom/ca" },
	{ "require-tls", BOOL, AT(require_tls), "BOOL",
		"refuse triggers that connect to Redis, a database, a broker or an external scaler without TLS",
		.initial = "false" },
	{ "max-source-connections", COUNT, AT(max_source_connections), "COUNT",
		"maximum of concurrent connections to triggers' servers, shared by namespaces; the limit of open files "
		"may lower it",
		.initial = "2048", .least = 16, .most = 65536 },
	{ "log-level", LEVEL, AT(log_level), "LEVEL", "debug, info, warn or error", .initial = "info" },
	{ "log-format", FORMAT, AT(log_format), "FORMAT", "text or json", .initial = "text" },
	{ "identity", TEXT, AT(identity), "TEXT",
		"identity in the Lease; default: the Pod's or host's name and a nonce kept in --state-dir" },
	{ "state-dir", TEXT, AT(state_dir), "DIR", "directory for state that outlives a restart",
		.initial = "/var/lib/kscaled" },
	{ "keda-namespace", OPTIONAL_LABEL, AT(keda_namespace), "NS",
		"stay passive while KEDA's Lease in this namespace is held; empty: ignore KEDA", .initial = "keda" },
	{ "take-over", BOOL, AT(take_over), "BOOL",
		"act even if KEDA runs, and take over an APIService that points to another Service",
		.initial = "false" },
	{ "release-apiservice-on-stop", BOOL, AT(release_apiservice_on_stop), "BOOL",
		"delete the APIServices when the leader stops, so that nothing in the cluster waits for it; the next "
		"leader creates them again",
		.initial = "false" },
	{ "webhook", BOOL, AT(webhook), "BOOL",
		"serve the admission webhook and maintain its ValidatingWebhookConfiguration", .initial = "true" },
	{ "restrict-secret-access", BOOL, AT(restrict_secret_access), "BOOL",
		"read Secrets only in --cluster-object-namespace; triggers that need others are refused",
		.env_also = "KEDA_RESTRICT_SECRET_ACCESS", .initial = "false" },
	{ "cloud-identity", TEXT, AT(cloud_identity), "WHO",
		"triggers that may use kscaled's own identity at a cloud: none, cluster (by a "
		"ClusterTriggerAuthentication), all",
		.initial = AUTH_CLOUD_INITIAL, .values = cloud_identities },
	{ "azure-trusted-hosts", TEXT, AT(azure_trusted_hosts), "HOST[,HOST]",
		"servers besides Microsoft's, or suffixes of their names, that may get kscaled's own Azure token; *: "
		"any" },
	{ "aws-trusted-hosts", TEXT, AT(aws_trusted_hosts), "HOST[,HOST]",
		"servers besides Amazon MSK's, or suffixes of their names, that may get requests signed with kscaled's "
		"own AWS identity; *: any" },
	{ "cloud-metadata", BOOL, AT(cloud_metadata), "BOOL",
		"allow the machine's identity, from the cloud's metadata server", .initial = "false" },
	{ "cluster-object-namespace", OPTIONAL_LABEL, AT(cluster_object_namespace), "NS",
		"namespace of the Secrets and ConfigMaps of ClusterTriggerAuthentications; default: kscaled's",
		.env_also = "KEDA_CLUSTER_OBJECT_NAMESPACE" },
	{ "filepath-auth-root-path", TEXT, AT(filepath_auth_root_path), "DIR",
		"directory of the files that ClusterTriggerAuthentications name (filePath); default: none may be "
		"read" },
	{ "vault-trusted-addresses", TEXT, AT(vault_trusted_addresses), "URL[,URL]",
		"Vault servers where TriggerAuthentications may have kscaled log in as itself (hashiCorpVault); "
		"default: none; *: any" },
	{ "vault-jwt-file", TEXT, AT(vault_jwt_file), "PATH",
		"service account token for logging in to Vault; default: requests one for kscaled's account" },
	{ "vault-jwt-audience", TEXT, AT(vault_jwt_audience), "TEXT",
		"audience of that token, as in Vault's role; it is valid nowhere else", .initial = "vault" },
	{ "vault-credential-dir", TEXT, AT(vault_credential_dir), "DIR",
		"directory of the tokens that objects name for Vault (credential.serviceAccount); default: none may be "
		"read" },
	{ "allow-local-sources", BOOL, AT(allow_local_sources), "BOOL",
		"allow triggers' servers and Vault on loopback and Unix sockets", .initial = "false" },
	{ "bound-service-account-token-expiry", DURATION, AT(bound_service_account_token_expiry_ms), "DURATION",
		"lifetime of the service account tokens requested for triggers",
		.env_also = "KEDA_BOUND_SERVICE_ACCOUNT_TOKEN_EXPIRY", .initial = "1h", .least = HOUR,
		.most = 6 * HOUR },
	{ "sandbox", BOOL, AT(sandbox), "BOOL",
		"after the start, allow only files that options and libraries name and no programs, as far as the "
		"kernel can enforce it",
		.initial = "true" },
#undef AT
};

#define OPTIONS          MEM_COUNT(table)
#define FIRST_BUT_CONFIG 1 /* config is the first: it is needed before the others */

/* The variable of an option: KSCALED_LEASE_NAME of lease-name. */
static const char *env_name(const struct option *option, char out[64])
{
	snprintf(out, 64, "KSCALED_%s", option->name);
	for (char *c = out; *c; c++)
		*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
	return out;
}

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

/* As Go's ParseBool, and so KEDA's flags. */
static int read_bool(const char *text, bool *out, struct err *err)
{
	static const char *const yes[] = { "1", "t", "T", "true", "TRUE", "True" };
	static const char *const no[] = { "0", "f", "F", "false", "FALSE", "False" };

	for (size_t i = 0; i < MEM_COUNT(yes); i++) {
		if (strcmp(text, yes[i]) == 0 || strcmp(text, no[i]) == 0) {
			*out = strcmp(text, yes[i]) == 0;
			return 0;
		}
	}
	return err_set(err, ERR_INVALID, "\"%.64s\" is neither true nor false", text);
}

static int read_port(const char *text, uint16_t *out, struct err *err)
{
	int port = hostport_port(text);

	if (port < 0)
		return err_set(err, ERR_INVALID, "\"%.64s\" is not a port: 0 to 65535", text);
	*out = (uint16_t)port;
	return 0;
}

static int read_count(const struct option *option, const char *text, int64_t *out, struct err *err)
{
	size_t len = strlen(text);
	long long count = len > 0 && len <= 9 && text[strspn(text, "0123456789")] == '\0' ? atoll(text) : -1;

	if (count < option->least || count > option->most)
		return err_set(err, ERR_INVALID, "\"%.64s\" is not a number from %lld to %lld", text,
			(long long)option->least, (long long)option->most);
	*out = count;
	return 0;
}

static int read_duration(const struct option *option, const char *text, int64_t *out, struct err *err)
{
	char least[DURATION_TEXT_MAX], most[DURATION_TEXT_MAX];
	int64_t ms;

	if (duration_parse(text, &ms, err) < 0)
		return -1;
	if (ms < option->least || ms > option->most)
		return err_set(err, ERR_INVALID, "\"%.64s\" is out of range: %s to %s", text,
			duration_format(option->least, least), duration_format(option->most, most));
	*out = ms;
	return 0;
}

/* Like KEDA_HTTP_DEFAULT_TIMEOUT: "3000" is "3000ms". */
static int read_milliseconds(const struct option *option, const char *text, int64_t *out, struct err *err)
{
	bool bare = text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
	MEM_AUTO char *with_unit = bare ? mem_printf("%sms", text) : NULL;

	return read_duration(option, with_unit ? with_unit : text, out, err);
}

/* "127.0.0.1:8080", ":8080", "localhost:8080", "[::1]:8080" */
static int read_host_port(const char *text, char **out, struct err *err)
{
	struct hostport at;

	if (hostport_parse_listen(text, &at, err) < 0)
		return -1;
	return put_text(text, out);
}

static int read_address(const char *text, char **out, struct err *err)
{
	unsigned char address[16];

	if (text[0] != '\0' && inet_pton(AF_INET, text, address) != 1 && inet_pton(AF_INET6, text, address) != 1)
		return err_set(err, ERR_INVALID, "\"%.64s\" is not an IP address", text);
	return put_text(text, out);
}

static int read_name(const struct option *option, const char *text, char **out, struct err *err)
{
	bool good = (option->type == SUBDOMAIN ? dnsname_is_subdomain : dnsname_is_label)(text, strlen(text));
	bool nothing = option->type == OPTIONAL_LABEL && text[0] == '\0';

	if (!good && !nothing)
		return err_set(err, ERR_INVALID,
			"\"%.64s\" is not a Kubernetes name: lower-case letters, digits and -%s", text,
			option->type == SUBDOMAIN ? " and ." : "");
	return put_text(text, out);
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

static int set_value(struct options *o, const struct option *option, const char *text, struct err *err)
{
	void *member = (char *)o + option->offset;

	switch (option->type) {
	case TEXT: return put_text(text, member);
	case BOOL: return read_bool(text, member, err);
	case PORT: return read_port(text, member, err);
	case COUNT: return read_count(option, text, member, err);
	case DURATION: return read_duration(option, text, member, err);
	case MILLISECONDS: return read_milliseconds(option, text, member, err);
	case LEVEL: return log_level_parse(text, member, err);
	case FORMAT: return log_format_parse(text, member, err);
	case HOST_PORT: return read_host_port(text, member, err);
	case ADDRESS: return read_address(text, member, err);
	case LABEL:
	case OPTIONAL_LABEL:
	case SUBDOMAIN: return read_name(option, text, member, err);
	case LABELS: return read_labels(text, member, err);
	}
	return err_set(err, ERR_BUG, "option %s has no type", option->name);
}

/* ---- Unknown options: a suggestion ---- */

static int unknown(const char *name, size_t len, const char *dashes, struct err *err)
{
	MEM_AUTO char *text = mem_dupn(name, len);
	const char *nearest = NULL;
	size_t best = len / 3 + 2; /* from here on a different word */

	for (size_t i = 0; i < OPTIONS; i++) {
		size_t distance = editdist_between(text, table[i].name);

		if (distance >= best)
			continue;
		best = distance;
		nearest = table[i].name;
	}
	return err_set(err, ERR_INVALID, "unknown option %s%.64s%s%s%s", dashes, text, nearest ? "; perhaps " : "",
		nearest ? dashes : "", nearest ? nearest : "");
}

/* ---- The command line ---- */

/* The value of each option, borrowed from argv; NULL: not given. */
struct flags {
	const char *value[OPTIONS];
	bool help, version;
};

/* Reads the flag at argv[*i] and advances *i past it. */
static int read_flag(int argc, char **argv, int *i, struct flags *flags, struct err *err)
{
	const char *argument = argv[(*i)++];

	if (strncmp(argument, "--", 2) != 0 || argument[2] == '\0')
		return err_set(err, ERR_INVALID, "\"%.64s\" is not a flag: flags begin with --", argument);
	const char *name = argument + 2;
	size_t len = strcspn(name, "=");
	const struct option *option = option_named(name, len);
	if (option == NULL)
		return unknown(name, len, "--", err);
	const char **value = &flags->value[option - table];
	bool followed = *i < argc;
	if (name[len] == '=')
		*value = name + len + 1;
	else if (option->type == BOOL && (!followed || argv[*i][0] == '-'))
		*value = "true";
	else if (followed)
		*value = argv[(*i)++];
	else
		return err_set(err, ERR_INVALID, "flag --%s needs a value: --%s %s", option->name, option->name,
			option->argument);
	return 0;
}

static int read_flags(int argc, char **argv, struct flags *flags, struct err *err)
{
	for (int i = 0; i < argc; i++) {
		flags->help = flags->help || strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
		flags->version = flags->version || strcmp(argv[i], "--version") == 0;
	}
	if (flags->help || flags->version)
		return 0;
	for (int i = 0; i < argc;)
		if (read_flag(argc, argv, &i, flags, err) < 0)
			return -1;
	return 0;
}

static int take_flag(struct options *o, const struct flags *flags, const struct option *option, struct err *err)
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
	char own[64];
	const char *name = env_name(option, own), *value = getenv(name);

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
		return unknown(name, strlen(name), "", err);
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

static int take_all(struct options *o, const struct flags *flags, struct err *err)
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
	struct flags flags = { 0 };

	memset(out, 0, sizeof(*out));
	if (read_flags(argc, argv, &flags, err) < 0)
		return -1;
	out->show_help = flags.help;
	out->show_version = flags.version;
	if (flags.help || flags.version)
		return 0;
	if (take_all(out, &flags, err) < 0) {
		options_done(out);
		return -1;
	}
	return 0;
}

static bool owns_text(enum type type)
{
	return type != BOOL && type != PORT && type != COUNT && type != DURATION && type != MILLISECONDS &&
		type != LEVEL && type != FORMAT;
}

/* The size of an option's value in struct options. */
static size_t size_of(enum type type)
{
	switch (type) {
	case BOOL: return sizeof(bool);
	case PORT: return sizeof(uint16_t);
	case LEVEL: return sizeof(enum log_level);
	case FORMAT: return sizeof(enum log_format);
	default: return sizeof(int64_t);
	}
}

static bool is_same(const struct option *option, const struct options *a, const struct options *b)
{
	const char *one = (const char *)a + option->offset, *other = (const char *)b + option->offset;
	const char *text, *other_text;

	if (!owns_text(option->type))
		return memcmp(one, other, size_of(option->type)) == 0;
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
		if (owns_text(table[i].type))
			mem_free_ptr((char *)o + table[i].offset);
	memset(o, 0, sizeof(*o));
}

const char *const *options_values(const char *name)
{
	static const char *const bools[] = { "true", "false", NULL };
	const struct option *option = option_named(name, strlen(name));

	if (option == NULL)
		return NULL;
	switch (option->type) {
	case BOOL: return bools;
	case LEVEL: return log_level_names;
	case FORMAT: return log_format_names;
	default: return option->values;
	}
}

void options_help(FILE *out)
{
	for (size_t i = 0; i < OPTIONS; i++) {
		const struct option *o = &table[i];
		char env[64];
		fprintf(out, "  --%s %s\n        %s\n        environment %s", o->name, o->argument, o->help,
			env_name(o, env));
		if (o->env_also != NULL)
			fprintf(out, " or %s", o->env_also);
		if (o->initial != NULL)
			fprintf(out, "; default %s", o->initial);
		fputc('\n', out);
	}
	fputs("  --help\n        this text\n  --version\n        the version\n", out);
}
