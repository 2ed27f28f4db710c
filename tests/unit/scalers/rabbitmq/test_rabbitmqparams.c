/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameters of the rabbitmq trigger: accepted, defaulted, rejected with the message
 * (doc/keda.md 8.12), and equal questions. Servers' answers are tested live.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../pairs.h"
#include "../tlsrows.h"
#include "base/mem.h"
#include "scalers/rabbitmq/rabbitmqparams.h"
#include "scalers/scaler.h"

static int build_as(const struct pod_identity *identity, const char *metadata, const char *auth, const char *env,
	struct scaler *out, struct err *err)
{
	const struct scaler_params params = { .type = "rabbitmq",
		.namespace_ = "shop",
		.index = 2,
		.identity = identity };

	return pairs_build(&params, metadata, auth, env, out, err);
}

static int build(const char *metadata, const char *auth, const char *env, struct scaler *out, struct err *err)
{
	return build_as(NULL, metadata, auth, env, out, err);
}

#define AMQP  "host=amqp://u:p@mq:5672/|queueName=jobs"
#define HTTP  "host=http://u:p@mq:15672/|queueName=jobs"
#define HTTPS "host=https://u:p@mq:15671/|queueName=jobs"
#define COLUMNS                                                                                                        \
	"columns=name,messages,messages_ready,message_stats.publish,message_stats.deliver_get,"                        \
	"message_stats.publish_details.rate,message_stats.deliver_get_details.rate"

/* ---- Over AMQP ---- */

static const struct {
	const char *metadata, *auth, *env;
	const char *metric, *source, *vhost, *user, *password; /* user NULL: EXTERNAL */
	int64_t target_milli;
	double activation;
	bool tls;
} amqp_goods[] = {
	{ AMQP, NULL, NULL, "s2-rabbitmq-jobs", "rabbitmq at mq:5672", "/", "u", "p", 20000, 0, false },
	{ "host=amqp://mq|queueName=a/b c.d%|queueLength=5", NULL, NULL, "s2-rabbitmq-a-2Fb+c-d-25",
		"rabbitmq at mq:5672", "/", "guest", "guest", 5000, 0, false },
	{ "host=amqps://mq/shop|queueName=q|mode=QueueLength|value=2.5|activationValue=3", NULL, NULL, "s2-rabbitmq-q",
		"rabbitmq at mq:5671", "shop", "guest", "guest", 2500, 3, true },
	{ "host=AMQPS://[::1]:99/%2Fa%2fb/c|queueName=q|protocol=amqp", NULL, NULL, "s2-rabbitmq-q",
		"rabbitmq at [::1]:99", "/a/b/c", "guest", "guest", 20000, 0, true },
	{ "host=amqp://u%40:p%2F%3A%25@mq:80/%2F|queueName=q|vhostName=other/one", NULL, NULL, "s2-rabbitmq-q",
		"rabbitmq at mq:80", "other/one", "u@", "p/:%", 20000, 0, false },
	{ "host=amqp://u:p@mq/v?heartbeat=10|queueName=q", "username=me|password=secret", NULL, "s2-rabbitmq-q",
		"rabbitmq at mq:5672", "v", "me", "secret", 20000, 0, false },
	{ "hostFromEnv=H|usernameFromEnv=U|passwordFromEnv=W|queueName=q", NULL, "H=amqp://mq|U=me|W=it",
		"s2-rabbitmq-q", "rabbitmq at mq:5672", "/", "me", "it", 20000, 0, false },
	{ "queueName=q|timeout=5s", "host=amqp://mq/v", NULL, "s2-rabbitmq-q", "rabbitmq at mq:5672", "v", "guest",
		"guest", 20000, 0, false },
	/* TLS parameters of the URL's query matter only with amqps:// and without tls enable. */
	{ "host=amqp://mq/v?connection_timeout=9&channel_max=3&cacertfile=/ca&auth_mechanism=plain|queueName=q", NULL,
		NULL, "s2-rabbitmq-q", "rabbitmq at mq:5672", "v", "guest", "guest", 20000, 0, false },
	{ "host=amqps://mq/v?cacertfile=/ca|queueName=q", "tls=enable", NULL, "s2-rabbitmq-q", "rabbitmq at mq:5671",
		"v", "guest", "guest", 20000, 0, true },
	{ "host=amqps://mq/?auth_mechanism=EXTERNAL|queueName=q", "username=me|password=it", NULL, "s2-rabbitmq-q",
		"rabbitmq at mq:5671", "/", "me", "it", 20000, 0, true },
	/* KEDA's defaults for a URL with a user only; KEDA treats 0 as absent. */
	{ "host=amqp://me@mq|queueName=q|queueLength=0|mode=QueueLength|value=3", NULL, NULL, "s2-rabbitmq-q",
		"rabbitmq at mq:5672", "/", "me", "guest", 3000, 0, false },
	{ "host=amqp://me:@mq|queueName=q|queueLength=0|value=0", NULL, NULL, "s2-rabbitmq-q", "rabbitmq at mq:5672",
		"/", "me", "", 20000, 0, false },
	/* Parameters for regular expressions have no effect without useRegex. */
	{ AMQP "|operation=median|pageSize=0", NULL, NULL, "s2-rabbitmq-jobs", "rabbitmq at mq:5672", "/", "u", "p",
		20000, 0, false },
};

