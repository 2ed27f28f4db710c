/* SPDX-License-Identifier: Apache-2.0 */
#include "net/redis/redismap.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/hostport.h"
#include "base/mem.h"
#include "net/redis/redisreply.h"

/* ---- Slots ---- */

static uint16_t crc16(const char *bytes, size_t len)
{
	uint16_t crc = 0;

	for (size_t i = 0; i < len; i++) {
		crc = (uint16_t)(crc ^ ((unsigned char)bytes[i] << 8));
		for (int bit = 0; bit < 8; bit++)
			crc = (uint16_t)(crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1);
	}
	return crc;
}

unsigned redismap_slot(const char *key, size_t len)
{
	const char *open = memchr(key, '{', len);
	const char *close = open ? memchr(open + 1, '}', len - (size_t)(open + 1 - key)) : NULL;

	if (close && close > open + 1)
		return crc16(open + 1, (size_t)(close - open - 1)) % REDISMAP_SLOTS;
	return crc16(key, len) % REDISMAP_SLOTS;
}

const char *redismap_find(const struct redismap *map, unsigned slot)
{
	size_t low = 0, high = map->range_count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct redismap_range *range = &map->ranges[middle];

		if (slot < range->first)
			high = middle;
		else if (slot > range->last)
			low = middle + 1;
		else
			return map->addresses[range->server];
	}
	return NULL;
}

void redismap_whole(struct redismap *map, const char *address)
{
	map->addresses = mem_array(1, sizeof(*map->addresses));
	map->addresses[0] = mem_dup(address);
	map->count = 1;
	map->ranges = mem_array(1, sizeof(*map->ranges));
	map->ranges[0].last = REDISMAP_SLOTS - 1;
	map->range_count = 1;
}

void redismap_done(struct redismap *map)
{
	for (size_t i = 0; i < map->count; i++)
		free(map->addresses[i]);
	free(map->addresses);
	free(map->ranges);
	memset(map, 0, sizeof(*map));
}

/* ---- Addresses ---- */

static bool is_loopback(const char *host)
{
	return strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0 || strcmp(host, "localhost") == 0;
}

static bool is_host(const char *host, size_t len)
{
	if (len == 0 || len > HOSTPORT_HOST_MAX || strlen(host) != len)
		return false;
	for (; *host; host++) {
		if (*host <= ' ' || *host >= 0x7f || *host == '[' || *host == ']' || *host == '/')
			return false;
	}
	return true;
}

/* The address at which an announced server is reached from here. NULL: invalid host. */
static char *reachable(const char *announced, size_t len, int64_t port, const char *from)
{
	struct hostport at = { .host = "127.0.0.1" }; /* a Unix socket is on this host */
	const char *host = announced, *from_host = at.host;

	if (from[0] != '/' && hostport_parse(from, &at) != HOSTPORT_GOOD)
		return NULL;
	if (!announced || len == 0 || strcmp(announced, "?") == 0)
		host = from_host;
	else if (!is_host(announced, len))
		return NULL;
	else if (is_loopback(announced) && !is_loopback(from_host))
		host = from_host;
	return hostport_join(host, (unsigned)port);
}

/* ---- CLUSTER SLOTS ---- */

/* Servers found so far in the reply. */
struct known {
	UT_hash_handle hh;
	size_t index;
	const char *address; /* owned by the map */
};

static bool is_text(const struct redis_reply *r)
{
	return r->type == REDIS_STRING || r->type == REDIS_STATUS;
}

/* The IP address in a server's metadata, for one whose host name is unknown ("?"). */
static const struct redis_reply *ip_of(const struct redis_reply *node)
{
	const struct redis_reply *more = node->count > 3 ? node->elements[3] : NULL;

	for (size_t i = 0; more && more->type == REDIS_ARRAY && i + 1 < more->count; i += 2) {
		if (is_text(more->elements[i]) && strcmp(more->elements[i]->text, "ip") == 0 &&
			is_text(more->elements[i + 1]))
			return more->elements[i + 1];
	}
	return NULL;
}

/* NULL: not a server, or one without a port. */
static char *node_address(const struct redis_reply *node, const char *from)
{
	const struct redis_reply *host, *ip;

	if (node->type != REDIS_ARRAY || node->count < 2 || node->elements[1]->type != REDIS_INTEGER ||
		node->elements[1]->integer < 1 || node->elements[1]->integer > 65535)
		return NULL;
	host = node->elements[0];
	if (host->type != REDIS_NIL && !is_text(host))
		return NULL;
	ip = host->text && strcmp(host->text, "?") == 0 ? ip_of(node) : NULL;
	if (ip)
		host = ip;
	return reachable(host->text, host->len, node->elements[1]->integer, from);
}

