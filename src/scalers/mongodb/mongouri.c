/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/mongodb/mongouri.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"

#define TEXT_MAX           65536
#define APP_NAME_MAX       128 /* MongoDB's limit */
#define SERVICE_MAX        62  /* its driver's limit */
#define DIGITS_MAX         18  /* of a number, which must fit into int64_t */
#define SERVICE_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

static int invalid(struct err *err, const char *what)
{
	return err_set(err, ERR_INVALID,
		"the connection string is not one of MongoDB "
		"(mongodb://user:password@host:port,host:port/database?options): %s",
		what);
}

/* ---- Values of options ---- */

/*
 * Each function checks its decoded value, and keeps what matters. It returns NULL, or what the
 * value must be, or why the option cannot be used.
 */
static void keep_text(char **field, const char *value)
{
	free(*field);
	*field = *value ? mem_dup(value) : NULL;
}

static const char *bool_of(const char *value, bool *out)
{
	*out = strcmp(value, "true") == 0;
	return *out || strcmp(value, "false") == 0 ? NULL : "must be true or false";
}

static const char *check_bool(struct mongouri *u, const char *value)
{
	bool ignored;

	(void)u;
	return bool_of(value, &ignored);
}

static const char *check_number(struct mongouri *u, const char *value)
{
	(void)u;
	return *value && !value[strspn(value, "0123456789")] && strlen(value) <= DIGITS_MAX ? NULL
											    : "must be a whole number";
}

static const char *check_level(struct mongouri *u, const char *value)
{
	return check_number(u, value[0] == '-' ? value + 1 : value);
}

static const char *check_nothing(struct mongouri *u, const char *value)
{
	(void)u;
	(void)value;
	return NULL;
}

static const char *take_app_name(struct mongouri *u, const char *value)
{
	keep_text(&u->app_name, value);
	return strlen(value) <= APP_NAME_MAX ? NULL : "must have at most 128 bytes";
}

static const char *take_mechanism(struct mongouri *u, const char *value)
{
	static const struct {
		const char *name;
		enum mongoendpoint_mechanism mechanism;
	} known[] = {
		{ "SCRAM-SHA-256", MONGOENDPOINT_SCRAM_SHA256 },
		{ "SCRAM-SHA-1", MONGOENDPOINT_SCRAM_SHA1 },
		{ "MONGODB-X509", MONGOENDPOINT_X509 },
	};

	u->mechanism = MONGOENDPOINT_NO_LOGIN;
	for (size_t i = 0; i < MEM_COUNT(known); i++) {
		if (strcasecmp(value, known[i].name) == 0) {
			u->mechanism = known[i].mechanism;
			return NULL;
		}
	}
	return !*value
		? NULL
		: "must be SCRAM-SHA-256, SCRAM-SHA-1 or MONGODB-X509: PLAIN, GSSAPI, MONGODB-AWS, MONGODB-OIDC and "
		  "MONGODB-CR are not supported";
}

static const char *take_source(struct mongouri *u, const char *value)
{
	keep_text(&u->source, value);
	u->source_given = true;
	return *value ? NULL : "must be non-empty when supplied in a URI";
}

/* connect and directConnection are two names for the same setting. */
static const char *take_directness(struct mongouri *u, bool direct)
{
	const char *why = u->direct_given && u->direct != direct
		? "contradicts another option: options connect and directConnection conflict"
		: NULL;

	u->direct = direct;
	u->direct_given = true;
	return why;
}

static const char *take_connect(struct mongouri *u, const char *value)
{
	bool direct = strcasecmp(value, "direct") == 0;

	if (!direct && strcasecmp(value, "automatic") != 0)
		return "must be automatic or direct";
	return take_directness(u, direct);
}

static const char *take_direct(struct mongouri *u, const char *value)
{
	bool direct = strcasecmp(value, "true") == 0;

	if (!direct && strcasecmp(value, "false") != 0)
		return "must be true or false";
	return take_directness(u, direct);
}

static const char *take_connect_timeout(struct mongouri *u, const char *value)
{
	const char *why = check_number(u, value);

	u->connect_ms = why ? 0 : strtoll(value, NULL, 10);
	return why;
}