static struct scaler build_good(const char *metadata, const char *auth, const char *env)
{
	struct err err = { 0 };
	struct scaler s;

	if (build(metadata, auth, env, &s, &err))
		fail_msg("%s: %s", metadata, err.msg);
	return s;
}

static void over_amqp(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(amqp_goods); i++) {
		struct scaler s = build_good(amqp_goods[i].metadata, amqp_goods[i].auth, amqp_goods[i].env);
		const struct rabbitmqparams_question *q = s.question->data;

		assert_string_equal(s.metric_name, amqp_goods[i].metric);
		assert_string_equal(s.question->source, amqp_goods[i].source);
		assert_int_equal(s.target.milli, amqp_goods[i].target_milli);
		assert_true(s.activation == amqp_goods[i].activation);
		assert_int_equal(s.question->timeout_ms, 0);
		assert_non_null(q->amqp);
		assert_string_equal(q->amqp->vhost, amqp_goods[i].vhost);
		assert_string_equal(q->amqp->user, amqp_goods[i].user);
		assert_string_equal(q->amqp->password, amqp_goods[i].password);
		assert_int_equal(q->amqp->tls, amqp_goods[i].tls);
		scaler_done(&s);
	}
}

/* ---- Over HTTP ---- */

static const struct {
	const char *metadata, *auth;
	const char *source, *url;
	const char *user, *password, *token_url;
} http_goods[] = {
	{ HTTP, NULL, "rabbitmq at http://mq:15672", "http://mq:15672/api/queues/%2F/jobs?" COLUMNS, "u", "p", NULL },
	{ "host=https://mq/a//b/shop|queueName=a/b c+d", NULL, "rabbitmq at https://mq:443",
		"https://mq/a/b/api/queues/shop/a%2Fb%20c%2Bd?" COLUMNS, NULL, NULL, NULL },
	{ "host=http://mq|queueName=q", NULL, "rabbitmq at http://mq:80", "http://mq/api/queues/%2F/q?" COLUMNS, NULL,
		NULL, NULL },
	{ "host=http://mq/sub/%2Fv|queueName=q|protocol=http", NULL, "rabbitmq at http://mq:80",
		"http://mq/sub/api/queues/%2Fv/q?" COLUMNS, NULL, NULL, NULL },
	{ "host=http://mq/sub/gone|queueName=q|vhostName=my/v h", NULL, "rabbitmq at http://mq:80",
		"http://mq/sub/api/queues/my%2Fv%20h/q?" COLUMNS, NULL, NULL, NULL },
	{ HTTP "|useRegex=true", "username=me|password=it", "rabbitmq at http://mq:15672",
		"http://mq:15672/api/queues/"
		"%2F?page=1&use_regex=true&pagination=false&name=jobs&page_size=100&" COLUMNS,
		"me", "it", NULL },
	{ "host=http://mq/|queueName=^a.*|useRegex=true|pageSize=500|operation=max", NULL, "rabbitmq at http://mq:80",
		"http://mq/api/queues/%2F?page=1&use_regex=true&pagination=false&name=%5Ea.%2A&page_size=500&" COLUMNS,
		NULL, NULL, NULL },
	{ HTTP, "oauthTokenURI=http://id/t|clientID=c|clientSecret=s|scopes=a,b", "rabbitmq at http://mq:15672",
		"http://mq:15672/api/queues/%2F/jobs?" COLUMNS, NULL, NULL, "http://id/t" },
};

