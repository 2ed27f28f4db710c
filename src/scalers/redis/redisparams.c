/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/redis/redisparams.h"

#include <stdlib.h>
#include <string.h>

#include "base/hostport.h"
#include "base/mem.h"
#include "net/redis/rediscluster.h"
#include "net/redis/redisendpoint.h"
#include "net/redis/redissentinel.h"
#include "net/tls/tlsrules.h"

/* Connection parameters as written. */
struct connection {
	struct param_list addresses, hosts, ports;
	char *username, *password;
	char *sentinel_username, *sentinel_password, *master;
	char *tls, *ca, *cert, *key, *key_password;
	enum param_switch enable_tls;
	bool unsafe_ssl;
	int64_t database;
};

#define AT(field) offsetof(struct connection, field)
/* Lookup orders as in doc/keda.md 8.1. */
static const struct param_row rows[] = {
	{ "address|addresses", PARAM_LIST, "mae", AT(addresses),
		.help = "host:port of the servers, separated by commas" },
	{ "host|hosts", PARAM_LIST, "mea", AT(hosts), .help = "host names, appended to the addresses" },
	{ "port|ports", PARAM_LIST, "mea", AT(ports), .help = "ports of the hosts, in the same order" },
	{ "enableTLS", PARAM_SWITCH, "m", AT(enable_tls), .help = "true: TLS" },
	{ "tls", PARAM_TEXT, "a", AT(tls), .help = "TLS: enable or disable" },
	{ "unsafeSsl", PARAM_BOOL, "m", AT(unsafe_ssl), .help = "true: do not verify the server's certificate" },
	{ "ca", PARAM_TEXT, "a", AT(ca), .help = "CA certificates to verify the server with, PEM" },
	{ "cert|Cert", PARAM_TEXT, "a", AT(cert), .help = "client certificate, PEM" },
	{ "key", PARAM_TEXT, "a", AT(key), .help = "private key of cert, PEM" },
	{ "keyPassword", PARAM_TEXT, "a", AT(key_password), .help = "passphrase of key" },
	{ "username", PARAM_TEXT, "mea", AT(username), .help = "user; needs a password" },
	{ "password", PARAM_TEXT, "mea", AT(password), .help = "password" },
	{ "databaseIndex", PARAM_INT64, "m", AT(database), .most = INT32_MAX, .help = "number of the database" },
};
const struct param_table redisparams_table = PARAM_LOGIN_TABLE(rows);

static const char *const notify_words[] = { [REDISWATCH_AUTO] = "auto", [REDISWATCH_OFF] = "off", NULL };
static const struct param_row notify_rows[] = {
	{ "notify", PARAM_CHOICE, "m", offsetof(struct redisserver_question, notify), .words = notify_words,
		.help = "wake the trigger by keyspace notifications" },
};
const struct param_table redisparams_notify_table = PARAM_TABLE(notify_rows);

static const struct param_row sentinel_rows[] = {
	{ "sentinelUsername", PARAM_TEXT, "mae", AT(sentinel_username), .help = "user at the sentinels" },
	{ "sentinelPassword", PARAM_TEXT, "mae", AT(sentinel_password), .help = "password at the sentinels" },
	{ "sentinelMaster", PARAM_TEXT, "mae", AT(master), .required = true, .help = "name of the master" },
};
const struct param_table redisparams_sentinel_table = PARAM_LOGIN_TABLE(sentinel_rows);

/* Surplus commas are ignored, except at the beginning: KEDA refuses an empty first address. */
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

