/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/facts.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "cli/plaintext.h"

/* ---- Facts ---- */

const json_t *facts_object(const struct facts *c, const char *fact)
{
	return json_object_get(json_object_get(c->facts, fact), "object");
}

const char *facts_message(const struct facts *c, const char *fact)
{
	return json_str_or_empty(json_object_get(c->facts, fact), "message");
}

bool facts_lacks(const struct facts *c, const char *fact)
{
	return json_str_is(json_object_get(c->facts, fact), "error", "missing");
}

const json_t *facts_read(const struct facts *c, const char *fact, bool *reported)
{
	const json_t *found = json_object_get(c->facts, fact), *object = json_object_get(found, "object");

	*reported = !object && !facts_lacks(c, fact);
	if (*reported && json_str_is(found, "error", "denied"))
		facts_skip(c, "not checked: needs %s", json_str_or_empty(found, "wanted"));
	else if (*reported)
		facts_error(c, NULL, "%s could not be read: %s", fact, json_str_or_empty(found, "message"));
	return object;
}

const json_t *facts_at(const json_t *object, const char *path)
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

const char *facts_text_at(const json_t *object, const char *path)
{
	const char *text = json_string_value(facts_at(object, path));

	return text ? text : "";
}

const json_t *facts_condition(const json_t *object, const char *type)
{
	const json_t *condition;
	size_t i;

	json_array_foreach(facts_at(object, "status.conditions"), i, condition)
	{
		if (json_str_is(condition, "type", type))
			return condition;
	}
	return NULL;
}

const json_t *facts_container(const json_t *deployment)
{
	const json_t *one;
	size_t i;

	json_array_foreach(facts_at(deployment, "spec.template.spec.containers"), i, one)
	{
		if (json_str_is(one, "name", "kscaled"))
			return one;
	}
	return NULL;
}

const char *facts_namespace_of(const json_t *object)
{
	return facts_text_at(object, "metadata.namespace");
}

const char *facts_name_of(const json_t *object)
{
	return facts_text_at(object, "metadata.name");
}

int64_t facts_time_at(const json_t *object, const char *path)
{
	int64_t ms = 0;

	return timestamp_parse(facts_text_at(object, path), &ms, NULL) == 0 ? ms : 0;
}

bool facts_bundle_has(const char *bundle, const char *certificate)
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

void facts_ok(const struct facts *c, const char *fmt, ...)
{
	ADD(DIAGNOSIS_OK, NULL);
}

void facts_skip(const struct facts *c, const char *fmt, ...)
{
	ADD(DIAGNOSIS_SKIPPED, NULL);
}

void facts_warn(const struct facts *c, char *mend, const char *fmt, ...)
{
	ADD(DIAGNOSIS_WARNING, mend);
}

void facts_error(const struct facts *c, char *mend, const char *fmt, ...)
{
	ADD(DIAGNOSIS_ERROR, mend);
}

/* ---- Commands ---- */

const char *facts_program(const struct facts *c)
{
	return c->setup->program ? c->setup->program : "kscaled";
}

char *facts_quote(char *mend)
{
	char *quoted;

	if (strchr(mend, '`'))
		return mend;
	quoted = mem_printf("`%s`", mend);
	free(mend);
	return quoted;
}

/* kscaled runs in Pods. Without a kubeconfig this runs in one of them. */
static bool in_cluster(const struct facts *c)
{
	return c->setup->in_pod || facts_object(c, "deployment") != NULL || !c->setup->kubeconfig;
}

/*
 * Puts " --host ..." with the address in the Service or its EndpointSlice; nothing if they have
 * none.
 */
static void put_host(const struct facts *c, struct buf *out)
{
	const json_t *service = facts_object(c, "service"), *slice = NULL;
	const char *name = facts_text_at(service, "spec.externalName"), *address;
	json_int_t port = json_integer_value(
		facts_at(json_array_get(facts_at(service, "spec.ports"), 0), *name ? "port" : "targetPort"));

	if (c->setup->host) {
		buf_printf(out, " --host %s", c->setup->host);
		return;
	}
	if (in_cluster(c))
		return;
	slice = json_array_get(facts_at(facts_object(c, "endpointslices"), "items"), 0);
	address = json_string_value(
		json_array_get(facts_at(json_array_get(json_object_get(slice, "endpoints"), 0), "addresses"), 0));
	if (*name && port > 0)
		buf_printf(out, " --host %s:%d", name, (int)port);
	else if (address && port > 0 && !facts_at(service, "spec.selector"))
		buf_printf(out, strchr(address, ':') ? " --host [%s]:%d" : " --host %s:%d", address, (int)port);
	else if (c->setup->installer != DOCTOR_JOIN && !facts_at(service, "spec.selector"))
		buf_printf(out, " --host HOST:%d", c->setup->secure_port);
}