/* The token request, with scopes in OAuth's format. */
static void expect_exchange(const struct identity *identity, const char *url)
{
	const struct identity_environment environment = { .arg = NULL };
	struct identity_exchange exchange = { .identity = identity, .environment = &environment };
	struct webrequest request = { .url = NULL };
	struct credential credential = { .token = NULL };
	struct err err = { 0 };

	assert_int_equal(identity_next(&exchange, &request, &credential, &err), EXCHANGE_SEND);
	assert_string_equal(request.url, url);
	assert_non_null(strstr(request.body, "scope=a%20b"));
	webrequest_done(&request);
	identity_exchange_done(&exchange);
}

static void over_http(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(http_goods); i++) {
		struct scaler s = build_good(http_goods[i].metadata, http_goods[i].auth, NULL);
		const struct rabbitmqparams_question *q = s.question->data;
		const struct webaccess_config *access = webaccess_config(q->login.access);

		assert_string_equal(s.question->source, http_goods[i].source);
		assert_int_equal(s.question->timeout_ms, QUESTION_TIMEOUT_HTTP);
		assert_null(q->amqp);
		assert_string_equal(q->login.url, http_goods[i].url);
		if (http_goods[i].user) {
			assert_string_equal(access->username, http_goods[i].user);
			assert_string_equal(access->password, http_goods[i].password);
		} else {
			assert_null(access->username);
		}
		if (http_goods[i].token_url) {
			expect_exchange(access->identity, http_goods[i].token_url);
		}
		scaler_done(&s);
	}
}

/* ---- As kscaled itself ---- */

static const char *env_of(void *arg, const char *name)
{
	(void)arg;
	return strcmp(name, "AZURE_TENANT_ID") == 0               ? "tenant"
		: strcmp(name, "AZURE_CLIENT_ID") == 0            ? "kscaled"
		: strcmp(name, "AZURE_FEDERATED_TOKEN_FILE") == 0 ? "file"
								  : NULL;
}

static int file_of(void *arg, const char *path, struct buf *out, struct err *err)
{
	(void)arg;
	(void)path;
	(void)err;
	buf_puts(out, "federated");
	return 0;
}

/* The trigger's request to Entra ID; owned by the caller. */
static char *form_of(const struct scaler *s)
{
	const struct rabbitmqparams_question *q = s->question->data;
	const struct webaccess_config *access = webaccess_config(q->login.access);
	const struct identity_environment environment = { .env = env_of, .file = file_of };
	struct identity_exchange exchange = { .identity = access->identity, .environment = &environment };
	struct webrequest request = { .url = NULL };
	struct credential credential = { .token = NULL };
	struct err err = { 0 };
	char *form;

	assert_null(access->username);
	assert_null(access->password);
	assert_int_equal(identity_next(&exchange, &request, &credential, &err), EXCHANGE_SEND);
	assert_string_equal(request.url, "https://login.microsoftonline.com/tenant/oauth2/v2.0/token");
	form = mem_dup(request.body);
	webrequest_done(&request);
	identity_exchange_done(&exchange);
	return form;
}

