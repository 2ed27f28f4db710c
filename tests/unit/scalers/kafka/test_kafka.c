/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The parameters of kafka and apache-kafka: accepted, defaulted, rejected with the message
 * (doc/keda.md 8.11), and equal questions. The brokers' answers are tested live.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../pairs.h"
#include "base/mem.h"
#include "net/tls/tlsrules.h"
#include "scalers/scaler.h"
#include "scalers/scalerbuild.h"

static int build(const char *type, const char *metadata, const char *auth, int64_t polling_ms, struct scaler *out,
	struct err *err)
{
	const struct scaler_params params = { .type = type, .index = 1, .polling_ms = polling_ms };

	return pairs_build(&params, metadata, auth, "KAFKA=e:1|GROUP=by-env|TOPIC=env-topic", out, err);
}

#define K     "kafka"
#define A     "apache-kafka"
#define BASIC "bootstrapServers=k:9092|consumerGroup=g"
#define LOGIN "username=u|password=p"
#define MSK   "|sasl=oauthbearer|saslTokenProvider=aws_msk_iam|tls=enable|awsRegion=eu-west-1"
#define KEYS  "awsAccessKeyID=AKID|awsSecretAccessKey=secret"

static const struct {
	const char *type, *metadata, *auth, *metric, *source;
	int64_t target_milli;
	double activation;
} goods[] = {
	{ K, BASIC "|topic=t", NULL, "s1-kafka-t", "kafka k:9092", 10000, 0 },
	{ K, BASIC "|topic=a.b/c", NULL, "s1-kafka-a-b-c", "kafka k:9092", 10000, 0 },
	{ K, BASIC, NULL, "s1-kafka-g-topics", "kafka k:9092", 10000, 0 },
	{ A, BASIC "|topic=a, b", NULL, "s1-kafka-a,b", "kafka k:9092", 10000, 0 },
	{ A, BASIC, NULL, "s1-kafka-g-topics", "kafka k:9092", 10000, 0 },
	{ K, "bootstrapServers= a:1 ,b:2|consumerGroup=g|lagThreshold=5|activationLagThreshold=3", NULL,
		"s1-kafka-g-topics", "kafka a:1,b:2", 5000, 3 },
	{ K, "bootstrapServersFromEnv=KAFKA|consumerGroupFromEnv=GROUP|topicFromEnv=TOPIC", NULL, "s1-kafka-env-topic",
		"kafka e:1", 10000, 0 },
	{ A, "bootstrapServersFromEnv=KAFKA|consumerGroupFromEnv=GROUP", NULL, "s1-kafka-by-env-topics", "kafka e:1",
		10000, 0 },
	{ K, BASIC "|version=2.5.0|tls=disable|sasl=none|fullMetadata=false", NULL, "s1-kafka-g-topics", "kafka k:9092",
		10000, 0 },
	{ K, BASIC "|version=0.10.2.1", NULL, "s1-kafka-g-topics", "kafka k:9092", 10000, 0 },
	{ K, BASIC "|partitionLimitation=1,3-5|topic=t", NULL, "s1-kafka-t", "kafka k:9092", 10000, 0 },
	{ K, BASIC "|partitionLimitation=nonsense", NULL, "s1-kafka-g-topics", "kafka k:9092", 10000, 0 },
	{ K, BASIC "|sasl=plaintext", LOGIN, "s1-kafka-g-topics", "kafka k:9092", 10000, 0 },
	{ K, BASIC, "sasl=scram_sha256|tls=enable|" LOGIN, "s1-kafka-g-topics", "kafka k:9092", 10000, 0 },
	/* In both places: the metadata wins, as in KEDA. */
	{ K, BASIC "|sasl=scram_sha512", "sasl=none|" LOGIN, "s1-kafka-g-topics", "kafka k:9092", 10000, 0 },
	{ K, BASIC "|sasl=oauthbearer",
		"oauthTokenEndpointUri=https://id/token|scopes=a,b|oauthExtensions=x=1,y=2|" LOGIN, "s1-kafka-g-topics",
		"kafka k:9092", 10000, 0 },
	/* Empty entries are ignored; apache-kafka has a default port. */
	{ K, "bootstrapServers=a:1,,b:2,|consumerGroup=g", NULL, "s1-kafka-g-topics", "kafka a:1,b:2", 10000, 0 },
	{ A, "bootstrapServers=a, [::1], b:2|consumerGroup=g", NULL, "s1-kafka-g-topics", "kafka a:9092,[::1]:9092,b:2",
		10000, 0 },
	{ A, BASIC "|topic=t|limitToPartitionsWithLag=true", NULL, "s1-kafka-t", "kafka k:9092", 10000, 0 },
	/* apache-kafka accepts these. */
	{ A, BASIC "|ensureEvenDistributionOfPartitions=true", NULL, "s1-kafka-g-topics", "kafka k:9092", 10000, 0 },
	{ A, BASIC "|topic=t|limitToPartitionsWithLag=true|ensureEvenDistributionOfPartitions=true", NULL, "s1-kafka-t",
		"kafka k:9092", 10000, 0 },
	{ K, BASIC "|topic=t|ensureEvenDistributionOfPartitions=true|allowIdleConsumers=true", NULL, "s1-kafka-t",
		"kafka k:9092", 10000, 0 },
	{ K, BASIC MSK, KEYS, "s1-kafka-g-topics", "kafka k:9092", 10000, 0 },
	{ A, BASIC "|sasl=aws_msk_iam|tls=enable|awsRegion=eu-west-1", KEYS, "s1-kafka-g-topics", "kafka k:9092", 10000,
		0 },
	/* Without TLS a missing one does not matter. */
	{ K, BASIC, "cert=PEM", "s1-kafka-g-topics", "kafka k:9092", 10000, 0 },
};

