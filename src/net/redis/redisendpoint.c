/* SPDX-License-Identifier: Apache-2.0 */
#include "net/redis/redisendpoint.h"

#include <stdlib.h>
#include <string.h>

#include "base/hostport.h"
#include "base/mem.h"
#include "base/text.h"

/* ---- The address ---- */

static bool is_printable(const char *text)
{
	for (; *text; text++) {
		if (*text <= ' ' || *text == 0x7f)
			return false;
	}
	return true;
}

static int take_address(struct redisendpoint *e, const char *address, struct err *err)
{
	enum hostport_flaw flaw;
	struct hostport at;

	if (!address || !address[0])
		return err_set(err, ERR_INVALID, "address: must be host:port, but is empty");
	e->base.name = mem_dup(address);
	if (address[0] == '/') {
		e->host = mem_dup(address);
		return 0;
	}
	flaw = hostport_parse(address, &at);
	if (strstr(address, "://"))
		return err_set(err, ERR_INVALID, "address \"%s\": must be host:port, not a URL", address);
	if (flaw == HOSTPORT_COLONS)
		return err_set(err, ERR_INVALID, "address \"%s\": an IPv6 address must stand in brackets: [::1]:6379",
			address);
	if (flaw != HOSTPORT_GOOD || !*at.host || at.port == 0 || !is_printable(address) || strpbrk(at.host, "[]"))
		return err_set(err, ERR_INVALID, "address \"%s\": must be host:port", address);
	e->host = mem_dup(at.host);
	e->port = at.port;
	return 0;
}

/* ---- Making ---- */

static void on_done(struct endpoint *base)
{
	struct redisendpoint *e = (struct redisendpoint *)base;

	free(e->server_key);
	free(e->host);
	mem_free_secret(e->username);
	mem_free_secret(e->password);
}

static void make_key(struct redisendpoint *e)
{
	const char *const secrets[] = { e->username, e->password };
	char fingerprint[FINGERPRINT_TEXT];

	endpoint_fingerprint(&e->base, secrets, MEM_COUNT(secrets), fingerprint);
	e->server_key = mem_printf("redis %s%s %s", e->base.name, endpoint_tls_word(&e->base, e->tls), fingerprint);
	e->base.key = mem_printf("redis %s/%d%s%s", e->base.name, e->database, e->master_only ? " master" : "",
		e->server_key + strlen("redis ") + strlen(e->base.name));
}

static struct redisendpoint *make_endpoint(const struct redisendpoint_config *config, struct err *err)
{
	struct redisendpoint *e = endpoint_new(sizeof(*e), on_done);

	endpoint_set_namespace(&e->base, config->namespace_);
	e->database = config->database;
	e->username = mem_dup(text_given(config->username));
	e->password = mem_dup(text_given(config->password));
	e->master_only = config->master_only;
	e->tls = config->tls;
	if (config->tls)
		endpoint_take_tls(&e->base, &config->tls_config);
	if (take_address(e, config->address, err)) {
		endpoint_unref(e);
		return NULL;
	}
	make_key(e);
	return e;
}

struct redisendpoint *redisendpoint_new(const struct redisendpoint_config *config, struct err *err)
{
	struct redisendpoint *e;

	if (config->database < 0) {
		err_set(err, ERR_INVALID, "database: must not be negative, but is %d", config->database);
		return NULL;
	}
	e = make_endpoint(config, err);
	if (e && endpoint_check_tls(&e->base, err) == 0)
		return endpoint_unique(e);
	endpoint_unref(e);
	return NULL;
}

struct redisendpoint *redisendpoint_at(const struct redisendpoint *like, const char *address, struct err *err)
{
	const struct redisendpoint_config config = {
		.namespace_ = endpoint_namespace(&like->base),
		.address = address,
		.database = like->database,
		.username = like->username,
		.password = like->password,
		.tls = like->tls,
		.tls_config = like->base.tls,
		.master_only = like->master_only,
	};

	return make_endpoint(&config, err);
}
