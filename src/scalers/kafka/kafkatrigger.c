/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trigger types `kafka` (one topic, or all topics of the group; SASL with OAuth tokens) and
 * `apache-kafka` (a list of topics): parameters and build (doc/keda.md 8.11). Most parameters are
 * the same, the rest stands in a table per type. Both ask scalers/kafka/kafkaquestion, over the
 * same connections.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/http/httpurl.h"
#include "net/identity/oauthclient.h"
#include "net/kafka/kafkaendpoint.h"
#include "net/tls/tlsrules.h"
#include "scalers/kafka/kafkaquestion.h"
#include "scalers/login/awslogin.h"
#include "scalers/login/httpauth.h"
#include "scalers/types.h"

enum tls { TLS_DISABLE, TLS_ENABLE };
enum sasl { SASL_NONE, SASL_PLAINTEXT, SASL_SCRAM_SHA256, SASL_SCRAM_SHA512, SASL_OAUTHBEARER, SASL_GSSAPI, SASL_MSK };
enum provider { PROVIDER_BEARER, PROVIDER_MSK };
static const char
	*const policies[] = { [KAFKAQUESTION_LATEST] = "latest", [KAFKAQUESTION_EARLIEST] = "earliest", NULL };
static const char *const tls_words[] = { [TLS_DISABLE] = "disable", [TLS_ENABLE] = "enable", NULL };
static const char *const sarama_sasls[] = { "none", "plaintext", "scram_sha256", "scram_sha512", "oauthbearer",
	"gssapi", NULL };
static const char *const apache_sasls[] = { "none", "plaintext", "scram_sha256", "scram_sha512", "gssapi",
	"aws_msk_iam", NULL };
static const char *const providers[] = { [PROVIDER_BEARER] = "bearer", [PROVIDER_MSK] = "aws_msk_iam", NULL };
/* The meaning of each index in a type's list of words. */
static const enum sasl sarama_meanings[] = { SASL_NONE, SASL_PLAINTEXT, SASL_SCRAM_SHA256, SASL_SCRAM_SHA512,
	SASL_OAUTHBEARER, SASL_GSSAPI };
static const enum sasl apache_meanings[] = { SASL_NONE, SASL_PLAINTEXT, SASL_SCRAM_SHA256, SASL_SCRAM_SHA512,
	SASL_GSSAPI, SASL_MSK };

#define AT(field) offsetof(struct kafkaquestion, field)
static const struct param_row rows[] = {
	{ "consumerGroup", PARAM_TEXT, "me", AT(group), .required = true, .help = "consumer group whose lag counts" },
	/* A target that is also part of the key, as it bounds the lag (src/README). */
	{ "lagThreshold", PARAM_INT64, "m", AT(rules.threshold), .otherwise = "10",
		.help = "target: messages per replica" },
	{ "activationLagThreshold", PARAM_WHOLE_ACTIVATION, "m", .help = "active above this number of messages" },
	{ "offsetResetPolicy", PARAM_CHOICE, "m", AT(policy), .words = policies, .otherwise = "latest",
		.help = "where the group starts without a committed offset" },
	{ "partitionLimitation", PARAM_TEXT, "m", AT(limitation), .help = "partitions that count, such as 1,3-5" },
	{ "allowIdleConsumers", PARAM_BOOL, "m", AT(rules.idle),
		.help = "true: more replicas than partitions are allowed" },
	{ "excludePersistentLag", PARAM_BOOL, "m", AT(excludes_stuck),
		.help = "true: ignore partitions whose committed offset does not move" },
	{ "scaleToZeroOnInvalidOffset", PARAM_BOOL, "m", AT(rules.zero_on_invalid),
		.help = "true: partitions without a committed offset count 0" },
	{ "limitToPartitionsWithLag", PARAM_BOOL, "m", AT(rules.only_lagging),
		.help = "true: at most one replica per partition with lag" },
	{ "ensureEvenDistributionOfPartitions", PARAM_BOOL, "m", AT(rules.even),
		.help = "true: the number of replicas divides that of partitions" },
};
static const struct param_table table = PARAM_TABLE(rows);