static void accepted(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(goods); i++) {
		struct scaler s;
		struct err err = { 0 };

		if (build(goods[i].type, goods[i].metadata, goods[i].auth, 0, &s, &err))
			fail_msg("%s: %s", goods[i].metadata, err.msg);
		assert_string_equal(s.metric_name, goods[i].metric);
		assert_string_equal(s.question->source, goods[i].source);
		assert_int_equal(s.target.milli, goods[i].target_milli);
		assert_true(s.activation == goods[i].activation);
		assert_null(s.unknown);
		scaler_done(&s);
	}
}

static const struct {
	const char *type, *metadata, *auth, *message;
} bads[] = {
	{ K, "consumerGroup=g", NULL, "trigger 1 (kafka): missing required parameter \"bootstrapServers\"" },
	{ A, "bootstrapServers=k:1", NULL, "trigger 1 (apache-kafka): missing required parameter \"consumerGroup\"" },
	{ K, "bootstrapServers=k|consumerGroup=g", NULL,
		"parameter \"bootstrapServers\": address \"k\": must be host:port" },
	{ K, "bootstrapServers=kafka://k:1|consumerGroup=g", NULL, "not a URL" },
	{ K, "bootstrapServers=a:1,b|consumerGroup=g", NULL, "address \"b\": must be host:port" },
	{ K, "bootstrapServers=,|consumerGroup=g", NULL, "\"bootstrapServers\": there must be 1 to 64 servers" },
	{ A, "bootstrapServers=k:|consumerGroup=g", NULL, "address \"k:\": must be host:port" },
	{ A, "bootstrapServers=k:0|consumerGroup=g", NULL, "address \"k:0\": must be host:port" },
	{ A, BASIC "|limitToPartitionsWithLag=true", NULL,
		"topic must be specified when using limitToPartitionsWithLag" },
	{ K, "bootstrapServers=/tmp/socket:1|consumerGroup=g", NULL, "must be host:port" },
	{ K, BASIC "|lagThreshold=0", NULL, "\"lagThreshold\" must be positive number" },
	{ K, BASIC "|lagThreshold=-1", NULL, "\"lagThreshold\" must be positive number" },
	{ K, BASIC "|lagThreshold=1.5", NULL, "must be a whole number" },
	{ K, BASIC "|activationLagThreshold=-1", NULL, "\"activationLagThreshold\" must be positive number" },
	{ K, BASIC "|offsetResetPolicy=newest", NULL, "must be one of latest, earliest" },
	{ K, BASIC "|topic=t|partitionLimitation=a", NULL, "invalid partition limitation: \"a\"" },
	{ K, BASIC "|topic=t|partitionLimitation=2-1", NULL, "invalid partition limitation range: \"2-1\"" },
	{ K, BASIC "|limitToPartitionsWithLag=true", NULL,
		"topic must be specified when using limitToPartitionsWithLag" },
	{ K, BASIC "|ensureEvenDistributionOfPartitions=true", NULL,
		"topic must be specified when using ensureEvenDistributionOfPartitions" },
	{ K, BASIC "|topic=t|limitToPartitionsWithLag=true|allowIdleConsumers=true", NULL,
		"allowIdleConsumers and limitToPartitionsWithLag cannot be set simultaneously" },
	{ K, BASIC "|topic=t|limitToPartitionsWithLag=true|ensureEvenDistributionOfPartitions=true", NULL,
		"limitToPartitionsWithLag and ensureEvenDistributionOfPartitions cannot be set simultaneously" },
	{ K, BASIC "|version=2", NULL, "error parsing kafka version: \"2\"" },
	{ K, BASIC "|version=2.5", NULL, "error parsing kafka version" },
	{ K, BASIC "|version=2.5.0.1", NULL, "error parsing kafka version" },
	{ K, BASIC "|version=0.10.2", NULL, "error parsing kafka version" },
	{ K, BASIC "|version=2..0", NULL, "error parsing kafka version" },
	{ K, BASIC "|version=2.5.x", NULL, "error parsing kafka version" },
	{ K, BASIC "|tls=on", NULL, "must be one of disable, enable" },
	{ K, BASIC "|tls=enable", "cert=PEM", "\"cert\" and \"key\" belong together" },
	{ K, BASIC "|tls=enable", "ca=PEM", "TLS" },
	{ K, BASIC "|sasl=plaintext", NULL, "no username given" },
	{ K, BASIC "|sasl=scram_sha256", "username=u", "no password given" },
	{ K, BASIC "|sasl=oauthbearer", LOGIN, "no oauthTokenEndpointUri given" },
	{ K, BASIC "|sasl=oauthbearer", "oauthTokenEndpointUri=ftp://x|" LOGIN, "oauthbearer" },
	{ K, BASIC "|sasl=oauthbearer", "oauthExtensions=x|oauthTokenEndpointUri=https://id|" LOGIN,
		"oauthExtensions" },
	{ K, BASIC "|sasl=gssapi", LOGIN, "gssapi (Kerberos) is not supported; use scram_sha512" },
	{ A, BASIC "|sasl=gssapi", LOGIN, "gssapi (Kerberos) is not supported" },
	{ A, BASIC "|sasl=oauthbearer", LOGIN, "must be one of none, plaintext" },
	{ K, BASIC "|sasl=aws_msk_iam", NULL, "must be one of none, plaintext" },
	{ A, BASIC "|sasl=aws_msk_iam|tls=enable", NULL, "\"awsRegion\" is required by aws_msk_iam" },
	{ A, BASIC "|sasl=aws_msk_iam|awsRegion=r", NULL, "\"tls\" must be enable for aws_msk_iam" },
	{ K, BASIC "|sasl=oauthbearer|saslTokenProvider=aws_msk_iam|awsRegion=r", NULL, "\"tls\" must be enable" },
	{ K, BASIC MSK, NULL, "awsAccessKeyID not found" },
	{ K, BASIC MSK "|identityOwner=operator", NULL, "kscaled's own AWS identity" },
	{ A, BASIC "|sasl=aws_msk_iam|tls=enable|awsRegion=a/b", KEYS,
		"\"awsRegion\": is not the name of an AWS region" },
	{ A, BASIC "|sasl=none", "sasl=none",
		"unable to set `sasl` in both ScaledObject and TriggerAuthentication together" },
	{ A, BASIC "|tls=disable", "tls=enable", "unable to set `tls` in both" },
};

