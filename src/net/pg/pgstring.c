/* SPDX-License-Identifier: Apache-2.0 */
#include "net/pg/pgstring.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

static int wrong(const char *start, const char *at, const char *what, struct err *err)
{
	return err_set(err, ERR_INVALID, "cannot be read: character %zu: %s", (size_t)(at - start) + 1, what);
}

static void put(struct strmap *out, const char *keyword, const char *value)
{
	const char *name = strcmp(keyword, "database") == 0 ? "dbname" : keyword;

	strmap_remove_secret(out, name); /* it may be the password */
	strmap_set(out, name, value);
}

/* ---- Keyword=value ---- */

static const char *skip_space(const char *c)
{
	while (isspace((unsigned char)*c))
		c++;
	return c;
}

/*
 * Reads the value at c into *value. Returns the position behind it; NULL for an unterminated
 * quotation.
 */
static const char *read_value(const char *c, struct buf *value)
{
	bool quoted = *c == '\'';

	for (c += quoted; *c; c++) {
		if (quoted ? *c == '\'' : isspace((unsigned char)*c))
			return c + quoted;
		if (*c == '\\' && c[1])
			c++;
		buf_putc(value, *c);
	}
	return quoted ? NULL : c;
}

static int parse_keywords(const char *text, struct strmap *out, struct err *err)
{
	struct buf value = BUF_INIT(PGSTRING_MAX);
	int failed = 0;

	buf_reserve(&value, strlen(text) + 1);
	for (const char *c = skip_space(text); *c && !failed; c = skip_space(c)) {
		size_t len = strcspn(c, "= \t\r\n\v\f");
		MEM_AUTO char *keyword = mem_dupn(c, len);
		const char *equals = skip_space(c + len), *end;

		if (len == 0 || *equals != '=') {
			failed = wrong(text, c,
				"expected a keyword and \"=\" (put values with white space into "
				"single quotes)",
				err);
			break;
		}
		buf_reset(&value);
		end = read_value(skip_space(equals + 1), &value);
		if (!end) {
			failed = wrong(text, skip_space(equals + 1), "this quotation is not closed", err);
			break;
		}
		put(out, keyword, buf_text(&value));
		c = end;
	}
	buf_done_secret(&value);
	return failed;
}

/* ---- URLs ---- */

/*
 * A part of the URL, percent-decoded (with "+" as a space in the query, as KEDA's driver does); the
 * caller owns and wipes it. NULL: an invalid escape.
 */
static char *decode(const char *piece, size_t len, bool plus)
{
	char *out = mem_alloc(len + 1), *to = out;

	for (size_t i = 0; i < len; i++) {
		int byte;

		if (piece[i] != '%') {
			*to++ = (char)(plus && piece[i] == '+' ? ' ' : piece[i]);
			continue;
		}
		byte = text_hex_byte(piece + i + 1, len - i - 1);
		if (byte <= 0) {
			mem_wipe(out, (size_t)(to - out));
			free(out);
			return NULL;
		}
		*to++ = (char)byte;
		i += 2;
	}
	*to = '\0';
	return out;
}

struct url {
	const char *text; /* for positions in messages */
	struct strmap *out;
	struct err *err;
};

static int put_decoded(const struct url *u, const char *keyword, const char *piece, size_t len, bool plus)
{
	char *value = decode(piece, len, plus);

	if (!value)
		return wrong(u->text, piece,
			"a \"%\" must be followed by two hexadecimal digits (write %25 for the sign itself)", u->err);
	if (*value)
		put(u->out, keyword, value);
	mem_free_secret(value);
	return 0;
}