static const struct param_row sarama_rows[] = {
	{ "topic", PARAM_TEXT, "me", AT(topic), .help = "default: every topic the group has committed to" },
	{ "version", PARAM_TEXT, "m", AT(version), .unkeyed = true,
		.help = "Kafka version; checked, otherwise unused" },
	{ "fullMetadata", PARAM_IGNORED, "m", .help = "ignored: only the needed topics are queried" },
};
static const struct param_table sarama_table = PARAM_TABLE(sarama_rows);

static const struct param_row apache_rows[] = {
	{ "topic", PARAM_LIST, "me", AT(topics),
		.help = "topics, separated by commas (default: every topic the group has committed to)" },
};
static const struct param_table apache_table = PARAM_TABLE(apache_rows);

/* ---- Connection and login ---- */

struct kafka_login {
	struct param_list servers;
	enum tls tls;
	bool insecure;
	char *ca, *cert, *key, *key_password;
	unsigned sasl; /* index in the type's words */
	enum provider provider;
	char *username, *password, *scopes, *token_url, *region;
	struct strmap extensions;
};

enum { BEARER = 1 }; /* rows used with oauthbearer only */

#define APACHE_PORT 9092 /* the default of apache-kafka; kafka requires a port */

#define LOGIN_AT(field) offsetof(struct kafka_login, field)
static const struct param_row login_rows[] = {
	{ "bootstrapServers", PARAM_LIST, "me", LOGIN_AT(servers), .required = true,
		.help = "host:port of one or more brokers" },
	{ "tls", PARAM_CHOICE, "ma", LOGIN_AT(tls), .words = tls_words, .otherwise = "disable", .help = "TLS" },
	{ "ca", PARAM_TEXT, "a", LOGIN_AT(ca), .help = "CA certificates to verify the brokers with, PEM" },
	{ "cert", PARAM_TEXT, "a", LOGIN_AT(cert), .help = "client certificate, PEM" },
	{ "key", PARAM_TEXT, "a", LOGIN_AT(key), .help = "private key of cert, PEM" },
	{ "keyPassword", PARAM_TEXT, "a", LOGIN_AT(key_password), .help = "passphrase of key" },
	{ "username", PARAM_TEXT, "a", LOGIN_AT(username), .help = "user; oauthbearer: client ID" },
	{ "password", PARAM_TEXT, "a", LOGIN_AT(password), .help = "password; oauthbearer: client secret" },
	{ "awsRegion", PARAM_TEXT, "m", LOGIN_AT(region), .help = "aws_msk_iam: AWS region of the cluster" },
};
static const struct param_table login_table = PARAM_LOGIN_TABLE(login_rows);

#define KERBEROS "for gssapi, which is not supported"
static const struct param_row sarama_login_rows[] = {
	{ "unsafeSsl", PARAM_BOOL, "m", LOGIN_AT(insecure), .help = "true: do not verify the server's certificate" },
	{ "sasl", PARAM_CHOICE, "ma", LOGIN_AT(sasl), .words = sarama_sasls, .otherwise = "none",
		.help = "login mechanism" },
	{ "saslTokenProvider", PARAM_CHOICE, "ma", LOGIN_AT(provider), .words = providers, .otherwise = "bearer",
		.help = "oauthbearer: issuer of the token" },
	{ "scopes", PARAM_TEXT, "a", LOGIN_AT(scopes), .help = "bearer: scopes, separated by commas" },
	{ "oauthTokenEndpointUri", PARAM_TEXT, "a", LOGIN_AT(token_url), .help = "bearer: URL of the token endpoint" },
	{ "oauthExtensions", PARAM_MAP, "a", LOGIN_AT(extensions), .when = BEARER,
		.help = "bearer: SASL extensions for the broker, k=v,k=v" },
	{ "realm", PARAM_IGNORED, "a", .help = KERBEROS },
	{ "keytab", PARAM_IGNORED, "a", .help = KERBEROS },
	{ "kerberosConfig", PARAM_IGNORED, "a", .help = KERBEROS },
	{ "kerberosServiceName", PARAM_IGNORED, "a", .help = KERBEROS },
	{ "kerberosDisableFAST", PARAM_IGNORED, "a", .help = KERBEROS },
};
static const struct param_table sarama_login_table = PARAM_LOGIN_TABLE(sarama_login_rows);

