/* SPDX-License-Identifier: Apache-2.0 */
#include "net/kafka/kafkabrokers.h"

#include <inttypes.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/hostport.h"
#include "base/mem.h"
#include "net/kafka/kafkashares.h"

#define LINKS_MAX      2000 /* connections, including closed ones that are still kept */
#define LOOKED_AT_MAX  256  /* links examined when looking for one that is open */
#define LINK_FORGET_MS 300000

static void drop_link(struct kafkabrokers *b, struct kafkalink *l)
{
	HASH_DEL(b->links, l);
	shares_give(&l->share, l->share.has);
	kafkalink_free(l);
}

/* At the limit, frees closed connections. */
static bool has_room(struct kafkabrokers *b)
{
	struct kafkalink *l, *next;

	if (HASH_COUNT(b->links) < LINKS_MAX)
		return true;
	HASH_ITER (hh, b->links, l, next)
		if (kafkalink_is_unused(l))
			drop_link(b, l);
	return HASH_COUNT(b->links) < LINKS_MAX;
}

static const char *namespace_of(const struct kafkabrokers *b)
{
	return endpoint_namespace(&b->terms.endpoint->base);
}

/* NULL: too many. Bootstrap servers are exempt from the share. */
static struct kafkalink *link_at(struct kafkabrokers *b, const char *host, uint16_t port, bool bootstrap)
{
	MEM_AUTO char *address = hostport_join(host, port);
	struct shares_hold share = { 0 };
	const struct kafkamap_broker *broker;
	struct kafkalink *l;

	HASH_FIND_STR(b->links, address, l);
	if (l || !has_room(b))
		return l;
	if (!shares_take(b->map->known_brokers, &share, namespace_of(b), 1) && !bootstrap)
		return NULL;
	l = kafkalink_new(&b->terms, host, port);
	l->share = share;
	broker = kafkamap_broker_at(b->map, address);
	if (broker)
		l->node = broker->id;
	HASH_ADD_KEYPTR(hh, b->links, l->address, strlen(l->address), l);
	return l;
}

struct kafkalink *kafkabrokers_link(struct kafkabrokers *b, int32_t node, struct err *err)
{
	const struct kafkamap_broker *broker = kafkamap_broker(b->map, node);
	struct kafkalink *link = broker ? link_at(b, broker->host, broker->port, false) : NULL;

	if (broker ? !link && HASH_COUNT(b->links) < LINKS_MAX : b->map->too_many_brokers)
		kafkashares_refuse_broker(namespace_of(b), err);
	else if (!broker && HASH_COUNT(b->map->brokers) >= KAFKAMAP_BROKERS_MAX)
		err_set(err, ERR_TEMPORARY,
			"broker %" PRId32 " is not among the %d brokers that are known, which is the limit", node,
			KAFKAMAP_BROKERS_MAX);
	else if (!broker)
		err_set(err, ERR_TEMPORARY,
			"broker %" PRId32 " is not among the brokers that the cluster names: it may be down", node);
	else if (!link)
		err_set(err, ERR_TEMPORARY, "broker %" PRId32 ": %d connections to brokers are in use already", node,
			LINKS_MAX);
	return link;
}

static struct kafkalink *bootstrap_link(struct kafkabrokers *b, size_t i)
{
	const struct kafkaendpoint *e = b->terms.endpoint;
	const struct kafkaserver *server = &e->servers[(b->next_server + i) % e->count];

	return link_at(b, server->host, server->port, true);
}

struct kafkalink *kafkabrokers_any(struct kafkabrokers *b)
{
	struct kafkalink *best = NULL;
	size_t looked_at = 0;

	for (struct kafkalink *l = b->links; l && looked_at++ < LOOKED_AT_MAX; l = l->hh.next)
		if (l->node >= 0 && l->state == KAFKALINK_OPEN && !kafkalink_is_slow(l) &&
			(!best || kafkalink_waiting(l) < kafkalink_waiting(best)))
			best = l;
	for (size_t i = 0; !best && i < b->terms.endpoint->count; i++) {
		best = bootstrap_link(b, i);
		if (best && (kafkalink_backs_off(best) || kafkalink_is_slow(best)))
			best = NULL;
	}
	best = best ? best : bootstrap_link(b, 0);
	return best ? best : b->links; /* no room for a new one */
}

void kafkabrokers_name_links(struct kafkabrokers *b)
{
	for (struct kafkalink *l = b->links; l; l = l->hh.next) {
		const struct kafkamap_broker *broker = kafkamap_broker_at(b->map, l->address);

		l->node = broker ? broker->id : -1;
	}
}

void kafkabrokers_add(struct kafkabrokers *b, const struct kafkamessages_broker *broker)
{
	b->map->namespace_ = namespace_of(b);
	if (kafkamap_put_broker(b->map, broker))
		kafkabrokers_name_links(b);
}

void kafkabrokers_close_bootstrap(struct kafkabrokers *b)
{
	bool open = false;

	for (const struct kafkalink *l = b->links; l && !open; l = l->hh.next)
		open = l->node >= 0 && l->state == KAFKALINK_OPEN;
	for (struct kafkalink *l = open ? b->links : NULL; l; l = l->hh.next)
		if (l->node < 0)
			kafkalink_close_idle(l);
}

void kafkabrokers_forget_old(struct kafkabrokers *b, int64_t now_ms)
{
	struct kafkalink *l, *next;

	HASH_ITER (hh, b->links, l, next)
		if (kafkalink_is_unused(l) && now_ms - l->used_ms > LINK_FORGET_MS)
			drop_link(b, l);
}

void kafkabrokers_init(struct kafkabrokers *b, const struct kafkalink_terms *terms, struct kafkaendpoint *endpoint,
	struct kafkamap *map)
{
	*b = (struct kafkabrokers){ .terms = *terms, .map = map };
	b->terms.endpoint = endpoint_ref(endpoint);
}

void kafkabrokers_done(struct kafkabrokers *b)
{
	struct kafkalink *l, *next;

	HASH_ITER (hh, b->links, l, next)
		drop_link(b, l);
	SSL_CTX_free(b->terms.tls);
	endpoint_unref(b->terms.endpoint);
}
