/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/duration.h"
#include "base/file.h"
#include "base/hostport.h"
#include "base/mem.h"

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
	MILLISECONDS /* a DURATION, or a bare number of them */,
	LEVEL,
	FORMAT,
	HOST_PORT,
	ADDRESS,
	LABEL,
	OPTIONAL_LABEL,
	LABELS,
	SUBDOMAIN
};

static const struct option {
	const char *name; /* the flag without its dashes, and the key in the config file */
	const char *env;
	const char *env_also; /* a name that Kubernetes users know; counts when env is not set */
	enum type type;
	size_t offset;
	const char *initial; /* as text; NULL: nothing */
	int64_t least, most; /* DURATION and MILLISECONDS, in ms; COUNT */
	const char *argument;
	const char *help;
} table[] = {
#define AT(member) offsetof(struct options, member)
	{ "config", "KSCALED_CONFIG", NULL, TEXT, AT(config), NULL, 0, 0, "FILE",
		"options from a file of \"name = value\" lines, see kscaled.conf(5)" },
	{ "kubeconfig", "KSCALED_KUBECONFIG", "KUBECONFIG", TEXT, AT(kubeconfig), NULL, 0, 0, "PATH",
		"the cluster and how to enter it; without it the service account of the Pod" },
	{ "namespace", "KSCALED_NAMESPACE", "POD_NAMESPACE", OPTIONAL_LABEL, AT(namespace_), NULL, 0, 0, "NS",
		"own namespace: Lease and certificate Secret; else the service account's, else \"kscaled\"" },
	{ "watch-namespace", "KSCALED_WATCH_NAMESPACE", "WATCH_NAMESPACE", LABELS, AT(watch_namespaces), NULL, 0, 0,
		"NS[,NS]", "namespaces whose objects are looked after; empty: all" },
	{ "bind-address", "KSCALED_BIND_ADDRESS", NULL, ADDRESS, AT(bind_address), NULL, 0, 0, "ADDRESS",
		"where external metrics are served; without it all addresses, IPv4 and IPv6" },
	{ "secure-port", "KSCALED_SECURE_PORT", NULL, PORT, AT(secure_port), "8443", 0, 0, "PORT",
		"port of the external metrics (HTTPS); 0: any free one" },
	{ "status-address", "KSCALED_STATUS_ADDRESS", NULL, HOST_PORT, AT(status_address), "127.0.0.1:8080", 0, 0,
		"HOST:PORT", "plain HTTP for /healthz, /readyz and /metrics" },
	{ "insight-socket", "KSCALED_INSIGHT_SOCKET", NULL, TEXT, AT(insight_socket), NULL, 0, 0, "PATH",
		"Unix socket for kscaled get and kscaled explain on this host, open to its owner; without it there is "
		"none" },
	{ "insight-socket-group", "KSCALED_INSIGHT_SOCKET_GROUP", NULL, TEXT, AT(insight_socket_group), NULL, 0, 0,
		"GROUP", "who else may open --insight-socket" },
	{ "service-name", "KSCALED_SERVICE_NAME", NULL, LABEL, AT(service_name), "kscaled", 0, 0, "NAME",
		"Service behind the APIService; the certificate is made for its DNS names" },
	{ "tls-cert-file", "KSCALED_TLS_CERT_FILE", NULL, TEXT, AT(tls_cert_file), NULL, 0, 0, "PATH",
		"own certificate (PEM), read again when it changes; without it kscaled keeps a CA" },
	{ "tls-private-key-file", "KSCALED_TLS_PRIVATE_KEY_FILE", NULL, TEXT, AT(tls_private_key_file), NULL, 0, 0,
		"PATH", "private key of --tls-cert-file" },
	{ "leader-elect", "KSCALED_LEADER_ELECT", NULL, BOOL, AT(leader_elect), "true", 0, 0, "BOOL",
		"act only while holding the Lease" },
	{ "lease-name", "KSCALED_LEASE_NAME", NULL, SUBDOMAIN, AT(lease_name), "operator.keda.sh", 0, 0, "NAME",
		"name of the Lease in the own namespace" },
	{ "lease-duration", "KSCALED_LEASE_DURATION", NULL, DURATION, AT(lease_duration_ms), "15s", SECOND, HOUR,
		"DURATION", "others wait this long for a leader that is silent; whole seconds" },
	{ "renew-deadline", "KSCALED_RENEW_DEADLINE", NULL, DURATION, AT(renew_deadline_ms), "10s", 1, HOUR, "DURATION",
		"a leader that cannot renew for this long stops acting" },
	{ "retry-period", "KSCALED_RETRY_PERIOD", NULL, DURATION, AT(retry_period_ms), "2s", 1, HOUR, "DURATION",
		"time between two looks at the Lease" },
	{ "metrics-max-age", "KSCALED_METRICS_MAX_AGE", NULL, DURATION, AT(metrics_max_age_ms), "1s", 0, HOUR,
		"DURATION", "a reading younger than this is answered from memory; 0: always ask" },
	{ "metrics-deadline", "KSCALED_METRICS_DEADLINE", NULL, DURATION, AT(metrics_deadline_ms), "3s", 10,
		60 * SECOND, "DURATION", "a source has this long to answer" },
	{ "wake-interval", "KSCALED_WAKE_INTERVAL", NULL, DURATION, AT(wake_interval_ms), "100ms", 10, 60 * SECOND,
		"DURATION", "an object whose sources say \"look now\" is looked at no more often than this" },
	{ "http-timeout", "KSCALED_HTTP_TIMEOUT", "KEDA_HTTP_DEFAULT_TIMEOUT", MILLISECONDS, AT(http_timeout_ms), "3s",
		1, HOUR, "DURATION",
		"a source that is asked over HTTP has this long, where its trigger says no timeout; a whole number is "
		"milliseconds" },
	{ "http-min-tls-version", "KSCALED_HTTP_MIN_TLS_VERSION", "KEDA_HTTP_MIN_TLS_VERSION", TEXT,
		AT(http_min_tls_version), "TLS12", 0, 0, "VERSION",
		"sources over HTTP, gRPC and Redis must speak this version of TLS or a later: TLS10, TLS11, TLS12 or "
		"TLS13" },
	{ "http-tls-cipher-list", "KSCALED_HTTP_TLS_CIPHER_LIST", "KEDA_HTTP_TLS_CIPHER_LIST", TEXT,
		AT(http_tls_cipher_list), NULL, 0, 0, "NAME[:NAME]",
		"cipher suites for the same, by their IANA names; without it the usual good ones" },
	{ "ca-dir", "KSCALED_CA_DIR", NULL, TEXT, AT(ca_dir), "/custom/ca", 0, 0, "DIR[,DIR]",
		"folders of certificates (PEM) that are trusted besides the system's, for the same; need not exist" },
	{ "require-tls", "KSCALED_REQUIRE_TLS", NULL, BOOL, AT(require_tls), "false", 0, 0, "BOOL",
		"refuse triggers that would ask Redis, PostgreSQL, MySQL or an external scaler without TLS" },
	{ "max-source-connections", "KSCALED_MAX_SOURCE_CONNECTIONS", NULL, COUNT, AT(max_source_connections), "2048",
		16, 65536, "COUNT",
		"connections to servers of triggers at once, in shares by namespace; the limit of open files may say "
		"less" },
	{ "log-level", "KSCALED_LOG_LEVEL", NULL, LEVEL, AT(log_level), "info", 0, 0, "LEVEL",
		"debug, info, warn or error" },
	{ "log-format", "KSCALED_LOG_FORMAT", NULL, FORMAT, AT(log_format), "text", 0, 0, "FORMAT", "text or json" },
	{ "identity", "KSCALED_IDENTITY", NULL, TEXT, AT(identity), NULL, 0, 0, "TEXT",
		"who holds the Lease; without it the Pod's or host's name and a nonce kept in --state-dir" },
	{ "state-dir", "KSCALED_STATE_DIR", NULL, TEXT, AT(state_dir), "/var/lib/kscaled", 0, 0, "DIR",
		"folder for what outlives a restart" },
	{ "keda-namespace", "KSCALED_KEDA_NAMESPACE", NULL, OPTIONAL_LABEL, AT(keda_namespace), "keda", 0, 0, "NS",
		"kscaled does not act while KEDA's Lease in this namespace is held; empty: never mind" },
	{ "take-over", "KSCALED_TAKE_OVER", NULL, BOOL, AT(take_over), "false", 0, 0, "BOOL",
		"act all the same, and take an APIService that points to another Service" },
	{ "webhook", "KSCALED_WEBHOOK", NULL, BOOL, AT(webhook), "true", 0, 0, "BOOL",
		"look after our ValidatingWebhookConfiguration; false: there is none, and no review is answered" },
	{ "restrict-secret-access", "KSCALED_RESTRICT_SECRET_ACCESS", "KEDA_RESTRICT_SECRET_ACCESS", BOOL,
		AT(restrict_secret_access), "false", 0, 0, "BOOL",
		"Secrets are read in --cluster-object-namespace only; triggers that need others are refused" },
	{ "cluster-object-namespace", "KSCALED_CLUSTER_OBJECT_NAMESPACE", "KEDA_CLUSTER_OBJECT_NAMESPACE",
		OPTIONAL_LABEL, AT(cluster_object_namespace), NULL, 0, 0, "NS",
		"where what ClusterTriggerAuthentications name lies; without it the own namespace" },
	{ "filepath-auth-root-path", "KSCALED_FILEPATH_AUTH_ROOT_PATH", NULL, TEXT, AT(filepath_auth_root_path), NULL,
		0, 0, "DIR",
		"folder of the files that ClusterTriggerAuthentications name (filePath); without it none is read" },
	{ "vault-trusted-addresses", "KSCALED_VAULT_TRUSTED_ADDRESSES", NULL, TEXT, AT(vault_trusted_addresses), NULL,
		0, 0, "URL[,URL]",
		"Vault servers where TriggerAuthentications may have kscaled log in as itself (hashiCorpVault): "
		"without "
		"it none, * any that an object names" },
	{ "vault-jwt-file", "KSCALED_VAULT_JWT_FILE", NULL, TEXT, AT(vault_jwt_file), NULL, 0, 0, "PATH",
		"token of a service account that kscaled logs in to Vault with; without it one of its own is asked "
		"for" },
	{ "vault-jwt-audience", "KSCALED_VAULT_JWT_AUDIENCE", NULL, TEXT, AT(vault_jwt_audience), "vault", 0, 0, "TEXT",
		"audience of that token, which Vault's role must have: it opens nothing else" },
	{ "vault-credential-dir", "KSCALED_VAULT_CREDENTIAL_DIR", NULL, TEXT, AT(vault_credential_dir), NULL, 0, 0,
		"DIR",
		"folder of the tokens that objects name for Vault (credential.serviceAccount); without it none is "
		"read" },
	{ "allow-local-sources", "KSCALED_ALLOW_LOCAL_SOURCES", NULL, BOOL, AT(allow_local_sources), "false", 0, 0,
		"BOOL", "triggers' servers, and Vault, may be on loopback or behind Unix sockets" },
	{ "bound-service-account-token-expiry", "KSCALED_BOUND_SERVICE_ACCOUNT_TOKEN_EXPIRY",
		"KEDA_BOUND_SERVICE_ACCOUNT_TOKEN_EXPIRY", DURATION, AT(bound_service_account_token_expiry_ms), "1h",
		HOUR, 6 * HOUR, "DURATION", "life of the service account tokens that triggers are given" },
	{ "sandbox", "KSCALED_SANDBOX", NULL, BOOL, AT(sandbox), "true", 0, 0, "BOOL",
		"once started, read only the files that options and libraries name, and run nothing, as far as the "
		"kernel can hold it" },
#undef AT
};

