/* SPDX-License-Identifier: Apache-2.0 */
#include "net/kafka/kafkasasl.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/sign/scram.h"

#define WORDS_MAX 200

static const char *const names[] = {
	[KAFKASASL_NONE] = "none",
	[KAFKASASL_PLAIN] = "PLAIN",
	[KAFKASASL_SCRAM_SHA256] = "SCRAM-SHA-256",
	[KAFKASASL_SCRAM_SHA512] = "SCRAM-SHA-512",
	[KAFKASASL_OAUTHBEARER] = "OAUTHBEARER",
	[KAFKASASL_AWS_MSK_IAM] = "AWS_MSK_IAM",
};

struct kafkasasl {
	enum kafkasasl_mechanism mechanism;
	char *username, *password, *token, *within; /* owned, secrets */
	struct strmap extensions;
	struct scram *scram; /* NULL for others */
	unsigned steps;      /* answers taken */
};

const char *kafkasasl_name(enum kafkasasl_mechanism m)
{
	return names[m];
}

static bool is_scram(enum kafkasasl_mechanism m)
{
	return m == KAFKASASL_SCRAM_SHA256 || m == KAFKASASL_SCRAM_SHA512;
}

struct kafkasasl *kafkasasl_new(const struct kafkasasl_login *login)
{
	struct kafkasasl *s = mem_zalloc(sizeof(*s));

	s->mechanism = login->mechanism;
	s->username = mem_dup(login->username ? login->username : "");
	s->password = mem_dup(login->password ? login->password : "");
	s->token = mem_dup(login->token ? login->token : "");
	s->within = mem_dup(login->within ? login->within : "");
	if (login->extensions)
		strmap_copy(&s->extensions, login->extensions);
	if (is_scram(s->mechanism))
		s->scram = scram_new(s->mechanism == KAFKASASL_SCRAM_SHA512 ? SCRAM_SHA512 : SCRAM_SHA256, s->username,
			s->password, login->nonce);
	return s;
}

void kafkasasl_free(struct kafkasasl *s)
{
	if (!s)
		return;
	mem_free_secret(s->username);
	mem_free_secret(s->password);
	mem_free_secret(s->token);
	mem_free_secret(s->within);
	strmap_done_secret(&s->extensions);
	scram_free(s->scram);
	free(s);
}

/* Whether a text from the broker contains a secret. */
static bool has_secret(const struct kafkasasl *s, const char *words)
{
	const char *const secrets[] = { s->password, s->token, s->within };

	for (size_t i = 0; i < MEM_COUNT(secrets); i++)
		if (*secrets[i] && strstr(words, secrets[i]))
			return true;
	return false;
}

int kafkasasl_judge_handshake(const struct kafkasasl *s, const struct kafkamessages_handshake *h, struct err *err)
{
	char room[32];

	if (h->error == KAFKA_OK)
		return 0;
	if (h->error == KAFKA_UNSUPPORTED_MECHANISM)
		return err_set(err, ERR_DENIED,
			"SaslHandshake: the broker does not offer %s on this listener; it offers %s",
			names[s->mechanism],
			!*h->mechanisms || has_secret(s, h->mechanisms) ? "nothing" : h->mechanisms);
	return err_set(err, ERR_DENIED, "SaslHandshake: %s%s", kafkamessages_error(h->error, room),
		h->error == 34 ? "; set sasl to none, or name the listener that has SASL" : "");
}

/* ---- Our messages ---- */

static int put_message(struct kafkasasl *s, struct buf *out, struct err *err)
{
	char *text;

	switch (s->mechanism) {
	case KAFKASASL_PLAIN:
		buf_putc(out, '\0');
		buf_puts(out, s->username);
		buf_putc(out, '\0');
		buf_puts(out, s->password);
		break;
	case KAFKASASL_SCRAM_SHA256:
	case KAFKASASL_SCRAM_SHA512:
		text = scram_first(s->scram);
		buf_puts(out, text);
		mem_free_secret(text);
		break;
	case KAFKASASL_OAUTHBEARER:
		buf_printf(out, "n,,\001auth=Bearer %s\001", s->token);
		for (size_t i = 0; i < s->extensions.count; i++)
			buf_printf(out, "%s=%s\001", s->extensions.pairs[i].key, s->extensions.pairs[i].value);
		buf_putc(out, '\001');
		break;
	case KAFKASASL_AWS_MSK_IAM: buf_puts(out, s->token); break;
	case KAFKASASL_NONE: break;
	}
	return buf_failed(out) ? err_set(err, ERR_INVALID, "SaslAuthenticate: the credentials are too long") : 0;
}

int kafkasasl_start(struct kafkasasl *s, struct buf *out, struct err *err)
{
	return put_message(s, out, err);
}

/* ---- The broker's messages ---- */

/* Text for messages: no control characters, bounded length. */
static char *printable_text(struct kafkawire_text text)
{
	char *words = mem_dupn(text.data ? text.data : "", text.len < WORDS_MAX ? text.len : WORDS_MAX);

	for (char *c = words; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
	return words; /* err_set replaces invalid UTF-8 */
}

static int explain_refusal(const struct kafkasasl *s, const struct kafkamessages_authenticate *answer, struct err *err)
{
	MEM_AUTO char *all = mem_dupn(answer->message.data ? answer->message.data : "", answer->message.len);
	MEM_AUTO char *words = printable_text(answer->message);
	char room[32];

	if (has_secret(s, all))
		return err_set(err, ERR_DENIED,
			"SaslAuthenticate (%s): refused; the broker's words repeat the secret, so they are not shown",
			names[s->mechanism]);
	return err_set(err, ERR_DENIED, "SaslAuthenticate (%s): %s", names[s->mechanism],
		*words ? words : kafkamessages_error(answer->error, room));
}

static int step_scram(struct kafkasasl *s, struct kafkawire_text bytes, struct err *err)
{
	const char *data = bytes.data ? bytes.data : "";

	if (s->steps > 1)
		return scram_verify(s->scram, data, bytes.len, err) ? err_wrap(err, "SaslAuthenticate") : 0;
	return scram_take(s->scram, data, bytes.len, err) ? err_wrap(err, "SaslAuthenticate") : KAFKASASL_SALT;
}

struct scram *kafkasasl_scram(const struct kafkasasl *s)
{
	return s->scram;
}

int kafkasasl_prove(struct kafkasasl *s, struct buf *out, struct err *err)
{
	char *text = scram_final(s->scram, err);

	if (!text)
		return err_wrap(err, "SaslAuthenticate");
	buf_puts(out, text);
	mem_free_secret(text);
	return 1;
}

int kafkasasl_step(struct kafkasasl *s, const struct kafkamessages_authenticate *answer, struct buf *out,
	struct err *err)
{
	s->steps++;
	if (answer->error)
		return explain_refusal(s, answer, err);
	if (s->scram)
		return step_scram(s, answer->bytes, err);
	/* AWS_MSK_IAM answers with a version and a request id, which need no reply. */
	if (answer->bytes.len == 0 || s->mechanism == KAFKASASL_AWS_MSK_IAM)
		return 0;
	if (s->mechanism != KAFKASASL_OAUTHBEARER || s->steps > 1)
		return err_set(err, ERR_DENIED,
			"SaslAuthenticate (%s): the broker asks for one step more than the mechanism has",
			names[s->mechanism]);
	/*
	 * The answer says why the token was rejected. The broker refuses the login only once that
	 * is acknowledged (RFC 7628, 3.2.3).
	 */
	buf_putc(out, '\001');
	return 1;
}
