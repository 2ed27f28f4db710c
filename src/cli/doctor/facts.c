/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/facts.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/host/optiontext.h"
#include "cli/plaintext.h"

/* ---- Facts ---- */

const json_t *facts_object(const struct facts *c, const char *fact)
{
	return json_object_get(json_object_get(c->facts, fact), "object");
}

bool facts_lacks(const struct facts *c, const char *fact)
{
	return json_str_is(json_object_get(c->facts, fact), "error", "missing");
}

bool facts_known(const struct facts *c, const char *fact)
{
	const json_t *found = json_object_get(c->facts, fact);

	if (json_object_get(found, "object") || facts_lacks(c, fact))
		return true;
	if (json_str_is(found, "error", "denied"))
		facts_skip(c, "not checked: needs %s", json_str_or_empty(found, "wanted"));
	else
		facts_error(c, NULL, "%s could not be read: %s", fact, json_str_or_empty(found, "message"));
	return false;
}

const json_t *facts_container(const json_t *facts)
{
	return fields_entry(fields_at(facts, "deployment.object.spec.template.spec.containers"), "name", "kscaled");
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

bool facts_bundle(const struct facts *c, const char *what, const char *encoded, const char *ca, char *mend)
{
	MEM_AUTO char *bundle = base64_decode(encoded, NULL), *copy = mem_dup(ca);
	bool good = *encoded && (!*ca || (bundle && strstr(bundle, text_trim(copy, " \r\n"))));

	if (good)
		free(mend);
	else if (*encoded)
		facts_error(c, mend, "the caBundle of %s lacks kscaled's CA", what);
	else
		facts_error(c, mend, "%s has no caBundle: no kscaled has been leader since it was created", what);
	return good;
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
	const json_t *service = facts_object(c, "service");
	const char *name = fields_text(service, "spec.externalName"),
		   *address = fields_text(c->facts, "endpointslices.object.items.0.endpoints.0.addresses.0");
	json_int_t port = fields_number(service, *name ? "spec.ports.0.port" : "spec.ports.0.targetPort");

	if (c->setup->manifests.host)
		buf_printf(out, " --host %s", c->setup->manifests.host);
	else if (in_cluster(c))
		return;
	else if (*name && port > 0)
		buf_printf(out, " --host %s:%d", name, (int)port);
	else if (fields_at(service, "spec.selector"))
		return;
	else if (*address && port > 0)
		buf_printf(out, strchr(address, ':') ? " --host [%s]:%d" : " --host %s:%d", address, (int)port);
	else if (c->setup->installer != DOCTOR_JOIN)
		buf_printf(out, " --host HOST:%d", c->setup->secure_port);
}

static const char *unless_usual(const char *name)
{
	return strcmp(name, "kscaled") == 0 ? NULL : name;
}

/* The options that `kscaled manifests` and `kscaled join` share. */
static void put_options(const struct facts *c, struct buf *out)
{
	struct manifests_params shown = c->setup->manifests;

	shown.namespace_ = unless_usual(shown.namespace_);
	shown.service_name = unless_usual(shown.service_name);
	shown.scale_kinds = c->setup->lost_kinds ? "KINDS" : shown.scale_kinds;
	put_host(c, out);
	optiontext_put(out, manifests_name_options, &shown, ' ');
	optiontext_put(out, manifests_rights_options, &shown, ' ');
}

static char *by_manifests(const struct facts *c, const char *more)
{
	struct manifests_params shown = c->setup->manifests;
	struct buf out = BUF_INIT(SIZE_MAX);

	buf_printf(&out, "%s manifests", facts_program(c));
	put_options(c, &out);
	shown.host = NULL; /* put already */
	shown.image = strstr(more, "--image ") ? NULL : shown.image;
	optiontext_put(&out, cli_manifests_line.tables[0].options, &shown, ' ');
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
	optiontext_put_one(&out, "namespace", s->release_namespace, ' ');
	buf_puts(&out, " --reuse-values");
	optiontext_put_one(&out, "set", *values ? values : NULL, ' ');
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
	optiontext_put_one(&out, "kubeconfig", s->admin && !facts_object(c, "joined") ? s->admin : "ADMIN", ' ');
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
	setup.manifests.host = host;
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
		return mem_printf("kubectl -n %s rollout restart deployment/kscaled", c->namespace_);
	return mem_dup("sudo systemctl restart kscaled");
}
