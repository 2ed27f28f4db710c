/* SPDX-License-Identifier: Apache-2.0 */
#include "net/pg/pgendpoint.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/hostport.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/identity/identity.h"
#include "net/pg/pgstring.h"
#include "net/tls/tls.h"
#include "net/tls/tlsrules.h"

#define OPTIONS_MAX  8192
#define DEFAULT_PORT 5432

/* ---- Keywords ---- */

enum fate {
	PASS,   /* passed to libpq */
	TAKE,   /* interpreted here */
	DROP,   /* of KEDA's driver (pgx), without effect here */
	REFUSE, /* reads or writes files of this host, or changes the kind of connection */
};

static const char file_advice[] = "names a file of kscaled's host, which triggers may not use: put the PEM text into "
				  "the TriggerAuthentication (parameters ca, cert, key)";

static const struct {
	const char *name;
	enum fate fate;
	const char *why; /* REFUSE */
} keywords[] = {
	{ "host", TAKE, NULL },
	{ "hostaddr", TAKE, NULL },
	{ "port", TAKE, NULL },
	{ "options", TAKE, NULL },
	{ "connect_timeout", TAKE, NULL },
	{ "target_session_attrs", TAKE, NULL },
	{ "sslrootcert", TAKE, NULL },
	{ "sslmode", PASS, NULL },
	{ "user", PASS, NULL },
	{ "password", PASS, NULL },
	{ "dbname", PASS, NULL },
	{ "client_encoding", PASS, NULL },
	{ "application_name", PASS, NULL },
	{ "fallback_application_name", PASS, NULL },
	{ "keepalives", PASS, NULL },
	{ "keepalives_idle", PASS, NULL },
	{ "keepalives_interval", PASS, NULL },
	{ "keepalives_count", PASS, NULL },
	{ "tcp_user_timeout", PASS, NULL },
	{ "sslcompression", PASS, NULL },
	{ "sslsni", PASS, NULL },
	{ "ssl_min_protocol_version", PASS, NULL },
	{ "ssl_max_protocol_version", PASS, NULL },
	{ "channel_binding", PASS, NULL },
	{ "requirepeer", PASS, NULL },
	{ "require_auth", PASS, NULL },
	{ "sslnegotiation", PASS, NULL },
	{ "min_protocol_version", DROP, NULL },
	{ "max_protocol_version", DROP, NULL },
	{ "load_balance_hosts", DROP, NULL },
	{ "default_query_exec_mode", DROP, NULL },
	{ "statement_cache_capacity", DROP, NULL },
	{ "description_cache_capacity", DROP, NULL },
	{ "pool_max_conns", DROP, NULL },
	{ "pool_min_conns", DROP, NULL },
	{ "pool_max_conn_lifetime", DROP, NULL },
	{ "pool_max_conn_idle_time", DROP, NULL },
	{ "pool_health_check_period", DROP, NULL },
	{ "pool_max_conn_lifetime_jitter", DROP, NULL },
	{ "sslpassword", REFUSE, "belongs to sslkey: put key and keyPassword into the TriggerAuthentication" },
	{ "sslcert", REFUSE, file_advice },
	{ "sslkey", REFUSE, file_advice },
	{ "sslcrl", REFUSE, file_advice },
	{ "sslcrldir", REFUSE, file_advice },
	{ "sslkeylogfile", REFUSE, "names a file of kscaled's host, which triggers may not use" },
	{ "passfile", REFUSE, "names a file of kscaled's host, which triggers may not use: give the password itself" },
	{ "service", REFUSE, "names an entry of a file of kscaled's host, which triggers may not use" },
	{ "servicefile", REFUSE, "names a file of kscaled's host, which triggers may not use" },
	{ "replication", REFUSE, "makes a connection that does not accept queries" },
	{ "gssencmode", DROP, NULL }, /* disabled: it would use Kerberos tickets of kscaled itself */
	{ "krbsrvname", DROP, NULL },
	{ "gsslib", DROP, NULL },
	{ "krbspn", DROP, NULL },
	{ "gssdelegation", DROP, NULL },
};

/*
 * Keywords that libpq does not know are run-time parameters, which KEDA's driver sends to the
 * server.
 */
