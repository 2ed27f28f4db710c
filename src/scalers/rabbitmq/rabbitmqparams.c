/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/rabbitmq/rabbitmqparams.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hostport.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/amqp/amqp.h"
#include "net/http/httpurl.h"
#include "net/identity/oauthclient.h"
#include "net/tls/privatekey.h"
#include "net/tls/tlsrules.h"
#include "scalers/login/azurelogin.h"
#include "scalers/login/httpauth.h"

#define VALUE_DEFAULT 20 /* without mode and value */

/* The remaining parameters as written. Owns its texts. */
struct fields {
	char *host, *vhost;
	unsigned protocol; /* enum protocol */
	int64_t timeout_ms;
	char *username, *password;
	unsigned tls; /* enum tls */
	char *ca, *cert, *key, *key_password;
	bool unsafe_ssl;
	char *token_url, *client_id, *client_secret, *scopes, *params;
	char *resource;
};

enum protocol { AUTO, AMQP, HTTP };
enum tls { TLS_DISABLE, TLS_ENABLE };
enum { REGEX = 1 }; /* rows used with useRegex only */

static const char *const protocols[] = { [AUTO] = "auto", [AMQP] = "amqp", [HTTP] = "http", NULL };
static const char *const tls_words[] = { [TLS_DISABLE] = "disable", [TLS_ENABLE] = "enable", NULL };
static const char *const
	operations[] = { [RABBITMQHTTP_SUM] = "sum", [RABBITMQHTTP_AVG] = "avg", [RABBITMQHTTP_MAX] = "max", NULL };
static const char *const modes[] = {
	[RABBITMQVALUE_QUEUE_LENGTH] = "QueueLength",
	[RABBITMQVALUE_MESSAGE_RATE] = "MessageRate",
	[RABBITMQVALUE_DELIVER_GET_RATE] = "DeliverGetRate",
	[RABBITMQVALUE_PUBLISHED_TO_DELIVERED] = "PublishedToDeliveredRatio",
	[RABBITMQVALUE_CONSUMPTION_TIME] = "ExpectedQueueConsumptionTime",
	NULL,
};
#define NO_MODE (MEM_COUNT(modes))

const struct rabbitmqparams_question rabbitmqparams_absent = { .mode = NO_MODE, .value = NAN, .queue_length = NAN };

/* Places to read from: doc/keda.md 8.12. */
#define AT(field) offsetof(struct rabbitmqparams_question, field)
static const struct param_row rows[] = {
	{ "queueName", PARAM_TEXT, "m", AT(queue), .required = true,
		.help = "name of the queue, or a regular expression" },
	{ "mode", PARAM_CHOICE, "m", AT(mode), .words = modes, .help = "what to measure" },
	{ "value", PARAM_DOUBLE, "m", AT(value), .unkeyed = true, .help = "target: amount per replica" },
	{ "queueLength", PARAM_DOUBLE, "m", AT(queue_length), .unkeyed = true,
		.help = "old form of mode QueueLength with value" },
	/* Part of the key if the answer depends on it. */
	{ "activationValue", PARAM_DOUBLE, "m", AT(activation), .help = "active above this value" },
	{ "useRegex", PARAM_BOOL, "m", AT(regex), .help = "true: queueName is a regular expression; http only" },
	{ "pageSize", PARAM_INT64, "m", AT(page_size), .when = REGEX, .otherwise = "100", .least = 1, .most = INT32_MAX,
		.help = "most queues that may match" },
	{ "operation", PARAM_CHOICE, "m", AT(operation), .when = REGEX, .words = operations,
		.help = "how the matching queues' values are combined" },
	{ "excludeUnacknowledged", PARAM_BOOL, "m", AT(ready_only),
		.help = "true: count only ready messages; http only" },
};
const struct param_table rabbitmqparams_table = PARAM_TABLE(rows);

