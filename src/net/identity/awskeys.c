/* SPDX-License-Identifier: Apache-2.0 */
#include "net/identity/awskeys.h"

#include "base/mem.h"
#include "net/identity/identity_parts.h"

enum { KEY_ID, SECRET, SESSION_TOKEN };

static enum exchange_verdict awskeys_next(struct identity_exchange *x, struct webrequest *out, struct credential *got,
	struct err *err)
{
	(void)out;
	(void)err;
	got->key_id = mem_dup(identity_text(x->identity, KEY_ID));
	got->secret = mem_dup(identity_text(x->identity, SECRET));
	got->session_token = mem_dup(identity_text(x->identity, SESSION_TOKEN));
	return EXCHANGE_DONE;
}

static const struct identity_kind awskeys = { .name = "aws keys",
	.label = "AWS keys",
	.sent = 1u << SESSION_TOKEN,
	.next = awskeys_next };

static int check(const char *text, const char *name, struct err *err)
{
	return !text || identity_is_token(text)
		? 0
		: err_set(err, ERR_INVALID, "%s contains a blank, a line break or another invalid character", name);
}

struct identity *awskeys_new(const char *key_id, const char *secret, const char *session_token, struct err *err)
{
	const struct identity_config config = { .kind = &awskeys,
		.texts = { [KEY_ID] = key_id, [SECRET] = secret, [SESSION_TOKEN] = session_token } };

	if (check(key_id, "the AWS access key id", err) || check(secret, "the AWS secret access key", err) ||
		check(session_token, "the AWS session token", err))
		return NULL;
	return identity_new(&config);
}