static const char *take_concern(struct mongouri *u, const char *value)
{
	static const char *const levels[] = { "local", "available", "majority", "linearizable", "snapshot" };

	for (size_t i = 0; i < MEM_COUNT(levels); i++) {
		if (strcmp(value, levels[i]) == 0) {
			u->read_concern = levels[i];
			return NULL;
		}
	}
	return !*value ? NULL : "must be local, available, majority, linearizable or snapshot";
}

static const char *take_preference(struct mongouri *u, const char *value)
{
	for (unsigned i = 0; mongoendpoint_reads_words[i]; i++) {
		if (strcasecmp(value, mongoendpoint_reads_words[i]) == 0) {
			u->reads = (enum mongoendpoint_reads)i;
			return NULL;
		}
	}
	return !*value ? NULL : "must be primary, primaryPreferred, secondary, secondaryPreferred or nearest";
}

/* An empty tag list and a staleness of 0 have no effect. */
static const char *refuse_choice(struct mongouri *u, const char *value)
{
	(void)u;
	return *value && strcmp(value, "0") != 0 ? "is not supported: members are chosen by readPreference alone"
						 : NULL;
}

static const char *take_set(struct mongouri *u, const char *value)
{
	keep_text(&u->set, value);
	return NULL;
}

static const char *take_tls(struct mongouri *u, const char *value)
{
	bool was = u->tls;
	const char *why = bool_of(value, &u->tls);

	if (!why && u->tls_given && was != u->tls)
		why = "contradicts another option: tls and ssl options, when both specified, must be equivalent";
	u->tls_given = true;
	return why;
}

/* As a TLS option it implies TLS, as in the driver, and has no other effect. */
static const char *take_revocation(struct mongouri *u, const char *value)
{
	u->tls = true;
	return check_bool(u, value);
}

static const char *take_insecure(struct mongouri *u, const char *value)
{
	return bool_of(value, &u->tls_insecure);
}

static const char *refuse_file(struct mongouri *u, const char *value)
{
	(void)u;
	(void)value;
	return "names a file of KEDA's container: put its text into the TriggerAuthentication, as ca, cert, key or "
	       "keyPassword, with tls \"enable\"";
}

static const char *refuse_balancer(struct mongouri *u, const char *value)
{
	bool on;
	const char *why = bool_of(value, &on);

	u->unbalanced = true;
	return why ? why : on ? "is not supported: name the members, or a mongos" : NULL;
}

static const char *take_max_hosts(struct mongouri *u, const char *value)
{
	const char *why = check_number(u, value);

	u->max_hosts = why ? 0 : (size_t)strtoull(value, NULL, 10);
	return why ? why : u->srv ? NULL : "is for mongodb+srv: cannot specify srvMaxHosts on non-SRV URI";
}

static const char *take_service(struct mongouri *u, const char *value)
{
	size_t len = strlen(value);

	keep_text(&u->service, value);
	if (len < 1 || len > SERVICE_MAX || value[strspn(value, SERVICE_CHARACTERS)])
		return "must be between 1 and 62 characters: letters, digits and hyphens";
	return u->srv ? NULL : "is for mongodb+srv: cannot specify srvServiceName on non-SRV URI";
}