#define LOGIN_AT(field) offsetof(struct fields, field)
static const struct param_row login_rows[] = {
	{ "host", PARAM_TEXT, "mae", LOGIN_AT(host), .required = true, .help = "URL of the server, with the vhost" },
	{ "protocol", PARAM_CHOICE, "ma", LOGIN_AT(protocol), .words = protocols,
		.help = "protocol; auto: by the URL" },
	{ "vhostName", PARAM_TEXT, "ma", LOGIN_AT(vhost), .help = "vhost, instead of the URL's" },
	{ "timeout", PARAM_DURATION, "m", LOGIN_AT(timeout_ms), .most = HTTPAUTH_TIMEOUT_MAX_MS,
		.help = "timeout of a request; http only" },
	{ "username", PARAM_TEXT, "ae", LOGIN_AT(username), .help = "user, instead of the URL's" },
	{ "password", PARAM_TEXT, "ae", LOGIN_AT(password), .help = "password, instead of the URL's" },
	{ "tls", PARAM_CHOICE, "a", LOGIN_AT(tls), .words = tls_words, .help = "enable: use ca, cert and key" },
	{ "ca", PARAM_TEXT, "a", LOGIN_AT(ca), .help = "CA certificates to verify the server with, PEM" },
	{ "cert", PARAM_TEXT, "a", LOGIN_AT(cert), .help = "client certificate, PEM" },
	{ "key", PARAM_TEXT, "a", LOGIN_AT(key), .help = "private key of cert, PEM" },
	{ "keyPassword", PARAM_TEXT, "a", LOGIN_AT(key_password), .help = "passphrase of key" },
	{ "unsafeSsl", PARAM_BOOL, "m", LOGIN_AT(unsafe_ssl), .help = "true: do not verify the server's certificate" },
	{ "oauthTokenURI", PARAM_TEXT, "a", LOGIN_AT(token_url),
		.help = "OAuth 2: URL of the token endpoint; http only" },
	{ "clientID", PARAM_TEXT, "a", LOGIN_AT(client_id), .help = "OAuth 2: client ID" },
	{ "clientSecret", PARAM_TEXT, "a", LOGIN_AT(client_secret), .help = "OAuth 2: client secret" },
	{ "scopes|scope", PARAM_TEXT, "a", LOGIN_AT(scopes), .help = "OAuth 2: scopes" },
	{ "endpointParams", PARAM_TEXT, "a", LOGIN_AT(params),
		.help = "OAuth 2: further parameters of the token request" },
	{ "workloadIdentityResource", PARAM_TEXT, "a", LOGIN_AT(resource),
		.help = "resource to request kscaled's Entra ID token for; http only" },
};
const struct param_table rabbitmqparams_login_table = PARAM_LOGIN_TABLE(login_rows);

void rabbitmqparams_done(void *data)
{
	endpoint_unref(((struct rabbitmqparams_question *)data)->amqp);
}

/* ---- Mode and target ---- */

/* KEDA's rules and texts. It treats 0 as absent. */
static int take_mode(struct rabbitmqparams_question *q, struct err *err)
{
	bool has_mode = q->mode != NO_MODE, has_value = !isnan(q->value) && (q->value != 0 || has_mode),
	     has_length = !isnan(q->queue_length) && q->queue_length != 0;

	if (has_length && (has_mode || has_value))
		return err_set_about(err, "queueLength", "queueLength is deprecated; use mode and value");
	if (has_value && !has_mode)
		return err_set_about(err, "mode", "mode must be specified");
	if (has_mode && !has_value)
		return err_set_about(err, "value", "value must be specified");
	if (!has_mode) {
		q->mode = RABBITMQVALUE_QUEUE_LENGTH;
		q->value = has_length ? q->queue_length : VALUE_DEFAULT;
	}
	return 0;
}

static int take_target(struct scaler_build *b, const struct rabbitmqparams_question *q, struct err *err)
{
	b->scaler->target = quantity_from_double(q->value);
	if (b->scaler->target.milli > 0 || b->params->formula_source)
		return 0;
	return err_set(err, ERR_INVALID, "parameter \"%s\" value \"%g\" must be greater than 0 (at least 0.001)",
		isnan(q->queue_length) || q->queue_length == 0 ? "value" : "queueLength", q->value);
}

/* ---- Which protocol ---- */

static bool is_amqp(const char *url)
{
	return text_behind_nocase(url, "amqp://") || text_behind_nocase(url, "amqps://");
}

static bool is_http(const char *url)
{
	return text_behind_nocase(url, "http://") || text_behind_nocase(url, "https://");
}

