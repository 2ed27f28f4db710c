/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/fetch.h"

#include <config.h> /* configure's; in quotes it would be the one of another room */
#include <curl/curl.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/http/httpc.h"
#include "net/loop.h"

#define DEADLINE_MS 15000
#define ANSWER_MAX  ((size_t)64 << 20)

struct fetch {
	struct loop *loop;
	struct httpc *http;
	struct httpc_server server;
	const char *base, *bearer; /* "https://host:port"; NULL */
};

struct fetch *fetch_new(const char *socket, const struct kube_config *config, struct err *err)
{
	struct fetch *f = mem_zalloc(sizeof(*f));
	struct httpc_config pool = { 0 };

	if (socket) {
		f->server = (struct httpc_server){ .unix_socket = socket };
		f->base = "http://kscaled";
	} else {
		f->server = (struct httpc_server){ .ca_pem = config->ca_pem,
			.cert_pem = config->cert_pem,
			.key_pem = config->key_pem,
			.tls_server_name = config->tls_server_name,
			.proxy_url = config->proxy_url,
			.insecure = config->insecure };
		f->base = config->server;
		f->bearer = config->token;
	}
	if ((f->loop = loop_new(err)) != NULL && (f->http = httpc_new(f->loop, &pool, err)) != NULL)
		return f;
	fetch_free(f);
	return NULL;
}

void fetch_free(struct fetch *f)
{
	if (!f)
		return;
	httpc_free(f->http);
	loop_free(f->loop);
	free(f);
}

struct fetching {
	bool done;
	struct fetch_answer answer;
	struct err err;
};

static void on_header(void *arg, const char *line, size_t len)
{
	struct fetching *x = arg;
	MEM_AUTO char *text = mem_dupn(line, len);
	const char *date = text_behind_nocase(text, "date:");
	time_t seconds = date ? curl_getdate(date, NULL) : -1;

	if (seconds > 0)
		x->answer.date_ms = 1000 * (int64_t)seconds;
}

static void on_done(void *arg, const struct httpc_response *response, const struct err *err)
{
	struct fetching *x = arg;

	x->done = true;
	if (err) {
		x->err = *err;
		return;
	}
	x->answer.status = response->status;
	x->answer.body = json_parse(response->body, response->len, NULL);
}

int fetch_get(struct fetch *f, const char *path, const char *accept, struct fetch_answer *out, struct err *err)
{
	static const struct httpc_events events = { .on_header = on_header, .on_done = on_done };
	MEM_AUTO char *url = mem_printf("%s%s", f->base, path), *wanted = mem_printf("Accept: %s", accept);
	const char *const headers[] = { wanted, "User-Agent: kscaled/" PACKAGE_VERSION, NULL };
	struct httpc_request request = { .method = "GET",
		.url = url,
		.headers = headers,
		.bearer = f->bearer,
		.deadline_ms = DEADLINE_MS,
		.max_body = ANSWER_MAX,
		.server = &f->server };
	struct fetching x = { .done = false };

	httpc_start(f->http, &request, &events, &x);
	while (!x.done)
		loop_turn(f->loop);
	*out = x.answer;
	if (x.err.kind == ERR_NONE)
		return 0;
	*err = x.err;
	return -1;
}
