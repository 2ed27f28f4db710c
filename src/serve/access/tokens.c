/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/access/tokens.h"

#include <stdlib.h>
#include <string.h>

#include "base/fingerprint.h"
#include "base/mem.h"

#define KEEP_MS     10000
#define MAX_ENTRIES 1024
#define MAX_ASKING  64 /* a flood of made-up tokens takes so much of the API server, and no more */

struct tokens {
	struct kube *kube;
	struct verdicts *verdicts;
};

static void on_review(void *arg, const struct review_user *user, const struct err *err)
{
	if (err)
		verdicts_fail(arg, err);
	else
		verdicts_settle(arg, user != NULL, user, NULL);
}

static struct kube_call *start(void *owner, const void *question, struct verdicts_entry *entry)
{
	struct tokens *t = owner;

	return review_token(t->kube, question, on_review, entry);
}

struct tokens *tokens_new(struct kube *kube)
{
	struct verdicts_config config = { .keep_ms = KEEP_MS, .max_entries = MAX_ENTRIES, .max_asking = MAX_ASKING };
	struct tokens *t = mem_zalloc(sizeof(*t));

	t->kube = kube;
	t->verdicts = verdicts_new(kube_loop(kube), &config, start, t);
	return t;
}

void tokens_free(struct tokens *t)
{
	if (!t)
		return;
	verdicts_free(t->verdicts);
	free(t);
}

const struct verdict *tokens_peek(struct tokens *t, const char *token)
{
	char key[FINGERPRINT_TEXT];

	fingerprint_of(&token, 1, key);
	return verdicts_peek(t->verdicts, key, strlen(key));
}

struct verdicts_wait *tokens_ask(struct tokens *t, const char *token, verdicts_fn fn, void *arg)
{
	char key[FINGERPRINT_TEXT];

	fingerprint_of(&token, 1, key);
	return verdicts_ask(t->verdicts, key, strlen(key), token, fn, arg);
}