static const struct option {
	const char *name;
	const char *(*take)(struct mongouri *u, const char *value);
} options[] = {
	{ "appName", take_app_name },
	{ "authMechanism", take_mechanism },
	{ "authMechanismProperties", check_nothing },
	{ "authSource", take_source },
	{ "compressors", check_nothing }, /* we offer the server no compression */
	{ "connect", take_connect },
	{ "connectTimeoutMS", take_connect_timeout },
	{ "directConnection", take_direct },
	{ "heartbeatFrequencyMS", check_number },
	{ "heartbeatIntervalMS", check_number },
	{ "journal", check_bool },
	{ "loadBalanced", refuse_balancer },
	{ "localThresholdMS", check_number },
	{ "maxConnecting", check_number },
	{ "maxIdleTimeMS", check_number },
	{ "maxPoolSize", check_number },
	{ "maxStaleness", refuse_choice },
	{ "maxStalenessSeconds", refuse_choice },
	{ "minPoolSize", check_number },
	{ "readConcernLevel", take_concern },
	{ "readPreference", take_preference },
	{ "readPreferenceTags", refuse_choice },
	{ "replicaSet", take_set },
	{ "retryReads", check_bool },
	{ "retryWrites", check_bool },
	{ "serverMonitoringMode", check_nothing },
	{ "serverSelectionTimeoutMS", check_number },
	{ "socketTimeoutMS", check_number },
	{ "srvMaxHosts", take_max_hosts },
	{ "srvServiceName", take_service },
	{ "ssl", take_tls },
	{ "sslCertificateAuthorityFile", refuse_file },
	{ "sslClientCertificateKeyFile", refuse_file },
	{ "sslClientCertificateKeyPassword", refuse_file },
	{ "sslInsecure", take_insecure },
	{ "timeoutMS", check_number },
	{ "tls", take_tls },
	{ "tlsCAFile", refuse_file },
	{ "tlsCertificateFile", refuse_file },
	{ "tlsCertificateKeyFile", refuse_file },
	{ "tlsCertificateKeyFilePassword", refuse_file },
	{ "tlsDisableOCSPEndpointCheck", take_revocation },
	{ "tlsInsecure", take_insecure },
	{ "tlsPrivateKeyFile", refuse_file },
	{ "w", check_nothing },
	{ "wTimeout", check_number },
	{ "wTimeoutMS", check_number },
	{ "zlibCompressionLevel", check_level },
	{ "zstdCompressionLevel", check_level },
};

/* Modifies pair. */
static int take_option(struct mongouri *u, char *pair, struct err *err)
{
	char *value = strchr(pair, '=');
	const char *why;

	if (!value || value == pair)
		return invalid(err, "an option is not name=value");
	*value++ = '\0';
	if (text_unescape(pair, true) || text_unescape(value, true))
		return invalid(err, "an option is not percent-encoded");
	for (size_t i = 0; i < MEM_COUNT(options); i++) {
		if (strcasecmp(pair, options[i].name) != 0)
			continue;
		why = options[i].take(u, value);
		return why ? err_set(err, ERR_INVALID, "the connection string: option %s %s", options[i].name, why) : 0;
	}
	return 0;
}

static int take_options(struct mongouri *u, char *text, struct err *err)
{
	char *rest = text, *pair;

	while ((pair = strsep(&rest, "&;")) != NULL)
		if (*pair && take_option(u, pair, err))
			return -1;
	return 0;
}

/* ---- Users and hosts ---- */

static int take_user(struct mongouri *u, char *text, struct err *err)
{
	char *colon = strchr(text, ':');

	if (colon)
		*colon++ = '\0';
	if (strchr(text, '/'))
		return invalid(err, "unescaped slash in username");
	if (colon && strchr(colon, ':'))
		return invalid(err, "unescaped colon in password");
	if (colon && strchr(colon, '/'))
		return invalid(err, "unescaped slash in password");
	if (text_unescape(text, false) || (colon && text_unescape(colon, false)))
		return invalid(err, "user or password is not percent-encoded");
	if (!*text)
		return invalid(err, "username required if URI contains user info");
	u->user = mem_dup(text);
	u->password = mem_dup(colon);
	return 0;
}

/* The host is never shown: it may be part of an unescaped password. */
static int take_host(struct mongouri *u, char *text, struct err *err)
{
	if (text_unescape(text, false))
		return invalid(err, "a host is not percent-encoded");
	if (strchr(text, '/'))
		return invalid(err, "a host is the path of a Unix socket, which is not supported");
	if (u->count >= MONGOENDPOINT_HOSTS_MAX)
		return invalid(err, "there are more than 50 hosts");
	if (!u->hosts)
		u->hosts = mem_array(MONGOENDPOINT_HOSTS_MAX, sizeof(*u->hosts));
	if (mongoendpoint_parse_host(text, &u->hosts[u->count]))
		return invalid(err, "a host is not a name or address with a port from 1 to 65535");
	u->count++;
	return 0;
}