/* The URL is not shown, as it may contain a password; its scheme is. */
static int take_protocol(struct fields *f, struct err *err)
{
	const char *colon = strstr(f->host, "://");
	int scheme = colon && colon - f->host < 20 ? (int)(colon - f->host) : 0;

	if (!is_amqp(f->host) && !is_http(f->host))
		return params_wrong(err, "host",
			": unknown host URL scheme: `%.*s` (it must begin with amqp://, amqps://, "
			"http:// or https://)",
			scheme, f->host);
	if (f->protocol == AUTO)
		f->protocol = is_amqp(f->host) ? AMQP : HTTP;
	if (is_amqp(f->host) != (f->protocol == AMQP))
		return err_set_about(err, "protocol",
			"protocol is \"%s\", but parameter \"host\" begins with \"%.*s://\"", protocols[f->protocol],
			scheme, f->host);
	return 0;
}

static int only_http(const char *what, struct err *err)
{
	return err_set_about(err, "protocol",
		"%s needs protocol http: over AMQP only the number of ready messages is available", what);
}

/* With amqp, where a timeout has no effect, KEDA refuses it only if a mode is given. */
static int check_protocol(const struct rabbitmqparams_question *q, const struct fields *f, bool any_timeout,
	struct err *err)
{
	if (f->protocol == HTTP)
		return 0;
	if (q->mode != RABBITMQVALUE_QUEUE_LENGTH)
		return err_set_about(err, "protocol", "protocol amqp not supported; must be http to use mode %s",
			modes[q->mode]);
	if (q->regex)
		return only_http("useRegex", err);
	if (q->ready_only)
		return only_http("excludeUnacknowledged", err);
	if (f->timeout_ms && !any_timeout)
		return err_set_about(err, "timeout", "amqp protocol doesn't support custom timeouts");
	if (f->token_url || f->client_id || f->client_secret)
		return err_set_about(err, "protocol", "OAuth 2 (oauthTokenURI) needs protocol http");
	if (f->resource)
		return err_set(err, ERR_INVALID,
			"workload identity is not supported for the AMQP protocol at the moment: set host to the "
			"management API (https://...)");
	if (strlen(q->queue) > AMQP_QUEUE_MAX)
		return params_wrong(err, "queueName", "is longer than %d bytes", AMQP_QUEUE_MAX);
	return 0;
}

/* ---- Login ---- */

static int check_login(const struct scaler_params *params, const struct fields *f, struct err *err)
{
	bool oauth = f->token_url || f->client_id || f->client_secret;

	if (!f->username != !f->password)
		return err_set_about(err, f->username ? "password" : "username",
			"username and password must be given together");
	if (oauth && (!f->token_url || !f->client_id || !f->client_secret))
		return err_set_about(err,
			!f->token_url           ? "oauthTokenURI"
				: !f->client_id ? "clientID"
						: "clientSecret",
			"oauthTokenURI, clientID and clientSecret must be given together");
	if (oauth && f->username)
		return err_set_about(err, "oauthTokenURI", "username and password cannot be given with oauthTokenURI");
	if (oauth && f->resource)
		return err_set_about(err, "workloadIdentityResource",
			"workloadIdentityResource cannot be given with oauthTokenURI");
	return params_check_cert(params, f->tls == TLS_ENABLE, f->cert, f->key, err);
}

/* With tls enable and amqp:// or http://, KEDA does not use TLS. */
static int check_tls(const struct fields *f, bool secure, struct err *err)
{
	const char *scheme = f->protocol == AMQP ? "amqps" : "https";

	if (f->tls == TLS_ENABLE && !secure)
		return err_set_about(err, "tls",
			"tls is \"enable\", but parameter \"host\" begins with \"%.*s://\": "
			"write %s://",
			(int)(strlen(scheme) - 1), scheme, scheme);
	return f->protocol == HTTP ? 0 : tlsrules_demand(secure, "set host to an address of amqps://", err);
}

/* ca, cert and key are used with tls enable only, as in KEDA; unsafeSsl always. */
static struct tls_client_config tls_config(const struct fields *f)
{
	if (f->tls == TLS_DISABLE)
		return (struct tls_client_config){ .insecure = f->unsafe_ssl };
	return (struct tls_client_config){ .ca_pem = f->ca,
		.cert_pem = f->cert,
		.key_pem = f->key,
		.key_password = f->key_password,
		.insecure = f->unsafe_ssl };
}

