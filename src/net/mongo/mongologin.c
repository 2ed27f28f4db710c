/* SPDX-License-Identifier: Apache-2.0 */
#include "net/mongo/mongologin.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/mongo/mongocommand.h"
#include "net/sign/scram.h"

enum step { AT_START, AT_PROOF, AT_EMPTY, AT_END };

struct mongologin {
	const char *mechanism;
	char *user, *password, *source; /* password: only to keep it out of errors; may be NULL */
	struct scram *scram;            /* NULL: login by certificate */
	enum step step;
	int32_t conversation;
	char doing[64];
};

/* MongoDB's password for SCRAM-SHA-1: MD5 of "user:mongo:password", in hex. */
static void password_digest(const char *user, const char *password, char out[2 * EVP_MAX_MD_SIZE + 1])
{
	char *text = mem_printf("%s:mongo:%s", user, password);
	unsigned char md[EVP_MAX_MD_SIZE] = { 0 };
	unsigned len = 0;

	/* Without MD5 (FIPS) the digest is empty, and the server refuses the login. */
	if (EVP_Digest(text, strlen(text), md, &len, EVP_md5(), NULL) != 1)
		len = 0;
	out[0] = '\0';
	for (unsigned i = 0; i < len; i++)
		snprintf(out + 2 * i, 3, "%02x", md[i]);
	mem_wipe(md, sizeof(md));
	mem_free_secret(text);
}

static struct scram *scram_of(const struct mongologin *l, bool sha256, const char *nonce)
{
	const char *password = l->password ? l->password : "";
	char hex[2 * EVP_MAX_MD_SIZE + 1];
	struct scram *s;

	if (sha256)
		return scram_new(SCRAM_SHA256, l->user, password, nonce);
	password_digest(l->user, password, hex);
	s = scram_new(SCRAM_SHA1, l->user, hex, nonce);
	mem_wipe(hex, sizeof(hex));
	return s;
}

struct mongologin *mongologin_new(const struct mongoendpoint *e, const char *source,
	const struct mongoreply_hello *hello, const char *nonce)
{
	bool sha256 = e->mechanism == MONGOENDPOINT_SCRAM_SHA256 ||
		(e->mechanism == MONGOENDPOINT_SCRAM && hello->sha256);
	struct mongologin *l = mem_zalloc(sizeof(*l));

	l->user = mem_dup(e->username ? e->username : "");
	l->password = mem_dup(e->password);
	l->source = mem_dup(source);
	l->mechanism = e->mechanism == MONGOENDPOINT_X509 ? "MONGODB-X509" : sha256 ? "SCRAM-SHA-256" : "SCRAM-SHA-1";
	if (e->mechanism != MONGOENDPOINT_X509)
		l->scram = scram_of(l, sha256, nonce);
	snprintf(l->doing, sizeof(l->doing), "logging in (%s)", l->mechanism);
	return l;
}

void mongologin_free(struct mongologin *l)
{
	if (!l)
		return;
	mem_free_secret(l->user);
	mem_free_secret(l->password);
	free(l->source);
	scram_free(l->scram);
	free(l);
}

void mongologin_start(struct mongologin *l, int32_t number, struct buf *out)
{
	char *message;

	if (!l->scram) {
		mongocommand_x509(out, number, *l->user ? l->user : NULL);
		return;
	}
	message = scram_first(l->scram);
	mongocommand_sasl_start(out, number, l->source, l->mechanism, message);
	mem_free_secret(message);
}

/* Takes the server's first message; the proof follows. */
static int take_first(struct mongologin *l, const struct mongoreply_sasl *answer, struct err *err)
{
	if (scram_take(l->scram, answer->message, answer->len, err))
		return err_wrap(err, "%s", l->doing);
	l->conversation = answer->conversation;
	return MONGOLOGIN_SALT;
}

struct scram *mongologin_scram(const struct mongologin *l)
{
	return l->scram;
}

int mongologin_prove(struct mongologin *l, int32_t number, struct buf *out, struct err *err)
{
	char *message = scram_final(l->scram, err);

	if (!message)
		return err_wrap(err, "%s", l->doing);
	mongocommand_sasl_continue(out, number, l->source, l->conversation, message);
	mem_free_secret(message);
	l->step = AT_PROOF;
	return 1;
}

/*
 * Takes the server's last message: logged in, except that servers before 4.4 want one more, empty
 * message.
 */
static int judge_proof(struct mongologin *l, const struct mongoreply_sasl *answer, int32_t number, struct buf *out,
	struct err *err)
{
	if (scram_verify(l->scram, answer->message, answer->len, err))
		return err_wrap(err, "%s", l->doing);
	l->step = answer->done ? AT_END : AT_EMPTY;
	if (answer->done)
		return 0;
	mongocommand_sasl_continue(out, number, l->source, answer->conversation, "");
	return 1;
}

int mongologin_step(struct mongologin *l, struct mongowire_document document, int32_t number, struct buf *out,
	struct err *err)
{
	struct mongoreply_status status;
	struct mongoreply_sasl answer;

	if (mongoreply_status(document, &status, err))
		return err_wrap(err, "%s", l->doing);
	if (!status.ok)
		return mongoreply_refused(&status, l->doing, l->password, err);
	if (!l->scram)
		return 0;
	if (mongoreply_sasl(document, &answer, err))
		return err_wrap(err, "%s", l->doing);
	switch (l->step) {
	case AT_START: return take_first(l, &answer, err);
	case AT_PROOF: return judge_proof(l, &answer, number, out, err);
	default: break;
	}
	if (!answer.done)
		return err_set(err, ERR_DENIED, "%s: the server asks for one step more than the mechanism has",
			l->doing);
	return 0;
}
