/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/lease.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "crd/shape.h"

static int decode_fields(const struct json_at *root, struct lease *out, struct err *err)
{
	struct json_at metadata = json_field(root, "metadata"), spec = json_field(root, "spec");

	if (shape_object(&metadata, err) < 0 || shape_object(&spec, err) < 0 ||
		json_get_string(&metadata, "resourceVersion", &out->resource_version, err) < 0 ||
		json_get_string(&spec, "holderIdentity", &out->holder, err) < 0 ||
		json_get_int64(&spec, "leaseDurationSeconds", &out->duration_s, err) < 0 ||
		json_get_time(&spec, "acquireTime", &out->acquired_unix_ms, err) < 0 ||
		json_get_time(&spec, "renewTime", &out->renewed_unix_ms, err) < 0 ||
		json_get_int64(&spec, "leaseTransitions", &out->transitions, err) < 0)
		return -1;
	return 0;
}

int lease_decode(const json_t *object, struct lease *out, struct err *err)
{
	struct json_at root = json_root(object);

	memset(out, 0, sizeof(*out));
	if (!json_is_object(object))
		return err_set(err, ERR_INVALID, "not a Kubernetes object");
	out->resource_version = mem_dup("");
	out->holder = mem_dup("");
	if (decode_fields(&root, out, err) == 0)
		return 0;
	lease_done(out);
	return -1;
}

void lease_done(struct lease *l)
{
	free(l->resource_version);
	free(l->holder);
	memset(l, 0, sizeof(*l));
}

static json_t *encode_spec(const struct lease *l)
{
	json_t *spec = json_object();
	char text[TIMESTAMP_TEXT_MAX];

	json_object_set_new(spec, "holderIdentity", json_string(l->holder != NULL ? l->holder : ""));
	if (l->duration_s > 0) /* the API server refuses 0 */
		json_object_set_new(spec, "leaseDurationSeconds", json_integer(l->duration_s));
	if (l->acquired_unix_ms != 0)
		json_object_set_new(spec, "acquireTime",
			json_string(timestamp_format_micro(l->acquired_unix_ms, text)));
	if (l->renewed_unix_ms != 0)
		json_object_set_new(spec, "renewTime", json_string(timestamp_format_micro(l->renewed_unix_ms, text)));
	json_object_set_new(spec, "leaseTransitions", json_integer(l->transitions));
	return spec;
}

char *lease_encode(const char *namespace_, const char *name, const struct lease *l)
{
	json_t *metadata = json_object(), *object;
	char *text;

	json_object_set_new(metadata, "namespace", json_string(namespace_));
	json_object_set_new(metadata, "name", json_string(name));
	if (l->resource_version != NULL && *l->resource_version != '\0')
		json_object_set_new(metadata, "resourceVersion", json_string(l->resource_version));
	object = json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", "coordination.k8s.io/v1", "kind", "Lease", "metadata",
		metadata, "spec", encode_spec(l));
	text = json_text(object);
	json_decref(object);
	return text;
}