static void by_kscaleds_own_token(void **state)
{
	static const struct pod_identity own = { .provider = "azure-workload",
		.may_be_kscaled = true,
		.azure_trusted = "mq" },
					 other = { .provider = "azure-workload",
						 .may_be_kscaled = true,
						 .azure_trusted = "mq",
						 .identity_id = "other" },
					 unsaid = { .may_be_kscaled = true, .azure_trusted = "*" },
					 aws = { .provider = "aws",
						 .may_be_kscaled = true,
						 .azure_trusted = "*",
						 .identity_id = "none of Azure" },
					 trustless = { .provider = "azure-workload", .may_be_kscaled = true },
					 forbidden = { .azure_trusted = "*" };
	static const struct {
		const struct pod_identity *identity;
		const char *metadata, *auth;
		const char *client, *scope; /* of the form sent */
		const char *said;           /* not NULL: refused */
	} rows[] = {
		{ &own, HTTPS, "workloadIdentityResource=api://mq", "client_id=kscaled&",
			"&scope=api%3A%2F%2Fmq%2F.default&", NULL },
		{ &other, HTTPS, "workloadIdentityResource=api://mq/", "client_id=other&",
			"&scope=api%3A%2F%2Fmq%2F.default&", NULL },
		{ &own, HTTPS, "workloadIdentityResource=api://mq/.default", "client_id=kscaled&",
			"&scope=api%3A%2F%2Fmq%2F.default&", NULL },
		/* whatever podIdentity is, as in KEDA, and without another login */
		{ &unsaid, HTTPS, "workloadIdentityResource=x|username=u|password=p", "client_id=kscaled&",
			"&scope=x%2F.default&", NULL },
		{ &aws, HTTPS, "workloadIdentityResource=x", "client_id=kscaled&", "&scope=x%2F.default&", NULL },
		/* ca has no effect without tls enable */
		{ &own, HTTPS, "workloadIdentityResource=x|ca=PEM", "client_id=kscaled&", "&scope=x%2F.default&",
			NULL },
		{ &forbidden, HTTPS, "workloadIdentityResource=x", NULL, NULL,
			"kscaled's own Azure identity, which needs a" },
		{ &trustless, HTTPS, "workloadIdentityResource=x", NULL, NULL,
			"parameter \"host\": podIdentity azure-workload: mq is not one of Microsoft's hosts, and "
			"kscaled" },
		{ &trustless, "host=https://a.vault.azure.net/|queueName=q",
			"workloadIdentityResource=https://vault.azure.net", NULL, NULL,
			"a.vault.azure.net is not one of Microsoft's hosts" },
		{ &own, HTTP, "workloadIdentityResource=x", NULL, NULL,
			"parameter \"host\": podIdentity azure-workload: must begin with https://: kscaled shows its "
			"own Azure token only over TLS" },
		{ &own, HTTPS "|unsafeSsl=true", "workloadIdentityResource=x", NULL, NULL,
			"parameter \"unsafeSsl\" does not go together with kscaled's own Azure identity" },
		{ &own, HTTPS, "workloadIdentityResource=x|tls=enable|ca=PEM", NULL, NULL,
			"parameter \"ca\" does not go together with kscaled's own Azure identity" },
		{ &own, AMQP, "workloadIdentityResource=x", NULL, NULL,
			"workload identity is not supported for the AMQP protocol at the moment" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct err err = { 0 };
		struct scaler s;
		MEM_AUTO char *form = NULL;
		int rc = build_as(rows[i].identity, rows[i].metadata, rows[i].auth, NULL, &s, &err);

		if (!rc == !!rows[i].said || (rc && !strstr(err.msg, rows[i].said)))
			fail_msg("%s, %s: %s", rows[i].metadata, rows[i].auth, err.msg);
		if (rc)
			continue;
		form = form_of(&s);
		if (!strstr(form, rows[i].client) || !strstr(form, rows[i].scope))
			fail_msg("%s: %s", rows[i].auth, form);
		scaler_done(&s);
	}
}

/* podIdentity without a resource has no effect, as in KEDA. */
static void without_a_resource_the_login_is_by_password(void **state)
{
	static const struct pod_identity own = { .provider = "azure-workload", .may_be_kscaled = true },
					 mine = { .provider = "azure-workload" };
	static const struct pod_identity *const all[] = { &own, &mine };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(all); i++) {
		const struct rabbitmqparams_question *q;
		struct scaler s;

		assert_int_equal(build_as(all[i], HTTP, NULL, NULL, &s, NULL), 0);
		q = s.question->data;
		assert_string_equal(webaccess_config(q->login.access)->username, "u");
		assert_null(webaccess_identity(q->login.access));
		scaler_done(&s);
	}
}

