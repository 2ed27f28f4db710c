/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ask/insightclient.h"

#include <config.h> /* configure's; in quotes it would be the one of another room */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "kube/config.h"
#include "net/http/httpc.h"
#include "net/loop.h"

#define DEADLINE_MS 15000
#define ANSWER_MAX  ((size_t)64 << 20)

struct insightclient {
	struct loop *loop;
	struct httpc *http;
	struct kube_config config; /* empty with a socket */
	struct httpc_server server;
	char *socket; /* NULL: ask the API server */
	char *base;   /* "https://host:port" */
	char *place;  /* for messages */
};

/* ---- Choosing the server ---- */

/* Why the socket cannot be used; NULL: it accepts connections. */
static const char *why_unusable(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, failure = 0;

	if (strlen(path) >= sizeof(address.sun_path))
		return "the path is too long";
	memcpy(address.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		failure = errno;
	if (fd >= 0)
		close(fd);
	return failure ? strerror(failure) : NULL;
}

static void use_socket(struct insightclient *c, const char *path)
{
	c->socket = mem_dup(path);
	c->server = (struct httpc_server){ .unix_socket = c->socket };
	c->base = mem_dup("http://kscaled");
	c->place = mem_printf("the socket %s", path);
}

static int use_kubeconfig(struct insightclient *c, const char *path, struct err *err)
{
	if (kube_config_load(path, KUBE_CONFIG_MOUNT, &c->config, err))
		return err_set(err, ERR_INVALID, "%s; `kubectl get scaledobjectinsights` uses kubectl's login",
			err->msg);
	c->server = (struct httpc_server){ .ca_pem = c->config.ca_pem,
		.cert_pem = c->config.cert_pem,
		.key_pem = c->config.key_pem,
		.tls_server_name = c->config.tls_server_name,
		.proxy_url = c->config.proxy_url,
		.insecure = c->config.insecure };
	c->base = mem_dup(c->config.server);
	c->place = mem_printf("%s (%s)", c->config.server, c->config.source);
	return 0;
}

static int use_usual(struct insightclient *c, const struct insightclient_ways *ways, struct err *err)
{
	const char *path = ways->usual_socket ? ways->usual_socket : INSIGHTCLIENT_SOCKET;
	const char *why = why_unusable(path);
	struct err failed = { 0 };

	if (!why) {
		use_socket(c, path);
		return 0;
	}
	if (use_kubeconfig(c, ways->usual_kubeconfig, &failed) == 0)
		return 0;
	return err_set(err, ERR_INVALID, "%s: %s; and by kubeconfig: %s", path, why, failed.msg);
}

static int choose(struct insightclient *c, const struct insightclient_ways *ways, struct err *err)
{
	if (ways->socket && ways->kubeconfig)
		return err_set(err, ERR_INVALID, "--socket and --kubeconfig exclude each other: give one");
	if (ways->kubeconfig)
		return use_kubeconfig(c, ways->kubeconfig, err);
	if (!ways->socket)
		return use_usual(c, ways, err);
	use_socket(c, ways->socket);
	return 0;
}

struct insightclient *insightclient_new(const struct insightclient_ways *ways, struct err *err)
{
	struct insightclient *c = mem_zalloc(sizeof(*c));
	struct httpc_config config = { 0 };

	if (choose(c, ways, err) == 0 && (c->loop = loop_new(err)) != NULL &&
		(c->http = httpc_new(c->loop, &config, err)) != NULL)
		return c;
	insightclient_free(c);
	return NULL;
}

void insightclient_free(struct insightclient *c)
{
	if (!c)
		return;
	httpc_free(c->http);
	loop_free(c->loop);
	kube_config_done(&c->config);
	free(c->socket);
	free(c->base);
	free(c->place);
	free(c);
}

const char *insightclient_namespace(const struct insightclient *c)
{
	return c->socket ? NULL : c->config.namespace_ ? c->config.namespace_ : "default";
}

/* ---- Requests ---- */

struct insight_reply {
	const struct insightclient *client;
	bool done;
	json_t *object; /* of a 200 */
	struct err err;
};

static const char *what_to_do(const struct insightclient *c)
{
	return c->socket
		? "; --socket gives its path (kscaled's --insight-socket), --kubeconfig asks the cluster instead"
		: "";
}

/* If the APIService is missing or unavailable, the API server answers without a Status. */
static void take_reply(struct insight_reply *r, const struct httpc_response *response)
{
	json_t *body = json_parse(response->body, response->len, NULL);
	const char *message = json_str_or_empty(body, "message"), *place = r->client->place;

	if (response->status == 200 && json_is_object(body))
		r->object = json_incref(body);
	else if (response->status == 404 && json_str_is(body, "reason", "NotFound"))
		err_set(&r->err, ERR_MISSING, "%s", message);
	else if (*message && (response->status == 401 || response->status == 403))
		err_set(&r->err, ERR_DENIED, "%s: %s", place, message);
	else if (response->status == 503)
		err_set(&r->err, ERR_TEMPORARY, "%s: %s", place,
			*message ? message : "the API server does not reach kscaled (HTTP 503)");
	else
		err_set(&r->err, ERR_TEMPORARY, "%s: no insight API of this version: HTTP %d%s%s", place,
			response->status, *message ? ": " : "", message);
	json_decref(body);
}

static void on_done(void *arg, const struct httpc_response *response, const struct err *err)
{
	struct insight_reply *r = arg;

	r->done = true;
	if (err)
		err_set(&r->err, ERR_TEMPORARY, "cannot reach kscaled by %s: %s%s", r->client->place, err->msg,
			what_to_do(r->client));
	else
		take_reply(r, response);
}

int insightclient_get(struct insightclient *c, const char *path, const char *accept, json_t **object, struct err *err)
{
	static const struct httpc_events events = { .on_done = on_done };
	MEM_AUTO char *url = mem_printf("%s%s", c->base, path), *wanted = mem_printf("Accept: %s", accept);
	const char *const headers[] = { wanted, "User-Agent: kscaled/" PACKAGE_VERSION, NULL };
	struct httpc_request request = { .method = "GET",
		.url = url,
		.headers = headers,
		.bearer = c->config.token,
		.deadline_ms = DEADLINE_MS,
		.max_body = ANSWER_MAX,
		.server = &c->server };
	struct insight_reply reply = { .client = c };

	httpc_start(c->http, &request, &events, &reply);
	while (!reply.done)
		loop_turn(c->loop);
	*object = reply.object;
	if (!reply.object && err)
		*err = reply.err;
	return reply.object ? 0 : -1;
}
