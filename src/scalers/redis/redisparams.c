/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/redis/redisparams.h"

#include <stdlib.h>
#include <string.h>

#include "base/hostport.h"
#include "base/mem.h"
#include "net/redis/rediscluster.h"
#include "net/redis/redissentinel.h"

/* How the server is reached, while the parameters are being read. Owns its texts. */
struct connection {
	enum redisserver_mode mode;
	struct param_list addresses; /* given, and made of hosts and ports */
	char *username, *password;
	char *sentinel_username, *sentinel_password, *master;
	char *tls_word, *enable_tls_word;
	char *ca, *cert, *key, *key_password;
	bool tls, unsafe_ssl;
	int64_t database;
};

/* Orders of look-up as keda-scalers.md A.1 has them. */
#define TRIGGER_AUTH_ENV { PARAM_METADATA, PARAM_AUTH, PARAM_ENV }
#define TRIGGER_ENV_AUTH { PARAM_METADATA, PARAM_ENV, PARAM_AUTH }
static const struct param p_database = { { "databaseIndex" }, { PARAM_METADATA }, false };
static const struct param p_addresses = { { "address", "addresses" }, TRIGGER_AUTH_ENV, false };
static const struct param p_hosts = { { "host", "hosts" }, TRIGGER_ENV_AUTH, false };
static const struct param p_ports = { { "port", "ports" }, TRIGGER_ENV_AUTH, false };
static const struct param p_username = { { "username" }, TRIGGER_ENV_AUTH, false };
static const struct param p_password = { { "password" }, TRIGGER_ENV_AUTH, false };
static const struct param p_sentinel_username = { { "sentinelUsername" }, TRIGGER_AUTH_ENV, false };
static const struct param p_sentinel_password = { { "sentinelPassword" }, TRIGGER_AUTH_ENV, false };
static const struct param p_master = { { "sentinelMaster" }, TRIGGER_AUTH_ENV, true };
static const struct param p_enable_tls = { { "enableTLS" }, { PARAM_METADATA }, false };
static const struct param p_tls = { { "tls" }, { PARAM_AUTH }, false };
static const struct param p_unsafe_ssl = { { "unsafeSsl" }, { PARAM_METADATA }, false };
static const struct param p_ca = { { "ca" }, { PARAM_AUTH }, false };
static const struct param p_cert = { { "cert", "Cert" }, { PARAM_AUTH }, false };
static const struct param p_key = { { "key" }, { PARAM_AUTH }, false };
static const struct param p_key_password = { { "keyPassword" }, { PARAM_AUTH }, false };

static void connection_done(struct connection *c)
{
	param_list_done(&c->addresses);
	free(c->username);
	mem_free_secret(c->password);
	free(c->sentinel_username);
	mem_free_secret(c->sentinel_password);
	free(c->master);
	free(c->tls_word);
	free(c->enable_tls_word);
	free(c->ca);
	free(c->cert);
	mem_free_secret(c->key);
	mem_free_secret(c->key_password);
}

static enum redisserver_mode mode_of(const char *type)
{
	static const struct {
		const char *prefix;
		enum redisserver_mode mode;
	} modes[] = { { "redis-cluster", REDISSERVER_CLUSTER }, { "redis-sentinel", REDISSERVER_SENTINEL } };

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strncmp(type, modes[i].prefix, strlen(modes[i].prefix)) == 0)
			return modes[i].mode;
	return REDISSERVER_SINGLE;
}

static void append(struct param_list *list, char *item /* takes */)
{
	list->items = mem_resize(list->items, list->count + 1, sizeof(*list->items));
	list->items[list->count++] = item;
}

/* A comma too many does no harm, but in front: KEDA refuses an empty first address, and so do we. */
static void drop_empty(struct param_list *list)
{
	size_t kept = list->count > 0;

	for (size_t i = 1; i < list->count; i++) {
		if (list->items[i][0])
			list->items[kept++] = list->items[i];
		else
			free(list->items[i]);
	}
	list->count = kept;
}

static char *joined_host_port(const char *host, const char *port)
{
	return *host && *port ? hostport_join_text(host, port) : mem_dup("");
}

/* Pairs of hosts and ports are appended to the addresses, which come first (A.1). */
static int read_addresses(const struct scaler_params *params, struct connection *c, struct err *err)
{
	struct param_list hosts = { 0 }, ports = { 0 };
	int failed = param_list(params, &p_addresses, ',', &c->addresses, err) || param_list(params, &p_hosts, ',', &hosts, err) || param_list(params, &p_ports, ',', &ports, err);

	if (!failed && hosts.count > 0 && ports.count > 0 && hosts.count != ports.count)
		failed = err_set(err, ERR_INVALID, "not enough hosts or ports given. number of hosts should be equal to the number of ports");
	for (size_t i = 0; !failed && i < hosts.count && i < ports.count; i++)
		append(&c->addresses, joined_host_port(hosts.items[i], ports.items[i]));
	param_list_done(&hosts);
	param_list_done(&ports);
	if (failed)
		return -1;
	drop_empty(&c->addresses);
	if (c->addresses.count == 0 || !c->addresses.items[0][0])
		return err_set(err, ERR_INVALID, "no addresses or hosts given. address should be a comma separated list of host:port or set the host/port values");
	return 0;
}

