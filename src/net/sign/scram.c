/* SPDX-License-Identifier: Apache-2.0 */
#include "net/sign/scram.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/sign/pbkdf2.h"

#define SALT_MAX                  1024
#define NO_CHANNEL_BINDING        "n,,"
#define NO_CHANNEL_BINDING_BASE64 "biws"

struct scram {
	const EVP_MD *md;
	size_t size; /* of the hash */
	char *user, *password, *nonce;
	/* of the server's first message; NULL before it */
	char *salt, *whole_nonce, *auth_message; /* RFC 5802's AuthMessage, which both sides sign */
	size_t salt_len;
	int iterations;
	struct pbkdf2 *salting;     /* NULL: not started */
	struct scram_memory salted; /* of: set with the salt; salted: valid once is_salted */
	bool is_salted, cannot, few;
	unsigned char signature[EVP_MAX_MD_SIZE]; /* expected from the server */
	bool expects;                             /* signature is set */
};

static const EVP_MD *md_of(enum scram_hash hash)
{
	switch (hash) {
	case SCRAM_SHA1: return EVP_sha1();
	case SCRAM_SHA512: return EVP_sha512();
	default: return EVP_sha256();
	}
}

struct scram *scram_new(enum scram_hash hash, const char *user, const char *password, const char *nonce)
{
	struct scram *s = mem_zalloc(sizeof(*s));

	s->md = md_of(hash);
	s->size = (size_t)EVP_MD_get_size(s->md);
	s->user = mem_dup(user);
	s->password = mem_dup(password);
	s->nonce = mem_dup(nonce);
	return s;
}

void scram_free(struct scram *s)
{
	if (!s)
		return;
	mem_free_secret(s->user);
	mem_free_secret(s->password);
	mem_free_secret(s->nonce);
	mem_free_secret(s->whole_nonce);
	mem_free_secret(s->auth_message);
	free(s->salt);
	pbkdf2_free(s->salting);
	mem_wipe(s, sizeof(*s));
	free(s);
}

/* ---- Messages ---- */

/* "n=user,r=nonce": client-first-message-bare. Commas and equals signs are escaped. */
static void put_bare_first(const struct scram *s, struct buf *out)
{
	buf_puts(out, "n=");
	for (const char *c = s->user; *c; c++) {
		if (*c == ',')
			buf_puts(out, "=2C");
		else if (*c == '=')
			buf_puts(out, "=3D");
		else
			buf_putc(out, *c);
	}
	buf_printf(out, ",r=%s", s->nonce);
}

/* Large enough for any message, as growing would leave copies of the secret behind. */
static struct buf message_buf(const struct scram *s)
{
	struct buf out = BUF_INIT(3 * strlen(s->user) + strlen(s->nonce) + 4 * SCRAM_MESSAGE_MAX);

	buf_reserve(&out, out.cap);
	return out;
}

void scram_allow_few(struct scram *s)
{
	s->few = true;
}

char *scram_first(const struct scram *s)
{
	struct buf out = message_buf(s);

	buf_puts(&out, NO_CHANNEL_BINDING);
	put_bare_first(s, &out);
	return buf_take(&out);
}

/*
 * The value of attribute "x=..." at *at; terminates it and moves *at behind it. NULL: another
 * attribute.
 */
static char *take_attribute(char **at, char name)
{
	char *value = *at, *comma;

	if (!value || value[0] != name || value[1] != '=')
		return NULL;
	comma = strchr(value, ',');
	if (comma)
		*comma++ = '\0';
	*at = comma;
	return value + 2;
}

static int refuse(struct err *err, const char *why)
{
	return err_set(err, ERR_DENIED, "SCRAM: %s", why);
}

/* A copy of the message as text, which the caller owns; NULL with err. */
static char *read_text(const char *message, size_t len, struct err *err)
{
	if (len <= SCRAM_MESSAGE_MAX && !memchr(message, '\0', len))
		return mem_dupn(message, len);
	refuse(err, "the server's message makes no sense");
	return NULL;
}

/* ---- The server's first message ---- */

static int read_iterations(const char *text, bool few, int *out, struct err *err)
{
	if (!*text || text[strspn(text, "0123456789")] || strlen(text) > 9)
		return refuse(err, "the server's message makes no sense");
	*out = atoi(text);
	if (*out < (few ? 1 : SCRAM_ITERATIONS_MIN))
		return err_set(err, ERR_DENIED,
			"SCRAM: the server asks for %d iterations, too few to protect a password: at least %d are "
			"needed",
			*out, SCRAM_ITERATIONS_MIN);
	if (*out > SCRAM_ITERATIONS_MAX)
		return err_set(err, ERR_DENIED, "SCRAM: the server asks for %d iterations, more than %d", *out,
			SCRAM_ITERATIONS_MAX);
	return 0;
}

/* AuthMessage: both first messages, and our last without its proof. */
static char *make_auth_message(const struct scram *s, const char *message, size_t len)
{
	struct buf out = message_buf(s);

	put_bare_first(s, &out);
	buf_putc(&out, ',');
	buf_append(&out, message, len);
	buf_printf(&out, ",c=" NO_CHANNEL_BINDING_BASE64 ",r=%s", s->whole_nonce);
	return buf_take(&out);
}

