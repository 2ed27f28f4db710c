/* SPDX-License-Identifier: Apache-2.0 */
#include "net/sign/sigv4.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

#define ALGORITHM "AWS4-HMAC-SHA256"
#define TEXT_MAX  ((size_t)1 << 22)

char *sigv4_time(int64_t unix_s, char out[SIGV4_TIME_TEXT])
{
	time_t seconds = (time_t)unix_s;
	struct tm tm = { 0 };

	gmtime_r(&seconds, &tm);
	if (!strftime(out, SIGV4_TIME_TEXT, "%Y%m%dT%H%M%SZ", &tm))
		out[0] = '\0';
	return out;
}

/* ---- Query ---- */

struct pair {
	char *name, *value; /* owned, encoded */
};

struct pairs {
	struct pair *list; /* owned */
	size_t count;
};

static void pairs_done(struct pairs *p)
{
	for (size_t i = 0; i < p->count; i++) {
		mem_free_secret(p->list[i].name);
		mem_free_secret(p->list[i].value);
	}
	free(p->list);
}

static char *encoded(const char *text)
{
	struct buf out = BUF_INIT(TEXT_MAX);

	buf_put_percent(&out, text, "");
	return buf_take(&out);
}

/* Decodes a piece of a query and encodes it as AWS does. A NUL stays encoded. */
static char *recoded(const char *text, size_t len)
{
	struct buf out = BUF_INIT(TEXT_MAX);
	char one[2] = "";

	for (size_t i = 0; i < len; i++) {
		int byte = text[i] == '%' ? text_hex_byte(text + i + 1, len - i - 1) : -1;

		if (byte == 0) {
			buf_puts(&out, "%00");
		} else {
			one[0] = byte > 0 ? (char)byte : text[i] == '+' ? ' ' : text[i];
			buf_put_percent(&out, one, "");
		}
		i += byte >= 0 ? 2 : 0;
	}
	return buf_take(&out);
}

static void pairs_add(struct pairs *p, char *name /* takes */, char *value /* takes */)
{
	p->list = mem_resize(p->list, p->count + 1, sizeof(*p->list));
	p->list[p->count++] = (struct pair){ name, value };
}

static void pairs_add_query(struct pairs *p, const char *query)
{
	for (const char *at = query ? query : ""; *at;) {
		size_t len = strcspn(at, "&"), name = 0;

		while (name < len && at[name] != '=')
			name++;
		if (len > 0)
			pairs_add(p, recoded(at, name),
				name < len ? recoded(at + name + 1, len - name - 1) : mem_dup(""));
		at += len + (at[len] == '&');
	}
}

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *p = a, *q = b;
	int order = strcmp(p->name, q->name);

	return order ? order : strcmp(p->value, q->value);
}

static char *pairs_text(struct pairs *p)
{
	struct buf out = BUF_INIT(TEXT_MAX);

	if (p->count > 1)
		qsort(p->list, p->count, sizeof(*p->list), compare_pairs);
	for (size_t i = 0; i < p->count; i++)
		buf_printf(&out, "%s%s=%s", i > 0 ? "&" : "", p->list[i].name, p->list[i].value);
	return buf_take(&out);
}

char *sigv4_query(const char *query)
{
	struct pairs pairs = { 0 };
	char *text;

	pairs_add_query(&pairs, query);
	text = pairs_text(&pairs);
	pairs_done(&pairs);
	return text;
}

/* ---- Path ---- */

/* Removes dot segments (RFC 3986, 5.2.4) and empty segments. */
static char *normalised(const char *path)
{
	char *out = mem_alloc(strlen(path) + 2), *end = out;
	bool folder = true;

	*end++ = '/';
	while (*path) {
		size_t len = strcspn(path, "/");

		folder = path[len] == '/' || len == 0;
		if (len == 2 && memcmp(path, "..", 2) == 0) {
			end -= end > out + 1;
			while (end > out + 1 && end[-1] != '/')
				end--;
			folder = true;
		} else if (len == 1 && *path == '.') {
			folder = true;
		} else if (len > 0) {
			memcpy(end, path, len);
			end += len;
			*end++ = '/';
		}
		path += len + (path[len] == '/');
	}
	end -= !folder && end > out + 1;
	*end = '\0';
	return out;
}