/* ---- AMQP ---- */

/* A parsed URL. Owns its texts. */
struct address {
	char *url; /* without user */
	char *user, *password;
	struct httpurl_place server;
};

static void address_done(struct address *p)
{
	free(p->url);
	mem_free_secret(p->user);
	mem_free_secret(p->password);
	httpurl_place_done(&p->server);
}

static int read_address(const char *url, struct address *out, struct err *err)
{
	*out = (struct address){ 0 };
	if (httpurl_split_user(url, &out->url, &out->user, &out->password, err) == 0 &&
		httpurl_place(out->url, &out->server, err) == 0)
		return 0;
	address_done(out);
	/* Go's parser accepts some of them unescaped. */
	return err_wrap(err,
		"parameter \"host\" (in user, password and vhost a blank is written %%20, @ %%40, / %%2F and # %%23)");
}

/* Parses it as a URL of HTTP, with AMQP's default ports. */
static int read_amqp_address(const char *url, struct address *out, struct err *err)
{
	bool secure = text_behind_nocase(url, "amqps");
	char *web = mem_printf("http%s%s", secure ? "s" : "", strstr(url, "://"));
	const char *authority, *colon;
	int rc = read_address(web, out, err);

	mem_free_secret(web);
	if (rc)
		return -1;
	authority = strstr(out->url, "://") + 3;
	colon = strchr(*authority == '[' ? authority + strcspn(authority, "]") : authority, ':');
	if (!colon || colon > authority + strcspn(authority, "/?"))
		out->server.port = secure ? 5671 : 5672;
	return 0;
}

/* The whole path, decoded; "/" without one. */
static char *vhost_of(const char *url)
{
	const char *path = strchr(strstr(url, "://") + 3, '/');
	size_t len = path ? strcspn(path + 1, "?") : 0, written = 0;
	char *vhost = len > 0 ? mem_dupn(path + 1, len) : mem_dup("/");
	int byte;

	for (char *at = vhost; *at; at++) {
		byte = *at == '%' ? text_hex_byte(at + 1, strlen(at + 1)) : -1;
		if (byte > 0)
			at += 2;
		vhost[written++] = byte > 0 ? (char)byte : *at;
	}
	vhost[written] = '\0';
	return vhost;
}

static bool is_named(const char *parameter, size_t len, const char *name)
{
	return len == strlen(name) && memcmp(parameter, name, len) == 0;
}

/* A parameter of the URL's query. KEDA's client would read files of KEDA's container here. */
static int check_query_parameter(const char *parameter, bool uses_tls, bool uses_mechanism, struct err *err)
{
	static const char *const of_tls[] = { "cacertfile", "certfile", "keyfile", "server_name_indication" };
	size_t len = strcspn(parameter, "=&");

	for (size_t i = 0; uses_tls && i < MEM_COUNT(of_tls); i++)
		if (is_named(parameter, len, of_tls[i]))
			return params_wrong(err, "host",
				": \"%s\" in its query is not supported: give ca, cert and key by an "
				"authentication, with tls \"enable\"; the server's certificate must have the name in "
				"host",
				of_tls[i]);
	if (uses_mechanism && is_named(parameter, len, "auth_mechanism") && parameter[len] == '=' &&
		text_behind_nocase(parameter + len + 1, "external"))
		return params_wrong(err, "host",
			": \"auth_mechanism\" of EXTERNAL in its query needs a client certificate: "
			"give "
			"cert and key by an authentication, with tls \"enable\", and no password");
	return 0;
}

/* heartbeat, channel_max and connection_timeout are ignored, as the connection is shared. */
static int check_query(const struct fields *f, const struct address *place, bool by_certificate, struct err *err)
{
	bool uses_tls = f->tls == TLS_DISABLE && strcmp(place->server.scheme, "https") == 0;

	for (const char *at = strchr(place->url, '?'); at; at = strchr(at + 1, '&'))
		if (check_query_parameter(at + 1, uses_tls, !by_certificate && !f->username, err))
			return -1;
	return 0;
}

