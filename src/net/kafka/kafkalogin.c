/* SPDX-License-Identifier: Apache-2.0 */
#include "net/kafka/kafkalogin.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/fingerprint.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "net/sign/mskiam.h"

/* The token that the login sends, or NULL. The caller owns it. */
static char *make_token(const struct kafkaendpoint *e, const struct credential *c, const char *host)
{
	const struct sigv4_key key = { .region = e->region,
		.key_id = c->key_id,
		.secret = c->secret,
		.session_token = c->session_token };
	int64_t unix_s = timestamp_now_ms() / 1000;

	if (!e->region || !key.key_id || !key.secret)
		return mem_dup(c->token);
	return e->mechanism == KAFKASASL_AWS_MSK_IAM ? mskiam_payload(&key, host, unix_s) : mskiam_token(&key, unix_s);
}

struct kafkasasl *kafkalogin_new(const struct kafkaendpoint *e, const struct credential *credential, const char *host)
{
	char nonce[2 * 16 + 1];
	char *token = make_token(e, credential, host);
	struct kafkasasl *s;

	snprintf(nonce, sizeof(nonce), "%016" PRIx64 "%016" PRIx64, fingerprint_random(), fingerprint_random());
	s = kafkasasl_new(&(struct kafkasasl_login){
		.mechanism = e->mechanism,
		.username = e->username,
		.password = e->password,
		.nonce = nonce,
		.token = token,
		.within = credential->session_token,
		.extensions = &e->extensions,
	});
	mem_free_secret(token);
	return s;
}
