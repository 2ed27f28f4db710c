/* SPDX-License-Identifier: Apache-2.0 */
#include "net/redis/redistopology.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define NAMED_MAX 3 /* seeds named in messages */

static char *join_addresses(const char *const *addresses, size_t count, size_t max)
{
	struct buf text = BUF_INIT(1 << 16);

	for (size_t i = 0; i < count && i < max; i++)
		buf_printf(&text, "%s%s", i > 0 ? "," : "", addresses[i]);
	if (count > max)
		buf_printf(&text, ",...");
	return buf_take(&text);
}

static void make_names(struct redistopology *s, const char *const *addresses)
{
	MEM_AUTO char *all = join_addresses(addresses, s->seed_count, s->seed_count);
	MEM_AUTO char *some = join_addresses(addresses, s->seed_count, NAMED_MAX);

	/*
	 * An endpoint's key has no secret, and all that matters except the other addresses and the
	 * master's name.
	 */
	s->key = mem_printf("%s %s %zu:%s (%s, %s)", s->kind->name, all, s->master ? strlen(s->master) : 0,
		s->master ? s->master : "", s->seeds[0]->base.key, s->like->base.key);
	if (s->master)
		s->name = mem_printf("%s %s of %s", s->kind->name, s->master, some);
	else
		s->name = mem_printf("%s %s", s->kind->name, some);
}

static int make_endpoints(struct redistopology *s, const char *const *addresses, size_t count,
	const struct redisendpoint_config *seed_config, const struct redisendpoint_config *server_config,
	struct err *err)
{
	struct redisendpoint_config config = *server_config;

	if (count == 0)
		return err_set(err, ERR_INVALID, "addresses: at least one is needed");
	if (count > REDISTOPOLOGY_SEEDS_MAX)
		return err_set(err, ERR_INVALID, "addresses: at most %d, but there are %zu", REDISTOPOLOGY_SEEDS_MAX,
			count);
	config.address = addresses[0];
	s->like = redisendpoint_new(&config, err);
	if (!s->like)
		return -1;
	s->seeds = mem_array(count, sizeof(struct redisendpoint *));
	config = *seed_config;
	for (s->seed_count = 0; s->seed_count < count; s->seed_count++) {
		config.address = addresses[s->seed_count];
		s->seeds[s->seed_count] = redisendpoint_new(&config, err);
		if (!s->seeds[s->seed_count])
			return -1;
	}
	return 0;
}

struct redistopology *redistopology_new(const struct redistopology_kind *kind, const char *const *addresses,
	size_t count, const char *master, const struct redisendpoint_config *seed_config,
	const struct redisendpoint_config *server_config, struct err *err)
{
	struct redistopology *s = mem_zalloc(sizeof(*s));

	s->count = 1;
	s->kind = kind;
	s->master = mem_dup(master);
	if (make_endpoints(s, addresses, count, seed_config, server_config, err)) {
		redistopology_unref(s);
		return NULL;
	}
	make_names(s, addresses);
	return s;
}

struct redistopology *redistopology_ref(struct redistopology *s)
{
	s->count++;
	return s;
}

void redistopology_unref(struct redistopology *s)
{
	if (!s || --s->count > 0)
		return;
	for (size_t i = 0; i < s->seed_count; i++)
		endpoint_unref(s->seeds[i]);
	free(s->seeds);
	endpoint_unref(s->like);
	free(s->master);
	free(s->key);
	free(s->name);
	free(s);
}
