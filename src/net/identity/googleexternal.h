/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_GOOGLEEXTERNAL_H
#define NET_IDENTITY_GOOGLEEXTERNAL_H

/*
 * Workload identity federation: kscaled runs elsewhere (in another cloud, on premises) and
 * authenticates at Google with a token of that place, without a Google key. The file from the
 * console (type external_account) says where this token is, in a file or at a URL, and which
 * servers exchange it: Google's token service, then IAM if a service account is to be impersonated.
 * Pure; googleown takes the steps.
 *
 * The administrator wrote the file, so its addresses are not checked, except that Google's must be
 * https. Tokens printed by a program, tokens made of signed AWS requests, and workforce pools (for
 * people) are refused by name.
 */

#include <stdbool.h>

#include "net/identity/identity.h"

struct googleexternal { /* empty when zeroed; owns its texts */
	char *audience, *token_type, *token_url;
	char *account_url;     /* NULL: no impersonation */
	int64_t account_for_s; /* of the account's token */
	char *file, *url;      /* of the external token; exactly one is set */
	struct strmap headers; /* for the URL */
	char *member;          /* the JSON member that is the token; NULL: the whole text is */
};
void googleexternal_done(struct googleexternal *g); /* wipes */

bool googleexternal_is(const char *text);

/* Into an empty one. -1 with ERR_INVALID, which quotes nothing. */
int googleexternal_read(const char *text, struct googleexternal *out, struct err *err);

/* The path of the token's file, which the caller owns; NULL: none. For src/sandbox. */
char *googleexternal_file(const char *text);

/* ---- The steps ---- */

/* The external token from a file's or response's content; the caller owns it (a secret). */
char *googleexternal_subject(const struct googleexternal *g, const char *content, size_t len, struct err *err);
/* Asks the URL for the external token. */
void googleexternal_ask_source(const struct googleexternal *g, struct webrequest *out);
/* Exchanges it for Google's. */
void googleexternal_ask_sts(const struct googleexternal *g, const char *subject, const char *scope,
	struct webrequest *out);
/* Asks for the account's with Google's. */
void googleexternal_ask_account(const struct googleexternal *g, const char *token, const char *scope,
	struct webrequest *out);
int googleexternal_read_account(const struct webresponse *answer, int64_t unix_ms, struct credential *out,
	struct err *err);

#endif
