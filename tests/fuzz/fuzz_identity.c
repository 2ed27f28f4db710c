/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The exchanges of identities. The first byte chooses who we are, then each answer is a byte for
 * its status and what follows up to a NUL. From 128 on we are Google's: what comes first, up to a
 * NUL, is a key, in a file of our own, or (from 192 on) of a trigger. The answers are also words
 * and queries to sign: whatever comes, an exchange ends with a credential that can be sent, or an
 * error on one line.
 */

#include <string.h>

#include "../unit/fakes/fakekey.h"
#include "base/mem.h"
#include "fuzz.h"
#include "net/identity/awsown.h"
#include "net/identity/awsrole.h"
#include "net/identity/awssts.h"
#include "net/identity/githubapp.h"
#include "net/identity/googlekey.h"
#include "net/identity/googleown.h"
#include "net/identity/oauthclient.h"
#include "net/sign/sigv4.h"

#define GOOGLES     128 /* the first byte: from here on */
#define GOOGLE_KEYS 192

static const char *const places[][5] = {
	{ NULL },
	{ "AWS_ROLE_ARN", "r", "AWS_WEB_IDENTITY_TOKEN_FILE", "/t", NULL },
	{ "AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://h/", NULL },
};

static const char *const google_places[][3] = { { NULL }, { "GOOGLE_APPLICATION_CREDENTIALS", "/k", NULL },
	{ "CLOUDSDK_CORE_PROJECT", "p", NULL } };

static char *key; /* the content of that file; NULL: we are not Google's */

static const char *env(void *arg, const char *name)
{
	for (const char *const *at = arg; *at; at += 2)
		if (strcmp(*at, name) == 0)
			return at[1];
	return NULL;
}

static int file(void *arg, const char *path, struct buf *out, struct err *err)
{
	(void)arg;
	(void)path;
	(void)err;
	buf_puts(out, key ? key : "j.w.t");
	return 0;
}

/* Made once, as its key takes long. */
static struct identity *app(void)
{
	static struct identity *made;
	struct githubapp_config config = { .api_url = "https://g",
		.application = "1",
		.installation = "2",
		.permissions = "{}" };

	if (!made) {
		config.key_pem = fakekey_pem();
		made = githubapp_new(&config, NULL);
	}
	return made;
}

static struct identity *who(unsigned which)
{
	static const struct oauthclient_config client = { .token_url = "https://t/", .client_id = "c" };

	if (which >= GOOGLES)
		return which >= GOOGLE_KEYS ? googlekey_new(key, GOOGLEKEY_MONITORING_READ, NULL)
					    : googleown_new(GOOGLEKEY_CLOUD_PLATFORM);
	return which % 4 == 0    ? oauthclient_new(&client, NULL)
		: which % 4 == 1 ? awsrole_new("r", "arn", "x", true)
		: which % 4 == 2 ? awsown_new("r")
				 : identity_ref(app());
}

static void check_credential(const struct credential *c)
{
	must(c->life_ms >= 0);
	must(c->token || (c->key_id && c->secret && *c->secret));
	must(!c->project || googlekey_is_project(c->project));
	must(!c->token || strpbrk(c->token, " \r\n") == NULL);
	must(!c->key_id || strpbrk(c->key_id, " \r\n") == NULL);
	must(!c->session_token || strpbrk(c->session_token, " \r\n") == NULL);
}

static void check_words(const char *body)
{
	char *words = awssts_error(body, strlen(body)), *query = sigv4_query(body), *again = sigv4_query(query);

	must(words == NULL || strpbrk(words, "\r\n\t") == NULL);
	must(strcmp(query, again) == 0);
	free(words);
	free(query);
	free(again);
}

/* The next answer; false: there are no more. */
static bool take(const uint8_t **at, const uint8_t *end, struct webresponse *answer, char **body)
{
	static const int statuses[] = { 200, 201, 400, 401, 403, 404, 500, 503 };
	const uint8_t *stop;

	if (*at >= end)
		return false;
	answer->status = statuses[*(*at)++ % MEM_COUNT(statuses)];
	stop = memchr(*at, 0, (size_t)(end - *at));
	answer->len = (size_t)((stop ? stop : end) - *at);
	answer->body = *body = mem_dupn((const char *)*at, answer->len);
	*at += answer->len + (stop != NULL);
	return true;
}

static enum exchange_verdict step(struct identity_exchange *x, const uint8_t **at, const uint8_t *end,
	struct credential *got, struct err *err)
{
	static char key_id[] = "AK", secret[] = "s";
	static const struct credential own = { .key_id = key_id, .secret = secret };
	struct webrequest request = { 0 };
	struct webresponse answer = { 0 };
	bool signs = x->identity == app(); /* what it sends is always the same, and takes long */
	enum exchange_verdict verdict = signs ? EXCHANGE_SEND : identity_next(x, &request, got, err);
	char *body;

	if (signs && !x->saved)
		x->saved = mem_dup("head.claims.signature");

	if (verdict == EXCHANGE_WAIT) {
		must(!x->source);
		x->source = &own;
		return EXCHANGE_NEXT;
	}
	if (verdict == EXCHANGE_SEND && take(at, end, &answer, &body)) {
		verdict = identity_read(x, &answer, got, err);
		check_words(body);
		free(body);
	}
	webrequest_done(&request);
	return verdict;
}

/* The next piece, up to a NUL; the caller owns it. */
static char *take_text(const uint8_t **at, const uint8_t *end)
{
	const uint8_t *stop = *at < end ? memchr(*at, 0, (size_t)(end - *at)) : NULL;
	size_t len = (size_t)((stop ? stop : end) - *at);
	char *text = mem_dupn((const char *)*at, len);

	*at += len + (stop != NULL);
	return text;
}

static void exchange(struct identity *i, const struct identity_environment *environment, const uint8_t *at,
	const uint8_t *end)
{
	struct identity_exchange x = { .identity = i, .environment = environment, .unix_ms = 1700000000000 };
	enum exchange_verdict verdict = EXCHANGE_NEXT;
	struct credential got = { 0 };
	struct err err = { 0 };

	for (int n = 0; n < 2 * IDENTITY_STEPS_MAX && verdict == EXCHANGE_NEXT; n++)
		verdict = step(&x, &at, end, &got, &err);
	must(verdict != EXCHANGE_NEXT);
	if (verdict == EXCHANGE_DONE)
		check_credential(&got);
	if (verdict == EXCHANGE_FAILED)
		must(err.kind != ERR_NONE && *err.msg && strpbrk(err.msg, "\r\n\t") == NULL);
	credential_done(&got);
	identity_exchange_done(&x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned which = size > 0 ? data[0] : 0;
	const uint8_t *at = data + (size > 0), *end = data + size;
	const char *const *place = which >= GOOGLES ? google_places[which % MEM_COUNT(google_places)]
						    : places[which / 4 % MEM_COUNT(places)];
	const struct identity_environment environment = { .arg = (void *)(uintptr_t)place,
		.env = env,
		.file = file,
		.metadata = true };
	struct identity *i;

	key = which >= GOOGLES ? take_text(&at, end) : NULL;
	i = who(which);
	if (i)
		exchange(i, &environment, at, end);
	identity_unref(i);
	mem_free_ptr(&key);
	return 0;
}
