/* SPDX-License-Identifier: Apache-2.0 */
#include "net/redis/redisendpoint.h"

#include <string.h>

#include "base/fingerprint.h"
#include "base/hostport.h"
#include "base/mem.h"
#include "net/tls.h"

/* --- the address ------------------------------------------------------------------------------------------------------- */

static bool is_printable(const char *text)
{
	for (; *text; text++) {
		if (*text <= ' ' || *text == 0x7f)
			return false;
	}
	return true;
}

static int split_address(const char *address, char **host, uint16_t *port, struct err *err)
{
	struct hostport at;
	enum hostport_flaw flaw = hostport_parse(address, &at);

	if (strstr(address, "://"))
		return err_set(err, ERR_INVALID, "address \"%s\": must be host:port, not a URL", address);
	if (flaw == HOSTPORT_COLONS)
		return err_set(err, ERR_INVALID, "address \"%s\": an IPv6 address must stand in brackets: [::1]:6379", address);
	if (flaw != HOSTPORT_GOOD || !*at.host || at.port == 0 || !is_printable(address) || strpbrk(at.host, "[]"))
		return err_set(err, ERR_INVALID, "address \"%s\": must be host:port", address);
	*host = mem_dup(at.host);
	*port = at.port;
	return 0;
}

static int take_address(struct redis_endpoint *e, const char *address, struct err *err)
{
	if (!address || !address[0])
		return err_set(err, ERR_INVALID, "address: must be host:port, but is empty");
	e->address = mem_dup(address);
	if (address[0] != '/')
		return split_address(address, &e->host, &e->port, err);
	e->host = mem_dup(address);
	return 0;
}

/* --- making ------------------------------------------------------------------------------------------------------------ */

static char *dup_given(const char *text)
{
	return text && text[0] ? mem_dup(text) : NULL;
}

static void take_credentials(struct redis_endpoint *e, const struct redis_endpoint_config *config)
{
	e->username = dup_given(config->username);
	e->password = dup_given(config->password);
	e->master_only = config->master_only;
	e->tls = config->tls;
	if (!config->tls)
		return;
	e->tls_insecure = config->tls_insecure;
	e->tls_ca_pem = dup_given(config->tls_ca_pem);
	e->tls_cert_pem = dup_given(config->tls_cert_pem);
	e->tls_key_pem = dup_given(config->tls_key_pem);
	e->tls_key_password = dup_given(config->tls_key_password);
}

static int check_tls(const struct redis_endpoint *e, struct err *err)
{
	struct tls_client_config config = { .ca_pem = e->tls_ca_pem, .cert_pem = e->tls_cert_pem, .key_pem = e->tls_key_pem, .key_password = e->tls_key_password, .insecure = e->tls_insecure };

	return tls_client_check(&config, err) ? err_wrap(err, "TLS") : 0;
}

static void make_key(struct redis_endpoint *e)
{
	const char *const secrets[] = { e->username, e->password, e->tls_ca_pem, e->tls_cert_pem, e->tls_key_pem, e->tls_key_password };
	char fingerprint[FINGERPRINT_TEXT];

	fingerprint_of(secrets, sizeof(secrets) / sizeof(secrets[0]), fingerprint);
	e->server_key = mem_printf("redis %s%s %s", e->address, !e->tls ? "" : e->tls_insecure ? " tls-insecure" : " tls", fingerprint);
	e->key = mem_printf("redis %s/%d%s%s", e->address, e->database, e->master_only ? " master" : "", e->server_key + strlen("redis ") + strlen(e->address));
}

struct redis_endpoint *redis_endpoint_new(const struct redis_endpoint_config *config, struct err *err)
{
	struct redis_endpoint *e = mem_zalloc(sizeof(*e));

	e->count = 1;
	e->database = config->database;
	if (config->database < 0)
		err_set(err, ERR_INVALID, "database: must not be negative, but is %d", config->database);
	else if (take_address(e, config->address, err) == 0) {
		take_credentials(e, config);
		if (check_tls(e, err) == 0) {
			make_key(e);
			return e;
		}
	}
	redis_endpoint_unref(e);
	return NULL;
}

struct redis_endpoint *redis_endpoint_at(const struct redis_endpoint *like, const char *address, struct err *err)
{
	struct redis_endpoint *e = mem_zalloc(sizeof(*e));
	struct redis_endpoint_config config = {
		.username = like->username,
		.password = like->password,
		.tls = like->tls,
		.tls_insecure = like->tls_insecure,
		.tls_ca_pem = like->tls_ca_pem,
		.tls_cert_pem = like->tls_cert_pem,
		.tls_key_pem = like->tls_key_pem,
		.tls_key_password = like->tls_key_password,
		.master_only = like->master_only,
	};

	e->count = 1;
	e->database = like->database;
	if (take_address(e, address, err)) {
		redis_endpoint_unref(e);
		return NULL;
	}
	take_credentials(e, &config);
	make_key(e);
	return e;
}

struct redis_endpoint *redis_endpoint_ref(struct redis_endpoint *e)
{
	e->count++;
	return e;
}

void redis_endpoint_unref(struct redis_endpoint *e)
{
	if (!e || --e->count > 0)
		return;
	mem_free_ptr(&e->key);
	mem_free_ptr(&e->server_key);
	mem_free_ptr(&e->address);
	mem_free_ptr(&e->host);
	mem_free_secret(e->username);
	mem_free_secret(e->password);
	mem_free_secret(e->tls_ca_pem);
	mem_free_secret(e->tls_cert_pem);
	mem_free_secret(e->tls_key_pem);
	mem_free_secret(e->tls_key_password);
	mem_free_ptr(&e);
}

const char *redis_endpoint_key(const struct redis_endpoint *e)
{
	return e->key;
}

const char *redis_endpoint_address(const struct redis_endpoint *e)
{
	return e->address;
}

const char *redis_endpoint_server_key(const struct redis_endpoint *e)
{
	return e->server_key;
}

int redis_endpoint_database(const struct redis_endpoint *e)
{
	return e->database;
}
