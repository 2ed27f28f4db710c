/* SPDX-License-Identifier: Apache-2.0 */
#include "net/secretmanagers/secretmanager.h"

#include <string.h>

#include "base/mem.h"

void secretmanager_request_done(struct secretmanager_request *r)
{
	mem_free_secret(r->url);
	mem_free_secret(r->body);
	strmap_done_secret(&r->headers);
	*r = (struct secretmanager_request){ 0 };
}

char *secretmanager_text(const json_t *value, const char *what, struct err *err)
{
	const char *text = json_string_value(value);

	if (text && strlen(text) == json_string_length(value))
		return mem_dup(text);
	err_set(err, ERR_INVALID, "%s %s", what, text ? "holds a NUL character" : "is no text");
	return NULL;
}