static void refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(bads); i++) {
		struct scaler s;
		struct err err = { 0 };

		if (!build(bads[i].type, bads[i].metadata, bads[i].auth, 0, &s, &err))
			fail_msg("%s is accepted", bads[i].metadata);
		if (!strstr(err.msg, bads[i].message))
			fail_msg("%s: %s", bads[i].metadata, err.msg);
		assert_int_equal(err.kind, ERR_INVALID);
	}
}

/* A name too long for a request would fail the whole batch. */
static void too_long_names(void **state)
{
	static const struct {
		const char *type, *before;
		size_t most;
		const char *name;
	} rows[] = {
		{ K, "bootstrapServers=k:1|topic=t|consumerGroup=", 32767, "\"consumerGroup\"" },
		{ K, BASIC "|topic=", 256, "\"topic\"" },
		{ A, BASIC "|topic=a,", 256, "\"topic\"" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		MEM_AUTO char *name = mem_array(rows[i].most + 2, 1);
		MEM_AUTO char *metadata = NULL;
		struct scaler s;
		struct err err = { 0 };

		memset(name, 'x', rows[i].most);
		metadata = mem_printf("%s%s", rows[i].before, name);
		assert_int_equal(build(rows[i].type, metadata, NULL, 0, &s, &err), 0);
		scaler_done(&s);
		mem_free_ptr(&metadata);
		metadata = mem_printf("%s%sx", rows[i].before, name);
		assert_int_equal(build(rows[i].type, metadata, NULL, 0, &s, &err), -1);
		if (!strstr(err.msg, rows[i].name) || !strstr(err.msg, "at most"))
			fail_msg("%s", err.msg);
	}
}

/* Only for MSK's and trusted brokers, verified by the system's CAs. */
static void own_identity(void **state)
{
	static const char broker[] = "b-1.shop.x.c2.kafka.eu-west-1.amazonaws.com:9098";
	static const struct {
		const char *servers, *more, *trusted, *ca, *said;
	} rows[] = {
		{ broker, "", NULL, NULL, NULL },
		{ "evil.example:9098", "", NULL, NULL,
			"evil.example is not one of Amazon MSK's hosts for this service in eu-west-1" },
		{ "b.kafka.eu-west-2.amazonaws.com:1", "", NULL, NULL, "is not one of Amazon MSK's hosts" },
		{ "kafka.shop.internal:9098", "", "shop.internal", NULL, NULL },
		{ broker, "|unsafeSsl=true", NULL, NULL, "\"unsafeSsl\" does not go together" },
		{ broker, "", NULL, "x", "\"ca\" does not go together" },
	};

	(void)state;
	for (size_t i = 0; i < 2 * MEM_COUNT(rows); i++) {
		size_t n = i / 2;
		bool apache = i % 2 && !*rows[n].more; /* it has no unsafeSsl */
		MEM_AUTO char *metadata =
			mem_printf("bootstrapServers=%s|consumerGroup=g|tls=enable|awsRegion=eu-west-1%s%s",
				rows[n].servers, rows[n].more,
				apache ? "|sasl=aws_msk_iam" : "|sasl=oauthbearer|saslTokenProvider=aws_msk_iam");
		const struct pod_identity own = { .provider = "aws",
			.may_be_kscaled = true,
			.aws_trusted = rows[n].trusted };
		struct strmap m = { 0 }, auth = { 0 };
		struct scaler_params params = { .type = apache ? A : K,
			.metadata = &m,
			.auth = &auth,
			.identity = &own };
		struct scaler s;
		struct err err = { 0 };

		pairs_fill(&m, metadata);
		if (rows[n].ca)
			strmap_set(&auth, "ca", rows[n].ca);
		if (!scaler_build(&params, &s, &err) == !!rows[n].said ||
			!strstr(err.msg, rows[n].said ? rows[n].said : ""))
			fail_msg("%s: %s", metadata, err.msg);
		if (!rows[n].said)
			scaler_done(&s);
		strmap_done(&m);
		strmap_done(&auth);
	}
}

static char *key_of(const char *metadata, const char *auth, int64_t polling_ms)
{
	struct scaler s;
	struct err err = { 0 };
	char *key;

	if (build(K, metadata, auth, polling_ms, &s, &err))
		fail_msg("%s: %s", metadata, err.msg);
	key = mem_dup(s.question->key);
	assert_null(strstr(key, "secret"));
	scaler_done(&s);
	return key;
}

static void keys(void **state)
{
	static const struct {
		const char *a, *a_auth, *b, *b_auth;
		int64_t a_ms, b_ms;
		bool same;
	} rows[] = {
		{ BASIC "|topic=t", NULL, BASIC "|topic=t|activationLagThreshold=9", NULL, 1, 2, true },
		/*
		 * The bound depends on the threshold; without a bound the threshold has no effect.
		 */
		{ BASIC "|topic=t", NULL, BASIC "|topic=t|lagThreshold=9", NULL, 1, 1, false },
		{ BASIC "|topic=t|allowIdleConsumers=1", NULL, BASIC "|topic=t|lagThreshold=9|allowIdleConsumers=1",
			NULL, 1, 1, true },
		{ BASIC "|topic=t", NULL, BASIC "|topic=u", NULL, 1, 1, false },
		{ BASIC "|topic=t", NULL, BASIC, NULL, 1, 1, false },
		{ BASIC "|topic=t", NULL, "bootstrapServers=k:9092|consumerGroup=h|topic=t", NULL, 1, 1, false },
		{ BASIC, NULL, "bootstrapServers=k:9093|consumerGroup=g", NULL, 1, 1, false },
		/* The same cluster, however its servers are written. */
		{ BASIC, NULL, "bootstrapServers=K:9092|consumerGroup=g", NULL, 1, 1, true },
		{ BASIC, NULL, "bootstrapServers=k:9092,k:9092,|consumerGroup=g", NULL, 1, 1, true },
		{ "bootstrapServers=a:1,b:2,[::1]:3|consumerGroup=g", NULL,
			"bootstrapServers= [::1]:3 , B:2,a:1,A:1|consumerGroup=g", NULL, 1, 1, true },
		{ "bootstrapServers=a:1,b:2|consumerGroup=g", NULL, "bootstrapServers=a:2,b:1|consumerGroup=g", NULL, 1,
			1, false },
		{ BASIC "|topic=t", NULL, BASIC "|topic=t|partitionLimitation=1", NULL, 1, 1, false },
		{ BASIC "|topic=t", NULL, BASIC "|topic=t|offsetResetPolicy=earliest", NULL, 1, 1, false },
		{ BASIC "|topic=t", NULL, BASIC "|topic=t|scaleToZeroOnInvalidOffset=1", NULL, 1, 1, false },
		{ BASIC "|topic=t", NULL, BASIC "|topic=t|ensureEvenDistributionOfPartitions=1", NULL, 1, 1, false },
		{ BASIC "|topic=t", NULL, BASIC "|topic=t|limitToPartitionsWithLag=1", NULL, 1, 1, false },
		{ BASIC "|topic=t", NULL, BASIC "|topic=t|excludePersistentLag=1", NULL, 1, 1, false },
		{ BASIC "|excludePersistentLag=1", NULL, BASIC "|excludePersistentLag=1", NULL, 1, 2, false },
		{ BASIC, NULL, BASIC "|tls=enable", NULL, 1, 1, false },
		{ BASIC "|tls=enable", NULL, BASIC "|tls=enable|unsafeSsl=1", NULL, 1, 1, false },
		{ BASIC "|sasl=plaintext", "username=u|password=secret-1", BASIC "|sasl=plaintext",
			"username=u|password=secret-2", 1, 1, false },
		{ BASIC "|sasl=plaintext", "username=u|password=secret-1", BASIC "|sasl=scram_sha256",
			"username=u|password=secret-1", 1, 1, false },
		/* Without a login they have no effect. */
		{ BASIC, "username=u|password=secret-1", BASIC, NULL, 1, 1, true },
		{ BASIC "|sasl=oauthbearer", "username=u|password=secret-1|oauthTokenEndpointUri=https://a",
			BASIC "|sasl=oauthbearer", "username=u|password=secret-2|oauthTokenEndpointUri=https://a", 1, 1,
			false },
		{ BASIC "|sasl=oauthbearer", "username=u|password=s|oauthTokenEndpointUri=https://a",
			BASIC "|sasl=oauthbearer",
			"username=u|password=s|oauthTokenEndpointUri=https://a|oauthExtensions=x=secret", 1, 1, false },
		{ BASIC MSK, KEYS, BASIC MSK, KEYS "|username=u|oauthExtensions=x=y", 1, 1, true },
		{ BASIC MSK, KEYS, BASIC MSK, KEYS "|awsSessionToken=secret", 1, 1, false },
		{ BASIC "|sasl=oauthbearer|saslTokenProvider=aws_msk_iam|tls=enable|awsRegion=eu-west-2", KEYS,
			BASIC MSK, KEYS, 1, 1, false },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		MEM_AUTO char *a = key_of(rows[i].a, rows[i].a_auth, rows[i].a_ms);
		MEM_AUTO char *b = key_of(rows[i].b, rows[i].b_auth, rows[i].b_ms);

		if ((strcmp(a, b) == 0) != rows[i].same)
			fail_msg("%zu: %s\n%s", i, a, b);
	}
}

/* Values of a Secret that `kscaled check` has not read are not judged. */
static void unknown_values(void **state)
{
	struct strmap m = { 0 }, a = { 0 };
	struct scaler_params params = { .type = K, .metadata = &m, .auth = &a, .unknown = "?", .auth_open = true };
	struct scaler s;
	struct err err = { 0 };

	(void)state;
	pairs_fill(&m, BASIC "|topic=t|sasl=plaintext");
	pairs_fill(&a, "username=?|password=?");
	assert_int_equal(scaler_build(&params, &s, &err), 0);
	assert_null(s.question);
	assert_string_equal(s.metric_name, "s0-kafka-t");
	scaler_done(&s);
	strmap_done(&m);
	strmap_done(&a);
}

static void unknown_parameters(void **state)
{
	struct scaler s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(build(K, BASIC "|saslUsername=u", NULL, 0, &s, &err), 0);
	assert_non_null(strstr(s.unknown, "saslUsername"));
	scaler_done(&s);
	assert_int_equal(build(A, BASIC "|unsafeSsl=true", NULL, 0, &s, &err), 0);
	assert_non_null(strstr(s.unknown, "unsafeSsl"));
	scaler_done(&s);
}

static void in_the_clear(void **state)
{
	struct scaler s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(tlsrules_set(&(struct tlsrules_config){ .required = true }, &err), 0);
	assert_int_equal(build(K, BASIC, NULL, 0, &s, &err), -1);
	assert_non_null(strstr(err.msg, "set tls to \"enable\""));
	assert_int_equal(build(K, BASIC "|tls=enable", NULL, 0, &s, &err), 0);
	scaler_done(&s);
	tlsrules_done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted),
		cmocka_unit_test(refused),
		cmocka_unit_test(too_long_names),
		cmocka_unit_test(keys),
		cmocka_unit_test(unknown_values),
		cmocka_unit_test(unknown_parameters),
		cmocka_unit_test(in_the_clear),
		cmocka_unit_test(own_identity),
	};

	return cmocka_run_group_tests_name("scalers/kafka/kafka", tests, NULL, NULL);
}