#define OPTIONS          (sizeof(table) / sizeof(table[0]))
#define FIRST_BUT_CONFIG 1 /* config stands first: it has to be known before the others */

static const struct option *option_named(const char *name, size_t len)
{
	for (size_t i = 0; i < OPTIONS; i++)
		if (strlen(table[i].name) == len && memcmp(table[i].name, name, len) == 0)
			return &table[i];
	return NULL;
}

/* ---- Values: text in, member out; errors say what is allowed ---- */

static int put_text(const char *text, char **out)
{
	free(*out);
	*out = text[0] != '\0' ? mem_dup(text) : NULL;
	return 0;
}

/* Go's ParseBool words, as in KEDA's flags. */
static int read_bool(const char *text, bool *out, struct err *err)
{
	static const char *const yes[] = { "1", "t", "T", "true", "TRUE", "True" };
	static const char *const no[] = { "0", "f", "F", "false", "FALSE", "False" };

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
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
		return err_set(err, ERR_INVALID, "\"%.64s\" is no port: 0 to 65535", text);
	*out = (uint16_t)port;
	return 0;
}

static int read_count(const struct option *option, const char *text, int64_t *out, struct err *err)
{
	size_t len = strlen(text);
	long long count = len > 0 && len <= 9 && text[strspn(text, "0123456789")] == '\0' ? atoll(text) : -1;

	if (count < option->least || count > option->most)
		return err_set(err, ERR_INVALID, "\"%.64s\" is no number from %lld to %lld", text,
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

/* As KEDA's variable: "3000" is "3000ms". */
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
		return err_set(err, ERR_INVALID, "\"%.64s\" is no IP address", text);
	return put_text(text, out);
}

/* RFC 1123, as Kubernetes names namespaces and Services. */
static bool is_label(const char *text, size_t len)
{
	if (len == 0 || len > 63 || text[0] == '-' || text[len - 1] == '-')
		return false;
	for (size_t i = 0; i < len; i++)
		if (!(text[i] >= 'a' && text[i] <= 'z') && !(text[i] >= '0' && text[i] <= '9') && text[i] != '-')
			return false;
	return true;
}

/* Labels with points between, as Kubernetes names most other objects. */
static bool is_subdomain(const char *text)
{
	if (strlen(text) > 253)
		return false;
	for (const char *p = text;;) {
		size_t len = strcspn(p, ".");
		if (!is_label(p, len))
			return false;
		if (p[len] == '\0')
			return true;
		p += len + 1;
	}
}

static int read_name(const struct option *option, const char *text, char **out, struct err *err)
{
	bool good = option->type == SUBDOMAIN ? is_subdomain(text) : is_label(text, strlen(text));
	bool nothing = option->type == OPTIONAL_LABEL && text[0] == '\0';

	if (!good && !nothing)
		return err_set(err, ERR_INVALID,
			"\"%.64s\" is no name of Kubernetes: lower-case letters, digits and -%s", text,
			option->type == SUBDOMAIN ? " and ." : "");
	return put_text(text, out);
}

/* Blanks and quotes are what is left of a value like `"a", "b"` in a manifest. */
static int read_labels(const char *text, char **out, struct err *err)
{
	struct buf list = BUF_INIT(CONFIG_MAX_BYTES);
	static const char around[] = " \t\"'";

	for (const char *p = text; *p != '\0';) {
		p += strspn(p, around);
		size_t len = strcspn(p, ", \t\"'");
		if (len > 0 && !is_label(p, len)) {
			err_set(err, ERR_INVALID,
				"\"%.*s\" is no name of a namespace: lower-case letters, digits and -",
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
			return err_set(err, ERR_INVALID, "\"%.64s\": namespaces are separated by commas", text);
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

/* ---- A name that is none: which one was meant ---- */

#define GUESS_MAX 32

/* How many letters are to be changed, added or left out to make b from a (Levenshtein). */
static size_t distance(const char *a, size_t a_len, const char *b)
{
	size_t row[GUESS_MAX + 1];
	size_t b_len = strlen(b);

	if (a_len > GUESS_MAX || b_len > GUESS_MAX)
		return GUESS_MAX;
	for (size_t j = 0; j <= b_len; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
			diagonal = row[j];
			size_t cheapest = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
			row[j] = change < cheapest ? change : cheapest;
		}
	}
	return row[b_len];
}

static int unknown(const char *name, size_t len, const char *dashes, struct err *err)
{
	const char *nearest = NULL;
	size_t best = len / 3 + 2; /* more than that is another word */
	int shown = len < 64 ? (int)len : 64;

	for (size_t i = 0; i < OPTIONS; i++) {
		size_t d = distance(name, len, table[i].name);
		if (d < best) {
			best = d;
			nearest = table[i].name;
		}
	}
	if (nearest == NULL)
		return err_set(err, ERR_INVALID, "there is no option %s%.*s", dashes, shown, name);
	return err_set(err, ERR_INVALID, "there is no option %s%.*s; perhaps %s%s", dashes, shown, name, dashes,
		nearest);
}

/* ---- The command line ---- */

/* What was said for each option; borrowed from argv. */
struct flags {
	const char *value[OPTIONS];
	bool help, version;
};

/* One flag at argv[*i]; moves *i behind it. */
static int read_flag(int argc, char **argv, int *i, struct flags *flags, struct err *err)
{
	const char *argument = argv[(*i)++];

	if (strncmp(argument, "--", 2) != 0 || argument[2] == '\0')
		return err_set(err, ERR_INVALID, "\"%.64s\" is no flag: flags begin with --", argument);
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
		return err_set(err, ERR_INVALID, "flag --%s: a value is missing: --%s %s", option->name, option->name,
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
 * Unknown KSCALED_ names are no error: Kubernetes puts KSCALED_PORT, KSCALED_SERVICE_HOST and
 * others into every Pod beside a Service named kscaled. A variable that is set to nothing says
 * nothing.
 */
static int take_environment(struct options *o, const struct option *option, struct err *err)
{
	const char *name = option->env;
	const char *value = getenv(name);

	if ((value == NULL || value[0] == '\0') && option->env_also != NULL) {
		name = option->env_also;
		value = getenv(name);
	}
	if (value != NULL && value[0] != '\0' && set_value(o, option, value, err) < 0)
		return err_wrap(err, "environment %s", name);
	return 0;
}

/* ---- The config file ---- */

static int read_config(const char *path, struct buf *out, struct err *err)
{
	int failed = file_read(path, FILE_ANY, NULL, out, err);

	if (!failed && strlen(buf_text(out)) != out->len)
		failed = err_set(err, ERR_INVALID, "is no text");
	return failed ? err_wrap(err, "config file %s", path) : 0;
}

/* Cuts blanks from both ends, in place. */
static char *trim(char *text)
{
	text += strspn(text, " \t\r");
	for (size_t len = strlen(text); len > 0 && strchr(" \t\r", text[len - 1]) != NULL; len--)
		text[len - 1] = '\0';
	return text;
}

/* "name = value"; said_at holds the line in which each option was said. */
static int take_line(struct options *o, char *line, int number, int said_at[OPTIONS], struct err *err)
{
	line = trim(line);
	if (line[0] == '\0' || line[0] == '#')
		return 0;
	char *equals = strchr(line, '=');
	if (equals == NULL)
		return err_set(err, ERR_INVALID, "\"%.64s\" is not \"name = value\"", line);
	*equals = '\0';
	char *name = trim(line);
	const struct option *option = option_named(name, strlen(name));
	if (option == NULL)
		return unknown(name, strlen(name), "", err);
	if (option->offset == offsetof(struct options, config))
		return err_set(err, ERR_INVALID, "a config file names no other");
	int *said = &said_at[option - table];
	if (*said > 0)
		return err_set(err, ERR_INVALID, "%s stands in line %d already", option->name, *said);
	*said = number;
	if (set_value(o, option, trim(equals + 1), err) < 0)
		return err_wrap(err, "%s", option->name);
	return 0;
}

static int take_config(struct options *o, struct err *err)
{
	struct buf text = BUF_INIT(CONFIG_MAX_BYTES);
	int said_at[OPTIONS] = { 0 };
	int number = 0;
	int result = read_config(o->config, &text, err);

	for (char *rest = text.data, *line; result == 0 && (line = strsep(&rest, "\n")) != NULL;) {
		result = take_line(o, line, ++number, said_at, err);
		if (result < 0)
			err_wrap(err, "%s:%d", o->config, number);
	}
	buf_done(&text);
	return result;
}

/* ---- All together ---- */

static int check_together(const struct options *o, struct err *err)
{
	if (o->lease_duration_ms <= o->renew_deadline_ms)
		return err_set(err, ERR_INVALID, "lease-duration must be longer than renew-deadline");
	if (o->renew_deadline_ms <= o->retry_period_ms)
		return err_set(err, ERR_INVALID, "renew-deadline must be longer than retry-period");
	if (o->lease_duration_ms % SECOND != 0)
		return err_set(err, ERR_INVALID, "lease-duration must be whole seconds, as a Lease counts");
	if ((o->tls_cert_file == NULL) != (o->tls_private_key_file == NULL))
		return err_set(err, ERR_INVALID,
			"%s is missing: tls-cert-file and tls-private-key-file belong together",
			o->tls_cert_file == NULL ? "tls-cert-file" : "tls-private-key-file");
	if (o->insight_socket_group != NULL && o->insight_socket == NULL)
		return err_set(err, ERR_INVALID,
			"insight-socket is missing: insight-socket-group says who may open it");
	if (o->vault_jwt_audience == NULL)
		return err_set(err, ERR_INVALID,
			"vault-jwt-audience must not be empty: the token would be one for the API server");
	if (o->state_dir == NULL)
		return err_set(err, ERR_INVALID, "state-dir must not be empty");
	return 0;
}

static int take_all(struct options *o, const struct flags *flags, struct err *err)
{
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

void options_done(struct options *o)
{
	for (size_t i = 0; i < OPTIONS; i++)
		if (owns_text(table[i].type))
			mem_free_ptr((char *)o + table[i].offset);
	memset(o, 0, sizeof(*o));
}

void options_help(FILE *out)
{
	for (size_t i = 0; i < OPTIONS; i++) {
		const struct option *o = &table[i];
		fprintf(out, "  --%s %s\n        %s\n        environment %s", o->name, o->argument, o->help, o->env);
		if (o->env_also != NULL)
			fprintf(out, " or %s", o->env_also);
		if (o->initial != NULL)
			fprintf(out, "; default %s", o->initial);
		fputc('\n', out);
	}
	fputs("  --help\n        this text\n  --version\n        the version\n", out);
}