static void put_text(struct buf *out, const char *option, const char *value, const char *usual)
{
	if (!value || (usual && strcmp(value, usual) == 0))
		return;
	buf_printf(out, " --%s ", option);
	plaintext_put_word(out, value);
}

static void put_flag(struct buf *out, const char *option, bool is_set)
{
	if (is_set)
		buf_printf(out, " --%s", option);
}

/* The options that `kscaled manifests` and `kscaled join` share. */
static void put_options(const struct facts *c, struct buf *out)
{
	const struct doctor_setup *s = c->setup;

	put_host(c, out);
	put_text(out, "namespace", s->namespace_, "kscaled");
	put_text(out, "service-name", s->service_name, "kscaled");
	put_text(out, "watch-namespace", s->watch_namespaces, NULL);
	put_text(out, "scale-kinds", s->lost_kinds ? "KINDS" : s->scale_kinds, NULL);
	put_flag(out, "no-scaledjobs", s->no_scaledjobs);
	put_flag(out, "restrict-secret-access", s->restrict_secrets);
	put_flag(out, "service-account-tokens", s->service_account_tokens);
	put_flag(out, "no-webhook", !s->webhook);
}

static char *by_manifests(const struct facts *c, const char *more)
{
	const struct doctor_setup *s = c->setup;
	struct buf out = BUF_INIT(SIZE_MAX);

	buf_printf(&out, "%s manifests", facts_program(c));
	put_options(c, &out);
	put_flag(&out, "no-crds", s->others_crds);
	put_text(&out, "image", strstr(more, "--image ") ? NULL : s->image, NULL);
	put_text(&out, "replicas", s->replicas, NULL);
	put_text(&out, "priority-class", s->priority_class, NULL);
	put_text(&out, "monitor", s->monitor, NULL);
	put_flag(&out, "network-policy", s->network_policy);
	buf_printf(&out, "%s%s | kubectl apply -f -", *more ? " " : "", more);
	return buf_take(&out);
}

/* --reuse-values needs the chart of the same version; it keeps the user's values. */
static char *by_helm(const struct facts *c, const char *values)
{
	const struct doctor_setup *s = c->setup;
	struct buf out = BUF_INIT(SIZE_MAX);

	buf_puts(&out, "helm upgrade ");
	plaintext_put_word(&out, s->release);
	buf_printf(&out, " kscaled-%s.tgz", s->version ? s->version : "VERSION");
	put_text(&out, "namespace", s->release_namespace, NULL);
	buf_puts(&out, " --reuse-values");
	put_text(&out, "set", *values ? values : NULL, NULL);
	return buf_take(&out);
}

/* more: options to append. */
static char *by_join(const struct facts *c, const char *more)
{
	const struct doctor_setup *s = c->setup;
	struct buf out = BUF_INIT(SIZE_MAX);

	if (s->installer != DOCTOR_JOIN)
		return NULL;
	if (s->joined)
		return mem_printf("sudo kscaled join %s%s", s->joined, more);
	buf_puts(&out, s->knows_roles ? "sudo kscaled join" : "`sudo kscaled join");
	/* kscaled's own kubeconfig lacks the rights to join. */
	put_text(&out, "kubeconfig", s->admin && !facts_object(c, "joined") ? s->admin : "ADMIN", NULL);
	if (s->knows_roles)
		put_options(c, &out);
	buf_puts(&out, more);
	if (!s->knows_roles)
		buf_puts(&out, "` with the same options as before");
	return buf_take(&out);
}

char *facts_join(const struct facts *c)
{
	return by_join(c, "");
}

char *facts_apply_with(const struct facts *c, const char *values, const char *options)
{
	switch (c->setup->installer) {
	case DOCTOR_HELM: return by_helm(c, values);
	case DOCTOR_JOIN: return facts_join(c);
	case DOCTOR_OTHERS:
		return mem_printf("apply its objects again with the tool that made them: %s", c->setup->release);
	default: return by_manifests(c, options);
	}
}

char *facts_apply(const struct facts *c)
{
	return facts_apply_with(c, "", "");
}

char *facts_apply_at(const struct facts *c, const char *host)
{
	struct doctor_setup setup = *c->setup;
	struct facts there = *c;
	MEM_AUTO char *more = mem_printf(" --host %s", host);

	if (c->setup->installer == DOCTOR_JOIN)
		return by_join(c, more);
	setup.host = host;
	there.setup = &setup;
	return facts_apply(&there);
}

char *facts_join_here(const struct facts *c)
{
	return facts_object(c, "joined") ? facts_join(c) : NULL;
}

char *facts_explain(const struct facts *c, const char *kind, const char *namespace_, const char *name)
{
	return mem_printf("%s explain %s%s%s/%s", facts_program(c), kind, *kind ? " " : "", namespace_, name);
}

char *facts_restart(const struct facts *c)
{
	if (in_cluster(c))
		return mem_printf("kubectl -n %s rollout restart deployment/kscaled", c->setup->namespace_);
	return mem_dup("sudo systemctl restart kscaled");
}
