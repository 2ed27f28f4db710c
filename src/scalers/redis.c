/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/redis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "scalers/params.h"

/* What is asked: one key on one server. */
struct redis_question {
	struct redis_endpoint *endpoint;
	char *key;
	size_t key_len;
};

/* How the server is reached, while the parameters are being read. Owns its texts. */
struct connection {
	char *address, *addresses_text, *hosts, *ports;
	char *username, *password;
	char *tls_word, *enable_tls_word;
	char *ca, *cert, *key, *key_password;
	bool tls, unsafe_ssl;
	int64_t database;
};

/*
 * One round trip and atomic: the type of the key, then its length. Command names are literals, as some proxies look for them; the script is sent whole each time, so a
 * restarted server needs nothing from us. A key that does not exist has length 0; that is the source's own answer.
 */
static const char length_script[] =
	"local t=redis.call('TYPE',KEYS[1]).ok "
	"if t=='list' or t=='none' then return redis.call('LLEN',KEYS[1]) end "
	"if t=='set' then return redis.call('SCARD',KEYS[1]) end "
	"if t=='zset' then return redis.call('ZCARD',KEYS[1]) end "
	"if t=='hash' then return redis.call('HLEN',KEYS[1]) end "
	"return redis.error_reply('ERR unsupported key type: '..t)";

/* Orders of look-up as keda-scalers.md A.1 has them. */
static const struct param p_list_name = { { "listName" }, { PARAM_METADATA }, true };
static const struct param p_list_length = { { "listLength" }, { PARAM_METADATA }, false };
static const struct param p_activation = { { "activationListLength" }, { PARAM_METADATA }, false };
static const struct param p_database = { { "databaseIndex" }, { PARAM_METADATA }, false };
static const struct param p_address = { { "address", "addresses" }, { PARAM_METADATA, PARAM_AUTH, PARAM_ENV }, false };
static const struct param p_host = { { "host", "hosts" }, { PARAM_METADATA, PARAM_ENV, PARAM_AUTH }, false };
static const struct param p_port = { { "port", "ports" }, { PARAM_METADATA, PARAM_ENV, PARAM_AUTH }, false };
static const struct param p_username = { { "username" }, { PARAM_METADATA, PARAM_ENV, PARAM_AUTH }, false };
static const struct param p_password = { { "password" }, { PARAM_METADATA, PARAM_ENV, PARAM_AUTH }, false };
static const struct param p_enable_tls = { { "enableTLS" }, { PARAM_METADATA }, false };
static const struct param p_tls = { { "tls" }, { PARAM_AUTH }, false };
static const struct param p_unsafe_ssl = { { "unsafeSsl" }, { PARAM_METADATA }, false };
static const struct param p_ca = { { "ca" }, { PARAM_AUTH }, false };
static const struct param p_cert = { { "cert", "Cert" }, { PARAM_AUTH }, false };
static const struct param p_key = { { "key" }, { PARAM_AUTH }, false };
static const struct param p_key_password = { { "keyPassword" }, { PARAM_AUTH }, false };

static void connection_done(struct connection *c)
{
	free(c->address);
	free(c->addresses_text);
	free(c->hosts);
	free(c->ports);
	free(c->username);
	mem_free_secret(c->password);
	free(c->tls_word);
	free(c->enable_tls_word);
	free(c->ca);
	free(c->cert);
	mem_free_secret(c->key);
	mem_free_secret(c->key_password);
}

static size_t list_count(const char *list)
{
	size_t count = 1;

	if (!list)
		return 0;
	for (const char *c = list; *c; c++)
		count += *c == ',';
	return count;
}

/* The first piece of a comma-separated list, trimmed; the caller owns it. */
static char *list_first(const char *list)
{
	size_t len;

	while (*list == ' ' || *list == '\t')
		list++;
	len = strcspn(list, ",");
	while (len > 0 && (list[len - 1] == ' ' || list[len - 1] == '\t'))
		len--;
	return mem_dupn(list, len);
}

static char *joined_host_port(const char *hosts, const char *ports)
{
	MEM_AUTO char *host = list_first(hosts);
	MEM_AUTO char *port = list_first(ports);

	if (!*host || !*port)
		return mem_dup("");
	if (strchr(host, ':') && host[0] != '[')
		return mem_printf("[%s]:%s", host, port);
	return mem_printf("%s:%s", host, port);
}