/* Appends pairs of hosts and ports to the addresses, which come first. */
static int join_addresses(struct connection *c, struct err *err)
{
	struct param_list *all = &c->addresses;

	if (c->hosts.count > 0 && c->ports.count > 0 && c->hosts.count != c->ports.count)
		return err_set_about(err, "port",
			"not enough hosts or ports given. number of hosts should be equal to the number of ports");
	for (size_t i = 0; i < c->hosts.count && i < c->ports.count; i++) {
		const char *host = c->hosts.items[i], *port = c->ports.items[i];

		all->items = mem_resize(all->items, all->count + 1, sizeof(*all->items));
		all->items[all->count++] = *host && *port ? hostport_join_text(host, port) : mem_dup("");
	}
	drop_empty(all);
	if (all->count == 0 || !all->items[0][0])
		return err_set_about(err, "address",
			"no addresses or hosts given. address should be a comma separated list of host:port or set the "
			"host/port values");
	return 0;
}

static bool wants_tls(const struct connection *c)
{
	return c->tls ? strcmp(c->tls, "enable") == 0 : c->enable_tls == PARAM_ON;
}

static int check_tls(const struct scaler_params *params, const struct connection *c, struct err *err)
{
	if (c->enable_tls != PARAM_UNSET && c->tls)
		return err_set_about(err, "enableTLS",
			"unable to set `tls` in both ScaledObject and TriggerAuthentication together");
	if (c->tls && strcmp(c->tls, "enable") != 0 && strcmp(c->tls, "disable") != 0)
		return err_set(err, ERR_INVALID,
			/* the value is not shown, as it may come from a Secret */
			"parameter \"tls\" must be one of [enable disable]");
	return params_check_cert(params, wants_tls(c), c->cert, c->key, err);
}

/*
 * A single server uses only the first address, a cluster only database 0. Without a password the
 * user is ignored, as KEDA's client then does not log in.
 */
static int make_server(const struct connection *c, const char *namespace_, enum redisserver_mode mode,
	struct redisserver *out, struct err *err)
{
	const char *const *addresses = (const char *const *)c->addresses.items;
	struct redisendpoint_config config = {
		.namespace_ = namespace_,
		.address = addresses[0],
		.database = mode == REDISSERVER_CLUSTER ? 0 : (int)c->database,
		.username = c->password ? c->username : NULL,
		.password = c->password,
		.tls = wants_tls(c),
		.tls_config.insecure = c->unsafe_ssl,
		.tls_config.ca_pem = c->ca,
		.tls_config.cert_pem = c->cert,
		.tls_config.key_pem = c->key,
		.tls_config.key_password = c->key_password,
	};
	struct redissentinel_config sentinel = {
		.addresses = addresses,
		.count = c->addresses.count,
		.master = c->master,
		.username = c->sentinel_password ? c->sentinel_username : NULL,
		.password = c->sentinel_password,
		.server = config,
	};

	if (tlsrules_demand(config.tls, "set enableTLS to \"true\", or in the TriggerAuthentication tls to \"enable\"",
		    err))
		return -1;
	switch (mode) {
	case REDISSERVER_SINGLE: out->endpoint = redisendpoint_new(&config, err); break;
	case REDISSERVER_CLUSTER: out->topology = rediscluster_new(addresses, c->addresses.count, &config, err); break;
	case REDISSERVER_SENTINEL: out->topology = redissentinel_new(&sentinel, err); break;
	}
	return out->endpoint || out->topology ? 0 : err_about(err, "address");
}

int redisparams_build(struct scaler_build *b, struct redisserver_question *out, struct err *err)
{
	struct connection *c = params_login(b, sizeof(*c));
	const char *type = b->params->type;
	enum redisserver_mode mode = strstr(type, "cluster") ? REDISSERVER_CLUSTER
		: strstr(type, "sentinel")                   ? REDISSERVER_SENTINEL
							     : REDISSERVER_SINGLE;

	if (params_read_rows(b, &redisparams_table, 0, c, err) ||
		(mode == REDISSERVER_SENTINEL && params_read_rows(b, &redisparams_sentinel_table, 0, c, err)))
		return -1;
	if (b->open)
		return 0;
	if (join_addresses(c, err) || check_tls(b->params, c, err) ||
		make_server(c, b->params->namespace_, mode, &out->server, err))
		return -1;
	b->source = redisserver_name(&out->server);
	params_add_key(b, redisserver_key(&out->server));
	return 0;
}