static int read_tls(const struct scaler_params *params, struct connection *c, struct err *err)
{
	if (param_text(params, &p_enable_tls, &c->enable_tls_word, err) || param_text(params, &p_tls, &c->tls_word, err) ||
	    param_bool(params, &p_enable_tls, &c->tls, err) || param_bool(params, &p_unsafe_ssl, &c->unsafe_ssl, err) ||
	    param_text(params, &p_ca, &c->ca, err) || param_text(params, &p_cert, &c->cert, err) || param_text(params, &p_key, &c->key, err) ||
	    param_text(params, &p_key_password, &c->key_password, err))
		return -1;
	if (c->enable_tls_word && c->tls_word)
		return err_set(err, ERR_INVALID, "unable to set `tls` in both ScaledObject and TriggerAuthentication together");
	if (c->tls_word && strcmp(c->tls_word, "enable") != 0 && strcmp(c->tls_word, "disable") != 0)
		return err_set(err, ERR_INVALID, "parameter \"tls\" must be one of [enable disable]"); /* it is not shown: whatever is in the Secret, by mistake, too */
	if (c->tls_word)
		c->tls = strcmp(c->tls_word, "enable") == 0;
	if (!c->cert != !c->key)
		return err_set(err, ERR_INVALID, "parameters \"cert\" and \"key\" belong together: only %s is given", c->cert ? "cert" : "key");
	return 0;
}

static int read_sentinel(const struct scaler_params *params, struct connection *c, struct err *err)
{
	if (c->mode != REDISSERVER_SENTINEL)
		return 0;
	return param_text(params, &p_sentinel_username, &c->sentinel_username, err) || param_text(params, &p_sentinel_password, &c->sentinel_password, err) ||
	       param_text(params, &p_master, &c->master, err)
	       ? -1 : 0;
}

/* A user without a password is nobody: KEDA's client does not log in then, and what everybody may do is enough for many. */
static void drop_user_without_password(char **username, const char *password)
{
	if (!password)
		mem_free_ptr(username);
}

static int read_connection(const struct scaler_params *params, struct connection *c, struct err *err)
{
	if (read_addresses(params, c, err) || read_tls(params, c, err) || param_text(params, &p_username, &c->username, err) ||
	    param_text(params, &p_password, &c->password, err) || param_int64(params, &p_database, &c->database, err) || read_sentinel(params, c, err))
		return -1;
	drop_user_without_password(&c->username, c->password);
	drop_user_without_password(&c->sentinel_username, c->sentinel_password);
	if (c->database < 0 || c->database > INT32_MAX)
		return err_set(err, ERR_INVALID, "parameter \"databaseIndex\" value \"%lld\" must be between 0 and 2147483647", (long long)c->database);
	return 0;
}

/* One server uses only the first address, a cluster only database 0 (A.1). */
static int make_server(const struct connection *c, struct redisserver *out, struct err *err)
{
	const char *const *addresses = (const char *const *)c->addresses.items;
	struct redis_endpoint_config config = {
		.address = addresses[0],
		.database = c->mode == REDISSERVER_CLUSTER ? 0 : (int)c->database,
		.username = c->username,
		.password = c->password,
		.tls = c->tls,
		.tls_insecure = c->unsafe_ssl,
		.tls_ca_pem = c->ca,
		.tls_cert_pem = c->cert,
		.tls_key_pem = c->key,
		.tls_key_password = c->key_password,
	};
	struct redissentinel_config sentinel = {
		.addresses = addresses,
		.count = c->addresses.count,
		.master = c->master,
		.username = c->sentinel_username,
		.password = c->sentinel_password,
		.server = config,
	};

	switch (c->mode) {
	case REDISSERVER_SINGLE:
		out->endpoint = redis_endpoint_new(&config, err);
		break;
	case REDISSERVER_CLUSTER:
		out->site = rediscluster_new(addresses, c->addresses.count, &config, err);
		break;
	case REDISSERVER_SENTINEL:
		out->site = redissentinel_new(&sentinel, err);
		break;
	}
	return out->endpoint || out->site ? 0 : -1;
}

int redisparams_read(const struct scaler_params *params, struct redisserver *out, struct err *err)
{
	struct connection c = { .mode = mode_of(params->type) };
	int failed = read_connection(params, &c, err);

	if (!failed)
		failed = make_server(&c, out, err);
	connection_done(&c);
	return failed;
}

int redisparams_target(const struct scaler_params *params, const struct param *p, int64_t *value, struct err *err)
{
	if (param_int64(params, p, value, err))
		return -1;
	if (*value <= 0 && params->formula_source)
		*value = 0;
	else if (*value <= 0)
		return err_set(err, ERR_INVALID, "parameter \"%s\" value \"%lld\" must be greater than 0", p->names[0], (long long)*value);
	return 0;
}
