/* SPDX-License-Identifier: Apache-2.0 */
#include "net/redis/redissentinel.h"

#include <string.h>

#include "base/hostport.h"
#include "base/mem.h"
#include "net/redis/redismap.h"
#include "net/redis/redisreply.h"

#define REFRESH_MS 5000 /* a former master in a network partition still answers: only the sentinels know */

static int sentinel_question(const struct redistopology *s, const char **argv)
{
	argv[0] = "SENTINEL";
	argv[1] = "get-master-addr-by-name";
	argv[2] = s->master;
	return 3;
}

static int sentinel_read(const struct redistopology *s, const struct redisendpoint *seed,
	const struct redis_reply *reply, struct redismap *map, struct err *err)
{
	const char *sentinel = seed->base.name;
	const struct redis_reply *host, *port;
	MEM_AUTO char *address = NULL;

	if (reply->type == REDIS_NIL)
		return err_set(err, ERR_MISSING, "sentinel at %s knows no master \"%s\"", sentinel, s->master);
	if (reply->type == REDIS_ERROR && strncmp(reply->text, "ERR unknown command", 19) == 0)
		return err_set(err, ERR_INVALID, "redis at %s is not a sentinel", sentinel);
	if (reply->type == REDIS_ERROR)
		return err_set(err, redis_error_kind(reply->text), "sentinel at %s: %s", sentinel, reply->text);
	if (reply->type != REDIS_ARRAY || reply->count != 2 || reply->elements[0]->type != REDIS_STRING ||
		reply->elements[1]->type != REDIS_STRING)
		return err_set(err, ERR_TEMPORARY, "sentinel at %s: the answer is not an address", sentinel);
	host = reply->elements[0];
	port = reply->elements[1];
	if (host->len == 0 || host->len > HOSTPORT_HOST_MAX || host->text[0] == '/' || hostport_port(port->text) < 1)
		return err_set(err, ERR_TEMPORARY, "sentinel at %s: the answer is not an address", sentinel);
	address = hostport_join_text(host->text, port->text);
	redismap_whole(map, address);
	return 0;
}

static const struct redistopology_kind sentinel_kind = {
	.name = "redis-sentinel",
	.question = sentinel_question,
	.read = sentinel_read,
	.refresh_ms = REFRESH_MS,
};

struct redistopology *redissentinel_new(const struct redissentinel_config *config, struct err *err)
{
	struct redisendpoint_config seed = config->server, server = config->server;

	if (!config->master || !config->master[0]) {
		err_set(err, ERR_INVALID, "master: has no name");
		return NULL;
	}
	seed.database = 0;
	seed.username = config->username;
	seed.password = config->password;
	seed.master_only = false;
	server.master_only = true;
	return redistopology_new(&sentinel_kind, config->addresses, config->count, config->master, &seed, &server, err);
}