static char *canonical_path(const struct sigv4_request *r)
{
	MEM_AUTO char *path = r->is_s3 ? NULL : normalised(r->path);
	struct buf out = BUF_INIT(TEXT_MAX);

	if (r->is_s3)
		return mem_dup(*r->path ? r->path : "/");
	buf_put_percent(&out, path, "/");
	return buf_take(&out);
}

/* ---- Headers ---- */

struct header_line {
	char *name, *value; /* owned */
	size_t order;       /* as given */
};

static int compare_header_lines(const void *a, const void *b)
{
	const struct header_line *p = a, *q = b;
	int order = strcmp(p->name, q->name);

	return order ? order : (p->order > q->order) - (p->order < q->order);
}

/* Trimmed; inner runs of blanks become one. */
static char *folded(const char *value)
{
	char *out = mem_alloc(strlen(value) + 1), *to = out;

	for (; *value; value++)
		if (!isspace((unsigned char)*value))
			*to++ = *value;
		else if (to > out && to[-1] != ' ')
			*to++ = ' ';
	to -= to > out && to[-1] == ' ';
	*to = '\0';
	return out;
}

/* "host:x\nx-amz-date:y\n" and "host;x-amz-date". Equal names share a line. */
static void put_headers(const struct sigv4_request *r, struct buf *lines, struct buf *names)
{
	struct header_line *list = mem_array(r->header_count + 1, sizeof(*list));

	for (size_t i = 0; i < r->header_count; i++) {
		list[i] = (struct header_line){ mem_dup(r->headers[i].name), folded(r->headers[i].value), i };
		for (char *c = list[i].name; *c; c++)
			*c = (char)tolower((unsigned char)*c);
	}
	qsort(list, r->header_count, sizeof(*list), compare_header_lines);
	for (size_t i = 0; i < r->header_count; i++) {
		bool again = i > 0 && strcmp(list[i].name, list[i - 1].name) == 0;

		if (again) {
			buf_printf(lines, ",%s", list[i].value);
		} else {
			buf_printf(lines, "%s%s:%s", i > 0 ? "\n" : "", list[i].name, list[i].value);
			buf_printf(names, "%s%s", i > 0 ? ";" : "", list[i].name);
		}
	}
	buf_putc(lines, '\n');
	for (size_t i = 0; i < r->header_count; i++) {
		free(list[i].name);
		mem_free_secret(list[i].value);
	}
	free(list);
}

/* ---- The signature ---- */

struct signing {
	char time[SIGV4_TIME_TEXT];
	char *scope;      /* owned: "20150830/eu-west-1/sqs/aws4_request" */
	struct buf names; /* SignedHeaders */
	struct buf lines; /* CanonicalHeaders */
	char text[HMAC_TEXT];
};

static void signing_init(struct signing *s, const struct sigv4_request *r, const struct sigv4_key *key, int64_t unix_s)
{
	buf_init(&s->names, TEXT_MAX);
	buf_init(&s->lines, TEXT_MAX);
	sigv4_time(unix_s, s->time);
	s->scope = mem_printf("%.8s/%s/%s/aws4_request", s->time, key->region, key->service);
	put_headers(r, &s->lines, &s->names);
}

static void signing_done(struct signing *s)
{
	free(s->scope);
	buf_done_secret(&s->lines);
	buf_done(&s->names);
}

