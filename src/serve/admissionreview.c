/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/admissionreview.h"

#include <string.h>

#include "base/json.h"

#define API_VERSION "admission.k8s.io/v1"
#define KIND        "AdmissionReview"
#define GROUP       "keda.sh"

/* NULL if absent or null. */
static const json_t *object_at(const json_t *request, const char *key)
{
	const json_t *value = json_object_get(request, key);

	return json_is_object(value) ? value : NULL;
}

static int check_envelope(const json_t *document, struct err *err)
{
	const char *api_version = json_str_or_empty(document, "apiVersion"),
		   *kind = json_str_or_empty(document, "kind");

	if (strcmp(api_version, API_VERSION) != 0 || strcmp(kind, KIND) != 0)
		return err_set(err, ERR_INVALID,
			"the body is a \"%.80s\" of \"%.80s\", not an " KIND " of " API_VERSION, kind, api_version);
	if (!object_at(document, "request"))
		return err_set(err, ERR_INVALID, "request: missing");
	return 0;
}

static int check_request(const json_t *request, struct err *err)
{
	const char *uid = json_str_or_empty(request, "uid");
	const json_t *of = object_at(request, "kind");

	if (!*uid || strlen(uid) > ADMISSIONREVIEW_UID_MAX)
		return err_set(err, ERR_INVALID, "request.uid: must have 1 to %d characters", ADMISSIONREVIEW_UID_MAX);
	if (!json_str_is(of, "group", GROUP))
		return err_set(err, ERR_INVALID,
			"request.kind: %.80s of group \"%.80s\" is not validated here, but kinds of " GROUP,
			json_str_or_empty(of, "kind"), json_str_or_empty(of, "group"));
	return 0;
}

static int check_objects(const struct admissionreview *r, struct err *err)
{
	bool created = strcmp(r->operation, "CREATE") == 0, updated = strcmp(r->operation, "UPDATE") == 0;

	if ((created || updated) && !r->object)
		return err_set(err, ERR_INVALID, "request.object: missing");
	if (updated && !r->old_object)
		return err_set(err, ERR_INVALID, "request.oldObject: missing");
	return *r->operation ? 0 : err_set(err, ERR_INVALID, "request.operation: missing");
}

int admissionreview_read(const char *body, size_t len, struct admissionreview *out, struct err *err)
{
	const json_t *request;

	memset(out, 0, sizeof(*out));
	out->document = json_parse_foreign(body, len, err);
	if (!out->document)
		return err_wrap(err, "the body");
	request = json_object_get(out->document, "request");
	out->uid = json_str_or_empty(request, "uid");
	out->kind = json_str_or_empty(object_at(request, "kind"), "kind");
	out->operation = json_str_or_empty(request, "operation");
	out->namespace_ = json_str_or_empty(request, "namespace");
	out->object = object_at(request, "object");
	out->old_object = object_at(request, "oldObject");
	out->dry_run = json_is_true(json_object_get(request, "dryRun"));
	if (check_envelope(out->document, err) == 0 && check_request(request, err) == 0 && check_objects(out, err) == 0)
		return 0;
	admissionreview_done(out);
	return -1;
}

void admissionreview_done(struct admissionreview *r)
{
	json_decref(r->document);
	memset(r, 0, sizeof(*r));
}

void admissionreview_write(struct buf *out, const char *uid, const struct admit_verdict *verdict)
{
	buf_puts(out, "{\"apiVersion\":\"" API_VERSION "\",\"kind\":\"" KIND "\",\"response\":{\"uid\":");
	buf_put_json(out, uid);
	buf_printf(out, ",\"allowed\":%s", verdict->allowed ? "true" : "false");
	if (!verdict->allowed) {
		buf_puts(out, ",\"status\":{\"metadata\":{},\"status\":\"Failure\",\"message\":");
		buf_put_json(out, verdict->message);
		buf_puts(out, ",\"reason\":\"Forbidden\",\"code\":403}");
	}
	for (size_t i = 0; i < verdict->warning_count; i++) {
		buf_puts(out, i == 0 ? ",\"warnings\":[" : ",");
		buf_put_json(out, verdict->warnings[i]);
	}
	buf_puts(out, verdict->warning_count > 0 ? "]}}\n" : "}}\n");
}
