/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/sql/mysqldsn.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/duration.h"
#include "base/hostport.h"
#include "base/mem.h"
#include "base/text.h"

#define TEXT_MAX       65536
#define DEFAULT_PORT   3306
#define DEFAULT_SOCKET "/tmp/mysql.sock"

static int invalid(struct err *err, const char *what)
{
	return err_set(err, ERR_INVALID,
		"the connection string is not one of go-sql-driver/mysql "
		"(user:password@tcp(host:port)/database?parameters): %s",
		what);
}

/* ---- Values of parameters ---- */

static int bool_of(const char *text, bool *out)
{
	static const char *const yes[] = { "1", "true", "TRUE", "True" };
	static const char *const no[] = { "0", "false", "FALSE", "False" };

	for (size_t i = 0; i < MEM_COUNT(yes); i++) {
		if (strcmp(text, yes[i]) == 0 || strcmp(text, no[i]) == 0) {
			*out = strcmp(text, yes[i]) == 0;
			return 0;
		}
	}
	return -1;
}

#define WORD_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

static bool is_word(const char *text)
{
	return *text && !text[strspn(text, WORD_CHARACTERS)];
}

/* ---- Parameters ---- */

/*
 * Each checks its value and stores what is needed of it. Returns NULL, or what the value must be.
 * value is not decoded yet, and may be changed.
 */
static const char *take_tls(struct mysqldsn *dsn, char *value)
{
	bool on;

	dsn->tls_given = true;
	if (bool_of(value, &on) == 0)
		dsn->tls = on ? MYSQLENDPOINT_TLS_VERIFY : MYSQLENDPOINT_TLS_OFF;
	else if (strcasecmp(value, "skip-verify") == 0)
		dsn->tls = MYSQLENDPOINT_TLS_UNVERIFIED;
	else if (strcasecmp(value, "preferred") == 0)
		dsn->tls = MYSQLENDPOINT_TLS_PREFERRED;
	else
		return "true, skip-verify, preferred or false (a configuration by another name exists only in the Go "
		       "program that registers it: put its CA into the TriggerAuthentication as ca)";
	return NULL;
}

static const char *take_charset(struct mysqldsn *dsn, char *value)
{
	value[strcspn(value, ",")] = '\0'; /* the driver uses the first that the server knows */
	if (!is_word(value))
		return "the name of a character set";
	free(dsn->charset);
	dsn->charset = mem_dup(value);
	return NULL;
}

static const char *take_collation(struct mysqldsn *dsn, char *value)
{
	if (!is_word(value))
		return "the name of a collation";
	free(dsn->collation);
	dsn->collation = mem_dup(value);
	return NULL;
}

static const char *check_duration(struct mysqldsn *dsn, char *value)
{
	int64_t ignored;

	(void)dsn;
	return duration_parse(value[0] == '-' ? value + 1 : value, &ignored, NULL) ? "a duration such as 5s" : NULL;
}

static const char *check_number(struct mysqldsn *dsn, char *value)
{
	(void)dsn;
	value += *value == '-' || *value == '+';
	return *value && !value[strspn(value, "0123456789")] ? NULL : "a whole number";
}

