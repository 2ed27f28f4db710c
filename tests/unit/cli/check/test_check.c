/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cli/check/checkobjects.h"
#include "scalers/scaler.h"

#define SO(name)                                                                                                       \
	"apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: " name                                     \
	", namespace: shop}\nspec:\n" /* lines 1 to 4 */
#define REDIS  "  triggers:\n  - type: redis\n    metadata: {listName: jobs, address: 'redis:6379'}\n"
#define TARGET "  scaleTargetRef: {name: worker}\n"
#define NEXT   "---\n"
#define KEDA(kind, name)                                                                                               \
	"apiVersion: keda.sh/v1alpha1\nkind: " kind "\nmetadata: {name: " name ", namespace: shop}\nspec:\n"
#define SECRET(name, data) "apiVersion: v1\nkind: Secret\nmetadata: {name: " name ", namespace: shop}\n" data "\n"
#define DEPLOYMENT(containers)                                                                                         \
	"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: worker, namespace: shop}\nspec:\n  template:\n    "   \
	"spec:\n      containers:\n" containers
#define WITH_AUTH(metadata)                                                                                            \
	SO("a")                                                                                                        \
	TARGET "  triggers:\n  - type: redis\n    metadata: {" metadata "}\n    authenticationRef: {name: redis}\n"
#define AUTH(key, parameter)                                                                                           \
	KEDA("TriggerAuthentication", "redis")                                                                         \
	"  secretTargetRef:\n  - {parameter: " parameter ", name: redis, key: " key "}\n"

#define VAULT(kind, login)                                                                                             \
	KEDA(kind, "a")                                                                                                \
	"  hashiCorpVault: {address: 'http://v', secrets: [{parameter: p, path: a, key: b}], " login "}\n"

#define UNTRUSTED                                                                                                      \
	"address \"http://v\" is not one of --vault-trusted-addresses, the only ones where kscaled logs in as "        \
	"itself for a TriggerAuthentication: give credential."

#define SJ(spec) KEDA("ScaledJob", "j") spec
#define JOB(container)                                                                                                 \
	"  jobTargetRef: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i" container           \
	"}]}}}\n" /* line 5 */
#define ADDRESS ", env: [{name: ADDRESS, value: 'redis:6379'}]"

#define ROLLOUT_TARGET     "  scaleTargetRef: {apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: worker}\n"
#define REDIS_OF(variable) "  triggers:\n  - {type: redis, metadata: {listName: jobs, addressFromEnv: " variable "}}\n"
#define WORKLOAD_REF       "workloadRef: {apiVersion: apps/v1, kind: Deployment, name: worker}"
#define ROLLOUT(spec)                                                                                                  \
	"apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: worker, namespace: shop}\nspec: {" spec "}" \
	"\n"

static struct offline_rules rules = { .cluster_namespace = "kscaled", .cloud = AUTH_CLOUD_CLUSTER };

static char *check_with(const char *text, bool complete, struct checkobjects_result *result)
{
	const struct checkobjects_params params = { .namespace_ = "default", .rules = rules, .complete = complete };
	struct documents *d = documents_new();
	struct err err = { 0 };
	char *out = NULL;
	size_t len = 0;
	FILE *file = open_memstream(&out, &len);

	if (documents_read(d, "f", text, strlen(text), &err) < 0)
		fail_msg("%s", err.msg);
	*result = checkobjects_run(&params, d, file);
	fclose(file);
	documents_free(d);
	return out;
}

static void expect(const char *text, bool complete, const char *wanted)
{
	struct checkobjects_result result;
	char *got = check_with(text, complete, &result);
	size_t lines = 0, warnings = 0;

	assert_string_equal(got, wanted);
	for (const char *c = got; (c = strchr(c, '\n')); c++)
		lines++;
	for (const char *c = got; (c = strstr(c, ": warning: ")); c++)
		warnings++;
	assert_int_equal(result.warnings, warnings);
	assert_int_equal(result.problems, lines - warnings);
	free(got);
}

