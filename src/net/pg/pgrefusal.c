/* SPDX-License-Identifier: Apache-2.0 */
#include "net/pg/pgrefusal.h"

#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/* The first two are messages of Azure's servers. */
bool pgrefusal_is_of_token(const char *text)
{
	return strcasestr(text, "access token") || strcasestr(text, "token for role") ||
		strcasestr(text, "password authentication failed");
}

/* Messages in other languages are ERR_TEMPORARY, which only costs a few attempts. */
enum err_kind pgrefusal_of_login(const char *text)
{
	static const char *const denials[] = { "authentication failed", "no pg_hba.conf entry", "no password supplied",
		"does not exist", "permission denied", "requires a valid client certificate",
		"certificate verify failed", "no such user", "SASL", NULL };

	return text_has_one_of(text, denials) || pgrefusal_is_of_token(text) ? ERR_DENIED : ERR_TEMPORARY;
}

/* pgbouncer: "unsupported startup parameter: options"; other poolers use other words. */
bool pgrefusal_is_of_options(const char *text)
{
	return strcasestr(text, "startup parameter") || strcasestr(text, "command-line option") ||
		strcasestr(text, "statement_timeout") || strcasestr(text, "startup option");
}

bool pgrefusal_is_state(const char *text)
{
	return text && strlen(text) == 5 && strspn(text, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 5;
}

enum err_kind pgrefusal_of_state(const char *state)
{
	static const struct {
		const char *prefix;
		enum err_kind kind;
	} kinds[] = {
		{ "28", ERR_DENIED },
		{ "42501", ERR_DENIED },
		{ "3D", ERR_MISSING },
		{ "0A", ERR_INVALID },
		{ "21", ERR_INVALID },
		{ "22", ERR_INVALID },
		{ "25006", ERR_INVALID },
		{ "42", ERR_INVALID },
	};

	for (size_t i = 0; i < MEM_COUNT(kinds); i++) {
		if (text_begins(state, kinds[i].prefix))
			return kinds[i].kind;
	}
	return ERR_TEMPORARY;
}