static void timeouts_and_modes(void **state)
{
	struct scaler s = build_good(HTTP "|mode=MessageRate|value=0.5|timeout=1500", NULL, NULL);
	const struct rabbitmqparams_question *q = s.question->data;

	(void)state;
	assert_int_equal(s.question->timeout_ms, 1500);
	assert_int_equal(q->mode, RABBITMQVALUE_MESSAGE_RATE);
	assert_int_equal(s.target.milli, 500);
	scaler_done(&s);
}

/* ---- Rejected ---- */

static const struct {
	const char *metadata, *auth, *message;
} bads[] = {
	{ "host=amqp://mq", NULL, "missing required parameter \"queueName\" in [triggerMetadata]" },
	{ "queueName=q", NULL, "missing required parameter \"host\"" },
	{ "queueName=q|host=mq:5672", NULL, "unknown host URL scheme: `` (it must begin with amqp://" },
	{ "queueName=q|host=ftp://mq", NULL, "unknown host URL scheme: `ftp`" },
	{ "queueName=q|host=amqp://:5672", NULL, "parameter \"host\"" },
	{ "queueName=q|host=amqp://u:open-sesame@x@mq", NULL,
		"parameter \"host\" (in user, password and vhost a blank is written %20, @ %40" },
	{ "queueName=q|host=http://mq/my vhost", NULL,
		"a blank is written %20, @ %40, / %2F and # %23): is not a URL: " },
	{ AMQP "|protocol=stomp", NULL, "must be one of auto, amqp, http" },
	{ AMQP "|protocol=http", NULL, "protocol is \"http\", but parameter \"host\" begins with \"amqp://\"" },
	{ HTTP "|protocol=amqp", NULL, "protocol is \"amqp\", but parameter \"host\" begins with \"http://\"" },
	{ AMQP "|mode=queuelength|value=1", NULL, "\"mode\" value \"queuelength\"" },
	{ AMQP "|value=1", NULL, "mode must be specified" },
	{ AMQP "|mode=QueueLength", NULL, "value must be specified" },
	{ AMQP "|queueLength=1|mode=QueueLength", NULL, "queueLength is deprecated; use mode and value" },
	{ AMQP "|queueLength=1|value=1", NULL, "queueLength is deprecated; use mode and value" },
	{ AMQP "|mode=QueueLength|value=0", NULL, "\"value\" value \"0\" must be greater than 0" },
	{ AMQP "|queueLength=-3", NULL, "\"queueLength\" value \"-3\" must be greater than 0" },
	{ AMQP "|mode=MessageRate|value=1", NULL, "protocol amqp not supported; must be http to use mode MessageRate" },
	{ AMQP "|useRegex=true", NULL, "useRegex needs protocol http" },
	{ AMQP "|excludeUnacknowledged=true", NULL, "excludeUnacknowledged needs protocol http" },
	{ AMQP "|mode=QueueLength|value=1|timeout=3s", NULL, "amqp protocol doesn't support custom timeouts" },
	{ AMQP, "oauthTokenURI=http://id/t|clientID=c|clientSecret=s", "OAuth 2 (oauthTokenURI) needs protocol http" },
	{ HTTP, "oauthTokenURI=http://id/t|clientID=c", "oauthTokenURI, clientID and clientSecret must be given" },
	{ HTTP, "oauthTokenURI=http://id/t|clientID=c|clientSecret=s|username=u|password=p", "cannot be given with" },
	{ HTTPS, "oauthTokenURI=http://id/t|clientID=c|clientSecret=s|workloadIdentityResource=api://x",
		"workloadIdentityResource cannot be given with oauthTokenURI" },
	{ AMQP, "workloadIdentityResource=api://x",
		"workload identity is not supported for the AMQP protocol at the moment" },
	{ HTTPS, "workloadIdentityResource=api://x", "kscaled's own Azure identity, which needs a" },
	{ HTTP, "username=u", "username and password must be given together" },
	{ AMQP, "password=p", "username and password must be given together" },
	{ AMQP, "tls=yes", "\"tls\" value from authParams (not shown): must be one of disable, enable" },
	{ AMQP, "tls=enable", "tls is \"enable\", but parameter \"host\" begins with \"amqp://\": write amqps://" },
	{ HTTP, "tls=enable", "begins with \"http://\": write https://" },
	{ "host=amqps://mq|queueName=q", "tls=enable|cert=PEM", "\"cert\" and \"key\" belong together" },
	{ "host=amqps://mq|queueName=q", "tls=enable|ca=PEM", "PEM" },
	{ "host=amqps://mq/?heartbeat=5&cacertfile=/open-sesame|queueName=q", NULL,
		"parameter \"host\": \"cacertfile\" in its query is not supported: give ca, cert and key" },
	{ "host=amqps://mq?certfile=x|queueName=q", "username=u|password=p", "\"certfile\" in its query" },
	{ "host=amqps://mq?server_name_indication=x|queueName=q", NULL, "\"server_name_indication\" in its query" },
	{ "host=amqps://mq?auth_mechanism=plain&auth_mechanism=External|queueName=q", NULL,
		"\"auth_mechanism\" of EXTERNAL in its query needs a client certificate" },
	{ HTTP "|useRegex=true|pageSize=0", NULL, "\"pageSize\" value \"0\"" },
	{ HTTP "|useRegex=true|operation=min", NULL, "must be one of sum, avg, max" },
	{ "queueName=q|host=http://u:open-sesame@mq/?x=1", NULL, "parameter \"host\": it must not have a query" },
};