static const struct parameter {
	const char *name;
	const char *(*take)(struct mysqldsn *dsn, char *value);
	size_t flag;      /* without take: offset of its boolean; 0: not stored */
	const char *must; /* always refused: what to do instead */
	bool free_text;   /* not checked */
} parameters[] = {
	{ .name = "tls", .take = take_tls },
	{ .name = "charset", .take = take_charset },
	{ .name = "collation", .take = take_collation },
	{ .name = "allowNativePasswords", .flag = offsetof(struct mysqldsn, native_passwords) },
	{ .name = "allowCleartextPasswords", .flag = offsetof(struct mysqldsn, clear_passwords) },
	{ .name = "multiStatements", .flag = offsetof(struct mysqldsn, multi_statements) },
	{ .name = "allowFallbackToPlaintext", .flag = offsetof(struct mysqldsn, fallback) },
	/* Ignored: no files are ever sent. */
	{ .name = "allowAllFiles" },
	/* Ignored: passwords from before MySQL 4.1 are never used. */
	{ .name = "allowOldPasswords" },
	/*
	 * Ignored: these set the Go program's timeouts and how it reads rows; we read one number by
	 * the question's deadline.
	 */
	{ .name = "checkConnLiveness" },
	{ .name = "clientFoundRows" },
	{ .name = "columnsWithAlias" },
	{ .name = "compress" },
	{ .name = "connectionAttributes", .free_text = true },
	{ .name = "interpolateParams" },
	{ .name = "loc", .free_text = true },
	{ .name = "maxAllowedPacket", .take = check_number },
	{ .name = "parseTime" },
	{ .name = "readTimeout", .take = check_duration },
	{ .name = "rejectReadOnly" },
	{ .name = "timeTruncate", .take = check_duration },
	{ .name = "timeout", .take = check_duration },
	{ .name = "tinyInt1IsBool" },
	{ .name = "writeTimeout", .take = check_duration },
	{ .name = "serverPubKey", .must = "left out: it names a key that only the Go program has which registers it" },
	{ .name = "strict", .must = "left out: the driver has not had it since 2017" },
};

static int take_parameter(struct mysqldsn *dsn, struct buf *variables, char *pair, struct err *err)
{
	char *value = strchr(pair, '=');
	const char *must;
	bool ignored;

	if (!value)
		return 0; /* ignored, as in the driver */
	*value++ = '\0';
	for (size_t i = 0; i < MEM_COUNT(parameters); i++) {
		const struct parameter *p = &parameters[i];

		if (strcmp(pair, p->name) != 0)
			continue;
		must = p->must;
		if (p->take)
			must = p->take(dsn, value);
		else if (!must && !p->free_text && bool_of(value, p->flag ? (bool *)((char *)dsn + p->flag) : &ignored))
			must = "true or false";
		return must
			? err_set(err, ERR_INVALID, "the connection string's parameter \"%s\" must be %s", pair, must)
			: 0;
	}
	if (!*pair || pair[strspn(pair, WORD_CHARACTERS ".@")])
		return invalid(err, "a parameter's name is not valid for a parameter or system variable");
	if (text_unescape(value, true))
		return invalid(err, "the value of a system variable is not percent-encoded");
	buf_printf(variables, "%s%s = %s", variables->len > 0 ? ", " : "", pair, value);
	return 0;
}

static int take_parameters(struct mysqldsn *dsn, char *text, struct err *err)
{
	struct buf variables = BUF_INIT(TEXT_MAX);
	char *rest = text, *pair;
	int failed = 0;

	while (!failed && (pair = strsep(&rest, "&")) != NULL)
		failed = take_parameter(dsn, &variables, pair, err);
	if (!failed && buf_failed(&variables))
		failed = invalid(err, "it sets too many variables");
	if (!failed && variables.len > 0)
		dsn->variables = mem_dup(buf_text(&variables));
	buf_done_secret(&variables);
	return failed;
}

/* ---- User, address, database ---- */

int mysqldsn_address(const char *text, char **host, uint16_t *port, struct err *err)
{
	struct hostport at;
	enum hostport_flaw flaw = hostport_parse(text, &at);

	if (strstr(text, "://"))
		return err_set(err, ERR_INVALID, "the address must be host:port, not a URL");
	if (flaw == HOSTPORT_PORT || (flaw == HOSTPORT_GOOD && at.has_port && at.port == 0))
		return err_set(err, ERR_INVALID, "the port must be a number from 1 to 65535");
	/* An IPv6 address without brackets has no port. The endpoint refuses invalid hosts. */
	*port = flaw == HOSTPORT_GOOD ? at.port : 0;
	*host = mem_dup(flaw == HOSTPORT_GOOD ? at.host : text);
	if (!**host)
		return err_set(err, ERR_INVALID, "no host given");
	return 0;
}

