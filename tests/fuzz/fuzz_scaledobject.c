/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A ScaledObject from its JSON through all that is made of it: status there and back, patches that
 * apply, judgement, the HPA, conditions. Whatever is said of a broken object, it is said by an
 * error; whatever the status was, writing it once is enough.
 */

#include <string.h>

#include "base/mem.h"
#include "crd/scaledobject.h"
#include "decide/conditions.h"
#include "decide/hpaspec.h"
#include "decide/scale.h"
#include "decide/validate/validate.h"
#include "fuzz.h"

#define T 1767323045000

static void status_survives(const struct scaledobject *so)
{
	struct scaledobject_status copy = { 0 };

	scaledobject_status_copy(&copy, &so->status);
	must(scaledobject_status_patch(&so->status, &copy, true) == NULL);
	scaledobject_status_done(&copy);
	free(scaledobject_status_patch(&so->status, &copy, true));
	free(scaledobject_status_patch(&copy, &so->status, false));
}

static void check_decisions(const struct scaledobject *so, struct scaledobject_status *status)
{
	static const struct err down = { .kind = ERR_TEMPORARY, .msg = "down" };
	struct verdict_trigger triggers[2] = { { .metric_name = "s0-x", .reading = { 1, true } },
		{ .metric_name = "s1-y", .err = &down } };
	char text[200];

	for (int32_t replicas = -1; replicas < 4; replicas++)
		for (size_t first = 0; first < 3; first++) {
			struct scale_facts facts = {
				.spec = &so->spec,
				.created_unix_ms = so->meta.created_unix_ms,
				.now_unix_ms = T,
				.triggers = triggers + (first & 1),
				.trigger_count = 2 - first,
				.replicas_known = replicas >= 0,
				.replicas = replicas,
				.last_active_unix_ms = status->last_active_unix_ms,
			};
			struct scale_decision d = scale_decide(&facts);

			must(d.replicas >= 0);
			must(!d.act || d.replicas != replicas);
			must(!d.failing || !d.act || d.replicas > replicas);
			scale_explain(&facts, &d, text, sizeof(text));
			conditions_after_tick(so, &facts, &d, NULL, T, status);
		}
}

static void check_hpa(const struct scaledobject *so)
{
	static const struct metric_spec metrics[] = {
		{ .name = "s0-x", .target_type = METRIC_AVERAGE_VALUE, .target = { 5000, QUANTITY_DECIMAL_SI } }
	};
	struct err err;
	json_t *made = hpaspec_make(so, metrics, 1, "1", &err), *merged;
	struct hpa *live;

	if (made == NULL)
		return;
	live = hpa_decode(made, &err);
	must(live != NULL);
	must(hpaspec_matches(made, live));
	merged = hpaspec_merge(made, made, &err);
	must(merged != NULL);
	json_decref(merged);
	hpa_free(live);
	json_decref(made);
}

static void check_conditions(const struct scaledobject *so)
{
	static const struct metric_spec metrics[] = {
		{ .name = "s0-x", .target_type = METRIC_AVERAGE_VALUE, .target = { 5000, QUANTITY_DECIMAL_SI } },
		{ .name = "s1-y", .target_type = METRIC_VALUE, .target = { 5000, QUANTITY_DECIMAL_SI } }
	};
	struct err err = { 0 };
	struct reconcile_outcome o = { .group = "apps",
		.version = "v1",
		.kind = "Deployment",
		.resource = "deployments",
		.replicas = 1,
		.hpa_name = "h",
		.metrics = metrics,
		.metric_count = 2 };
	struct scaledobject_status wanted = { 0 }, again = { 0 };

	o.err = validate_for_reconcile(scaled_of_object(so), NULL, &err) < 0 ? &err : NULL;
	must(o.err == NULL || (err.kind == ERR_INVALID && err.msg[0] != '\0'));
	scaledobject_status_copy(&wanted, &so->status);
	conditions_after_reconcile(so, &o, T, &wanted);
	scaledobject_status_copy(&again, &wanted);
	conditions_after_reconcile(so, &o, T + 60000, &again);
	must(scaledobject_status_patch(&wanted, &again, true) == NULL);
	check_decisions(so, &wanted);
	scaledobject_status_done(&wanted);
	scaledobject_status_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err;
	json_t *value = json_parse((const char *)data, size, &err);
	struct scaledobject *so;

	if (value == NULL)
		return 0;
	so = scaledobject_decode(value, &err);
	must(so != NULL || (err.kind == ERR_INVALID && err.msg[0] != '\0'));
	json_decref(value);
	if (so == NULL)
		return 0;
	must(so->spec_err == NULL || (so->spec_err->kind != ERR_NONE && so->spec_err->msg[0] != '\0'));
	must(so->spec.trigger_count <= SCALEDOBJECT_TRIGGERS_MAX);
	status_survives(so);
	check_hpa(so);
	check_conditions(so);
	scaledobject_free(so);
	return 0;
}
