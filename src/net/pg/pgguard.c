/* SPDX-License-Identifier: Apache-2.0 */
#include "net/pg/pgguard.h"

#include <string.h>

#include "base/mem.h"
#include "net/sign/scram.h"

#define HEAD_BYTES  5 /* type, and length without the type */
#define CODE_BYTES  4 /* the request of an authentication message */
#define AUTH_MAX    4096
#define READY_BYTES 6
/*
 * For passwords that net/pg/pgscram cannot use: libpq computes them in one call. PostgreSQL's
 * default is 4,096.
 */
#define LIBPQ_ITERATIONS_MAX 16384
/* After a larger answer the connection is closed, as libpq's buffer never shrinks. */
#define WEAR_BYTES ((size_t)64 << 10)

enum request { GRANTED = 0, GSSAPI = 7, GSSAPI_MORE = 8, SSPI = 9, SASL = 10, SASL_MORE = 11, SASL_FINAL = 12 };

static uint32_t number(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* ---- The login ---- */

static void refuse_method(struct pgguard *g, const char *method)
{
	err_set(&g->err, ERR_DENIED,
		"asks for a login by %s, which kscaled never makes: let this user in by password or certificate "
		"(pg_hba.conf)",
		method);
}

/*
 * libpq refuses a server that offers channel binding on a connection where libpq does not do TLS
 * itself. It skips unknown mechanisms, so this renames those with channel binding.
 */
static void hide_binding(unsigned char *names, size_t len)
{
	static const char bound[] = "SCRAM-SHA-256-PLUS";
	unsigned char *found;

	while ((found = memmem(names, len, bound, sizeof(bound))) != NULL)
		memcpy(found + sizeof(bound) - 5, "none", 4);
}

/* "r=<nonce>,s=<salt>,i=<iterations>[,...]", as libpq reads it (RFC 5802, server-first-message). */
static void judge_iterations(struct pgguard *g, const char *text, size_t len)
{
	const char *end = text + len, *at = memchr(text, ',', len);
	unsigned long count = 0, most = g->ours ? SCRAM_ITERATIONS_MAX : LIBPQ_ITERATIONS_MAX;

	at = at ? memchr(at + 1, ',', (size_t)(end - at - 1)) : NULL;
	if (!at || end - at < 4 || at[1] != 'i' || at[2] != '=') {
		err_set(&g->err, ERR_TEMPORARY, "sends an invalid SCRAM message");
		return;
	}
	for (at += 3; at < end && *at != ','; at++) {
		if (*at < '0' || *at > '9') {
			err_set(&g->err, ERR_TEMPORARY, "sends a SCRAM message without an iteration count");
			return;
		}
		count = count > UINT32_MAX ? count : count * 10 + (unsigned long)(*at - '0');
	}
	if (count > most)
		err_set(&g->err, ERR_DENIED,
			"asks for %s%lu SCRAM iterations, but kscaled computes at most %lu for a login: set the "
			"user's password again with fewer (scram_iterations)",
			count > UINT32_MAX ? "more than " : "", count > UINT32_MAX ? UINT32_MAX : count, most);
}

/* Takes over a SCRAM login, unless libpq has begun it. */
static void offer_scram(struct pgguard *g, unsigned char *names, size_t len)
{
	static const char name[] = "SCRAM-SHA-256";

	for (size_t at = 0; at < len && g->logs_in && !g->ours; at += strnlen((char *)names + at, len - at) + 1)
		g->ours = len - at >= sizeof(name) && memcmp(names + at, name, sizeof(name)) == 0;
	g->logs_in = g->ours;
	hide_binding(names, len);
}

static void keep_from_libpq(struct pgguard *g, const unsigned char *data, size_t len, uint32_t code)
{
	g->drops = true;
	g->said = data;
	g->said_len = len;
	g->said_code = code;
}

/* The message is complete. */
static void judge_request(struct pgguard *g, unsigned char *bytes, size_t len)
{
	uint32_t code = number(bytes + HEAD_BYTES);
	unsigned char *rest = bytes + HEAD_BYTES + CODE_BYTES;
	size_t rest_len = len - HEAD_BYTES - CODE_BYTES;

	switch (code) {
	case GRANTED: g->authenticated = true; break;
	case GSSAPI:
	case GSSAPI_MORE: refuse_method(g, "GSSAPI"); return;
	case SSPI: refuse_method(g, "SSPI"); return;
	case SASL: offer_scram(g, rest, rest_len); break;
	case SASL_MORE: judge_iterations(g, (const char *)rest, rest_len); break;
	case SASL_FINAL: g->proved = true; break;
	default: break;
	}
	if (g->channel && !g->proved && g->err.kind == ERR_NONE && code != SASL && code != SASL_MORE)
		err_set(&g->err, ERR_DENIED,
			"does not log the user in by SCRAM, which channel_binding=require demands");
	if (g->ours && g->err.kind == ERR_NONE && code >= SASL && code <= SASL_FINAL)
		keep_from_libpq(g, rest, rest_len, code);
}

/* ---- Limits of length ---- */

static size_t budget(const struct pgguard *g)
{
	if (g->phase == PGGUARD_LOGIN)
		return PGGUARD_LOGIN_MAX;
	if (g->listens)
		return PGGUARD_LISTEN_MAX;
	return g->due > 0 && g->due % 2 == 0 ? PGGUARD_ANSWER_MAX : PGGUARD_IDLE_MAX;
}

static void refuse_length(struct pgguard *g)
{
	if (g->phase == PGGUARD_LOGIN)
		err_set(&g->err, ERR_TEMPORARY, "is not PostgreSQL: it sent far too much during the login");
	else if (budget(g) == PGGUARD_ANSWER_MAX)
		err_set(&g->err, ERR_INVALID,
			"the answer is longer than 1 MiB: select one number (LIMIT 1, no long texts)");
	else if (g->listens)
		err_set(&g->err, ERR_TEMPORARY, "the server sends more notifications than are read: 16 MiB in 30 s");
	else
		err_set(&g->err, ERR_TEMPORARY, "the server sends too much unrequested data");
}

/* Answers may use the whole budget; messages that may come at any time are short. */
static bool is_too_long(const struct pgguard *g, unsigned char type, size_t len)
{
	size_t most = budget(g) - g->bytes;

	if (type == 'A' || (g->phase == PGGUARD_OPEN && budget(g) != PGGUARD_ANSWER_MAX && type != 'N' && type != 'S'))
		most = most < PGGUARD_MESSAGE_MAX ? most : PGGUARD_MESSAGE_MAX;
	return len > most;
}

/* ---- Messages ---- */

/* libpq logs notices; it stores settings and searches them linearly. */
static bool is_dropped(struct pgguard *g, unsigned char type, size_t len)
{
	if (g->phase == PGGUARD_OPEN && g->due % 2 == 1)
		return true;
	if (type == 'N')
		return len > PGGUARD_MESSAGE_MAX;
	if (type != 'S')
		return false;
	if (g->phase == PGGUARD_OPEN || len > PGGUARD_SETTINGS_MAX - g->settings)
		return true;
	g->settings += len;
	return false;
}

/* ReadyForQuery: the end of an answer. */
static void end_answer(struct pgguard *g, unsigned char status)
{
	if (g->phase == PGGUARD_LOGIN)
		return;
	if (g->due % 2 == 1 && status != 'I') {
		err_set(&g->err, ERR_TEMPORARY, "the session could not be reset (DISCARD ALL)");
		return;
	}
	if (g->due % 2 == 0 && (status != 'I' || g->bytes > WEAR_BYTES))
		g->worn = true;
	g->due -= g->listens ? 2 : 1;
	if (g->due < 2)
		g->bytes = 0;
}

/* Messages that a server may send at any time. */
static bool is_unasked(const struct pgguard *g, unsigned char type)
{
	return g->phase == PGGUARD_OPEN && g->due == 0 && !memchr("ANSE", type, 4);
}

/* The bytes of the message that must have arrived before it can be checked. */
static size_t wanted(const struct pgguard *g, unsigned char type, size_t len)
{
	if (type == 'R' && g->phase == PGGUARD_LOGIN && !g->authenticated)
		return len;
	return type == 'Z' ? READY_BYTES : HEAD_BYTES;
}

/* Checks the message that starts here. False: more of it must arrive first. */
static bool begin_message(struct pgguard *g, unsigned char *bytes, size_t have)
{
	unsigned char type = bytes[0];
	size_t len = (size_t)number(bytes + 1) + 1;

	if (len < HEAD_BYTES || len - 1 > INT32_MAX || (type == 'Z' && len != READY_BYTES)) {
		g->phase = PGGUARD_DEAF; /* libpq reports the error and closes */
		g->drops = false;
		g->left = HEAD_BYTES;
		return true;
	}
	if (is_unasked(g, type)) {
		err_set(&g->err, ERR_TEMPORARY, "the server sends an unexpected answer");
		return true;
	}
	if (is_too_long(g, type, len)) {
		refuse_length(g);
		return true;
	}
	if (wanted(g, type, len) == len && len > AUTH_MAX) {
		refuse_length(g);
		return true;
	}
	if (have < wanted(g, type, len))
		return false;
	g->drops = is_dropped(g, type, len);
	g->left = (uint32_t)len;
	g->bytes += len;
	if (type == 'R' && wanted(g, type, len) == len) {
		if (len < HEAD_BYTES + CODE_BYTES)
			return true; /* libpq refuses it */
		judge_request(g, bytes, len);
	} else if (type == 'E' && g->phase == PGGUARD_LOGIN) {
		g->complained = g->complained || !g->authenticated;
	} else if (type == 'E' && g->drops) {
		err_set(&g->err, ERR_TEMPORARY, "the session could not be reset (DISCARD ALL)");
	} else if (type == 'Z') {
		end_answer(g, bytes[READY_BYTES - 1]);
	}
	return true;
}

size_t pgguard_take(struct pgguard *g, unsigned char *bytes, size_t len, size_t *kept)
{
	size_t at = 0;

	*kept = 0;
	g->said = NULL;
	while (at < len && g->err.kind == ERR_NONE && !g->said) {
		size_t part;

		if (g->left == 0 && g->phase == PGGUARD_DEAF)
			return len;
		if (g->left == 0 && (len - at < HEAD_BYTES || !begin_message(g, bytes + at, len - at)))
			break;
		if (g->err.kind != ERR_NONE)
			break;
		part = len - at < g->left ? len - at : g->left;
		if (!g->drops) {
			memmove(bytes + *kept, bytes + at, part);
			*kept += part;
		}
		g->left -= (uint32_t)part;
		at += part;
	}
	return at;
}

void pgguard_opened(struct pgguard *g)
{
	g->phase = PGGUARD_OPEN;
	g->bytes = 0;
}

void pgguard_asked(struct pgguard *g)
{
	g->due += 2;
	g->bytes = 0;
}