static const struct param_row apache_login_rows[] = {
	{ "sasl", PARAM_CHOICE, "ma", LOGIN_AT(sasl), .words = apache_sasls, .otherwise = "none",
		.help = "login mechanism" },
};
static const struct param_table apache_login_table = PARAM_LOGIN_TABLE(apache_login_rows);

/* ---- Rules over several parameters ---- */

static bool is_apache(const struct scaler_params *params)
{
	return strcmp(params->type, "apache-kafka") == 0;
}

static bool has_topic(const struct kafkaquestion *q)
{
	return q->topic || q->topics.count > 0;
}

static int check_numbers(const struct kafkaquestion *q, double activation, struct err *err)
{
	if (q->rules.threshold <= 0)
		return err_set_about(err, "lagThreshold", "\"lagThreshold\" must be positive number, but is %" PRId64,
			q->rules.threshold);
	if (activation < 0)
		return err_set_about(err, "activationLagThreshold",
			"\"activationLagThreshold\" must be positive number, but is %.0f", activation);
	return 0;
}

static int check_length(const char *name, const char *value, size_t most, struct err *err)
{
	size_t len = value ? strlen(value) : 0;

	return len <= most
		? 0
		: err_set(err, ERR_INVALID, "parameter \"%s\" has %zu bytes; at most %zu are allowed", name, len, most);
}

static int check_names(const struct kafkaquestion *q, struct err *err)
{
	int rc = check_length("consumerGroup", q->group, KAFKA_GROUP_MAX, err);

	if (rc == 0)
		rc = check_length("topic", q->topic, KAFKA_TOPIC_MAX, err);
	for (size_t i = 0; rc == 0 && i < q->topics.count; i++)
		rc = check_length("topic", q->topics.items[i], KAFKA_TOPIC_MAX, err);
	return rc;
}

/* KEDA's apache-kafka does not check the last two. */
static int check_together(const struct kafkaquestion *q, bool apache, struct err *err)
{
	if (q->rules.idle && q->rules.only_lagging)
		return err_set_about(err, "limitToPartitionsWithLag",
			"allowIdleConsumers and limitToPartitionsWithLag cannot be set simultaneously");
	if (!has_topic(q) && q->rules.only_lagging)
		return err_set_about(err, "topic", "topic must be specified when using limitToPartitionsWithLag");
	if (!apache && q->rules.only_lagging && q->rules.even)
		return err_set_about(err, "ensureEvenDistributionOfPartitions",
			"limitToPartitionsWithLag and ensureEvenDistributionOfPartitions cannot be set simultaneously");
	if (!apache && !has_topic(q) && q->rules.even)
		return err_set_about(err, "topic",
			"topic must be specified when using ensureEvenDistributionOfPartitions");
	return 0;
}

/* sarama's form: three numbers, or four that begin with 0. */
static int check_version(const char *version, struct err *err)
{
	size_t dots = 0, wanted = version && strncmp(version, "0.", 2) == 0 ? 3 : 2;
	bool digit = false, good = true;

	for (const char *c = version; c && *c; c++) {
		dots += *c == '.';
		good &= *c == '.' ? digit : *c >= '0' && *c <= '9';
		digit = *c != '.';
	}
	if (!version || (good && digit && dots == wanted))
		return 0;
	return err_set_about(err, "version", "error parsing kafka version: \"%.40s\" is not like 1.0.0", version);
}

/* KEDA's apache-kafka refuses both places together; its kafka takes the metadata's value. */
static int check_places(const struct scaler_params *params, struct err *err)
{
	static const char *const names[] = { "sasl", "tls" };

	for (size_t i = 0; is_apache(params) && params->auth && i < MEM_COUNT(names); i++) {
		MEM_AUTO char *here = params_trimmed(strmap_get(params->metadata, names[i]));
		MEM_AUTO char *there = params_trimmed(strmap_get(params->auth, names[i]));

		if (here && there)
			return err_set_about(err, names[i],
				"unable to set `%s` in both ScaledObject and TriggerAuthentication together", names[i]);
	}
	return 0;
}

/* ---- The login ---- */

#define INSTEAD "; use scram_sha512, scram_sha256, or plaintext with tls"