/* A single Redis uses only the first address; `address` comes before host and port (A.1). */
static int read_address(const struct scaler_params *params, struct connection *c, struct err *err)
{
	if (param_text(params, &p_address, &c->addresses_text, err) || param_text(params, &p_host, &c->hosts, err) || param_text(params, &p_port, &c->ports, err))
		return -1;
	if (c->hosts && c->ports && list_count(c->hosts) != list_count(c->ports))
		return err_set(err, ERR_INVALID, "not enough hosts or ports given. number of hosts should be equal to the number of ports");
	if (c->addresses_text)
		c->address = list_first(c->addresses_text);
	else if (c->hosts && c->ports)
		c->address = joined_host_port(c->hosts, c->ports);
	if (!c->address || !*c->address)
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

static int read_connection(const struct scaler_params *params, struct connection *c, struct err *err)
{
	if (read_address(params, c, err) || read_tls(params, c, err) || param_text(params, &p_username, &c->username, err) ||
	    param_text(params, &p_password, &c->password, err) || param_int64(params, &p_database, &c->database, err))
		return -1;
	if (c->database < 0 || c->database > INT32_MAX)
		return err_set(err, ERR_INVALID, "parameter \"databaseIndex\" value \"%lld\" must be between 0 and 2147483647", (long long)c->database);
	return 0;
}

static struct redis_endpoint *make_endpoint(const struct connection *c, struct err *err)
{
	struct redis_endpoint_config config = {
		.address = c->address,
		.database = (int)c->database,
		.username = c->username,
		.password = c->password,
		.tls = c->tls,
		.tls_insecure = c->unsafe_ssl,
		.tls_ca_pem = c->ca,
		.tls_cert_pem = c->cert,
		.tls_key_pem = c->key,
		.tls_key_password = c->key_password,
	};

	return redis_endpoint_new(&config, err);
}

static int read_thresholds(const struct scaler_params *params, struct scaler *out, struct err *err)
{
	int64_t target = 5, activation = 0;

	if (param_int64(params, &p_list_length, &target, err) || param_int64(params, &p_activation, &activation, err) ||
	    param_metric_type(params, &out->target_type, err))
		return -1;
	/* KEDA lets 0 through and the API server then refuses the HPA. */
	if (target <= 0)
		return err_set(err, ERR_INVALID, "parameter \"listLength\" value \"%lld\" must be greater than 0", (long long)target);
	out->target = quantity_from_int(target);
	out->activation = (double)activation;
	return 0;
}

static int redis_build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err)
{
	struct connection c = { 0 };
	struct redis_question *q;
	struct redis_endpoint *endpoint = NULL;
	MEM_AUTO char *list = NULL;

	if (read_connection(params, &c, err) == 0 && param_text(params, &p_list_name, &list, err) == 0 && read_thresholds(params, out, err) == 0)
		endpoint = make_endpoint(&c, err);
	connection_done(&c);
	if (!endpoint)
		return -1;
	q = mem_zalloc(sizeof(*q));
	q->endpoint = endpoint;
	q->key = mem_dup(list);
	q->key_len = strlen(list);
	out->question = question_new(&redis_scaler_type, mem_printf("redis length %s %s", redis_endpoint_key(endpoint), list),
				     mem_printf("redis %s", redis_endpoint_address(endpoint)), q);
	*metric_name = param_normalise(mem_printf("redis-%s", list));
	return 0;
}

static void redis_free_data(void *data)
{
	struct redis_question *q = data;

	redis_endpoint_unref(q->endpoint);
	free(q->key);
	free(q);
}

/* One question under way. */
struct redis_ask {
	struct redis_call *call;
	struct question *question;
	question_fn fn;
	void *arg;
};

static void ask_free(struct redis_ask *ask)
{
	question_unref(ask->question);
	free(ask);
}

/* What the server's own error means for whoever reads it. */
static enum err_kind error_kind(const char *text)
{
	static const struct {
		const char *prefix;
		enum err_kind kind;
	} kinds[] = {
		{ "NOPERM", ERR_DENIED }, { "NOAUTH", ERR_DENIED },     { "WRONGPASS", ERR_DENIED },
		{ "LOADING", ERR_TEMPORARY }, { "BUSY", ERR_TEMPORARY }, { "MASTERDOWN", ERR_TEMPORARY },
		{ "TRYAGAIN", ERR_TEMPORARY }, { "CLUSTERDOWN", ERR_TEMPORARY },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strncmp(text, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
			return kinds[i].kind;
	return ERR_INVALID;
}

static void on_reply(void *arg, const struct redis_reply *reply, const struct err *transport)
{
	struct redis_ask *ask = arg;
	const struct redis_question *q = ask->question->data;
	struct err err = { 0 };

	if (transport)
		err = *transport;
	else if (reply->type == REDIS_ERROR)
		err_set(&err, error_kind(reply->text), "%s: asking the length of %s: %s", ask->question->source, q->key, reply->text);
	else if (reply->type != REDIS_INTEGER || reply->integer < 0)
		err_set(&err, ERR_INVALID, "%s: asking the length of %s: the reply is not a length", ask->question->source, q->key);
	if (err.kind != ERR_NONE)
		ask->fn(ask->arg, NULL, &err);
	else
		ask->fn(ask->arg, &(struct answer){ .value = (double)reply->integer }, NULL);
	ask_free(ask);
}

static void *redis_ask(struct scaler_sources *sources, struct question *question, int64_t deadline_ms, question_fn fn, void *arg)
{
	const struct redis_question *q = question->data;
	const char *argv[] = { "EVAL", length_script, "1", q->key };
	const size_t lens[] = { 4, sizeof(length_script) - 1, 1, q->key_len };
	struct redis_ask *ask = mem_zalloc(sizeof(*ask));

	ask->question = question_ref(question);
	ask->fn = fn;
	ask->arg = arg;
	ask->call = redis_command(sources->redis, q->endpoint, 4, argv, lens, deadline_ms, on_reply, ask);
	return ask;
}

static void redis_ask_cancel(void *handle)
{
	struct redis_ask *ask = handle;

	redis_cancel(ask->call);
	ask_free(ask);
}

const struct scaler_type redis_scaler_type = {
	.name = "redis",
	.go_name = "redisScaler",
	.build = redis_build,
	.ask = redis_ask,
	.cancel = redis_ask_cancel,
	.free_data = redis_free_data,
};
