/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A node of a cluster may be anybody's server: the bytes are an answer to CLUSTER SLOTS (after
 * RESP2), and, as text, a redirect and a key.
 */

#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "net/redis/redisendpoint.h"
#include "net/redis/redismap.h"
#include "net/redis/redisreply.h"

/* Every address is one that an endpoint takes. */
static void check_address(const char *address)
{
	struct redisendpoint *e = redisendpoint_new(&(struct redisendpoint_config){ .address = address }, NULL);

	must(e != NULL);
	endpoint_unref(e);
}

static void check_slots(const struct redis_reply *reply)
{
	struct redismap map = { 0 };
	struct err err = { 0 };

	if (redismap_read_slots(&map, reply, "seed.example:6379", &err) == 0) {
		must(map.range_count > 0 && map.count > 0 && map.count <= map.range_count);
		for (size_t i = 0; i < map.range_count; i++) {
			must(map.ranges[i].server < map.count && map.ranges[i].first <= map.ranges[i].last);
			must(redismap_find(&map, map.ranges[i].last) == map.addresses[map.ranges[i].server]);
		}
		for (size_t i = 0; i < map.count; i++)
			check_address(map.addresses[i]);
	} else {
		must(map.addresses == NULL && map.ranges == NULL && err.kind == ERR_TEMPORARY);
	}
	redismap_done(&map);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	MEM_AUTO char *text = mem_dupn((const char *)data, size);
	MEM_AUTO char *address = NULL;
	struct redisreply *reader = redisreply_new();
	struct redis_reply *reply;

	must(redismap_slot(text, size) < REDISMAP_SLOTS);
	redismap_read_redirect(text, "seed.example:6379", &address);
	if (address)
		check_address(address);
	for (size_t at = 0; at < size; at += 4096) {
		int state = redisreply_feed(reader, data + at, size - at < 4096 ? size - at : 4096, NULL);

		while (state >= 0 && (state = redisreply_next(reader, &reply, NULL)) > 0) {
			check_slots(reply);
			redis_reply_free(reply);
		}
		if (state < 0)
			break;
	}
	redisreply_free(reader);
	return 0;
}