const char *mongouri_take_seed(struct mongouri *u, const char *host)
{
	bool has_port;

	if (!*host)
		return "must have at least 1 host";
	if (strchr(host, ','))
		return "URI with SRV must include one and only one hostname";
	u->seed = mongoendpoint_parse_seed(host, &has_port);
	return u->seed     ? NULL
		: has_port ? "URI with srv must not include a port number, as the SRV records have it"
			   : "the host is not a name that could have SRV records";
}

static int take_hosts(struct mongouri *u, char *text, struct err *err)
{
	char *rest = text, *host;
	const char *why = NULL;

	if (u->srv) {
		why = text_unescape(text, false) ? "a host is not percent-encoded" : mongouri_take_seed(u, text);
		return why ? invalid(err, why) : 0;
	}
	while ((host = strsep(&rest, ",")) != NULL)
		if (*host && take_host(u, host, err))
			return -1;
	return u->count > 0 ? 0 : invalid(err, "must have at least 1 host");
}

/* Parses what follows the scheme. Modifies text. */
static int take_all(struct mongouri *u, char *text, struct err *err)
{
	char *at = strchr(text, '@'), *hosts = at ? at + 1 : text, *slash = strpbrk(hosts, "/?@"), *question = NULL;

	if (slash && *slash == '@')
		return invalid(err, "unescaped @ sign in user info");
	if (slash && *slash == '?')
		return invalid(err, "must have a / before the query ?");
	if (at)
		*at = '\0';
	if (slash) {
		*slash++ = '\0';
		question = strchr(slash, '?');
	}
	if (question)
		*question++ = '\0';
	if ((at && take_user(u, text, err)) || take_hosts(u, hosts, err))
		return -1;
	if (slash && text_unescape(slash, false))
		return invalid(err, "the database is not percent-encoded");
	u->database = slash && *slash ? mem_dup(slash) : NULL;
	return question ? take_options(u, question, err) : 0;
}

/* ---- Users ---- */

int mongouri_take_scheme(struct mongouri *u, const char *scheme, struct err *err)
{
	u->srv = u->tls = strcmp(scheme, "mongodb+srv") == 0;
	if (!u->srv && strcmp(scheme, "mongodb") != 0)
		return err_set(err, ERR_INVALID, "scheme must be \"mongodb\" or \"mongodb+srv\"");
	return 0;
}

int mongouri_parse(const char *text, struct mongouri *out, struct err *err)
{
	const char *end = strstr(text, "://");
	size_t len = strlen(text);
	char *copy;
	int rc;

	*out = (struct mongouri){ 0 };
	if (len > TEXT_MAX)
		return invalid(err, "it has more than 64 KiB");
	copy = mem_dup(text);
	if (end)
		copy[end - text] = '\0';
	rc = mongouri_take_scheme(out, end ? copy : "", err) ? err_wrap(err, "the connection string")
							     : take_all(out, copy + (end - text) + 3, err);
	mem_wipe(copy, len);
	free(copy);
	return rc;
}

void mongouri_done(struct mongouri *u)
{
	for (size_t i = 0; i < u->count; i++)
		free(u->hosts[i].name);
	free(u->hosts);
	free(u->seed);
	free(u->service);
	mem_free_secret(u->user);
	mem_free_secret(u->password);
	free(u->database);
	free(u->source);
	free(u->set);
	free(u->app_name);
	*u = (struct mongouri){ 0 };
}

int mongouri_settle_login(struct mongouri *u, struct err *err)
{
	if (u->mechanism == MONGOENDPOINT_X509) {
		if (u->password)
			return err_set(err, ERR_INVALID, "password cannot be specified for MONGODB-X509");
		if (u->source && strcmp(u->source, "$external") != 0)
			return err_set(err, ERR_INVALID, "auth source must be $external");
		return 0;
	}
	if (!u->user && u->mechanism != MONGOENDPOINT_NO_LOGIN)
		return err_set(err, ERR_INVALID, "authMechanism is given, but no username");
	if (!u->user)
		return 0;
	if (!u->password || !*u->password)
		return err_set(err, ERR_INVALID, "no password given");
	if (u->mechanism == MONGOENDPOINT_NO_LOGIN)
		u->mechanism = MONGOENDPOINT_SCRAM;
	if (!u->source)
		u->source = mem_dup(u->database ? u->database : "admin");
	return 0;
}