static int sort_keyword(struct pgendpoint *e, struct buf *options, const char *name, const char *value, struct err *err)
{
	for (size_t i = 0; i < MEM_COUNT(keywords); i++) {
		if (strcmp(keywords[i].name, name) != 0)
			continue;
		if (keywords[i].fate == REFUSE && *value)
			return err_set(err, ERR_INVALID, "\"%s\" %s", name, keywords[i].why);
		if (keywords[i].fate == PASS && *value)
			strmap_set(&e->settings, name, value);
		return 0;
	}
	if (!*name || strlen(name) >= 64 ||
		name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")])
		return err_set(err, ERR_INVALID, "a keyword is not a valid name of a setting");
	if (strcasecmp(name, "statement_timeout") == 0)
		e->own_timeout = true;
	buf_printf(options, "%s-c %s=", options->len ? " " : "", name);
	for (; *value; value++) { /* the server splits "options" at blanks that no backslash escapes */
		if (isspace((unsigned char)*value) || *value == '\\')
			buf_putc(options, '\\');
		buf_putc(options, *value);
	}
	return 0;
}

static int sort_keywords(struct pgendpoint *e, const struct strmap *given, struct err *err)
{
	struct buf options = BUF_INIT(OPTIONS_MAX);
	const char *own = strmap_get(given, "options");
	int failed = 0;

	if (own && *own) {
		buf_puts(&options, own);
		e->own_timeout = strcasestr(own, "statement_timeout");
	}
	for (size_t i = 0; i < given->count && !failed; i++)
		failed = sort_keyword(e, &options, given->pairs[i].key, given->pairs[i].value, err);
	if (!failed && buf_failed(&options))
		failed = err_set(err, ERR_INVALID, "more than %d bytes of run-time parameters", OPTIONS_MAX);
	if (options.len)
		e->options = buf_take(&options);
	buf_done(&options);
	return failed;
}

/* ---- Hosts ---- */

/* The next element of a comma-separated list (trimmed, owned by the caller); NULL at its end. */
static char *next_piece(const char **list)
{
	const char *start = *list, *end;

	if (!start)
		return NULL;
	end = start + strcspn(start, ",");
	*list = *end ? end + 1 : NULL;
	while (start < end && isspace((unsigned char)*start))
		start++;
	while (end > start && isspace((unsigned char)end[-1]))
		end--;
	return mem_dupn(start, (size_t)(end - start));
}

static size_t list_count(const char *list)
{
	size_t count = list && *list ? 1 : 0;

	for (; count && *list; list++)
		count += *list == ',';
	return count;
}

static int read_port(const char *text, uint16_t *out, struct err *err)
{
	long port = DEFAULT_PORT;

	if (text && *text)
		port = strlen(text) <= 5 && text[strspn(text, "0123456789")] == '\0' ? atol(text) : 0;
	if (port < 1 || port > 65535)
		return err_set_about(err, "port", "\"port\" must be a number between 1 and 65535");
	*out = (uint16_t)port;
	return 0;
}

static bool is_printable(const char *text)
{
	for (; *text; text++) {
		if (*text <= ' ' || *text == 0x7f)
			return false;
	}
	return true;
}

static int check_host(const struct pgendpoint_host *h, struct err *err)
{
	if (!*h->host && !h->hostaddr)
		return err_set(err, ERR_INVALID,
			"no host given: the driver would look for a server on kscaled's own host (for a Unix socket, "
			"give the path of its folder)");
	if (!is_printable(h->host) || (h->hostaddr && !is_printable(h->hostaddr)) ||
		strlen(h->host) > HOSTPORT_HOST_MAX || (h->hostaddr && strlen(h->hostaddr) > HOSTPORT_HOST_MAX))
		return err_set_about(err, "host", "\"host\" must be the name or address of a server");
	return 0;
}

static int take_hosts(struct pgendpoint *e, const struct strmap *given, struct err *err)
{
	const char *hosts = strmap_get(given, "host"), *addresses = strmap_get(given, "hostaddr"),
		   *ports = strmap_get(given, "port");
	size_t host_count = list_count(hosts), address_count = list_count(addresses), port_count = list_count(ports),
	       count = host_count ? host_count : address_count;

	if (count == 0)
		return check_host(&(struct pgendpoint_host){ .host = (char[]){ "" } }, err);
	if (count > PGENDPOINT_HOSTS_MAX)
		return err_set(err, ERR_INVALID, "more than %d hosts", PGENDPOINT_HOSTS_MAX);
	if ((address_count && address_count != count) || (port_count > 1 && port_count != count))
		return err_set_about(err, "port", "%zu hosts, but %zu %s: give as many", count,
			port_count > 1 && port_count != count ? port_count : address_count,
			port_count > 1 && port_count != count ? "ports" : "hostaddrs");
	e->hosts = mem_array(count, sizeof(*e->hosts));
	for (e->host_count = 0; e->host_count < count; e->host_count++) {
		struct pgendpoint_host *h = &e->hosts[e->host_count];
		MEM_AUTO char *port = port_count == 1 ? mem_dup(ports) : port_count ? next_piece(&ports) : NULL;
		char *address = address_count ? next_piece(&addresses) : NULL;

		h->host = host_count ? next_piece(&hosts) : mem_dup("");
		h->hostaddr = address && *address ? address : NULL;
		if (!h->hostaddr)
			free(address);
		if (check_host(h, err) || read_port(port, &h->port, err)) {
			e->host_count++;
			return -1;
		}
	}
	return 0;
}

/* ---- TLS ---- */

/* Where systems keep their trusted CAs. */
static const char *const trusted_folders[] = { "/etc/ssl/", "/etc/pki/", "/usr/share/ca-certificates/",
	"/usr/local/share/ca-certificates/", "/custom/ca/", NULL };

static int take_root(struct pgendpoint *e, const char *root, bool verifies, struct err *err)
{
	if (root && *root && e->base.tls.ca_pem)
		return err_set(err, ERR_INVALID, "sslrootcert and the parameter ca are both given: remove one");
	if (e->base.tls.ca_pem)
		return 0;
	if (root && strcmp(root, "system") == 0) {
		if (!verifies)
			strmap_set(&e->settings, "sslmode", "verify-full");
	} else if (root && *root &&
		(!text_begins_with_one_of(root, trusted_folders) || strstr(root, "/../") ||
			strstr(root, "/private/"))) {
		return err_set(err, ERR_INVALID,
			"\"sslrootcert\" names a file of kscaled's host outside of the folders of trusted CAs "
			"(/etc/ssl, /etc/pki, /usr/share/ca-certificates, "
			"/usr/local/share/ca-certificates, /custom/ca): put the PEM text into the "
			"TriggerAuthentication (parameter ca)");
	} else if (!root || !*root) {
		/* as KEDA's driver does; libpq would read ~/.postgresql/root.crt */
		root = verifies ? "system" : NULL;
	}
	if (root)
		strmap_set(&e->settings, "sslrootcert", root);
	return 0;
}

static bool is_tls(const char *mode)
{
	return mode && (strcmp(mode, "require") == 0 || text_begins(mode, "verify"));
}

/* Protects kscaled's token: sslmode "require" alone would send it to an unverified server. */
static int protect_token(struct pgendpoint *e, struct err *err)
{
	if (!is_tls(strmap_get(&e->settings, "sslmode")))
		return err_set(err, ERR_INVALID,
			"\"sslmode\" must be require, verify-ca or verify-full: kscaled sends its own token by TLS "
			"alone");
	if (e->base.tls.ca_pem)
		return err_set(err, ERR_INVALID,
			"parameter \"ca\" does not go together with a token of kscaled's own, which is sent only to "
			"servers that the system's roots verify");
	strmap_set(&e->settings, "sslmode", "verify-full");
	return 0;
}

/*
 * As TLS ends in kscaled, libpq cannot bind a login to it. Verifying the certificate and allowing
 * SCRAM only gives the same protection against a server in between.
 */
static int bind_channel(struct pgendpoint *e, struct err *err)
{
	const char *mode = strmap_get(&e->settings, "sslmode");

	e->binds_channel = text_equal(strmap_get(&e->settings, "channel_binding"), "require");
	if (!e->binds_channel)
		return 0;
	if (!is_tls(mode))
		return err_set(err, ERR_INVALID,
			"\"channel_binding=require\" needs TLS: set sslmode to verify-full, verify-ca or require");
	if (!text_begins(mode, "verify"))
		strmap_set(&e->settings, "sslmode", "verify-full");
	return 0;
}

static int check_negotiation(const struct pgendpoint *e, struct err *err)
{
	static const char *const words[] = { "postgres", "direct", NULL };
	const char *word = strmap_get(&e->settings, "sslnegotiation");

	if (word && !text_is_one_of(word, words))
		return err_set(err, ERR_INVALID, "\"sslnegotiation\" must be postgres or direct");
	if (word && strcmp(word, "direct") == 0 && !is_tls(strmap_get(&e->settings, "sslmode")))
		return err_set(err, ERR_INVALID,
			"\"sslnegotiation=direct\" needs sslmode require, verify-ca or verify-full");
	return 0;
}

static int take_tls(struct pgendpoint *e, const struct pgendpoint_config *config, const char *root, struct err *err)
{
	static const char *const modes[] = { "disable", "allow", "prefer", "require", "verify-ca", "verify-full",
		NULL };
	const char *mode = strmap_get(&e->settings, "sslmode");
	struct tls_client_config pems;

	if (mode && !text_is_one_of(mode, modes))
		return err_set_about(err, "sslmode",
			"\"sslmode\" must be one of disable, allow, prefer, require, verify-ca, verify-full");
	endpoint_take_tls(&e->base,
		&(struct tls_client_config){ .ca_pem = config->ca_pem,
			.cert_pem = config->cert_pem,
			.key_pem = config->key_pem });
	if (config->key_password && *config->key_password)
		strmap_set(&e->settings, "sslpassword", config->key_password);
	if (!e->base.tls.cert_pem != !e->base.tls.key_pem)
		return err_set(err, ERR_INVALID, "parameters \"cert\" and \"key\" belong together: only %s is given",
			e->base.tls.cert_pem ? "cert" : "key");
	if ((e->base.tls.ca_pem || e->base.tls.cert_pem) && mode && strcmp(mode, "disable") == 0)
		return err_set(err, ERR_INVALID, "parameter \"%s\" is given, but sslmode is disable",
			e->base.tls.ca_pem ? "ca" : "cert");
	if ((e->identity && protect_token(e, err)) || bind_channel(e, err) || check_negotiation(e, err))
		return -1;
	mode = strmap_get(&e->settings, "sslmode");
	if (take_root(e, root, mode && text_begins(mode, "verify"), err))
		return -1;
	pems = e->base.tls;
	pems.key_password = strmap_get(&e->settings, "sslpassword");
	if (tls_client_check(&pems, err))
		return err_wrap(err, "TLS");
	/* take_root may have set it. "prefer" accepts servers that claim to have no TLS. */
	mode = strmap_get(&e->settings, "sslmode");
	return tlsrules_demand(is_tls(mode), "set sslmode to verify-full, verify-ca or require", err);
}

/* ---- The rest ---- */

static int take_target(struct pgendpoint *e, const char *text, struct err *err)
{
	static const char *const words[] = { "any", "read-write", "read-only", "primary", "standby", "prefer-standby" };

	e->target = words[0];
	if (!text || !*text)
		return 0;
	for (size_t i = 0; i < MEM_COUNT(words); i++) {
		if (strcmp(text, words[i]) == 0) {
			e->target = words[i];
			return 0;
		}
	}
	return err_set(err, ERR_INVALID,
		"\"target_session_attrs\" must be one of any, read-write, read-only, primary, standby, "
		"prefer-standby");
}

static void make_names(struct pgendpoint *e, const struct strmap *given)
{
	struct buf name = BUF_INIT(4096);
	const char *dbname = strmap_get(&e->settings, "dbname"), *mode = strmap_get(&e->settings, "sslmode");
	size_t count = given->count * 2, used = 0;
	const char **secrets = mem_array(count + 2, sizeof(*secrets));
	char fingerprint[FINGERPRINT_TEXT];

	for (size_t i = 0; i < e->host_count; i++) {
		const struct pgendpoint_host *h = &e->hosts[i];
		const char *host = *h->host ? h->host : h->hostaddr;

		MEM_AUTO char *place = hostport_join(host, h->port);

		buf_printf(&name, "%s%s", i > 0 ? "," : "", place);
	}
	buf_printf(&name, "/%s", dbname ? dbname : strmap_get(&e->settings, "user"));
	e->base.name = buf_take(&name);
	for (size_t i = 0; i < given->count; i++) {
		secrets[used++] = given->pairs[i].key;
		secrets[used++] = given->pairs[i].value;
	}
	secrets[used++] = strmap_get(&e->settings, "sslpassword");
	secrets[used++] = e->identity ? identity_key(e->identity) : NULL;
	endpoint_fingerprint(&e->base, secrets, used, fingerprint);
	free(secrets);
	e->base.key = mem_printf("postgresql %s %s %s", e->base.name, mode ? mode : "prefer", fingerprint);
}

static int read_given(const struct pgendpoint_config *config, struct strmap *given, struct err *err)
{
	const char *const parts[][2] = { { "host", config->host }, { "port", config->port }, { "user", config->user },
		{ "password", config->identity ? NULL : config->password }, { "dbname", config->dbname },
		{ "sslmode", config->sslmode } };

	if (config->connection && !config->identity)
		return pgstring_parse(config->connection, given, err);
	for (size_t i = 0; i < MEM_COUNT(parts); i++) {
		if (parts[i][1] && *parts[i][1])
			strmap_set(given, parts[i][0], parts[i][1]);
	}
	return 0;
}

static void on_done(struct endpoint *base)
{
	struct pgendpoint *e = (struct pgendpoint *)base;

	for (size_t i = 0; i < e->host_count; i++) {
		free(e->hosts[i].host);
		free(e->hosts[i].hostaddr);
	}
	free(e->hosts);
	identity_unref(e->identity);
	scram_forget(&e->memory);
	strmap_done_secret(&e->settings);
	mem_free_secret(e->options);
}

static int take_given(struct pgendpoint *e, const struct pgendpoint_config *config, const struct strmap *given,
	struct err *err)
{
	const char *timeout = strmap_get(given, "connect_timeout");

	if (sort_keywords(e, given, err) || take_hosts(e, given, err))
		return -1;
	if (!strmap_get(&e->settings, "user"))
		return err_set(err, ERR_INVALID, "no user given");
	if (take_tls(e, config, strmap_get(given, "sslrootcert"), err) ||
		take_target(e, strmap_get(given, "target_session_attrs"), err))
		return -1;
	if (timeout && (strlen(timeout) > 9 || timeout[strspn(timeout, "0123456789")]))
		return err_set(err, ERR_INVALID, "\"connect_timeout\" must be a whole number of seconds");
	e->connect_ms = timeout ? atol(timeout) * 1000 : 0;
	make_names(e, given);
	return 0;
}

struct pgendpoint *pgendpoint_new(const struct pgendpoint_config *config, struct err *err)
{
	struct pgendpoint *e = endpoint_new(sizeof(*e), on_done);
	struct strmap given = { 0 };
	int failed;

	endpoint_set_namespace(&e->base, config->namespace_);
	e->identity = identity_ref(config->identity);
	failed = read_given(config, &given, err) || take_given(e, config, &given, err);
	strmap_done_secret(&given);
	if (!failed)
		return endpoint_unique(e);
	endpoint_unref(e);
	return NULL;
}

/* ---- Messages ---- */

/* libpq's texts have line breaks and tabs; those of servers may contain anything. */
static void one_line(char *text)
{
	char *to = text;

	for (char *from = text; *from; from++) {
		bool blank = *from == ' ' || *from == '\t' || *from == '\r', newline = *from == '\n';

		if ((blank || newline) && (to == text || to[-1] == ' ' || (newline && to[-1] == ';')))
			continue;
		if (newline && from[1])
			*to++ = ';';
		if (to <= from) /* there is room for the semicolon */
			*to++ = (char)(blank || newline ? ' ' : *from);
	}
	while (to > text && (to[-1] == ' ' || to[-1] == ';'))
		to--;
	*to = '\0';
}

/*
 * libpq's error tells whether a socket's file exists, which authors of triggers must not learn.
 * Errors of a server at a Unix socket are kept.
 */
static void hide_file(char *text)
{
	static const char path[] = "the Unix socket cannot be connected to";

	if (strstr(text, "server on socket \"") && !strstr(text, "FATAL") && strlen(text) >= strlen(path))
		strcpy(text, path);
}

/* Skips short secrets: they occur in texts by chance, and replacing them would reveal them. */
static void hide_secret(char *text, const char *secret)
{
	size_t len = secret ? strlen(secret) : 0;

	for (char *found = text; len >= 4 && (found = strstr(found, secret)) != NULL; found += len)
		memset(found, '*', len);
}

void pgendpoint_clean(const struct pgendpoint *e, const char *token, char *text)
{
	hide_secret(text, strmap_get(&e->settings, "password"));
	hide_secret(text, token);
	hide_file(text);
	one_line(text);
}
