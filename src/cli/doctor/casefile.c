/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/casefile.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timestamp.h"

/* ---- Facts ---- */

const json_t *casefile_object(const struct casefile *c, const char *fact)
{
	return json_object_get(json_object_get(c->facts, fact), "object");
}

const char *casefile_message(const struct casefile *c, const char *fact)
{
	return json_str_or_empty(json_object_get(c->facts, fact), "message");
}

bool casefile_lacks(const struct casefile *c, const char *fact)
{
	return json_str_is(json_object_get(c->facts, fact), "error", "missing");
}

const json_t *casefile_read(const struct casefile *c, const char *fact, bool *told)
{
	const json_t *found = json_object_get(c->facts, fact), *object = json_object_get(found, "object");

	*told = !object && !casefile_lacks(c, fact);
	if (*told && json_str_is(found, "error", "denied"))
		casefile_skip(c, "not looked at: needs %s", json_str_or_empty(found, "wanted"));
	else if (*told)
		casefile_wrong(c, NULL, "%s could not be read: %s", fact, json_str_or_empty(found, "message"));
	return object;
}

const json_t *casefile_at(const json_t *object, const char *path)
{
	char key[64];

	while (object && *path) {
		size_t len = strcspn(path, ".");

		snprintf(key, sizeof(key), "%.*s", (int)len, path);
		object = json_object_get(object, key);
		path += len + (path[len] == '.');
	}
	return object;
}

const char *casefile_text_at(const json_t *object, const char *path)
{
	const char *text = json_string_value(casefile_at(object, path));

	return text ? text : "";
}

const json_t *casefile_condition(const json_t *object, const char *type)
{
	const json_t *condition;
	size_t i;

	json_array_foreach(casefile_at(object, "status.conditions"), i, condition)
	{
		if (json_str_is(condition, "type", type))
			return condition;
	}
	return NULL;
}

const char *casefile_namespace_of(const json_t *object)
{
	return casefile_text_at(object, "metadata.namespace");
}

const char *casefile_name_of(const json_t *object)
{
	return casefile_text_at(object, "metadata.name");
}

int64_t casefile_time_at(const json_t *object, const char *path)
{
	int64_t ms = 0;

	return timestamp_parse(casefile_text_at(object, path), &ms, NULL) == 0 ? ms : 0;
}

bool casefile_bundle_has(const char *bundle, const char *certificate)
{
	MEM_AUTO char *copy = mem_dup(certificate);

	return bundle && strstr(bundle, text_trim(copy, " \r\n")) != NULL;
}

/* ---- Findings ---- */

#define ADD(status, mend)                                                                                              \
	do {                                                                                                           \
		va_list ap;                                                                                            \
		va_start(ap, fmt);                                                                                     \
		diagnosis_vadd(c->out, c->hop, status, mend, fmt, ap);                                                 \
		va_end(ap);                                                                                            \
	} while (0)

void casefile_fine(const struct casefile *c, const char *fmt, ...)
{
	ADD(DIAGNOSIS_OK, NULL);
}

void casefile_skip(const struct casefile *c, const char *fmt, ...)
{
	ADD(DIAGNOSIS_SKIPPED, NULL);
}

void casefile_warn(const struct casefile *c, char *mend, const char *fmt, ...)
{
	ADD(DIAGNOSIS_WARNING, mend);
}

void casefile_wrong(const struct casefile *c, char *mend, const char *fmt, ...)
{
	ADD(DIAGNOSIS_ERROR, mend);
}

/* ---- Commands ---- */

/*
 * It runs in a Pod, by the Deployment of our manifests; so does this, where no kubeconfig is given.
 */
static bool in_cluster(const struct casefile *c)
{
	return casefile_object(c, "deployment") != NULL || !c->setup->kubeconfig;
}

/*
 * Where the API server reaches it, as the Service and its EndpointSlice say. "" when they do not.
 */
static void put_host(const struct casefile *c, struct buf *out)
{
	const json_t *service = casefile_object(c, "service"), *slice = NULL;
	const char *name = casefile_text_at(service, "spec.externalName"), *address;
	json_int_t port = json_integer_value(
		casefile_at(json_array_get(casefile_at(service, "spec.ports"), 0), *name ? "port" : "targetPort"));

	if (c->setup->host) {
		buf_printf(out, " --host %s", c->setup->host);
		return;
	}
	if (in_cluster(c))
		return;
	slice = json_array_get(casefile_at(casefile_object(c, "endpointslices"), "items"), 0);
	address = json_string_value(
		json_array_get(casefile_at(json_array_get(json_object_get(slice, "endpoints"), 0), "addresses"), 0));
	if (*name && port > 0)
		buf_printf(out, " --host %s:%d", name, (int)port);
	else if (address && port > 0 && !casefile_at(service, "spec.selector"))
		buf_printf(out, strchr(address, ':') ? " --host [%s]:%d" : " --host %s:%d", address, (int)port);
	else if (!casefile_at(service, "spec.selector"))
		buf_printf(out, " --host HOST:%d", c->setup->secure_port);
}

char *casefile_apply(const struct casefile *c)
{
	const struct doctor_setup *s = c->setup;
	struct buf out = BUF_INIT(SIZE_MAX);

	buf_puts(&out, "kscaled manifests");
	put_host(c, &out);
	if (strcmp(s->namespace_, "kscaled") != 0)
		buf_printf(&out, " --namespace %s", s->namespace_);
	if (strcmp(s->service_name, "kscaled") != 0)
		buf_printf(&out, " --service-name %s", s->service_name);
	if (s->watch_namespaces)
		buf_printf(&out, " --watch-namespace %s", s->watch_namespaces);
	if (s->scale_kinds)
		buf_printf(&out, " --scale-kinds '%s'", s->scale_kinds);
	if (s->no_scaledjobs)
		buf_puts(&out, " --no-scaledjobs");
	if (s->restrict_secrets)
		buf_puts(&out, " --restrict-secret-access");
	if (s->service_account_tokens)
		buf_puts(&out, " --service-account-tokens");
	if (!s->webhook)
		buf_puts(&out, " --no-webhook");
	buf_puts(&out, " | kubectl apply -f -");
	return buf_take(&out);
}

char *casefile_restart(const struct casefile *c)
{
	if (in_cluster(c))
		return mem_printf("kubectl -n %s rollout restart deployment/kscaled", c->setup->namespace_);
	return mem_dup("systemctl restart kscaled");
}
