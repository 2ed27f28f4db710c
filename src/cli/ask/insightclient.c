/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ask/insightclient.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/fetch.h"
#include "kube/config.h"

struct insightclient {
	struct fetch *fetch;
	struct kube_config config; /* empty with a socket */
	char *socket;              /* NULL: ask the API server */
	char *place;               /* for messages */
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
	c->place = mem_printf("the socket %s", path);
}

static int use_kubeconfig(struct insightclient *c, const char *path, struct err *err)
{
	if (kube_config_load(path, KUBE_CONFIG_MOUNT, &c->config, err))
		return err_set(err, ERR_INVALID, "%s; `kubectl get scaledobjectinsights` uses kubectl's login",
			err->msg);
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

	if (choose(c, ways, err) == 0 && (c->fetch = fetch_new(c->socket, &c->config, err)) != NULL)
		return c;
	insightclient_free(c);
	return NULL;
}

void insightclient_free(struct insightclient *c)
{
	if (!c)
		return;
	fetch_free(c->fetch);
	kube_config_done(&c->config);
	free(c->socket);
	free(c->place);
	free(c);
}

const char *insightclient_namespace(const struct insightclient *c)
{
	return c->socket ? NULL : c->config.namespace_ ? c->config.namespace_ : "default";
}

/* ---- Requests ---- */

static const char *what_to_do(const struct insightclient *c)
{
	return c->socket
		? "; --socket gives its path (kscaled's --insight-socket), --kubeconfig asks the cluster instead"
		: "";
}

int insightclient_get(struct insightclient *c, const char *path, const char *accept, json_t **object, struct err *err)
{
	struct fetch_answer answer;
	struct err failed;
	const char *message;
	int rc = 0;

	*object = NULL;
	if (fetch_get(c->fetch, path, accept, &answer, &failed) < 0)
		return err_set(err, ERR_TEMPORARY, "cannot reach kscaled by %s: %s%s", c->place, failed.msg,
			what_to_do(c));
	message = json_str_or_empty(answer.body, "message");
	/* If the APIService is missing or unavailable, the API server answers without a Status. */
	if (answer.status == 200 && json_is_object(answer.body))
		*object = json_incref(answer.body);
	else if (answer.status == 404 && json_str_is(answer.body, "reason", "NotFound"))
		rc = err_set(err, ERR_MISSING, "%s", message);
	else if (*message && (answer.status == 401 || answer.status == 403))
		rc = err_set(err, ERR_DENIED, "%s: %s", c->place, message);
	else if (answer.status == 503)
		rc = err_set(err, ERR_TEMPORARY, "%s: %s", c->place,
			*message ? message : "the API server does not reach kscaled (HTTP 503)");
	else
		rc = err_set(err, ERR_TEMPORARY, "%s: no insight API of this version: HTTP %d%s%s", c->place,
			answer.status, *message ? ": " : "", message);
	json_decref(answer.body);
	return rc;
}