static int take_address(struct mysqldsn *dsn, const char *net, const char *address, struct err *err)
{
	if (strcmp(net, "unix") == 0) {
		dsn->host = mem_dup(*address ? address : DEFAULT_SOCKET);
		return 0;
	}
	if (*net && strcmp(net, "tcp") != 0 && strcmp(net, "tcp4") != 0 && strcmp(net, "tcp6") != 0)
		return invalid(err, "the network before the address must be tcp or unix");
	if (!*address)
		dsn->host = mem_dup("127.0.0.1");
	else if (mysqldsn_address(address, &dsn->host, &dsn->port, err))
		return err_wrap(err, "the connection string");
	if (!dsn->port)
		dsn->port = DEFAULT_PORT;
	return 0;
}

/* "net", "net(address)" or nothing. */
static int take_net(struct mysqldsn *dsn, char *text, struct err *err)
{
	char *opening = strchr(text, '(');
	size_t len = strlen(text);

	if (!opening)
		return take_address(dsn, text, "", err);
	if (text[len - 1] != ')')
		return invalid(err,
			strchr(opening, ')') ? "there is something between the address and the slash"
					     : "the address has no closing parenthesis");
	text[len - 1] = '\0';
	*opening = '\0';
	return take_address(dsn, text, opening + 1, err);
}

/*
 * The part before the last slash: the last '@' ends the credentials, the first ':' before it the
 * user.
 */
static int take_front(struct mysqldsn *dsn, char *text, struct err *err)
{
	char *at = strrchr(text, '@'), *colon;

	dsn->user = dsn->password = NULL;
	if (at) {
		*at = '\0';
		colon = strchr(text, ':');
		dsn->password = mem_dup(colon ? colon + 1 : "");
		dsn->user = mem_dupn(text, colon ? (size_t)(colon - text) : strlen(text));
	} else {
		dsn->user = mem_dup("");
		dsn->password = mem_dup("");
	}
	return take_net(dsn, at ? at + 1 : text, err);
}

static int take_database(struct mysqldsn *dsn, char *text, struct err *err)
{
	/* Without a slash before the database, this may be the rest of a password with a slash. */
	if (strpbrk(text, "@()"))
		return invalid(err, "there is no slash between the address and the database");
	if (text_unescape(text, false))
		return invalid(err, "the database is not percent-encoded");
	dsn->database = mem_dup(text);
	return 0;
}

/* Modifies text. */
static int take_all(struct mysqldsn *dsn, char *text, struct err *err)
{
	char *slash = strrchr(text, '/'), *question;

	if (!slash)
		return invalid(err, "there is no slash between the address and the database");
	*slash = '\0';
	question = strchr(slash + 1, '?');
	if (question)
		*question = '\0';
	if (take_database(dsn, slash + 1, err) || take_front(dsn, text, err))
		return -1;
	if (question && take_parameters(dsn, question + 1, err))
		return -1;
	/* Verified TLS with a fallback that an attacker can force is no protection. */
	if (dsn->fallback && dsn->tls == MYSQLENDPOINT_TLS_VERIFY)
		return err_set(err, ERR_INVALID,
			"the connection string's parameter \"allowFallbackToPlaintext\" must be false with tls=true: "
			"otherwise an attacker could force plain text (tls=preferred says that this is "
			"wanted)");
	if (dsn->fallback && dsn->tls == MYSQLENDPOINT_TLS_UNVERIFIED)
		dsn->tls = MYSQLENDPOINT_TLS_PREFERRED;
	return 0;
}

int mysqldsn_parse(const char *text, struct mysqldsn *out, struct err *err)
{
	size_t len = strlen(text);
	char *copy;
	int failed;

	memset(out, 0, sizeof(*out));
	out->native_passwords = true;
	if (len > TEXT_MAX)
		return invalid(err, "it is too long");
	copy = mem_dup(text);
	failed = take_all(out, copy, err);
	mem_wipe(copy, len);
	free(copy);
	return failed;
}

void mysqldsn_done(struct mysqldsn *dsn)
{
	mem_free_secret(dsn->user);
	mem_free_secret(dsn->password);
	mem_free_secret(dsn->variables);
	free(dsn->host);
	free(dsn->database);
	free(dsn->charset);
	free(dsn->collation);
	memset(dsn, 0, sizeof(*dsn));
}
