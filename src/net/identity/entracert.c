/* SPDX-License-Identifier: Apache-2.0 */
#include "net/identity/entracert.h"

#include <inttypes.h>
#include <stdio.h>

#include <jansson.h>

#include "base/base64.h"
#include "base/fingerprint.h"
#include "base/mem.h"
#include "net/sign/jwt.h"
#include "net/tls/privatekey.h"
#include "net/tls/x509.h"

/* Allows for clock skew. Microsoft recommends a life of 5 to 10 minutes. */
#define BEGINS_S (-60)
#define ENDS_S   480

/* A UUID of version 4, as Microsoft requires. */
static void random_number(char out[37])
{
	uint64_t high = fingerprint_random(), low = fingerprint_random();

	snprintf(out, 37, "%08" PRIx64 "-%04" PRIx64 "-4%03" PRIx64 "-%04" PRIx64 "-%012" PRIx64, high >> 32,
		high >> 16 & 0xffff, high & 0xfff, 0x8000 | (low >> 48 & 0x3fff), low & UINT64_C(0xffffffffffff));
}

static json_t *claims_of(const char *client_id, const char *audience, int64_t unix_s)
{
	char number[37];

	random_number(number);
	return json_pack("{ss ss ss ss sI sI sI}", "aud", audience, "iss", client_id, "sub", client_id, "jti", number,
		"nbf", (json_int_t)(unix_s + BEGINS_S), "iat", (json_int_t)(unix_s + BEGINS_S), "exp",
		(json_int_t)(unix_s + ENDS_S));
}

char *entracert_assertion(const char *pem, const char *password, const char *client_id, const char *audience,
	int64_t unix_ms, struct err *err)
{
	char *plain = password && *password ? privatekey_plain(pem, password, err) : NULL, *assertion = NULL;
	uint8_t thumbprint[X509_THUMBPRINT];

	if ((plain || !password || !*password) && x509_thumbprint(pem, thumbprint, err) == 0) {
		MEM_AUTO char *known_by = base64_encode_url(thumbprint, sizeof(thumbprint));
		json_t *header = json_pack("{ss}", "x5t#S256", known_by);
		json_t *claims = claims_of(client_id, audience, unix_ms / 1000);

		assertion = jwt_sign(JWT_PS256, header, claims, plain ? plain : pem, err);
		json_decref(header);
		json_decref(claims);
	}
	mem_free_secret(plain);
	return assertion;
}