static struct amqpendpoint *make_endpoint(const struct scaler_params *params, const struct fields *f,
	const struct address *place, struct err *err)
{
	bool by_certificate = f->tls == TLS_ENABLE && f->cert && !f->password && !place->password;
	MEM_AUTO char *vhost = f->vhost ? mem_dup(f->vhost) : vhost_of(place->url);
	const struct amqpendpoint_config config = {
		.namespace_ = params->namespace_,
		.host = place->server.host,
		.port = place->server.port,
		.vhost = vhost,
		/* RabbitMQ's initial user, as in KEDA's client. */
		.user = by_certificate ? NULL
			: f->username  ? f->username
			: place->user  ? place->user
				       : "guest",
		.password = by_certificate ? NULL
			: f->password      ? f->password
			: place->password  ? place->password
					   : "guest",
		.tls = strcmp(place->server.scheme, "https") == 0,
		.tls_config = tls_config(f),
	};
	struct amqpendpoint *e;

	if (check_tls(f, config.tls, err) || check_query(f, place, by_certificate, err))
		return NULL;
	e = amqpendpoint_new(&config, err);
	if (!e)
		params_wrap(err, "host");
	return e;
}

static int connect_to_amqp(struct scaler_build *b, const struct fields *f, struct err *err)
{
	struct rabbitmqparams_question *q = b->data;
	struct address place;

	if (read_amqp_address(f->host, &place, err))
		return -1;
	q->amqp = make_endpoint(b->params, f, &place, err);
	address_done(&place);
	if (!q->amqp)
		return -1;
	b->source = mem_printf("rabbitmq at %s", q->amqp->base.name);
	params_add_key(b, q->amqp->base.key);
	return 0;
}

/* ---- HTTP ---- */

/* As in KEDA; the caller owns it. */
static char *scope_of(const char *resource)
{
	size_t len = strlen(resource);

	if (len > 0 && resource[len - 1] == '/')
		len--;
	return mem_printf("%.*s%s", (int)len, resource,
		len >= 8 && strncmp(resource + len - 8, ".default", 8) == 0 ? "" : "/.default");
}

/*
 * kscaled's own identity, which workloadIdentityResource selects, whatever podIdentity is, as in
 * KEDA. No host is trusted by default, as none is Microsoft's.
 */
static struct identity *make_own(const struct scaler_params *params, const struct fields *f,
	const struct httpurl_place *server, struct err *err)
{
	struct pod_identity pod = params->identity ? *params->identity : (struct pod_identity){ 0 };
	MEM_AUTO char *scope = scope_of(f->resource), *host = httpurl_host_header(server);
	const struct disclosure to = { .service = AZURECLOUD_NONE,
		.host = host,
		.clear = strcmp(server->scheme, "https") != 0,
		.own_ca = f->tls == TLS_ENABLE && f->ca,
		.insecure = f->unsafe_ssl };
	struct identity *identity;

	if (!pod.provider || strcmp(pod.provider, "azure-workload") != 0)
		pod.identity_id = pod.identity_tenant_id = pod.identity_authority_host = NULL;
	pod.provider = "azure-workload";
	if (azurelogin_is_workload_or_none(&pod, err) < 0)
		return NULL;
	identity = azurelogin_new(&pod, scope, &to, err);
	if (!identity)
		params_wrap(err, "host");
	return identity;
}

/* NULL: no OAuth parameters, or err. */
static struct identity *make_client(const struct fields *f, char *key, struct err *err)
{
	bool tls = f->tls != TLS_DISABLE;
	const struct oauthclient_config config = {
		.token_url = f->token_url,
		.client_id = f->client_id,
		.client_secret = f->client_secret,
		.scopes = f->scopes,
		.params = f->params,
		.trust = { .ca_pem = tls ? f->ca : NULL,
			.cert_pem = tls ? f->cert : NULL,
			.key_pem = key ? key
				: tls  ? f->key
				       : NULL,
			.insecure = f->unsafe_ssl },
	};

	return f->token_url ? oauthclient_new(&config, err) : NULL;
}

