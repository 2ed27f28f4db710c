/* SPDX-License-Identifier: Apache-2.0 */
#include "net/redis/rediscluster.h"

#include <string.h>

#include "net/redis/redismap.h"
#include "net/redis/redisreply.h"

#define REDIRECTS  3
#define REFRESH_MS 60000 /* commands to a moved slot get MOVED earlier */

static int cluster_question(const struct redistopology *s, const char **argv)
{
	(void)s;
	argv[0] = "CLUSTER";
	argv[1] = "SLOTS";
	return 2;
}

static int cluster_read(const struct redistopology *s, const struct redisendpoint *seed,
	const struct redis_reply *reply, struct redismap *map, struct err *err)
{
	const char *address = seed->base.name;

	(void)s;
	if (reply->type == REDIS_ERROR && strstr(reply->text, "cluster support disabled"))
		return err_set(err, ERR_INVALID, "redis at %s: CLUSTER SLOTS: this server is not part of a cluster",
			address);
	if (reply->type == REDIS_ERROR)
		return err_set(err, redis_error_kind(reply->text), "redis at %s: CLUSTER SLOTS: %s", address,
			reply->text);
	if (redismap_read_slots(map, reply, address, err))
		return err_wrap(err, "redis at %s", address);
	return 0;
}

static const struct redistopology_kind cluster_kind = {
	.name = "redis-cluster",
	.question = cluster_question,
	.read = cluster_read,
	.redirects = REDIRECTS,
	.refresh_ms = REFRESH_MS,
	.nodes_are_seeds = 1,
};

struct redistopology *rediscluster_new(const char *const *seeds, size_t count,
	const struct redisendpoint_config *config, struct err *err)
{
	if (config->database != 0) {
		err_set(err, ERR_INVALID, "database: a cluster has only 0, not %d", config->database);
		return NULL;
	}
	return redistopology_new(&cluster_kind, seeds, count, NULL, config, config, err);
}
