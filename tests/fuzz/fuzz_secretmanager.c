/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a secret manager says. The first byte chooses the manager and the status; the rest is the
 * answer, and also a value of which a member is wanted, and the name of a secret: whatever comes,
 * there is a value, or an error on one line that names the secret; and what is asked for stays on
 * one path.
 */

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "fuzz.h"
#include "net/secretmanagers/awssecrets.h"
#include "net/secretmanagers/googlesecrets.h"
#include "net/secretmanagers/keyvault.h"

static const struct secretmanager *const managers[] = { &awssecrets, &keyvault, &googlesecrets };

static void check_error(const struct err *err)
{
	must(err->kind != ERR_NONE && *err->msg && strpbrk(err->msg, "\r\n\t") == NULL);
}

static void check_answer(const struct secretmanager *m, int status, const char *body, size_t len)
{
	const struct secretmanager_secret s = { .endpoint = "https://s", .name = "n" };
	const struct webresponse answer = { .status = status, .body = body, .len = len };
	struct err err = { 0 };
	char *value = NULL;

	if (secretmanager_read(m, &s, &answer, &value, &err) == 0)
		must(status == 200 && value);
	else
		check_error(&err);
	mem_free_secret(value);
}

/* The value is JSON, or is none. */
static void check_member(const char *value)
{
	json_t *whole = json_parse_foreign(value, strlen(value), NULL);
	struct err err = { 0 };
	char *member = NULL;

	if (awssecrets.member(whole, "p", &member, &err) == 0)
		must(member != NULL);
	else
		check_error(&err);
	mem_free_secret(member);
	json_decref(whole);
}

static void check_request(const struct secretmanager *m, const char *name)
{
	const struct secretmanager_secret s = { .endpoint = "https://s",
		.project = "p",
		.name = name,
		.version = name };
	struct webrequest r = { 0 };
	struct err err = { 0 };

	if (m->request(&s, &r, &err))
		must(r.url == NULL && err.kind == ERR_INVALID);
	else
		must(strstr(r.url, "..") == NULL && strpbrk(r.url, "#@ \r\n") == NULL);
	webrequest_done(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int statuses[] = { 200, 200, 400, 401, 403, 404, 429, 500 };
	unsigned which = size > 0 ? data[0] : 0;
	const struct secretmanager *m = managers[which % MEM_COUNT(managers)];
	char *text = mem_dupn((const char *)data + (size > 0), size - (size > 0));

	check_answer(m, statuses[which / MEM_COUNT(managers) % MEM_COUNT(statuses)], text, size - (size > 0));
	check_member(text);
	check_request(m, text);
	free(text);
	return 0;
}