/* One "host:port", "[v6]:port", "host" or "" of the list. */
static int parse_host(const struct url *u, const char *start, const char *end, struct buf *hosts, struct buf *ports)
{
	const char *bracket = *start == '[' ? memchr(start, ']', (size_t)(end - start)) : NULL;
	const char *colon = memchr(bracket ? bracket : start, ':', (size_t)(end - (bracket ? bracket : start)));
	const char *host_start = bracket ? start + 1 : start, *host_end = bracket ? bracket : colon ? colon : end;
	char *host;

	if ((start < end && *start == '[' && !bracket) || (bracket && bracket + 1 != (colon ? colon : end)) ||
		(colon && memchr(colon + 1, ':', (size_t)(end - colon - 1))))
		return wrong(u->text, start, "must be host or host:port, an IPv6 address in brackets", u->err);
	host = decode(host_start, (size_t)(host_end - host_start), false);
	if (!host)
		return wrong(u->text, host_start, "a \"%\" must be followed by two hexadecimal digits", u->err);
	buf_puts(hosts, host);
	free(host);
	if (colon)
		buf_append(ports, colon + 1, (size_t)(end - colon - 1));
	return 0;
}

static int parse_hosts(const struct url *u, const char *start, const char *end)
{
	struct buf hosts = BUF_INIT(PGSTRING_MAX), ports = BUF_INIT(PGSTRING_MAX);
	int failed = 0;

	for (const char *c = start;; c++) {
		const char *comma = memchr(c, ',', (size_t)(end - c));

		failed = parse_host(u, c, comma ? comma : end, &hosts, &ports);
		if (failed || !comma)
			break;
		buf_putc(&hosts, ',');
		buf_putc(&ports, ',');
		c = comma;
	}
	if (!failed && strspn(buf_text(&hosts), ",") < hosts.len)
		put(u->out, "host", buf_text(&hosts));
	if (!failed && strspn(buf_text(&ports), ",") < ports.len)
		put(u->out, "port", buf_text(&ports));
	buf_done(&hosts);
	buf_done(&ports);
	return failed;
}

static int parse_query(const struct url *u, const char *c)
{
	while (*c) {
		size_t len = strcspn(c, "&"), name_len = strcspn(c, "=&");
		char *name = decode(c, name_len, true);
		int failed = 0;

		if (!name || !*name || name_len == len) {
			free(name);
			return wrong(u->text, c, "must be name=value", u->err);
		}
		/* JDBC's form, which libpq accepts in URLs, too */
		if (strcmp(name, "ssl") == 0 && len == name_len + 5 && text_begins(c + name_len + 1, "true"))
			put(u->out, "sslmode", "require");
		else
			failed = put_decoded(u, name, c + name_len + 1, len - name_len - 1, true);
		free(name);
		if (failed)
			return -1;
		c += len + (c[len] == '&');
	}
	return 0;
}

static int parse_url(const char *text, struct strmap *out, struct err *err)
{
	struct url u = { text, out, err };
	const char *authority = strstr(text, "://") + 3, *end = authority + strcspn(authority, "/?");
	const char *at = memrchr(authority, '@', (size_t)(end - authority)), *query = end + strcspn(end, "?");
	const char *colon = at ? memchr(authority, ':', (size_t)(at - authority)) : NULL;

	if (at && put_decoded(&u, "user", authority, (size_t)((colon ? colon : at) - authority), false))
		return -1;
	if (colon && put_decoded(&u, "password", colon + 1, (size_t)(at - colon - 1), false))
		return -1;
	if (parse_hosts(&u, at ? at + 1 : authority, end))
		return -1;
	if (*end == '/' && put_decoded(&u, "dbname", end + 1, (size_t)(query - end - 1), false))
		return -1;
	return *query ? parse_query(&u, query + 1) : 0;
}

/* ---- Both ---- */

int pgstring_parse(const char *text, struct strmap *out, struct err *err)
{
	if (strlen(text) >= PGSTRING_MAX)
		return err_set(err, ERR_INVALID, "longer than %d bytes", PGSTRING_MAX - 1);
	if (text_begins(text, "postgres://") || text_begins(text, "postgresql://"))
		return parse_url(text, out, err);
	return parse_keywords(text, out, err);
}
