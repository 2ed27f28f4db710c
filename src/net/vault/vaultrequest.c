/* SPDX-License-Identifier: Apache-2.0 */
#include "net/vault/vaultrequest.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "net/http/httpurl.h"
#include "net/vault/vaultreply.h"

#define CONNECT_MS  5000
#define ORIGIN_TEXT 256
#define TOKEN       "X-Vault-Token"

struct exchange vaultrequest_exchange(struct loop *loop, struct webclient *client,
	const struct vaultrequest_server *server, const char *asker)
{
	return (struct exchange){ .loop = loop,
		.client = client,
		.options = { .access = server->access,
			.connect_ms = CONNECT_MS,
			.namespace_ = asker,
			.redirects = WEBCLIENT_STAY },
		.steps_max = 2 };
}

void vaultrequest_make(const struct vaultrequest_server *server, const char *path, const char *token, const char *body,
	struct webrequest *out)
{
	out->url = mem_printf("%s/v1/%s", server->address, path);
	out->body = mem_dup(body);
	out->content_type = "application/json";
	/* a listener may require it, to keep browsers out */
	strmap_set(&out->headers, "X-Vault-Request", "true");
	if (token)
		strmap_set(&out->headers, TOKEN, token);
	if (server->namespace_ && *server->namespace_)
		strmap_set(&out->headers, "X-Vault-Namespace", server->namespace_);
}

/*
 * Explains a redirect that webclient did not follow: a second one, or one to another server, which
 * would get the token or, at a login, the service account's token.
 */
static void explain_redirect(const char *asked, const struct webresponse *response, const char *const *secrets,
	struct err *err)
{
	char origin[ORIGIN_TEXT];

	httpurl_origin(response->location, origin, sizeof(origin));
	if (!*response->location)
		err_set(err, ERR_TEMPORARY, "HTTP %d without a Location", response->status);
	else if (strcmp(origin, asked) == 0)
		err_set(err, ERR_TEMPORARY, "redirected more than once");
	else
		err_set(err, ERR_TEMPORARY,
			"redirected to another server, %s, which does not get the token: give that as the address",
			vaultreply_repeats(origin, secrets) ? "whose name repeats what was sent and is not shown"
							    : origin);
}

json_t *vaultrequest_read(const struct exchange *x, const struct webresponse *response, const char *secret,
	struct err *err)
{
	const char *token = strmap_get(&x->request.headers, TOKEN),
		   *const secrets[] = { token ? token : "", secret ? secret : "", NULL };
	int s = response->status;
	json_t *answer = NULL;
	char origin[ORIGIN_TEXT];

	httpurl_origin(x->request.url, origin, sizeof(origin));
	if (s == 0) {
		*err = *response->transport;
	} else if (s == 301 || s == 302 || s == 307 || s == 308) {
		explain_redirect(origin, response, secrets, err);
	} else {
		answer = vaultreply_parse(s, response->body, response->len, secrets, err);
		err->retry_after_ms = !answer ? response->retry_after_ms : 0;
	}
	if (!answer && !text_begins(err->msg, origin))
		err_wrap(err, "%s", origin);
	return answer;
}