static void good_scaledobjects_have_no_findings(void **state)
{
	static const char *const texts[] = {
		"",
		"kind: Deployment\napiVersion: apps/v1\nmetadata: {name: x}\nnonsense: [1, 2]\n",
		SO("a") TARGET REDIS,
		"apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {generateName: a-}\nspec:\n" TARGET REDIS,
		/* References outside the input. */
		SO("a") TARGET "  triggers:\n  - {type: redis, metadata: {listName: jobs, addressFromEnv: ADDRESS}}\n",
		SO("a") TARGET "  triggers:\n  - {type: redis, metadata: {listName: jobs, hostFromEnv: HOST, "
			       "portFromEnv: PORT, passwordFromEnv: PW}}\n",
		/* The Pod template of a Deployment, in the input or not. */
		SO("a") ROLLOUT_TARGET REDIS_OF("ADDRESS") NEXT ROLLOUT(WORKLOAD_REF)
			NEXT DEPLOYMENT("      - {name: c, env: [{name: ADDRESS, value: 'redis:6379'}]}\n"),
		SO("a") ROLLOUT_TARGET REDIS_OF("ADDRESS") NEXT ROLLOUT(WORKLOAD_REF),
		WITH_AUTH("listName: jobs"),
		WITH_AUTH("listName: jobs, enableTLS: 'true'"),
		WITH_AUTH("listName: jobs") NEXT AUTH("x", "address"),
		WITH_AUTH("listName: jobs, address: 'redis:6379'") NEXT AUTH("x", "tls"),
		WITH_AUTH("listName: jobs, address: 'redis:6379'") NEXT KEDA("TriggerAuthentication",
			"redis") "  secretTargetRef:\n  - {parameter: cert, name: redis, key: x}\n  - {parameter: key, "
				 "name: redis, key: z}\n",
		WITH_AUTH("listName: jobs") NEXT KEDA("TriggerAuthentication",
			"redis") "  env:\n  - {parameter: host, name: HOST, containerName: other}\n  - {parameter: "
				 "port, name: PORT}\n",
		WITH_AUTH("listName: jobs") NEXT KEDA("TriggerAuthentication",
			"redis") "  hashiCorpVault: {address: 'http://v', authentication: token, credential: {token: "
				 "hunter2}, secrets: [{parameter: address, path: a, key: b}]}\n",
		VAULT("TriggerAuthentication",
			"authentication: kubernetes, mount: k, role: r, credential: "
			"{serviceAccountName: worker}"),
		"apiVersion: keda.sh/v1alpha1\nkind: ClusterTriggerAuthentication\nmetadata: {name: a}\nspec:\n  "
		"hashiCorpVault: {address: 'http://v', authentication: token, secrets: [{parameter: p, path: a, key: "
		"b}]}\n",
		/* References in the input. */
		WITH_AUTH("listName: jobs") NEXT AUTH("addr", "address")
			NEXT SECRET("redis", "data: {addr: cmVkaXM6NjM3OQ==}"),
		WITH_AUTH("listName: jobs") NEXT AUTH("addr", "address")
			NEXT SECRET("redis", "data: {addr: '!'}\nstringData: {addr: 'redis:6379'}"),
		SO("a") TARGET
		"  triggers:\n  - {type: redis, metadata: {listName: jobs, addressFromEnv: ADDRESS}}\n" NEXT DEPLOYMENT(
			"      - {name: c, env: [{name: ADDRESS, value: 'redis:6379'}]}\n"),
		SO("a") TARGET
		"  triggers:\n  - {type: redis, metadata: {listName: jobs, addressFromEnv: APP_ADDRESS}}\n" NEXT
			DEPLOYMENT("      - {name: c, envFrom: [{prefix: APP_, secretRef: {name: unknown}}]}\n"),
		SO("a") TARGET
		"  minReplicaCount: 1\n  triggers:\n  - {type: cpu, metricType: Utilization, metadata: {value: '50', "
		"containerName: c}}\n" NEXT DEPLOYMENT("      - {name: c, resources: {requests: {cpu: 10m}}}\n"),
		SO("a") TARGET "  advanced: {scalingModifiers: {formula: 'q + 1', target: '5'}}\n  triggers:\n  - "
			       "{type: redis, name: q, metadata: {listName: jobs, address: 'redis:6379'}}\n",
		SO("a") TARGET REDIS NEXT SO("b") "  scaleTargetRef: {name: other}\n" REDIS,
		SO("a") TARGET REDIS NEXT "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: b, "
					  "namespace: elsewhere}\nspec:\n" TARGET REDIS,
		KEDA("ScaledJob", "j") "  jobTargetRef: {template: {spec: {containers: [{name: c, image: i, env: "
				       "[{name: A, value: 'redis:1'}]}]}}}\n  triggers:\n  - {type: redis, metadata: "
				       "{listName: jobs, addressFromEnv: A}}\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		expect(texts[i], false, "");
}

static void bad_scaledobjects_are_reported(void **state)
{
	static const struct {
		const char *text, *wanted;
	} cases[] = {
		{ "5", "f:1: a single value is not a Kubernetes object\n" },
		{ "[1]",
			"f:1: a list is not a Kubernetes object: write several documents, or one of kind List with "
			"items\n" },
		{ "\na: 1", "f:2: not a Kubernetes object: apiVersion and kind are missing\n" },
		{ "kind: ScaledObject\nmetadata: {name: a}",
			"f:1: ScaledObject default/a: not a Kubernetes object: apiVersion is missing\n" },
		{ "apiVersion: keda.sh/v1\nkind: ScaledObject\nmetadata: {name: a}",
			"f:1: ScaledObject default/a: apiVersion: \"keda.sh/v1\" is not the apiVersion of this kind: "
			"keda.sh/v1alpha1\n" },
		{ "apiVersion: eventing.keda.sh/v1alpha1\nkind: CloudEventSource\nmetadata: {name: a}",
			"f:1: CloudEventSource default/a: warning: kscaled ignores CloudEventSource of "
			"eventing.keda.sh/v1alpha1: not checked\n" },
		{ "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nspec:\n" TARGET REDIS,
			"f:1: ScaledObject default/(without a name): metadata.name: missing\n" },
		{ "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: A_b, namespace: "
		  "x.y}\nspec:\n" TARGET REDIS,
			"f:3: ScaledObject x.y/A_b: metadata.name: \"A_b\" cannot be the name of an object: lower case "
			"letters, digits, '-' and '.' are allowed\n"
			"f:3: ScaledObject x.y/A_b: metadata.namespace: \"x.y\" is not a valid name of a namespace\n"
			"f:4: ScaledObject x.y/A_b: spec.advanced.horizontalPodAutoscalerConfig.name: \"keda-hpa-A_b\" "
			"cannot be the name of an object: lower case letters, digits, '-' and '.' are allowed\n" },
		/* metadata, which the CustomResourceDefinition does not describe. */
		{ "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata:\n  name: a\n  labels: {rev: 12}\n  "
		  "annotations:\n    autoscaling.keda.sh/paused: true\n    none:\nspec:\n" TARGET REDIS,
			"f:5: ScaledObject default/a: metadata.labels.rev: must be a string, not a number: put it in "
			"quotes\n"
			"f:7: ScaledObject default/a: metadata.annotations[autoscaling.keda.sh/paused]: must be a "
			"string, not true: put it in quotes\n" },
		{ "apiVersion: keda.sh/v1alpha1\nkind: TriggerAuthentication\nmetadata: {name: a, anotations: {a: "
		  "b}}\nspec: {}\n",
			"f:3: TriggerAuthentication default/a: metadata.anotations: unknown field: did you mean "
			"annotations?\n" },
		{ "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a, generation: x}\nspec:\n" TARGET
				REDIS,
			"f:3: ScaledObject default/a: metadata.generation: must be a whole number, not a string\n" },
		/* All broken rules, not only the first. */
		{ "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata:\n  name: a\n  annotations:\n    "
		  "autoscaling.keda.sh/paused: 'yes'\nspec:\n  minReplicaCount: 5\n  maxReplicaCount: 4\n" TARGET REDIS,
			"f:6: ScaledObject default/a: metadata.annotations[autoscaling.keda.sh/paused]: \"yes\" is "
			"neither true nor false\n"
			"f:8: ScaledObject default/a: spec.minReplicaCount: 5 is more than maxReplicaCount 4: lower "
			"one or raise the other\n" },
		{ VAULT("TriggerAuthentication", "authentication: token"),
			"f:5: TriggerAuthentication shop/a: warning: spec.hashiCorpVault: parameter \"p\": " UNTRUSTED
			"token\n" },
		{ VAULT("TriggerAuthentication", "authentication: kubernetes, mount: k, role: r"),
			"f:5: TriggerAuthentication shop/a: warning: spec.hashiCorpVault: parameter \"p\": " UNTRUSTED
			"serviceAccountName\n" },
		{ SO("a") TARGET "  minReplicaCount: 3\n  idleReplicaCount: 1\n" REDIS,
			"f:7: ScaledObject shop/a: warning: spec.idleReplicaCount of more than 0 does not hold: the "
			"HPA goes on and raises the workload to minReplicaCount again, and so on in turns: only 0 "
			"stops it\n" },
		{ SO("a") TARGET "  minReplicaCount: 5\n  maxReplicaCount: 4\n" REDIS,
			"f:6: ScaledObject shop/a: spec.minReplicaCount: 5 is more than maxReplicaCount 4: lower one "
			"or raise the other\n" },
		{ SO("a") TARGET "  pollingIntervall: 5\n" REDIS,
			"f:6: ScaledObject shop/a: spec.pollingIntervall: unknown field: did you mean "
			"pollingInterval?\n" },
		{ SO("a") TARGET "  triggers:\n  - type: redis\n    metadata:\n      address: r:1\n      listName: "
				 "jobs\n      listLenght: '4'\n",
			"f:11: ScaledObject shop/a: warning: spec.triggers[0].metadata.listLenght: no parameter of "
			"redis has this name: \"listLenght\" (did you mean \"listLength\"?)\n" },
		{ SO("a") TARGET "  triggers:\n  - type: metrics-api\n    metadata:\n      url: http://r\n"
				 "      valueLocation: jobs\n      targetValue: '4'\n      timeout: 1h\n",
			"f:8: ScaledObject shop/a: warning: spec.triggers[0].metadata: timeout 1h is more than the "
			"maximum, 2m, which is used\n" },
		{ SO("a") TARGET "  triggers:\n  - {type: redis, metadata: {listname: jobs, address: 'r:1'}}\n",
			"f:7: ScaledObject shop/a: spec.triggers[0].metadata.listName: missing required parameter "
			"\"listName\" in [triggerMetadata]\n"
			"f:7: ScaledObject shop/a: warning: spec.triggers[0].metadata.listname: no parameter of redis "
			"has this "
			"name: \"listname\" (did you mean \"listName\"?)\n" },
		/* All problems at once. */
		{ SO("a") TARGET
			"  triggers:\n  - type: redis\n    metadata:\n      adress: redis:6379\n      listLength: x\n"
			"      databaseIndex: z\n      enableTLS: 'on'\n",
			"f:8: ScaledObject shop/a: spec.triggers[0].metadata.listName: missing required parameter "
			"\"listName\" in "
			"[triggerMetadata]\n"
			"f:8: ScaledObject shop/a: spec.triggers[0].metadata.address: no addresses or hosts given. "
			"address should be a comma separated list of host:port or set the host/port values\n"
			"f:9: ScaledObject shop/a: warning: spec.triggers[0].metadata.adress: no parameter of redis "
			"has this "
			"name: \"adress\" (did you mean \"address\"?)\n"
			"f:10: ScaledObject shop/a: spec.triggers[0].metadata.listLength: unable to set param "
			"\"listLength\" "
			"value \"x\": must be a whole number\n"
			"f:11: ScaledObject shop/a: spec.triggers[0].metadata.databaseIndex: unable to set param "
			"\"databaseIndex\" value \"z\": must be a whole number\n"
			"f:12: ScaledObject shop/a: spec.triggers[0].metadata.enableTLS: unable to set param "
			"\"enableTLS\" value "
			"\"on\": must be true or false\n" },
		{ SO("a") TARGET "  pollingInterval: 5\n  minReplicaCount: 1\n" REDIS,
			"f:6: ScaledObject shop/a: warning: spec.pollingInterval has no effect on scaling: it matters "
			"when minReplicaCount or idleReplicaCount is 0, or a trigger has useCachedMetrics\n" },
		{ SO("a") TARGET "  cooldownPeriod: 1\n  cooldownPeriod: 2\n" REDIS,
			"f:7: ScaledObject shop/a: duplicate key \"cooldownPeriod\"\n" },
		{ SO("a") TARGET "  triggers:\n  - type: redis\n    metadata:\n      listName: jobs\n      address: "
				 "redis:6379\n      listLength: 5\n",
			"f:11: ScaledObject shop/a: spec.triggers[0].metadata.listLength: must be a string, not a "
			"number: put it in quotes\n" },
		{ SO("a") TARGET "  triggers:\n  - type: redis\n    metadata:\n      listName: jobs\n      address: "
				 "redis:6379\n      listLength: '0'\n",
			"f:11: ScaledObject shop/a: spec.triggers[0].metadata.listLength: parameter \"listLength\" "
			"value \"0\" must be greater than 0\n" },
		{ SO("a") TARGET "  triggers:\n  - type: redis\n    metadata:\n      address: redis:6379\n",
			"f:8: ScaledObject shop/a: spec.triggers[0].metadata.listName: missing required parameter "
			"\"listName\" in [triggerMetadata]\n" },
		/* Problems beside unknown parts. */
		{ WITH_AUTH("address: 'redis:6379', listName: jobs, listLength: x"),
			"f:8: ScaledObject shop/a: spec.triggers[0].metadata.listLength: unable to set param "
			"\"listLength\" value \"x\": must be a whole number\n" },
		{ WITH_AUTH("listName: jobs, listLength: x"),
			"f:8: ScaledObject shop/a: spec.triggers[0].metadata.listLength: unable to set param "
			"\"listLength\" value \"x\": must be a whole number\n" },
		{ WITH_AUTH("listLength: '5'"),
			"f:8: ScaledObject shop/a: spec.triggers[0].metadata.listName: missing required parameter "
			"\"listName\" in [triggerMetadata]\n" },
		{ SO("a") TARGET "  triggers:\n  - {type: redis, metadata: {addressFromEnv: A, listName: jobs, "
				 "listLength: x}}\n",
			"f:7: ScaledObject shop/a: spec.triggers[0].metadata.listLength: unable to set param "
			"\"listLength\" value \"x\": must be a whole number\n" },
		/* Reported at the authentication, not again at its references. */
		{ WITH_AUTH("listName: jobs") NEXT AUTH("pw", "password")
				NEXT SECRET("redis", "stringData: {other: hunter2}"),
			"f:16: TriggerAuthentication shop/redis: spec.secretTargetRef[0]: parameter \"password\": "
			"Secret shop/redis has no key \"pw\"\n" },
		{ AUTH("pw", "password") NEXT SECRET("redis", "data: {pw: hunter2}"),
			"f:6: TriggerAuthentication shop/redis: spec.secretTargetRef[0]: parameter \"password\": key "
			"\"pw\" of Secret shop/redis is not base64\n" },
		{ KEDA("TriggerAuthentication", "x") "  podIdentity: {provider: azure}\n",
			"f:5: TriggerAuthentication shop/x: spec.podIdentity.provider: \"azure\" is not one of "
			"azure-workload, "
			"gcp, aws, aws-eks, none: did you mean azure-workload?\n"
			"f:5: TriggerAuthentication shop/x: spec.podIdentity: provider \"azure\" is unknown\n" },
		{ KEDA("TriggerAuthentication", "x") "  gcpSecretManager:\n    podIdentity: {provider: gcp}\n    "
						     "secrets:\n    - {parameter: password, id: a.b}\n",
			"f:5: TriggerAuthentication shop/x: spec.gcpSecretManager: parameter \"password\": secret a.b: "
			"the id is invalid: it has 1 to 255 letters, digits, hyphens and underscores\n" },
		/* Secrets are not shown, neither whole nor in part. */
		{ WITH_AUTH("listName: jobs") NEXT AUTH("addr", "address")
				NEXT SECRET("redis", "stringData: {addr: hunter2}"),
			"f:7: ScaledObject shop/a: spec.triggers[0]: address \"(secret)\": must be host:port\n" },
		{ WITH_AUTH("listName: jobs") NEXT AUTH("addr", "address")
				NEXT SECRET("redis", "stringData: {addr: 'hunter2,x'}"),
			"f:7: ScaledObject shop/a: spec.triggers[0]: address \"(secret)\": must be host:port\n" },
		{ SO("a") TARGET
			"  triggers:\n  - {type: redis, metadata: {listName: jobs, addressFromEnv: ADDRESS}}\n" NEXT
				DEPLOYMENT("      - {name: c, env: [{name: ADDRESS, valueFrom: {secretKeyRef: {name: "
					   "redis, key: a}}}]}\n") NEXT SECRET("redis", "stringData: {a: hunter2}"),
			"f:7: ScaledObject shop/a: spec.triggers[0].metadata.addressFromEnv: address \"(secret)\": "
			"must be host:port\n" },
		/* Deprecations. */
		{ SO("a") TARGET
			"  triggers:\n  - {metadata: {subscriptionName: orders, credentialsFromEnv: A},\n     type: "
			"gcp-pubsub}\n",
			"f:8: ScaledObject shop/a: warning: spec.triggers[0].type: gcp-pubsub: This scaler is "
			"deprecated. More info -> 'https://keda.sh/blog/2025-09-15-gcp-deprecations'\n" },
		/* KEDA may have stored it. */
		{ SO("a") TARGET "  minReplicaCount: 1\n  fallback: {replicas: 1, failureThreshold: 2}\n  triggers:\n  "
				 "- {type: cpu, "
				 "metricType: Utilization, metadata: {value: '50'}}\n",
			"f:7: ScaledObject shop/a: warning: spec.fallback: it has no effect on cpu and memory, which "
			"the HPA "
			"controller reads by itself: add another trigger or remove it (the webhook denies it for new "
			"objects)\n" },
		/* The target. */
		{ SO("a") TARGET
			"  triggers:\n  - {type: redis, metadata: {listName: jobs, addressFromEnv: ADDRES}}\n" NEXT
				DEPLOYMENT("      - {name: c, env: [{name: ADDRESS, value: 'redis:6379'}]}\n"),
			"f:7: ScaledObject shop/a: spec.triggers[0].metadata.addressFromEnv: parameter "
			"\"addressFromEnv\": the target's container has no environment variable ADDRES with a "
			"value\n" },
		/* A kind without a Pod template of its own. */
		{ SO("a") ROLLOUT_TARGET REDIS_OF("ADDRES") NEXT ROLLOUT(
			  "workloadRef: {apiVersion: apps/v1, kind: Deployment, name: worker}")
				NEXT DEPLOYMENT("      - {name: c, env: [{name: ADDRESS, value: 'redis:6379'}]}\n"),
			"f:7: ScaledObject shop/a: spec.triggers[0].metadata.addressFromEnv: parameter "
			"\"addressFromEnv\": the target's container has no environment variable ADDRES with a "
			"value\n" },
		{ SO("a") ROLLOUT_TARGET REDIS_OF("ADDRESS") NEXT ROLLOUT("replicas: 1"),
			"f:7: ScaledObject shop/a: spec.triggers[0].metadata.addressFromEnv: parameter "
			"\"addressFromEnv\": the scale target Rollout worker has no containers, nor a spec.workloadRef "
			"that "
			"names a Deployment, so there is no environment variable ADDRESS\n" },
		{ SO("a") "  scaleTargetRef: {name: worker, envSourceContainerName: d}\n  triggers:\n  - {type: redis, "
			  "metadata: {listName: jobs, addressFromEnv: A}}\n" NEXT DEPLOYMENT("      - {name: c}\n"),
			NULL },
		{ SO("a") TARGET "  minReplicaCount: 1\n  triggers:\n  - {type: cpu, metricType: Utilization, "
				 "metadata: {value: '50', containerName: d}}\n" NEXT DEPLOYMENT(
					 "      - {name: c, resources: {requests: {cpu: 10m}}}\n"),
			"f:8: ScaledObject shop/a: warning: spec.triggers[0].metadata.containerName: Deployment "
			"shop/worker has no container \"d\"\n" },
		{ SO("a") TARGET "  minReplicaCount: 1\n  triggers:\n  - {type: cpu, metricType: Utilization, "
				 "metadata: {value: '50'}}\n" NEXT DEPLOYMENT("      - {name: c}\n"),
			"f:8: ScaledObject shop/a: warning: spec.triggers[0]: the scaledobject has a cpu trigger but "
			"the container c doesn't have the cpu request defined: without one its utilization cannot be "
			"computed; set resources.requests.cpu of the "
			"container (or use a LimitRange in the namespace)\n" },
		{ SO("a") TARGET "  triggers:\n  - {type: cpu, metricType: Utilization, metadata: {value: '50'}}\n",
			"f:4: ScaledObject shop/a: spec.minReplicaCount: scaledobject has only cpu/memory triggers AND "
			"minReplica is 0 (scale to zero doesn't work in this case): set it to 1 or more, or add "
			"another trigger\n" },
		/* The others. */
		{ SO("a") TARGET REDIS NEXT SO("b") TARGET REDIS,
			"f:14: ScaledObject shop/b: spec.scaleTargetRef: the workload 'worker' of type "
			"'apps/v1.Deployment' is already managed by the ScaledObject 'a'\n" },
		{ SO("a") TARGET REDIS NEXT SO("a") TARGET REDIS,
			"f:12: ScaledObject shop/a: warning: metadata.name: the same object is also at f:1: the last "
			"one applied wins\n" },
		{ SO("a") TARGET REDIS NEXT "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: "
					    "{name: h, namespace: shop}\nspec: {scaleTargetRef: {name: worker}}\n",
			"f:5: ScaledObject shop/a: spec.scaleTargetRef: the workload 'worker' of type "
			"'apps/v1.Deployment' is already managed by the hpa 'h': delete that, or let it be taken over "
			"by annotation "
			"scaledobject.keda.sh/transfer-hpa-ownership: \"true\" and "
			"spec.advanced.horizontalPodAutoscalerConfig.name\n" },
		/* The formula; Jobs. */
		{ SO("a") TARGET "  advanced: {scalingModifiers: {formula: 'q + z', target: '5'}}\n  triggers:\n  - "
				 "{type: redis, name: q, metadata: {listName: jobs, address: 'redis:6379'}}\n",
			"f:6: ScaledObject shop/a: spec.advanced.scalingModifiers.formula: column 5: unknown name "
			"\"z\" (the triggers are q)\n" },
		{ KEDA("ScaledJob", "j") "  jobTargetRef: {template: {spec: {containers: []}}}\n  triggers:\n  - "
					 "{type: redis, metadata: {listName: jobs}}\n",
			"f:7: ScaledJob shop/j: spec.triggers[0].metadata.address: no addresses or hosts given. "
			"address should be a "
			"comma separated list of host:port or set the host/port values\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct checkobjects_result result;
		char *got;

		if (cases[i].wanted) {
			expect(cases[i].text, false, cases[i].wanted);
			continue;
		}
		got = check_with(cases[i].text, false, &result);
		assert_non_null(strstr(got, "f:5: ScaledObject shop/a: spec.scaleTargetRef.envSourceContainerName: "));
		assert_int_equal(result.problems, 1);
		free(got);
	}
}

/* Typical objects, with the sources of this version. */
/* Refused only by kscaled's options: a warning if these are not given. */
static void refused_by_options(void **state)
{
#define OWN                                                                                                            \
	"asks for kscaled's own identity at the cloud, which needs a ClusterTriggerAuthentication or option "          \
	"cloud-identity all: give credentials instead\n"
#define SQS(more)                                                                                                      \
	SO("a")                                                                                                        \
	TARGET "  triggers:\n  - type: aws-sqs-queue\n    metadata: {queueURL: "                                       \
	       "'https://sqs.us-east-1.amazonaws.com/1/q',"                                                            \
	       " awsRegion: us-east-1" more "}\n"
#define CLUSTER_AUTH(name, spec)                                                                                       \
	"apiVersion: keda.sh/v1alpha1\nkind: ClusterTriggerAuthentication\nmetadata: {name: " name "}\nspec:\n" spec
#define HERE_AT(address)                                                                                               \
	SO("a") TARGET "  triggers:\n  - type: redis\n    metadata: {listName: jobs, address: '" address "'}\n"
	static const char own[] = KEDA("TriggerAuthentication", "x") "  podIdentity: {provider: aws}\n" NEXT SQS(
		"") "    authenticationRef: {name: x}\n";
	static const char vault[] = KEDA("TriggerAuthentication",
		"x") "  azureKeyVault:\n    podIdentity: {provider: "
		     "azure-workload}\n    vaultUri: 'https://a.vault.azure.net'\n    secrets:\n    - {parameter: "
		     "password, name: p}\n";
	static const char operator[] = SQS(", identityOwner: operator");
	static const char by_cluster[] = SQS(", identityOwner: operator") "    authenticationRef: {name: c, kind: "
									  "ClusterTriggerAuthentication}\n";
	static const char elsewhere[] = CLUSTER_AUTH("c", "  podIdentity: {provider: azure-workload}\n") NEXT SO("a")
		TARGET "  triggers:\n  - type: prometheus\n    metadata: {serverAddress: 'https://prom.shop', query: "
		       "q, threshold: '1'}\n"
		       "    authenticationRef: {name: c, kind: ClusterTriggerAuthentication}\n";

	(void)state;
	expect(own, false, "f:5: TriggerAuthentication shop/x: warning: spec.podIdentity: " OWN);
	expect(vault, false, "f:6: TriggerAuthentication shop/x: warning: spec.azureKeyVault.podIdentity: " OWN);
	expect(operator, false,
		"f:7: ScaledObject shop/a: warning: spec.triggers[0]: this asks for kscaled's own AWS identity, which "
		"needs a ClusterTriggerAuthentication or option cloud-identity all; give awsAccessKeyID and "
		"awsSecretAccessKey by a TriggerAuthentication instead\n");
	expect(by_cluster, false, "");
	expect(elsewhere, false,
		"f:14: ScaledObject shop/a: warning: spec.triggers[0].metadata.serverAddress: parameter "
		"\"serverAddress\": podIdentity azure-workload: prom.shop is not one of Microsoft's hosts for this "
		"service, and kscaled shows its own Azure token to no other; an administrator can allow it with "
		"--azure-trusted-hosts\n");
	rules.azure_trusted = "*";
	expect(elsewhere, false, "");
	expect(CLUSTER_AUTH("c", "  filePath: a\n"), false,
		"f:5: ClusterTriggerAuthentication c: warning: spec.filePath: no files are read: "
		"--filepath-auth-root-path is "
		"not set\n");
	expect(HERE_AT("127.0.0.1:6379"), false,
		"f:7: ScaledObject shop/a: warning: spec.triggers[0]: 127.0.0.1 is a loopback address, where no "
		"trigger's server "
		"may be (--allow-local-sources would allow it)\n");
	rules.local_sources = true;
	expect(HERE_AT("127.0.0.1:6379"), false, "");
	rules.given = true;
	expect(own, false, "f:5: TriggerAuthentication shop/x: spec.podIdentity: " OWN);
	rules.file_root = "/x";
	expect(CLUSTER_AUTH("c", "  filePath: a\n"), false, "");
	rules.cloud = AUTH_CLOUD_ALL;
	expect(own, false, "");
	expect(vault, false, "");
	expect(operator, false, "");
	rules.cloud = AUTH_CLOUD_NONE;
	expect(CLUSTER_AUTH("c", "  podIdentity: {provider: aws}\n"), false,
		"f:5: ClusterTriggerAuthentication c: spec.podIdentity: asks for kscaled's own identity at the cloud, "
		"which option cloud-identity none denies: give credentials instead\n");
	rules = (struct offline_rules){ .cluster_namespace = "kscaled", .cloud = AUTH_CLOUD_CLUSTER };
}

static void vault_logins_follow_the_options(void **state)
{
	static const char by_file[] = VAULT("ClusterTriggerAuthentication",
		"authentication: kubernetes, mount: k, role: r, credential: {serviceAccount: /tokens/a}");
	static const char own[] = VAULT("TriggerAuthentication", "authentication: token");

	(void)state;
	expect(by_file, false,
		"f:5: ClusterTriggerAuthentication a: warning: spec.hashiCorpVault: parameter \"p\": "
		"credential.serviceAccount: no files are read: --vault-credential-dir is not set\n");
	rules.vault_files = "/tokens";
	expect(by_file, false, "");
	rules.vault_trusted = "https://w,http://v/";
	expect(own, false, "");
	rules.vault_trusted = "https://w";
	rules.given = true;
	expect(own, false,
		"f:5: TriggerAuthentication shop/a: spec.hashiCorpVault: parameter \"p\": " UNTRUSTED "token\n");
	rules = (struct offline_rules){ .cluster_namespace = "kscaled", .cloud = AUTH_CLOUD_CLUSTER };
}

/* As a source, for an authentication, and for a variable. */
static void restrict_secret_access(void **state)
{
#define DENIED "--restrict-secret-access allows Secrets of namespace kscaled only"
	static const char source[] = SO("a") TARGET "  triggers:\n  - {type: kubernetes-resource, metadata: "
						    "{resourceKind: Secret, resourceName: q, key: k, "
						    "targetValue: '5'}}\n";
	static const char here[] = AUTH("pw", "password") NEXT WITH_AUTH("listName: jobs, address: 'r:1'");
	static const char in_cluster[] =
		"apiVersion: keda.sh/v1alpha1\nkind: ClusterTriggerAuthentication\nmetadata: {name: c}\nspec:\n"
		"  secretTargetRef: [{parameter: p, name: s, key: k}]\n";
	static const char variable[] = SO("a") TARGET REDIS_OF("ADDRESS") NEXT DEPLOYMENT(
		"      - {name: c, env: [{name: ADDRESS, valueFrom: {secretKeyRef: {name: s, key: k}}}]}\n");

	(void)state;
	expect(source, false, "");
	expect(here, false, "");
	expect(variable, false, "");
	rules.restrict_secrets = true;
	expect(source, false,
		"f:7: ScaledObject shop/a: spec.triggers[0].metadata.resourceName: Secret shop/q is not read: " DENIED
		"\n");
	expect(here, false,
		"f:6: TriggerAuthentication shop/redis: spec.secretTargetRef[0]: parameter \"password\": Secret "
		"shop/redis is not read: " DENIED "\n");
	expect(in_cluster, false, "");
	expect(variable, false,
		"f:7: ScaledObject shop/a: spec.triggers[0].metadata.addressFromEnv: parameter \"addressFromEnv\": "
		"environment variable ADDRESS of the target's container is not available: Secret shop/s is not "
		"read: " DENIED "\n");
	rules.restrict_secrets = false;
}

static void good_scaledjobs_have_no_findings(void **state)
{
	static const char *const texts[] = {
		/* All fields of KEDA's reference. */
		"apiVersion: keda.sh/v1alpha1\nkind: ScaledJob\nmetadata:\n  name: all\n  labels: {team: a}\n  "
		"annotations: {autoscaling.keda.sh/paused: 'true', scaledjob.keda.sh/job-excluded-labels: "
		"'team,b'}\nspec:\n"
		"  jobTargetRef:\n    parallelism: 1\n    completions: 1\n    activeDeadlineSeconds: 600\n    "
		"backoffLimit: 6\n    template: {spec: {restartPolicy: Never, containers: [{name: worker, image: "
		"i}]}}\n"
		"  pollingInterval: 30\n  successfulJobsHistoryLimit: 5\n  failedJobsHistoryLimit: 5\n  "
		"envSourceContainerName: worker\n  minReplicaCount: 10\n  maxReplicaCount: 100\n"
		"  rolloutStrategy: gradual\n  rollout: {strategy: gradual, propagationPolicy: foreground}\n"
		"  scalingStrategy:\n    strategy: custom\n    customScalingQueueLengthDeduction: 1\n    "
		"customScalingRunningJobPercentage: '0.5'\n    multipleScalersCalculation: max\n" REDIS,
		/* Pod conditions, two triggers added up; host and port from the environment. */
		SJ("  jobTargetRef:\n    template:\n      spec:\n        restartPolicy: Never\n        containers:\n   "
		   "     - name: worker\n          image: i\n          env: [{name: REDIS_HOST, value: redis}, {name: "
		   "REDIS_PORT, value: '6379'}]\n"
		   "  scalingStrategy: {strategy: eager, pendingPodConditions: [Ready, PodScheduled, "
		   "AnotherCustomPodCondition], multipleScalersCalculation: sum}\n"
		   "  triggers:\n  - {type: redis, name: wait, metadata: {hostFromEnv: REDIS_HOST, portFromEnv: "
		   "REDIS_PORT, listName: 'bull:q:wait', listLength: '1'}}\n"
		   "  - {type: redis, name: paused, metadata: {hostFromEnv: REDIS_HOST, portFromEnv: REDIS_PORT, "
		   "listName: 'bull:q:paused', listLength: '1'}}\n"),
		/*
		 * The environment of the named container, from a Secret in the input and one
		 * outside.
		 */
		SJ("  envSourceContainerName: second\n  jobTargetRef:\n    template:\n      spec:\n        "
		   "restartPolicy: OnFailure\n        containers:\n        - {name: first, image: i}\n        - name: "
		   "second\n          image: i\n"
		   "          env: [{name: DB, valueFrom: {secretKeyRef: {name: db, key: url}}}]\n"
		   "  triggers:\n  - {type: postgresql, metadata: {connectionFromEnv: DB, query: 'SELECT count(*) FROM "
		   "jobs', targetQueryValue: '1'}}\n")
			NEXT SECRET("db", "stringData: {url: 'postgresql://u:hunter2@db:5432/orders'}"),
		SJ("  jobTargetRef:\n    template: {spec: {containers: [{name: c, image: i, envFrom: [{secretRef: "
		   "{name: db}}]}]}}\n"
		   "  triggers:\n  - {type: postgresql, metadata: {connectionFromEnv: DB, query: 'SELECT count(*) FROM "
		   "jobs', targetQueryValue: '1'}}\n"),
		/* Several kinds of authentication. */
		SJ(JOB("") "  triggers:\n  - type: redis-streams\n    metadata: {address: 'redis:6379', stream: s, "
			   "consumerGroup: g, pendingEntriesCount: '1'}\n    authenticationRef: {name: redis}\n")
			NEXT AUTH("pw", "password") NEXT SECRET("redis", "stringData: {pw: hunter2}"),
		SJ(JOB(ADDRESS) "  triggers:\n  - type: redis\n    metadata: {listName: jobs}\n    authenticationRef: "
				"{name: redis}\n") NEXT KEDA("TriggerAuthentication",
			"redis") "  env: [{parameter: address, name: ADDRESS, containerName: c}]\n",
		SJ(JOB("") "  triggers:\n  - type: mysql\n    metadata: {host: db, port: '3306', username: u, dbName: "
			   "d, query: 'SELECT 1', queryValue: '1'}\n    authenticationRef: {name: db, kind: "
			   "ClusterTriggerAuthentication}\n"),
		/* Other sources. */
		SJ(JOB("") "  triggers:\n  - {type: prometheus, metadata: {serverAddress: 'http://p:9090', query: "
			   "'sum(x)', threshold: '4'}}\n  - {type: cron, metadata: {timezone: Europe/Berlin, start: 0 "
			   "8 * * *, end: 0 9 * * *, desiredReplicas: '2'}}\n"),
		SJ(JOB("") "  triggers:\n  - {type: external-push, metadata: {scalerAddress: 'scaler:50051', anything: "
			   "goes}}\n"),
		SJ(JOB("") "  triggers:\n  - {type: metrics-api, metadata: {url: 'http://x/y', valueLocation: a.b, "
			   "targetValue: '3'}}\n  - {type: kubernetes-workload, metadata: {podSelector: app=x, value: "
			   "'2'}}\n"),
		/* A ScaledObject of the same name. */
		SJ(JOB("") REDIS) NEXT SO("j") TARGET REDIS,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		expect(texts[i], false, "");
}

static void bad_scaledjobs_are_reported(void **state)
{
	static const struct {
		const char *text, *wanted;
	} cases[] = {
		{ SJ(REDIS), "f:4: ScaledJob shop/j: spec.jobTargetRef: missing\n" },
		{ SJ("  jobTargetRef: {}\n" REDIS), "f:5: ScaledJob shop/j: spec.jobTargetRef.template: missing\n" },
		{ SJ(JOB("")), "f:4: ScaledJob shop/j: spec.triggers: missing\n" },
		{ SJ(JOB("") "  cooldownPeriod: 300\n" REDIS),
			"f:6: ScaledJob shop/j: spec.cooldownPeriod: unknown field\n" },
		{ SJ(JOB(", image_: x") REDIS),
			"f:5: ScaledJob shop/j: spec.jobTargetRef.template.spec.containers[0].image_: unknown field: "
			"did you mean image?\n" },
		{ SJ("  jobTargetRef: {template: {spec: {restartPolicy: Always, containers: [{name: c, image: "
		     "i}]}}}\n" REDIS),
			"f:5: ScaledJob shop/j: spec.jobTargetRef.template.spec.restartPolicy: \"Always\" is not for "
			"Jobs: Never or OnFailure\n" },
		{ SJ("  jobTargetRef:\n    backoffLimit: -1\n    completions: 0\n    selector: {matchLabels: {a: b}}\n "
		     "   template: {spec: {restartPolicy: Sometimes, initContainers: [{name: a, image: ''}], "
		     "containers: [{name: b, image: i}, {name: c}]}}\n" REDIS),
			"f:6: ScaledJob shop/j: spec.jobTargetRef.backoffLimit: -1 is too small: at least 0\nf:8: "
			"ScaledJob shop/j: spec.jobTargetRef.selector: remove it: each Job is given one of its own\n"
			"f:9: ScaledJob shop/j: spec.jobTargetRef.template.spec.restartPolicy: \"Sometimes\" is not "
			"for Jobs: Never or OnFailure\n"
			"f:9: ScaledJob shop/j: spec.jobTargetRef.template.spec.containers[1].image: missing: a Job "
			"needs an image for each container\n"
			"f:9: ScaledJob shop/j: spec.jobTargetRef.template.spec.initContainers[0].image: missing: a "
			"Job needs an image for each container\n" },
		{ SJ("  jobTargetRef: {manualSelector: true, selector: {matchLabels: {a: b}}, template: {spec: "
		     "{containers: [{name: c, image: i}]}}}\n" REDIS),
			"" },
		{ SJ(JOB("") "  pollingInterval: 0\n  minReplicaCount: -1\n  maxReplicaCount: 0\n  "
			     "failedJobsHistoryLimit: -1\n" REDIS),
			"f:6: ScaledJob shop/j: spec.pollingInterval: 0 is too small: at least 1\nf:7: ScaledJob "
			"shop/j: spec.minReplicaCount: -1 is too small: at least 0\n"
			"f:8: ScaledJob shop/j: spec.maxReplicaCount: 0 is too small: at least 1\nf:9: ScaledJob "
			"shop/j: spec.failedJobsHistoryLimit: -1 is too small: at least 0\n" },
		{ SJ(JOB("") "  scalingStrategy:\n    strategy: accurat\n    customScalingRunningJobPercentage: "
			     "0.5\n" REDIS),
			"f:7: ScaledJob shop/j: spec.scalingStrategy.strategy: \"accurat\" is not one of default, "
			"custom, accurate, eager: did you mean accurate?\n"
			"f:8: ScaledJob shop/j: spec.scalingStrategy.customScalingRunningJobPercentage: must be a "
			"string, not a number: put it in quotes\n" },
		{ SJ(JOB("") "  scalingStrategy: {customScalingQueueLengthDeduction: 1}\n" REDIS),
			"f:6: ScaledJob shop/j: warning: spec.scalingStrategy: customScalingQueueLengthDeduction and "
			"customScalingRunningJobPercentage have no effect without strategy custom\n" },
		{ SJ(JOB("") "  scalingStrategy: {strategy: custom, customScalingRunningJobPercentage: half}\n" REDIS),
			"f:6: ScaledJob shop/j: warning: spec.scalingStrategy: customScalingRunningJobPercentage is "
			"not a number, such as \"0.5\": without one strategy custom is taken as default\n" },
		{ SJ(JOB("") "  rolloutStrategy: accurate\n" REDIS),
			"f:4: ScaledJob shop/j: warning: spec.rollout.strategy (or rolloutStrategy) is neither gradual "
			"nor immediate: it is taken as immediate\n"
			"f:6: ScaledJob shop/j: spec.rolloutStrategy: \"accurate\" is not one of gradual, "
			"immediate\n" },
		/*
		 * The API server would accept this, the reconciler not; reported once, not also as
		 * a warning.
		 */
		{ SJ(JOB("") REDIS "    metricType: Value\n"),
			"f:9: ScaledJob shop/j: spec.triggers[0].metricType: \"Value\": remove it: a ScaledJob always "
			"compares what is to be done with the work for one Job (AverageValue)\n" },
		/* Also once, without the trigger's own errors. */
		{ SJ(JOB("") "  triggers:\n  - {type: cpu, metadata: {value: '50'}}\n"),
			"f:7: ScaledJob shop/j: spec.triggers[0].type: \"cpu\": remove this trigger: it is read by a "
			"HorizontalPodAutoscaler, and a ScaledJob has none\n" },
		{ SJ(JOB("") "  triggers:\n  - {type: redis, useCachedMetrics: true, metadata: {listName: jobs, "
			     "address: 'redis:6379'}}\n"),
			"f:6: ScaledJob shop/j: warning: spec.triggers: useCachedMetrics has no effect in a "
			"ScaledJob\n" },
		/* Triggers, with the environment of the Pod template. */
		{ SJ(JOB("") "  triggers:\n  - {type: redis, metadata: {listName: jobs, address: 'redis:6379', "
			     "listLength: x}}\n"),
			"f:7: ScaledJob shop/j: spec.triggers[0].metadata.listLength: unable to set param "
			"\"listLength\" value \"x\": must be a whole number\n" },
		{ SJ(JOB("") "  triggers:\n  - {type: redis, metadata: {listName: jobs, address: 'redis:6379', "
			     "listLenght: '5'}}\n"),
			"f:7: ScaledJob shop/j: warning: spec.triggers[0].metadata.listLenght: no parameter of redis "
			"has this name: \"listLenght\" (did you mean \"listLength\"?)\n" },
		{ SJ(JOB(ADDRESS) "  triggers:\n  - {type: redis, metadata: {listName: jobs, addressFromEnv: "
				  "ADDRES}}\n"),
			"f:7: ScaledJob shop/j: spec.triggers[0].metadata.addressFromEnv: parameter "
			"\"addressFromEnv\": the target's container has no environment variable ADDRES with a "
			"value\n" },
		{ SJ(JOB(ADDRESS) "  envSourceContainerName: d\n  triggers:\n  - {type: redis, metadata: {listName: "
				  "jobs, addressFromEnv: ADDRESS}}\n"),
			"f:6: ScaledJob shop/j: spec.envSourceContainerName: j has no container \"d\"\n" },
		{ SJ(JOB("") "  triggers:\n  - type: redis\n    metadata: {listName: jobs, address: 'redis:6379'}\n    "
			     "authenticationRef: {name: redis}\n") NEXT KEDA("TriggerAuthentication",
			  "redis") "  env: [{parameter: password, name: PW, containerName: c}]\n",
			"f:9: ScaledJob shop/j: spec.triggers[0].authenticationRef: TriggerAuthentication shop/redis: "
			"env parameter \"password\": container \"c\" of the Pod template has no variable PW\n" },
		{ SJ("  jobTargetRef: {template: {spec: {containers: [{name: c, image: i, env: [{name: A, valueFrom: "
		     "{secretKeyRef: {name: redis, key: a}}}]}]}}}\n  triggers:\n  - {type: redis, metadata: "
		     "{listName: jobs, addressFromEnv: A}}\n") NEXT SECRET("redis", "stringData: {a: hunter2}"),
			"f:7: ScaledJob shop/j: spec.triggers[0].metadata.addressFromEnv: address \"(secret)\": must "
			"be host:port\n" },
		/* metadata. */
		{ "apiVersion: keda.sh/v1alpha1\nkind: ScaledJob\nmetadata:\n  name: "
		  "a23456789012345678901234567890123456789012345678901234567890123x\n  annotations:\n    "
		  "autoscaling.keda.sh/paused: 'yes'\n    autoscaling.keda.sh/paused-replicas: '2'\nspec:\n" JOB("")
				REDIS,
			"f:4: ScaledJob default/a23456789012345678901234567890123456789012345678901234567890123x: "
			"metadata.name: \"a23456789012345678901234567890123456789012345678901234567890123x\" has 64 "
			"characters: at most 63, as it becomes the value of a label: create it anew under a shorter "
			"name\n"
			"f:6: ScaledJob default/a23456789012345678901234567890123456789012345678901234567890123x: "
			"metadata.annotations[autoscaling.keda.sh/paused]: \"yes\" is neither true nor false\n"
			"f:7: ScaledJob default/a23456789012345678901234567890123456789012345678901234567890123x: "
			"warning: metadata.annotations[autoscaling.keda.sh/paused-replicas] has no effect on a "
			"ScaledJob: autoscaling.keda.sh/paused pauses it\n" },
		{ "apiVersion: keda.sh/v1alpha1\nkind: ScaledJob\nmetadata: {name: j, namespace: shop, annotations: "
		  "{autoscaling.keda.sh/paused: true}}\nspec:\n" JOB("") REDIS,
			"f:3: ScaledJob shop/j: metadata.annotations[autoscaling.keda.sh/paused]: must be a string, "
			"not true: put it in quotes\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(cases[i].text, false, cases[i].wanted);
}

static void scaledjob_with_all_references(void **state)
{
	static const char with[] = SJ(JOB("") "  triggers:\n  - type: redis\n    metadata: {listName: jobs, address: "
					      "'redis:6379'}\n    authenticationRef: {name: redis}\n");
	MEM_AUTO char *whole =
		mem_printf("%s" NEXT AUTH("pw", "password") NEXT SECRET("redis", "stringData: {pw: hunter2}"), with);

	(void)state;
	expect(SJ(JOB("") REDIS), true, ""); /* has no target */
	expect(with, true,
		"f:9: ScaledJob shop/j: spec.triggers[0].authenticationRef: TriggerAuthentication shop/redis is not in "
		"the input\n");
	expect(whole, true, "");
}

/* ---- References outside the input ---- */

/*
 * For each type: required parameters in the metadata, in an authentication (between blanks), in the
 * environment.
 */
static const struct {
	const char *type, *metadata, *auth, *env;
} of_types[] = {
	{ "redis", "listName: a", "address username password",
		"addressFromEnv: A, usernameFromEnv: B, passwordFromEnv: C" },
	{ "redis", "listName: a, enableTLS: 'true'", "address ca cert key keyPassword",
		"hostFromEnv: A, portFromEnv: B" },
	{ "redis", "listName: a", "address tls ca", "addressFromEnv: A" },
	{ "redis-cluster", "listName: a", "addresses password cert key", "addressesFromEnv: A" },
	{ "redis-sentinel", "listName: a", "hosts ports sentinelMaster sentinelPassword",
		"addressesFromEnv: A, sentinelMasterFromEnv: B" },
	{ "redis-streams", "stream: a, consumerGroup: g", "host port password", "hostFromEnv: A, portFromEnv: B" },
	{ "redis-cluster-streams", "stream: a", "addresses", "addressesFromEnv: A" },
	{ "redis-sentinel-streams", "stream: a", "addresses sentinelMaster",
		"addressesFromEnv: A, sentinelMasterFromEnv: B" },
	{ "postgresql", "query: SELECT 1, targetQueryValue: '1'", "connection ca cert key", "connectionFromEnv: A" },
	{ "postgresql", "query: SELECT 1, targetQueryValue: '1', userName: u, dbName: d, sslmode: require",
		"host port password", "host: h, port: '1', passwordFromEnv: A" },
	{ "mysql", "query: SELECT 1, queryValue: '1'", "connectionString", "connectionStringFromEnv: A" },
	{ "mysql", "query: SELECT 1, queryValue: '1'", "host port username password dbName tls ca cert key keyPassword",
		"hostFromEnv: A, portFromEnv: B, usernameFromEnv: C, passwordFromEnv: D, dbNameFromEnv: E" },
	{ "mongodb", "dbName: d, collection: c, query: '{\"a\": 1}', queryValue: '1'", "connectionString tls ca",
		"connectionStringFromEnv: A" },
	{ "mongodb", "collection: c, query: '{\"a\": 1}', queryValue: '1'", "host port username password dbName",
		"host: h, port: '1', username: u, dbName: d, passwordFromEnv: A" },
	{ "prometheus", "serverAddress: 'http://p', query: x, threshold: '1'",
		"authModes bearerToken username password cert key ca",
		"awsRegion: r, awsAccessKeyIDFromEnv: A, awsSecretAccessKeyFromEnv: B" },
	{ "prometheus", "serverAddress: 'http://p', query: x, threshold: '1', authModes: tls", "cert key", NULL },
	{ "prometheus", "serverAddress: 'http://p', query: x, threshold: '1', authModes: basic", "username password ca",
		NULL },
	{ "prometheus", "serverAddress: 'http://p', query: x, threshold: '1', authModes: 'basic,tls'",
		"username password ca cert key", NULL },
	{ "prometheus", "serverAddress: 'http://p', query: x, threshold: '1'", "ca", NULL },
	{ "prometheus", "serverAddress: 'http://p', query: x, threshold: '1', authModes: oauth",
		"oauthTokenURI clientID clientSecret scopes endpointParams", NULL },
	{ "prometheus", "serverAddress: 'http://p', query: x, threshold: '1', awsRegion: r",
		"awsAccessKeyID awsSecretAccessKey awsSessionToken", NULL },
	{ "rabbitmq", "queueName: q", "host username password tls ca cert key", "hostFromEnv: A" },
	{ "rabbitmq", "queueName: q, host: 'http://h', useRegex: 'true'",
		"username password oauthTokenURI clientID clientSecret scopes endpointParams",
		"usernameFromEnv: A, passwordFromEnv: B" },
	{ "aws-sqs-queue", "queueURL: q, awsRegion: eu-west-1", "awsAccessKeyID awsSecretAccessKey awsSessionToken",
		"awsAccessKeyIDFromEnv: A, awsSecretAccessKeyFromEnv: B" },
	{ "aws-sqs-queue", "queueURL: q, awsAccessKeyID: a", "awsSecretAccessKey awsRegion",
		"awsRegion: eu-west-1, awsSecretAccessKeyFromEnv: B" },
	{ "aws-kinesis-stream", "streamName: s", "awsRegion awsRoleArn", NULL },
	{ "aws-cloudwatch", "expression: x, targetMetricValue: '1', minMetricValue: '0'",
		"awsRegion awsAccessKeyId awsSecretAccessKey", NULL },
	{ "azure-pipelines", "poolName: linux, organizationURL: 'https://d/o'", "personalAccessToken",
		"personalAccessTokenFromEnv: A" },
	{ "azure-pipelines", "poolID: '7'", "organizationURL personalAccessToken",
		"organizationURLFromEnv: A, personalAccessTokenFromEnv: B" },
	{ "gcp-pubsub", "subscriptionName: orders", "GoogleApplicationCredentials", "credentialsFromEnv: A" },
	{ "azure-servicebus", "queueName: orders", "connection", "connectionFromEnv: A" },
	{ "datadog", "query: 'avg:a{*}', queryValue: '1'", "apiKey appKey datadogSite ca", NULL },
	{ "datadog", "useClusterAgentProxy: 'true', datadogMetricName: a, datadogMetricNamespace: b, targetValue: '1'",
		"datadogNamespace datadogMetricsService datadogMetricsServicePort unsafeSsl authMode token", NULL },
	{ "elasticsearch", "index: a, valueLocation: b, targetValue: '1', query: '{}'",
		"addresses username password cloudID apiKey", "passwordFromEnv: A" },
	{ "elasticsearch", "addresses: 'http://p', username: u",
		"password index searchTemplateName query valueLocation targetValue", NULL },
	{ "opensearch", "addresses: 'http://p', index: a, valueLocation: b, targetValue: '1', query: '{}'",
		"username password caCert enableTLS clientCert clientKey", "passwordFromEnv: A" },
	{ "azure-queue", "queueName: orders", "connection", "connectionFromEnv: A" },
	{ "azure-blob", "blobContainerName: files", "connection", "connectionFromEnv: A" },
	{ "github-runner", "owner: shop, runnerScope: org", "personalAccessToken ca", "reposFromEnv: B" },
	{ "github-runner", "owner: shop, runnerScope: org, applicationID: '1', installationID: '2'", "appKey ca",
		NULL },
	{ "etcd", "endpoints: 'e:1', watchKey: a, value: '1'", "username password tls ca cert key keyPassword",
		"usernameFromEnv: A, passwordFromEnv: B" },
	{ "metrics-api", "url: 'http://p', valueLocation: a, targetValue: '1', authMode: apiKey", "apiKey", NULL },
	{ "metrics-api", "url: 'http://p', valueLocation: a, targetValue: '1', authMode: 'custom,tls'",
		"customAuthHeader customAuthValue cert key ca", NULL },
	{ "metrics-api", "url: 'http://p', valueLocation: a, targetValue: '1'",
		"authMode token username method keyParamName apiKey", NULL },
	{ "loki", "serverAddress: 'http://p', query: x, threshold: '1', authModes: basic", "username password ca",
		NULL },
	{ "graphite", "serverAddress: 'http://p', query: x, queryTime: -1h, authMode: basic", "username password ca",
		NULL },
	{ "nats-jetstream", "stream: a, consumer: b", "natsServerMonitoringEndpoint account accountID", NULL },
	{ "kafka", "bootstrapServers: 'k:1', consumerGroup: g, topic: t, tls: enable, sasl: plaintext",
		"username password ca cert key keyPassword", NULL },
	{ "kafka", "bootstrapServers: 'k:1', consumerGroup: g",
		"tls sasl saslTokenProvider username password oauthTokenEndpointUri scopes", "topicFromEnv: A" },
	{ "apache-kafka", "bootstrapServers: 'k:1', consumerGroup: g", "tls sasl username password",
		"bootstrapServersFromEnv: A, topicFromEnv: B" },
	{ "beanstalkd", "server: 'b:11300', tube: orders, value: '5'", "x", NULL },
	{ "cron", "timezone: Europe/Berlin, start: 0 8 * * *, end: 0 9 * * *, desiredReplicas: '2'", "x", NULL },
	{ "kubernetes-workload", "podSelector: app=x, value: '2'", "x", NULL },
	{ "kubernetes-resource", "resourceKind: Secret, resourceName: a, key: b, targetValue: '2'", "x", NULL },
	{ "external", "scalerAddress: 'a:1', enableTLS: 'true'", "caCert tlsClientCert tlsClientKey",
		"someFromEnv: A" },
	{ "external-push", "scalerAddress: 'a:1'", "caCert tlsClientCert tlsClientKey", "someFromEnv: A" },
	{ "cpu", "value: '50'", "x", NULL },
	{ "memory", "value: '50'", "x", NULL },
};

static char *object_of(const char *type, const char *metadata, const char *more, const char *behind)
{
	const char *metric_type = strcmp(type, "cpu") == 0 || strcmp(type, "memory") == 0 ? ", metricType: Utilization"
											  : "";

	return mem_printf(SO("a") TARGET "  minReplicaCount: 1\n  triggers:\n  - {type: %s%s, metadata: {%s%s%s}%s}\n",
		type, metric_type, metadata, more ? ", " : "", more ? more : "", behind);
}

/* A TriggerAuthentication with these parameters, of a Secret that is not in the input. */
static char *auth_of(const char *parameters)
{
	char *text = mem_dup(KEDA("TriggerAuthentication", "creds") "  secretTargetRef:\n");
	MEM_AUTO char *copy = mem_dup(parameters);
	char *rest = copy, *one;

	while ((one = strsep(&rest, " ")) != NULL) {
		char *longer = mem_printf("%s  - {parameter: %s, name: creds, key: %s}\n", text, one, one);

		free(text);
		text = longer;
	}
	return text;
}

/* announced: the only finding is that the type is deprecated. */
static void expect_quiet(const char *text, bool announced)
{
	struct checkobjects_result result;
	MEM_AUTO char *got = check_with(text, false, &result);

	if (result.problems > 0 || result.warnings != announced || (announced && !strstr(got, "is deprecated")))
		fail_msg("%s\n%s", text, got);
}

/* Valid as far as can be known. */
static void unknown_parts_are_not_checked(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(of_types) / sizeof(of_types[0]); i++) {
		const char *type = of_types[i].type, *metadata = of_types[i].metadata;
		MEM_AUTO char *refers = object_of(type, metadata, NULL, ", authenticationRef: {name: creds}");
		MEM_AUTO char *auth = auth_of(of_types[i].auth), *both = mem_printf("%s" NEXT "%s", refers, auth);
		MEM_AUTO char *env = of_types[i].env ? object_of(type, metadata, of_types[i].env, "") : NULL;

		bool announced = scaler_type_find(type)->announced != NULL;

		expect_quiet(refers, announced); /* no TriggerAuthentication, Secret, Deployment */
		expect_quiet(both, announced);   /* no Secret, Deployment */
		if (env)
			expect_quiet(env, announced); /* no Deployment */
	}
	for (const char *names = scaler_type_names(); *names;
		names += strcspn(names, ",") + strspn(names + strcspn(names, ","), ", ")) {
		size_t len = strcspn(names, ","), found = 0;

		for (size_t i = 0; i < sizeof(of_types) / sizeof(of_types[0]); i++)
			found += strlen(of_types[i].type) == len && strncmp(of_types[i].type, names, len) == 0;
		if (found == 0)
			fail_msg("no row for %s", names);
	}
}

/* Each, even if other parts are unknown. */
static void known_parts_are_checked(void **state)
{
	static const struct {
		const char *type, *metadata, *wanted;
	} cases[] = {
		{ "mysql", "query: SELECT 1", "missing required parameter \"queryValue\"" },
		{ "mysql", "query: SELECT 1, queryValue: '1', tls: maybe",
			"must be one of false, true, skip-verify, preferred" },
		{ "mongodb", "dbName: d, collection: c, query: '{}', queryValue: '1'", "empty bson document" },
		{ "mongodb", "dbName: d, collection: c, query: '{\"a\": 1}'",
			"missing required parameter \"queryValue\"" },
		{ "kafka", "bootstrapServers: 'k:1', consumerGroup: g, lagThreshold: '0'",
			"\"lagThreshold\" must be positive number" },
		{ "apache-kafka", "bootstrapServers: 'k:1', consumerGroup: g, offsetResetPolicy: last",
			"must be one of latest, earliest" },
		{ "postgresql", "query: SELECT 1; SELECT 2, targetQueryValue: '1'", "has several statements" },
		{ "prometheus", "serverAddress: 'ftp://p', query: x, threshold: '1'", "serverAddress" },
		{ "prometheus", "serverAddress: 'http://p', query: x, threshold: '0'", "must be greater than 0" },
		{ "metrics-api", "url: 'http://p', valueLocation: '', targetValue: '1'", "valueLocation" },
		{ "metrics-api", "url: 'http://p', valueLocation: 'a[', format: yamll, targetValue: '1'",
			"must be one of json, xml, yaml, prometheus" },
		{ "redis-streams", "stream: a, lagCount: '-1', consumerGroup: g", "must be greater than 0" },
		{ "external", "scalerAddress: 'a:1', enableTLS: maybe", "must be true or false" },
		{ "kubernetes-resource",
			"resourceKind: ConfigMap, resourceName: a, key: b, format: json, targetValue: '2'",
			"parameter \"valueLocation\" is required for json format" },
		{ "cron", "timezone: Nowhere, start: 0 8 * * *, end: 0 9 * * *, desiredReplicas: '2'", "timezone" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		MEM_AUTO char *text = object_of(cases[i].type, cases[i].metadata, NULL,
			", authenticationRef: {name: creds}");
		struct checkobjects_result result;
		MEM_AUTO char *got = check_with(text, false, &result);

		if (result.problems != 1 || !strstr(got, cases[i].wanted))
			fail_msg("%s\n%s", text, got);
	}
}

/* Their values also occur in sentences. */
static void secrets_are_replaced_only_in_quotes(void **state)
{
	static const char *const values[] = { "redis", "a", "param", "listLength", "value", "must be", "number",
		"trigger" };

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		MEM_AUTO char *text = mem_printf(WITH_AUTH("listName: jobs, address: 'h:1', listLength: x")
							 NEXT AUTH("pw", "password")
								 NEXT SECRET("redis", "stringData: {pw: '%s'}"),
			values[i]);

		expect(text, false,
			"f:8: ScaledObject shop/a: spec.triggers[0].metadata.listLength: unable to set param "
			"\"listLength\" value \"x\": must be a whole number\n");
	}
	/* One problem, at the authentication. */
	for (size_t i = 0; i < 2; i++) {
		MEM_AUTO char *text = mem_printf(WITH_AUTH("listName: jobs, address: 'h:1'") NEXT AUTH("pw", "password")
							 NEXT SECRET("redis", "stringData: {pw: '%s'}"),
			i == 0 ? "" : " ");

		expect(text, false,
			"f:16: TriggerAuthentication shop/redis: spec.secretTargetRef[0]: parameter \"password\": key "
			"\"pw\" of Secret shop/redis is empty\n");
	}
	/* In quotes they are values, each time. */
	expect(WITH_AUTH("listName: jobs") NEXT AUTH("addr", "address")
			NEXT SECRET("redis", "stringData: {addr: 'secret'}"),
		false, "f:7: ScaledObject shop/a: spec.triggers[0]: address \"(secret)\": must be host:port\n");
}

static void complete_reports_missing_references(void **state)
{
	(void)state;
	expect(SO("a") TARGET REDIS, true,
		"f:5: ScaledObject shop/a: spec.scaleTargetRef: Deployment shop/worker is not in the input\n");
	expect(SO("a") TARGET REDIS NEXT DEPLOYMENT("      - {name: c}\n"), true, "");
	expect(WITH_AUTH("listName: jobs") NEXT DEPLOYMENT("      - {name: c}\n"), true,
		"f:9: ScaledObject shop/a: spec.triggers[0].authenticationRef: TriggerAuthentication shop/redis is not "
		"in the input\n");
	expect(AUTH("pw", "password"), true,
		"f:6: TriggerAuthentication shop/redis: spec.secretTargetRef[0]: parameter \"password\": Secret "
		"shop/redis is not in the input\n");
	expect(AUTH("pw", "password") NEXT SECRET("redis", "stringData: {pw: hunter2}"), true, "");
	expect(AUTH("pw", "password") NEXT SECRET("redis", "stringData: {pw: 'ENC[x]'}\nsops: {mac: x}"), true,
		"f:6: TriggerAuthentication shop/redis: spec.secretTargetRef[0]: parameter \"password\": Secret "
		"shop/redis is not in the input\n");
}

static void unknown_type_is_reported(void **state)
{
	(void)state;
	expect(SO("a") TARGET "  triggers:\n  - {type: redsi, metadata: {}}\n", false,
		"f:7: ScaledObject shop/a: spec.triggers[0].type: no scaler found for type: redsi (perhaps redis; "
		"kscaled-triggers(5) lists all types)\n");
	expect(SO("a") TARGET "  triggers:\n  - {type: pulsar, metadata: {}}\n", false,
		"f:7: ScaledObject shop/a: spec.triggers[0].type: no scaler found for type: pulsar (not in this "
		"version; use prometheus with the brokers' metric pulsar_subscription_back_log)\n");
}

static void a_thousand_conflicts_are_cheap(void **state)
{
	struct checkobjects_result result;
	char *text = mem_dup(""), *got;

	(void)state;
	for (int i = 0; i < 200; i++) {
		char *more = mem_printf("%s"
					"apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: "
					"o%d}\nspec:\n" TARGET REDIS NEXT,
			text, i);

		free(text);
		text = more;
	}
	got = check_with(text, false, &result);
	assert_int_equal(result.problems, 199);
	free(got);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_scaledobjects_have_no_findings),
		cmocka_unit_test(bad_scaledobjects_are_reported),
		cmocka_unit_test(refused_by_options),
		cmocka_unit_test(vault_logins_follow_the_options),
		cmocka_unit_test(restrict_secret_access),
		cmocka_unit_test(good_scaledjobs_have_no_findings),
		cmocka_unit_test(bad_scaledjobs_are_reported),
		cmocka_unit_test(scaledjob_with_all_references),
		cmocka_unit_test(unknown_parts_are_not_checked),
		cmocka_unit_test(known_parts_are_checked),
		cmocka_unit_test(secrets_are_replaced_only_in_quotes),
		cmocka_unit_test(complete_reports_missing_references),
		cmocka_unit_test(unknown_type_is_reported),
		cmocka_unit_test(a_thousand_conflicts_are_cheap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