static void rejected(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(bads); i++) {
		struct err err = { 0 };
		struct scaler s;

		if (build(bads[i].metadata, bads[i].auth, NULL, &s, &err) == 0)
			fail_msg("%s, %s: accepted", bads[i].metadata, bads[i].auth);
		if (err.kind != ERR_INVALID || !strstr(err.msg, bads[i].message))
			fail_msg("%s, %s: %s", bads[i].metadata, bads[i].auth, err.msg);
		assert_null(strstr(err.msg, "open-sesame"));
	}
}

static void a_name_has_its_limit_over_amqp(void **state)
{
	char metadata[400] = "host=amqp://mq|queueName=";
	struct err err = { 0 };
	struct scaler s;

	(void)state;
	memset(metadata + strlen(metadata), 'q', 256);
	assert_int_equal(build(metadata, NULL, NULL, &s, &err), -1);
	assert_non_null(strstr(err.msg, "\"queueName\" is longer than 255 bytes"));
	metadata[strlen(metadata) - 1] = '\0';
	assert_int_equal(build(metadata, NULL, NULL, &s, &err), 0);
	scaler_done(&s);
}

/* ---- Equal questions ---- */

static char *key_of(const char *metadata, const char *auth)
{
	struct scaler s = build_good(metadata, auth, NULL);
	char *key = mem_dup(s.question->key);

	assert_null(strstr(key, "open-sesame"));
	scaler_done(&s);
	return key;
}