static void derive_key(const struct signing *s, const struct sigv4_key *key, uint8_t out[HMAC_SIZE])
{
	struct sigv4_day *day = key->day;
	char *first;
	static const char last[] = "aws4_request";

	if (day && memcmp(day->date, s->time, sizeof(day->date)) == 0) {
		memcpy(out, day->key, HMAC_SIZE);
		return;
	}
	first = mem_printf("AWS4%s", key->secret);
	hmac_sha256(first, strlen(first), s->time, 8, out);
	hmac_sha256(out, HMAC_SIZE, key->region, strlen(key->region), out);
	hmac_sha256(out, HMAC_SIZE, key->service, strlen(key->service), out);
	hmac_sha256(out, HMAC_SIZE, last, strlen(last), out);
	mem_free_secret(first);
	if (day) {
		memcpy(day->date, s->time, sizeof(day->date));
		memcpy(day->key, out, HMAC_SIZE);
	}
}

/* payload: NULL: the body's hash */
static void sign(struct signing *s, const struct sigv4_request *r, const struct sigv4_key *key, const char *query,
	const char *payload)
{
	MEM_AUTO char *path = canonical_path(r);
	struct buf text = BUF_INIT(2 * TEXT_MAX);
	uint8_t bytes[HMAC_SIZE];
	char hex[HMAC_TEXT];

	hmac_digest(r->body ? r->body : "", r->body ? r->body_len : 0, bytes);
	buf_printf(&text, "%s\n%s\n%s\n%s\n%s\n%s", r->method, path, query, buf_text(&s->lines), buf_text(&s->names),
		payload ? payload : hmac_hex(bytes, hex));
	hmac_digest(buf_text(&text), text.len, bytes);
	buf_done_secret(&text);
	buf_printf(&text, ALGORITHM "\n%s\n%s\n%s", s->time, s->scope, hmac_hex(bytes, hex));
	derive_key(s, key, bytes);
	hmac_sha256(bytes, sizeof(bytes), buf_text(&text), text.len, bytes);
	hmac_hex(bytes, s->text);
	buf_done(&text);
}

char *sigv4_authorization(const struct sigv4_request *request, const struct sigv4_key *key, int64_t unix_s)
{
	char *query = sigv4_query(request->query), *value;
	struct signing s;

	signing_init(&s, request, key, unix_s);
	sign(&s, request, key, query, NULL);
	value = mem_printf(ALGORITHM " Credential=%s/%s, SignedHeaders=%s, Signature=%s", key->key_id, s.scope,
		buf_text(&s.names), s.text);
	signing_done(&s);
	mem_free_secret(query);
	return value;
}

char *sigv4_presigned(const struct sigv4_request *request, const struct sigv4_key *key, int64_t unix_s,
	int64_t good_for_s)
{
	MEM_AUTO char *seconds = mem_printf("%lld", (long long)good_for_s);
	MEM_AUTO char *credential = NULL;
	struct pairs pairs = { 0 };
	struct signing s;
	char *query, *signed_query;

	signing_init(&s, request, key, unix_s);
	credential = mem_printf("%s/%s", key->key_id, s.scope);
	pairs_add_query(&pairs, request->query);
	pairs_add(&pairs, mem_dup("X-Amz-Algorithm"), mem_dup(ALGORITHM));
	pairs_add(&pairs, mem_dup("X-Amz-Credential"), encoded(credential));
	pairs_add(&pairs, mem_dup("X-Amz-Date"), mem_dup(s.time));
	pairs_add(&pairs, mem_dup("X-Amz-Expires"), mem_dup(seconds));
	if (key->session_token)
		pairs_add(&pairs, mem_dup("X-Amz-Security-Token"), encoded(key->session_token));
	pairs_add(&pairs, mem_dup("X-Amz-SignedHeaders"), encoded(buf_text(&s.names)));
	query = pairs_text(&pairs);
	sign(&s, request, key, query, request->is_s3 ? "UNSIGNED-PAYLOAD" : NULL);
	signed_query = mem_printf("%s&X-Amz-Signature=%s", query, s.text);
	mem_free_secret(query);
	pairs_done(&pairs);
	signing_done(&s);
	return signed_query;
}