static void name_salted(struct scram *s, const char *salt)
{
	char iterations[16];
	const char *const of[] = { EVP_MD_get0_name(s->md), s->password, salt, iterations };

	snprintf(iterations, sizeof(iterations), "%d", s->iterations);
	fingerprint_of(of, MEM_COUNT(of), s->salted.of);
}

int scram_take(struct scram *s, const char *message, size_t len, struct err *err)
{
	MEM_AUTO char *text = read_text(message, len, err);
	char *at = text, *nonce, *salt, *iterations;

	if (!text || s->auth_message)
		return text ? refuse(err, "the server's message makes no sense") : -1;
	nonce = take_attribute(&at, 'r');
	salt = take_attribute(&at, 's');
	iterations = take_attribute(&at, 'i');
	/* A mandatory extension ("m=") would come first, so it fails here, too. */
	if (!nonce || !salt || !iterations)
		return refuse(err, "the server's message makes no sense");
	if (!text_begins(nonce, s->nonce) || strlen(nonce) == strlen(s->nonce))
		return refuse(err, "the server's nonce does not begin with ours");
	free(s->salt);
	s->salt = base64_decode(salt, &s->salt_len);
	if (!s->salt || s->salt_len == 0 || s->salt_len > SALT_MAX)
		return refuse(err, "the server's salt makes no sense");
	if (read_iterations(iterations, s->few, &s->iterations, err))
		return -1;
	s->whole_nonce = mem_dup(nonce);
	s->auth_message = make_auth_message(s, message, len);
	name_salted(s, salt);
	return 0;
}

/* ---- Salting ---- */

void scram_forget(struct scram_memory *m)
{
	mem_wipe(m, sizeof(*m));
}

static void take_salted(struct scram *s, const unsigned char *salted)
{
	memcpy(s->salted.salted, salted, s->size);
	s->is_salted = true;
	pbkdf2_free(s->salting);
	s->salting = NULL;
}

bool scram_salt(struct scram *s, struct scram_memory *memory, unsigned iterations)
{
	if (s->is_salted || s->cannot || !s->auth_message)
		return true;
	if (strcmp(memory->of, s->salted.of) == 0) {
		take_salted(s, memory->salted);
		return true;
	}
	if (!s->salting)
		s->salting = pbkdf2_new(s->md, s->password, s->salt, s->salt_len, (unsigned)s->iterations);
	if (!s->salting) {
		s->cannot = true;
		return true;
	}
	if (!pbkdf2_run(s->salting, iterations))
		return false;
	take_salted(s, pbkdf2_result(s->salting));
	*memory = s->salted;
	return true;
}

/* ---- Proofs ---- */

static bool hmac(const struct scram *s, const unsigned char *key, const char *text, unsigned char *out)
{
	return HMAC(s->md, key, (int)s->size, (const unsigned char *)text, strlen(text), out, NULL) != NULL;
}

/* proof: client key XOR client signature. Also computes the server's expected signature. */
static bool prove(struct scram *s, unsigned char *proof)
{
	const unsigned char *salted = s->salted.salted;
	unsigned char key[EVP_MAX_MD_SIZE], stored[EVP_MAX_MD_SIZE], signature[EVP_MAX_MD_SIZE];
	bool done = s->is_salted && hmac(s, salted, "Client Key", key) &&
		EVP_Digest(key, s->size, stored, NULL, s->md, NULL) == 1 && hmac(s, stored, s->auth_message, signature);

	for (size_t i = 0; done && i < s->size; i++)
		proof[i] = key[i] ^ signature[i];
	done = done && hmac(s, salted, "Server Key", key) && hmac(s, key, s->auth_message, s->signature);
	s->expects = done;
	mem_wipe(key, sizeof(key));
	mem_wipe(stored, sizeof(stored));
	mem_wipe(signature, sizeof(signature));
	return done;
}

char *scram_final(struct scram *s, struct err *err)
{
	MEM_AUTO char *encoded = NULL;
	unsigned char proof[EVP_MAX_MD_SIZE];
	struct buf out;

	if (!prove(s, proof)) {
		err_set(err, ERR_BUG, "SCRAM: the proof cannot be computed");
		return NULL;
	}
	encoded = base64_encode(proof, s->size);
	out = message_buf(s);
	buf_printf(&out, "c=" NO_CHANNEL_BINDING_BASE64 ",r=%s,p=%s", s->whole_nonce, encoded);
	return buf_take(&out);
}

int scram_verify(struct scram *s, const char *message, size_t len, struct err *err)
{
	MEM_AUTO char *text = read_text(message, len, err), *signature = NULL;
	char *at = text, *value;
	size_t size = 0;

	if (!text)
		return -1;
	if (text_begins(text, "e="))
		return refuse(err, "the server refuses the password");
	value = take_attribute(&at, 'v');
	signature = value ? base64_decode(value, &size) : NULL;
	if (!s->expects || !signature || size != s->size || CRYPTO_memcmp(signature, s->signature, size) != 0)
		return refuse(err, "the server does not prove that it knows the password");
	return 0;
}