static int check_msk(const struct kafka_login *f, struct err *err)
{
	if (!f->region)
		return params_wrong(err, "awsRegion", "is required by aws_msk_iam");
	if (f->tls != TLS_ENABLE)
		return params_wrong(err, "tls", "must be enable for aws_msk_iam");
	return 0;
}

static bool is_msk(enum sasl sasl, const struct kafka_login *f)
{
	return sasl == SASL_MSK || (sasl == SASL_OAUTHBEARER && f->provider == PROVIDER_MSK);
}

static int check_login(enum sasl sasl, const struct kafka_login *f, struct err *err)
{
	if (sasl == SASL_GSSAPI)
		return params_wrong(err, "sasl", ": gssapi (Kerberos) is not supported" INSTEAD);
	if (is_msk(sasl, f))
		return check_msk(f, err);
	if (sasl != SASL_NONE && (!f->username || !f->password))
		return err_set_about(err, f->username ? "password" : "username", "no %s given, which sasl needs",
			f->username ? "password" : "username");
	if (sasl == SASL_OAUTHBEARER && !f->token_url)
		return err_set_about(err, "oauthTokenEndpointUri",
			"no oauthTokenEndpointUri given, which oauthbearer needs");
	return 0;
}

/* NULL with err. The token endpoint shares only the CA with the brokers. */
static struct identity *make_client(struct kafka_login *f, struct err *err)
{
	const struct oauthclient_config config = {
		.token_url = f->token_url,
		.client_id = f->username,
		.client_secret = f->password,
		.scopes = f->scopes,
		.trust = { .ca_pem = f->ca },
	};
	struct identity *identity;

	httpauth_join_scopes(f->scopes);
	identity = oauthclient_new(&config, err);
	if (!identity)
		err_wrap(err, "oauthbearer");
	return identity;
}

/*
 * 0 with one reference, or with NULL if the login needs no identity; -1 with err; 1: values are
 * unknown.
 */
static int read_identity(const struct scaler_params *params, struct kafka_login *f, enum sasl sasl,
	struct identity **out, struct err *err)
{
	if (is_msk(sasl, f))
		return awslogin_read(params, f->region, out, err);
	*out = sasl == SASL_OAUTHBEARER ? make_client(f, err) : NULL;
	return sasl == SASL_OAUTHBEARER && !*out ? -1 : 0;
}

static struct kafkaendpoint *make_endpoint(const struct scaler_params *params, struct kafka_login *f, enum sasl sasl,
	struct identity *identity, struct err *err)
{
	static const enum kafkasasl_mechanism mechanisms[] = {
		[SASL_NONE] = KAFKASASL_NONE,
		[SASL_PLAINTEXT] = KAFKASASL_PLAIN,
		[SASL_SCRAM_SHA256] = KAFKASASL_SCRAM_SHA256,
		[SASL_SCRAM_SHA512] = KAFKASASL_SCRAM_SHA512,
		[SASL_OAUTHBEARER] = KAFKASASL_OAUTHBEARER,
		[SASL_MSK] = KAFKASASL_AWS_MSK_IAM,
	};
	struct kafkaendpoint_config config = {
		.namespace_ = params->namespace_,
		.servers = (const char *const *)f->servers.items,
		.count = f->servers.count,
		.port = is_apache(params) ? APACHE_PORT : 0,
		.tls = f->tls == TLS_ENABLE,
		.tls_config.insecure = f->insecure,
		.tls_config.ca_pem = f->ca,
		.tls_config.cert_pem = f->cert,
		.tls_config.key_pem = f->key,
		.tls_config.key_password = f->key_password,
		.mechanism = mechanisms[sasl],
		.username = sasl != SASL_NONE && !identity ? f->username : NULL,
		.password = sasl != SASL_NONE && !identity ? f->password : NULL,
		.identity = identity,
		.region = is_msk(sasl, f) ? f->region : NULL,
		.trusted = params->identity ? params->identity->aws_trusted : NULL,
		.extensions = sasl == SASL_OAUTHBEARER && !is_msk(sasl, f) ? &f->extensions : NULL,
	};
	struct kafkaendpoint *endpoint;

