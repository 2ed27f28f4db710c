/* SPDX-License-Identifier: Apache-2.0 */
#include "net/vault/vaultrequest.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "net/http/httpurl.h"
#include "net/vault/vaultreply.h"

#define CONNECT_MS  5000
#define ORIGIN_TEXT 256

struct vaultrequest {
	struct webclient_call *call;
	char *origin;
	char *token, *secret; /* owned, wiped; no error may repeat them; NULL */
	vaultrequest_fn fn;
	void *arg;
};

static void vaultrequest_free(struct vaultrequest *r)
{
	webclient_cancel(r->call);
	free(r->origin);
	mem_free_secret(r->token);
	mem_free_secret(r->secret);
	free(r);
}

/*
 * Explains a redirect that webclient did not follow: a second one, or one to another server, which
 * would get the token or, at a login, the service account's token.
 */
static int explain_redirect(const struct vaultrequest *r, const struct webresponse *response,
	const char *const *secrets, struct err *err)
{
	char origin[ORIGIN_TEXT];

	if (*response->location == '\0')
		return err_set(err, ERR_TEMPORARY, "HTTP %d without a Location", response->status);
	httpurl_origin(response->location, origin, sizeof(origin));
	if (strcmp(origin, r->origin) == 0)
		return err_set(err, ERR_TEMPORARY, "redirected more than once");
	return err_set(err, ERR_TEMPORARY,
		"redirected to another server, %s, which does not get the token: give that as the address",
		vaultreply_repeats(origin, secrets) ? "whose name repeats what was sent and is not shown" : origin);
}

static json_t *read_response(const struct vaultrequest *r, const struct webresponse *response, struct err *err)
{
	const char *const secrets[] = { r->token ? r->token : "", r->secret ? r->secret : "", NULL };
	int s = response->status;
	json_t *answer = NULL;

	if (s == 301 || s == 302 || s == 307 || s == 308) {
		explain_redirect(r, response, secrets, err);
	} else {
		answer = vaultreply_parse(s, response->body, response->len, secrets, err);
		err->retry_after_ms = !answer ? response->retry_after_ms : 0;
	}
	return answer;
}

static void on_response(void *arg, const struct webresponse *response, const struct err *failure)
{
	struct vaultrequest *r = arg;
	vaultrequest_fn fn = r->fn;
	void *fn_arg = r->arg;
	struct err err = failure ? *failure : (struct err){ 0 };
	json_t *answer = response ? read_response(r, response, &err) : NULL;

	if (!answer && !text_begins(err.msg, r->origin))
		err_wrap(&err, "%s", r->origin);
	r->call = NULL;
	vaultrequest_free(r);
	fn(fn_arg, answer, response ? response->len : 0, !answer ? &err : NULL);
	json_decref(answer);
}

struct vaultrequest *vaultrequest_start(struct webclient *client, const struct vaultrequest_server *server,
	const char *path, const char *token, const char *body, const char *secret, const char *asker,
	vaultrequest_fn fn, void *arg)
{
	const struct webclient_options options = { .access = server->access,
		.connect_ms = CONNECT_MS,
		.namespace_ = asker,
		.redirects = WEBCLIENT_STAY };
	struct webrequest request = { .url = mem_printf("%s/v1/%s", server->address, path),
		.body = mem_dup(body),
		.content_type = "application/json" };
	struct vaultrequest *r = mem_zalloc(sizeof(*r));
	char origin[ORIGIN_TEXT];

	/* a listener may require it, to keep browsers out */
	strmap_set(&request.headers, "X-Vault-Request", "true");
	if (token)
		strmap_set(&request.headers, "X-Vault-Token", token);
	if (server->namespace_ && *server->namespace_)
		strmap_set(&request.headers, "X-Vault-Namespace", server->namespace_);
	r->origin = mem_dup(httpurl_origin(request.url, origin, sizeof(origin)));
	r->token = mem_dup(token);
	r->secret = mem_dup(secret);
	r->fn = fn;
	r->arg = arg;
	r->call = webclient_start(client, &request, &options, on_response, r);
	webrequest_done(&request);
	return r;
}

void vaultrequest_cancel(struct vaultrequest *r)
{
	if (r)
		vaultrequest_free(r);
}