/* The index of the server, added if needed; -1 when there are too many. Takes the address. */
static int take_server(struct redismap *map, struct known **known, char *address)
{
	struct known *k;

	HASH_FIND_STR(*known, address, k);
	if (k) {
		free(address);
		return (int)k->index;
	}
	if (map->count >= REDISMAP_NODES_MAX) {
		free(address);
		return -1;
	}
	map->addresses = mem_resize(map->addresses, map->count + 1, sizeof(*map->addresses));
	map->addresses[map->count] = address;
	k = mem_zalloc(sizeof(*k));
	k->index = map->count;
	k->address = address;
	HASH_ADD_KEYPTR(hh, *known, address, strlen(address), k);
	return (int)map->count++;
}

static int by_first(const void *a, const void *b)
{
	const struct redismap_range *x = a, *y = b;

	return (int)x->first - (int)y->first;
}

static int read_range(struct redismap *map, struct known **known, const struct redis_reply *entry, const char *from,
	struct err *err)
{
	struct redismap_range *range = &map->ranges[map->range_count];
	int64_t first, last;
	char *address;
	int server;

	if (entry->type != REDIS_ARRAY || entry->count < 2 || entry->elements[0]->type != REDIS_INTEGER ||
		entry->elements[1]->type != REDIS_INTEGER)
		return err_set(err, ERR_TEMPORARY,
			"unexpected answer to CLUSTER SLOTS: an entry is not a range of slots");
	first = entry->elements[0]->integer;
	last = entry->elements[1]->integer;
	if (first < 0 || last >= REDISMAP_SLOTS || first > last)
		return err_set(err, ERR_TEMPORARY, "unexpected answer to CLUSTER SLOTS: slots %lld to %lld",
			(long long)first, (long long)last);
	address = entry->count > 2 ? node_address(entry->elements[2], from) : NULL;
	if (!address)
		return 0; /* commands for these slots fail, as no server has them */
	server = take_server(map, known, address);
	if (server < 0)
		return err_set(err, ERR_TEMPORARY, "the cluster has more than %d servers", REDISMAP_NODES_MAX);
	*range = (struct redismap_range){ (uint16_t)first, (uint16_t)last, (uint16_t)server };
	map->range_count++;
	return 0;
}

static int read_ranges(struct redismap *map, struct known **known, const struct redis_reply *reply, const char *from,
	struct err *err)
{
	for (size_t i = 0; i < reply->count; i++) {
		if (read_range(map, known, reply->elements[i], from, err))
			return -1;
	}
	if (map->range_count == 0 && reply->count > 0)
		return err_set(err, ERR_TEMPORARY,
			"the cluster names no server with a host and a port (without a plain port it must have "
			"tls-cluster on)");
	if (map->range_count == 0)
		return err_set(err, ERR_TEMPORARY, "the cluster has no slots assigned");
	qsort(map->ranges, map->range_count, sizeof(*map->ranges), by_first);
	for (size_t i = 1; i < map->range_count; i++) {
		if (map->ranges[i].first <= map->ranges[i - 1].last)
			return err_set(err, ERR_TEMPORARY,
				"unexpected answer to CLUSTER SLOTS: slot %u has two masters", map->ranges[i].first);
	}
	return 0;
}

int redismap_read_slots(struct redismap *map, const struct redis_reply *reply, const char *from, struct err *err)
{
	struct known *known = NULL, *k, *next;
	int failed;

	if (reply->type != REDIS_ARRAY || reply->count > REDISMAP_SLOTS)
		return err_set(err, ERR_TEMPORARY, "unexpected answer to CLUSTER SLOTS: it is not a list of slots");
	map->ranges = reply->count > 0 ? mem_array(reply->count, sizeof(*map->ranges)) : NULL;
	failed = read_ranges(map, &known, reply, from, err);
	HASH_ITER (hh, known, k, next) {
		HASH_DEL(known, k);
		free(k);
	}
	if (failed)
		redismap_done(map);
	return failed;
}

/* ---- MOVED and ASK ---- */

/* "host:port" as Redis writes it: without brackets, the host may be empty. */
static char *redirect_address(const char *text, const char *from)
{
	const char *colon = strrchr(text, ':');
	MEM_AUTO char *host = colon ? mem_dupn(text, (size_t)(colon - text)) : NULL;
	int port = colon ? hostport_port(colon + 1) : -1;

	return port >= 1 ? reachable(host, strlen(host), port, from) : NULL;
}

enum redismap_redirect redismap_read_redirect(const char *text, const char *from, char **address)
{
	enum redismap_redirect kind = strncmp(text, "MOVED ", 6) == 0 ? REDISMAP_MOVED
		: strncmp(text, "ASK ", 4) == 0                       ? REDISMAP_ASK
								      : REDISMAP_STAY;
	const char *slot = strchr(text, ' ');
	const char *where = kind != REDISMAP_STAY ? strchr(slot + 1, ' ') : NULL;

	*address = where ? redirect_address(where + 1, from) : NULL;
	return kind;
}