static void assert_keys(const char *a, const char *a_auth, const char *b, const char *b_auth, bool same)
{
	MEM_AUTO char *one = key_of(a, a_auth), *other = key_of(b, b_auth);

	if ((strcmp(one, other) == 0) != same)
		fail_msg("%s\n%s", one, other);
}

static void keys(void **state)
{
	(void)state;
	assert_keys(AMQP, NULL, AMQP "|queueLength=3|activationValue=2", NULL, true);
	assert_keys(AMQP, NULL, "host=amqp://mq|queueName=jobs", "username=u|password=p", true);
	assert_keys(AMQP, NULL, "host=amqp://u:open-sesame@mq/|queueName=jobs", NULL, false);
	assert_keys(AMQP, NULL, "host=amqp://u:p@mq/shop|queueName=jobs", NULL, false);
	assert_keys(AMQP, NULL, "host=amqp://u:p@mq/|queueName=job", NULL, false);
	assert_keys(AMQP, NULL, "host=amqps://u:p@mq:5672/|queueName=jobs", NULL, false);
	assert_keys(AMQP, NULL, HTTP, NULL, false);
	assert_keys(HTTP, NULL, HTTP "|queueLength=3|activationValue=2", NULL, true);
	assert_keys(HTTP, NULL, HTTP "|excludeUnacknowledged=true", NULL, false);
	assert_keys(HTTP, NULL, HTTP "|timeout=1s", NULL, false);
	assert_keys(HTTP, NULL, HTTP, "username=u|password=open-sesame", false);
	assert_keys(HTTP "|useRegex=true", NULL, HTTP "|useRegex=true|operation=avg", NULL, false);
	assert_keys(HTTP "|mode=MessageRate|value=1", NULL, HTTP "|mode=MessageRate|value=1|activationValue=2", NULL,
		true);
	assert_keys(HTTP "|mode=MessageRate|value=1", NULL, HTTP "|mode=DeliverGetRate|value=1", NULL, false);
	/* In these modes activationValue is the value while nothing is delivered. */
	assert_keys(HTTP "|mode=ExpectedQueueConsumptionTime|value=1", NULL,
		HTTP "|mode=ExpectedQueueConsumptionTime|value=1|activationValue=2", NULL, false);
	assert_keys(HTTP "|mode=ExpectedQueueConsumptionTime|value=1|activationValue=1000000.1", NULL,
		HTTP "|mode=ExpectedQueueConsumptionTime|value=1|activationValue=1000000.2", NULL, false);
}

static int build_of_row(const char *metadata, const char *auth, struct scaler *out, struct err *err)
{
	return build(metadata, auth, NULL, out, err);
}

/* Over HTTP it is not required, as for any trigger over HTTP. */
static void tls_may_be_required(void **state)
{
	static const struct tlsrow rows[] = {
		{ AMQP, NULL, false },
		{ AMQP "|unsafeSsl=true", "tls=disable", false },
		{ "host=amqps://mq|queueName=q", NULL, true },
		{ "host=amqps://mq|queueName=q|unsafeSsl=true", "tls=enable", true },
		{ HTTP, NULL, true },
	};

	(void)state;
	tlsrows_check(rows, MEM_COUNT(rows), build_of_row, "set host to an address of amqps://");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(over_amqp),
		cmocka_unit_test(over_http),
		cmocka_unit_test(by_kscaleds_own_token),
		cmocka_unit_test(without_a_resource_the_login_is_by_password),
		cmocka_unit_test(timeouts_and_modes),
		cmocka_unit_test(rejected),
		cmocka_unit_test(a_name_has_its_limit_over_amqp),
		cmocka_unit_test(keys),
		cmocka_unit_test(tls_may_be_required),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