	if (params_check_cert(params, config.tls, f->cert, f->key, err))
		return NULL;
	if (tlsrules_demand(config.tls, "set tls to \"enable\"", err))
		return NULL;
	endpoint = kafkaendpoint_new(&config, err);
	if (!endpoint)
		params_wrap(err, "bootstrapServers");
	return endpoint;
}

/* ---- The question ---- */

static char *make_metric_name(const struct scaler_params *params, const struct kafkaquestion *q)
{
	struct buf name = BUF_INIT(1u << 20);
	const struct param_table *own = is_apache(params) ? &apache_table : &sarama_table;

	if (params_is_unknown(own, params, is_apache(params) ? AT(topics) : AT(topic)) ||
		(!has_topic(q) && params_is_unknown(&table, params, AT(group))))
		return NULL;
	if (q->topic)
		buf_printf(&name, "kafka-%s", q->topic);
	for (size_t i = 0; i < q->topics.count; i++)
		buf_printf(&name, "%s%s", i > 0 ? "," : "kafka-", q->topics.items[i]);
	if (!has_topic(q))
		buf_printf(&name, "kafka-%s-topics", q->group);
	return buf_take(&name);
}

static int read_login(struct scaler_build *b, struct kafka_login *f, enum sasl *sasl, struct err *err)
{
	bool apache = is_apache(b->params);
	const struct param_table *own = apache ? &apache_login_table : &sarama_login_table;

	if (params_read_rows(b, &login_table, 0, f, err) || params_read_rows(b, own, 0, f, err))
		return -1;
	*sasl = apache ? apache_meanings[f->sasl] : sarama_meanings[f->sasl];
	if (*sasl == SASL_OAUTHBEARER && !is_msk(*sasl, f))
		return params_read_rows(b, own, BEARER, f, err);
	params_read_ignored(own, b->params, BEARER, f, "without sasl oauthbearer");
	return 0;
}

/* Without a topic, partitionLimitation is ignored. */
static int connect_to(struct scaler_build *b, struct kafka_login *f, enum sasl sasl, struct err *err)
{
	struct kafkaquestion *q = b->data;
	struct identity *identity = NULL;
	int rc = read_identity(b->params, f, sasl, &identity, err);

	b->open |= rc == 1;
	if (rc == 0 && q->limitation && has_topic(q))
		rc = kafkalag_read_ranges(q->limitation, &q->ranges, &q->asked.range_count, err);
	if (rc == 0) {
		q->endpoint = make_endpoint(b->params, f, sasl, identity, err);
		rc = q->endpoint ? 0 : -1;
	}
	identity_unref(identity);
	if (rc == 0)
		kafkaquestion_complete(b);
	return rc < 0 ? -1 : 0;
}

static int build(struct scaler_build *b, struct err *err)
{
	const struct kafkaquestion *q = b->data;
	struct kafka_login *f = params_login(b, sizeof(*f));
	enum sasl sasl = SASL_NONE;

	b->metric_name = make_metric_name(b->params, q);
	b->scaler->target = quantity_from_int(q->rules.threshold);
	if (read_login(b, f, &sasl, err) || check_names(q, err) || check_numbers(q, b->scaler->activation, err) ||
		check_version(q->version, err) || check_places(b->params, err))
		return -1;
	return !b->open &&
			(check_together(q, is_apache(b->params), err) || check_login(sasl, f, err) ||
				connect_to(b, f, sasl, err))
		? -1
		: 0;
}

#define KAFKA_TYPE(word, go_word, own, own_login)                                                                      \
	{                                                                                                              \
		.name = (word), .go_name = (go_word),                                                                  \
		.tables = { &table, &(own), &login_table, &(own_login), &awslogin_table },                             \
		.data_size = sizeof(struct kafkaquestion), .build = build, .data_done = kafkaquestion_done,            \
		.asker = &kafkaquestion_asker,                                                                         \
	}

const struct scaler_type kafka_scaler_type = KAFKA_TYPE("kafka", "kafkaScaler", sarama_table, sarama_login_table);
const struct scaler_type apachekafka_scaler_type = KAFKA_TYPE("apache-kafka", "apacheKafkaScaler", apache_table,
	apache_login_table);
