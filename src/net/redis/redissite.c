/* SPDX-License-Identifier: Apache-2.0 */
#include "net/redis/redissite.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define NAMED_MAX 3 /* guides named in messages */

static char *joined(const char *const *addresses, size_t count, size_t max)
{
	struct buf text = BUF_INIT(1 << 16);

	for (size_t i = 0; i < count && i < max; i++)
		buf_printf(&text, "%s%s", i > 0 ? "," : "", addresses[i]);
	if (count > max)
		buf_printf(&text, ",...");
	return buf_take(&text);
}

static void make_names(struct redissite *s, const char *const *addresses)
{
	MEM_AUTO char *all = joined(addresses, s->guide_count, s->guide_count);
	MEM_AUTO char *some = joined(addresses, s->guide_count, NAMED_MAX);

	/*
	 * An endpoint's key holds no secret, and everything that matters but the other addresses
	 * and the master's name.
	 */
	s->key = mem_printf("%s %s %zu:%s (%s, %s)", s->kind->name, all, s->master ? strlen(s->master) : 0,
		s->master ? s->master : "", s->guides[0]->base.key, s->like->base.key);
	if (s->master)
		s->name = mem_printf("%s %s of %s", s->kind->name, s->master, some);
	else
		s->name = mem_printf("%s %s", s->kind->name, some);
}

static int make_endpoints(struct redissite *s, const char *const *addresses, size_t count,
	const struct redisendpoint_config *guide_config, const struct redisendpoint_config *server_config,
	struct err *err)
{
	struct redisendpoint_config config = *server_config;

	if (count == 0)
		return err_set(err, ERR_INVALID, "addresses: there is none");
	if (count > REDISSITE_GUIDES_MAX)
		return err_set(err, ERR_INVALID, "addresses: at most %d, but there are %zu", REDISSITE_GUIDES_MAX,
			count);
	config.address = addresses[0];
	s->like = redisendpoint_new(&config, err);
	if (!s->like)
		return -1;
	s->guides = mem_array(count, sizeof(struct redisendpoint *));
	config = *guide_config;
	for (s->guide_count = 0; s->guide_count < count; s->guide_count++) {
		config.address = addresses[s->guide_count];
		s->guides[s->guide_count] = redisendpoint_new(&config, err);
		if (!s->guides[s->guide_count])
			return -1;
	}
	return 0;
}

struct redissite *redissite_new(const struct redissite_kind *kind, const char *const *addresses, size_t count,
	const char *master, const struct redisendpoint_config *guide_config,
	const struct redisendpoint_config *server_config, struct err *err)
{
	struct redissite *s = mem_zalloc(sizeof(*s));

	s->count = 1;
	s->kind = kind;
	s->master = mem_dup(master);
	if (make_endpoints(s, addresses, count, guide_config, server_config, err)) {
		redissite_unref(s);
		return NULL;
	}
	make_names(s, addresses);
	return s;
}

struct redissite *redissite_ref(struct redissite *s)
{
	s->count++;
	return s;
}

void redissite_unref(struct redissite *s)
{
	if (!s || --s->count > 0)
		return;
	for (size_t i = 0; i < s->guide_count; i++)
		redisendpoint_unref(s->guides[i]);
	free(s->guides);
	redisendpoint_unref(s->like);
	free(s->master);
	free(s->key);
	free(s->name);
	free(s);
}
