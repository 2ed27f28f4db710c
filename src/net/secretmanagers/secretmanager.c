/* SPDX-License-Identifier: Apache-2.0 */
#include "net/secretmanagers/secretmanager.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/http/httpstatus.h"

#define WORDS_SHOWN 300

int secretmanager_check(const struct secretmanager *m, const struct secretmanager_secret *s, struct err *err)
{
	struct secretmanager_secret named = *s;
	struct webrequest request = { 0 };
	int rc;

	/* The identity's project is not known yet. */
	if (m->needs_project && !text_is_given(named.project))
		named.project = "project";
	rc = m->request(&named, &request, err);
	webrequest_done(&request);
	return rc;
}

int secretmanager_read(const struct secretmanager *m, const struct secretmanager_secret *s,
	const struct webresponse *answer, char **value, struct err *err)
{
	json_t *body = answer->status == 200 ? json_parse_foreign(answer->body, answer->len, NULL) : NULL;
	int rc = body                   ? m->take(body, value, err)
		: answer->status == 200 ? err_set(err, ERR_INVALID, "the answer is not JSON")
					: m->refused(answer, err);

	json_decref(body);
	return rc ? err_wrap(err, "secret %.200s", s->name) : 0;
}

char *secretmanager_text(const json_t *value, const char *what, struct err *err)
{
	const char *text = json_string_value(value);

	if (text && strlen(text) == json_string_length(value))
		return mem_dup(text);
	err_set(err, ERR_INVALID, "%s %s", what, text ? "holds a NUL character" : "is not a string");
	return NULL;
}

bool secretmanager_is_of(const char *text, const char *letters, size_t most)
{
	size_t len = strlen(text);

	return len > 0 && len <= most && strspn(text, letters) == len;
}

/* Code and message, which the caller owns; err_set makes one line of them. */
static char *words_of(const json_t *error, const char *code_member)
{
	const char *code = json_str_or_empty(error, code_member), *message = json_str_or_empty(error, "message"),
		   *inner = json_str_or_empty(json_object_get(error, "innererror"), "code");

	return mem_printf("%.100s%s%.100s%s%.*s", code, *inner ? "/" : "", inner, *code && *message ? ": " : "",
		WORDS_SHOWN, message);
}

int secretmanager_refused(const struct webresponse *answer, const char *code, const char *permission, struct err *err)
{
	json_t *body = json_parse_foreign(answer->body, answer->len, NULL);
	MEM_AUTO char *words = words_of(json_object_get(body, "error"), code);
	enum err_kind kind = httpstatus_kind(answer->status);

	err_set(err, kind, "HTTP status %d%s%s%s%s", answer->status, *words ? ", " : "", words,
		kind == ERR_DENIED ? "; missing permission: " : "", kind == ERR_DENIED ? permission : "");
	err->http_status = answer->status;
	json_decref(body);
	return -1;
}