static struct webaccess *make_access(const struct scaler_params *params, const struct fields *f,
	const struct address *place, struct err *err)
{
	const struct tls_client_config tls = tls_config(f);
	char *key = tls.key_pem && f->key_password ? privatekey_plain(tls.key_pem, f->key_password, err) : NULL;
	bool by_token = f->token_url || f->resource, locked = tls.key_pem && f->key_password && !key;
	struct identity *identity = locked ? NULL
		: f->resource              ? make_own(params, f, &place->server, err)
					   : make_client(f, key, err);
	const struct webaccess_config config = {
		.username = by_token  ? NULL
			: f->username ? f->username
				      : place->user,
		.password = by_token  ? NULL
			: f->username ? f->password
				      : place->password,
		.identity = identity,
		.ca_pem = tls.ca_pem,
		.cert_pem = tls.cert_pem,
		.key_pem = key ? key : tls.key_pem,
		.insecure = tls.insecure,
	};
	struct webaccess *access = locked || (by_token && !identity) ? NULL : webaccess_new(&config, err);

	identity_unref(identity);
	mem_free_secret(key);
	return access;
}

static int log_in(struct scaler_build *b, struct fields *f, struct err *err)
{
	struct rabbitmqparams_question *q = b->data;
	struct address place;
	struct rabbitmqhttp_place at = { .vhost = f->vhost,
		.queue = q->queue,
		.regex = q->regex,
		.page_size = q->page_size };
	char where[256];

	if (read_address(f->host, &place, err))
		return -1;
	at.url = place.url;
	httpauth_join_scopes(f->scopes);
	q->login.timeout_ms = f->timeout_ms;
	q->login.url = rabbitmqhttp_url(&at, err);
	if (!q->login.url)
		params_wrap(err, "host");
	else if (check_tls(f, strcmp(place.server.scheme, "https") == 0, err) == 0)
		q->login.access = make_access(b->params, f, &place, err);
	address_done(&place);
	if (!q->login.access)
		return -1;
	b->source = mem_printf("rabbitmq at %s", httpurl_origin(q->login.url, where, sizeof(where)));
	return 0;
}

/* ---- All together ---- */

static int connect_to(struct scaler_build *b, struct fields *f, bool any_timeout, struct err *err)
{
	return take_protocol(f, err) || check_protocol(b->data, f, any_timeout, err) ||
			check_login(b->params, f, err) ||
			(f->protocol == AMQP ? connect_to_amqp(b, f, err) : log_in(b, f, err))
		? -1
		: 0;
}

/* KEDA form-escapes the name; its normalisation then removes the percent signs. */
static char *metric_name_of(const char *queue)
{
	struct buf out = BUF_INIT((size_t)1 << 22);
	const char *next;

	buf_puts(&out, "rabbitmq-");
	for (; *queue; queue = *next ? next + 1 : next) {
		MEM_AUTO char *word = NULL;

		next = queue + strcspn(queue, " ");
		word = mem_dupn(queue, (size_t)(next - queue));
		buf_put_percent(&out, word, "");
		if (*next)
			buf_putc(&out, '+');
	}
	return params_normalise(buf_take(&out));
}

static int read_rest(struct scaler_build *b, struct fields *f, struct err *err)
{
	struct rabbitmqparams_question *q = b->data;

	if (params_read_rows(b, &rabbitmqparams_login_table, 0, f, err))
		return -1;
	if (q->regex)
		return params_read_rows(b, &rabbitmqparams_table, REGEX, q, err);
	params_read_ignored(&rabbitmqparams_table, b->params, REGEX, q, "without useRegex");
	q->operation = RABBITMQHTTP_SUM;
	q->page_size = 0;
	return 0;
}

int rabbitmqparams_build(struct scaler_build *b, struct err *err)
{
	struct rabbitmqparams_question *q = b->data;
	struct fields *f = params_login(b, sizeof(*f));
	bool any_timeout = q->mode == NO_MODE;
	int rc = read_rest(b, f, err) || take_mode(q, err) || take_target(b, q, err) ||
			(!b->open && connect_to(b, f, any_timeout, err))
		? -1
		: 0;

	b->scaler->activation = q->activation;
	if (!rabbitmqvalue_depends_on_activation(q->mode))
		q->activation = 0;
	b->metric_name = metric_name_of(q->queue);
	return rc;
}
