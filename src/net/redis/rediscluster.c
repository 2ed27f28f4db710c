/* SPDX-License-Identifier: Apache-2.0 */
#include "net/redis/rediscluster.h"

#include <string.h>

#include "net/redis/redismap.h"
#include "net/redis/redisreply.h"

#define REDIRECTS 3
#define WAY_MS    60000 /* clients that are concerned get MOVED earlier */

static int cluster_question(const struct redissite *s, const char **argv)
{
	(void)s;
	argv[0] = "CLUSTER";
	argv[1] = "SLOTS";
	return 2;
}

static int cluster_read(const struct redissite *s, const struct redisendpoint *guide, const struct redis_reply *reply,
	struct redismap *map, struct err *err)
{
	const char *address = guide->base.name;

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

static const struct redissite_kind cluster_kind = {
	.name = "redis-cluster",
	.question = cluster_question,
	.read = cluster_read,
	.redirects = REDIRECTS,
	.way_ms = WAY_MS,
	.nodes_guide = 1,
};

struct redissite *rediscluster_new(const char *const *seeds, size_t count, const struct redisendpoint_config *config,
	struct err *err)
{
	if (config->database != 0) {
		err_set(err, ERR_INVALID, "database: a cluster has only 0, not %d", config->database);
		return NULL;
	}
	return redissite_new(&cluster_kind, seeds, count, NULL, config, config, err);
}
