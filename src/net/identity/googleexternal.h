/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_GOOGLEEXTERNAL_H
#define NET_IDENTITY_GOOGLEEXTERNAL_H

/*
 * Workload identity federation: who runs elsewhere (another cloud, a cluster of one's own) is
 * somebody at Google by a token of that place, with no key of Google's. The file that the console
 * hands out (type external_account) says where this token is, in a file or at a URL, and who
 * exchanges it: Google's token service, and then, where a service account is named, IAM for a token
 * of that account. Pure; googleown takes the steps.
 *
 * The file is kscaled's own: whoever runs it wrote it, so its addresses are asked as they stand
 * there, but for a token Google's are asked by TLS alone. Tokens that a program prints, and those
 * that are made of requests signed for AWS, are refused by name; so is what is for people, not
 * programs (workforce pools).
 */

#include <stdbool.h>

#include "net/identity/identity.h"

struct googleexternal { /* empty when zeroed; owns its texts */
	char *audience, *token_type, *token_url;
	char *account_url;     /* NULL: the exchanged token is used itself */
	int64_t account_for_s; /* life of the account's token */
	char *file, *url;      /* of the token of that place; one of both */
	struct strmap headers; /* for the URL */
	char *member;          /* of JSON that is the token; NULL: the whole text is */
};
void googleexternal_done(struct googleexternal *g); /* wipes */

bool googleexternal_is(const char *text);

/* Into an empty one. -1 with ERR_INVALID, which quotes nothing. */
int googleexternal_read(const char *text, struct googleexternal *out, struct err *err);

/* The file with the token, which the caller owns; NULL: there is none. For src/sandbox. */
char *googleexternal_file(const char *text);

/* ---- The steps ---- */

/* The token of that place, out of a file or an answer; the caller owns it (a secret). */
char *googleexternal_subject(const struct googleexternal *g, const char *content, size_t len, struct err *err);
/* For it. */
void googleexternal_ask_place(const struct googleexternal *g, struct webrequest *out);
/* For Google's in exchange. */
void googleexternal_ask_google(const struct googleexternal *g, const char *subject, const char *scope,
	struct webrequest *out);
/* For the account's, with Google's. */
void googleexternal_ask_account(const struct googleexternal *g, const char *token, const char *scope,
	struct webrequest *out);
int googleexternal_read_account(const struct webresponse *answer, int64_t unix_ms, struct credential *out,
	struct err *err);

#endif
