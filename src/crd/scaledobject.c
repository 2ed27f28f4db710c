/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/scaledobject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "crd/optional.h"
#include "crd/scaledobject_parts.h"

#define DEFAULT_POLLING_INTERVAL_S 30
#define DEFAULT_COOLDOWN_S         300
#define DEFAULT_MAX_REPLICAS       100

struct scaledobject *scaledobject_decode(const json_t *object, struct err *err)
{
	struct scaledobject *so = mem_zalloc(sizeof(*so));
	struct json_at root = json_root(object), spec, status;
	struct err spec_err = { 0 };

	if (meta_decode(object, &so->meta, err) < 0) {
		free(so);
		return NULL;
	}
	spec = json_field(&root, "spec");
	status = json_field(&root, "status");
	scaledobject_spec_decode(&spec, &so->spec, &spec_err);
	if (spec_err.kind != ERR_NONE)
		err_keep(&so->spec_err, &spec_err);
	scaledobject_status_decode(&status, &so->status);
	so->spec_digest = json_digest(spec.value);
	so->status_digest = json_digest(status.value);
	return so;
}

void scaledobject_free(struct scaledobject *so)
{
	if (so == NULL)
		return;
	meta_done(&so->meta);
	scaledobject_spec_done(&so->spec);
	scaledobject_status_done(&so->status);
	err_keep(&so->spec_err, NULL);
	free(so);
}

int32_t scaledobject_polling_interval_s(const struct scaledobject_spec *s)
{
	return optional_or(s->polling_interval_s, DEFAULT_POLLING_INTERVAL_S);
}

int32_t scaledobject_cooldown_s(const struct scaledobject_spec *s)
{
	return optional_or(s->cooldown_s, DEFAULT_COOLDOWN_S);
}

int32_t scaledobject_min(const struct scaledobject_spec *s)
{
	return optional_or(s->min_replicas, 0);
}

int32_t scaledobject_hpa_min(const struct scaledobject_spec *s)
{
	int32_t min = scaledobject_min(s);

	return min > 0 ? min : 1;
}

int32_t scaledobject_hpa_max(const struct scaledobject_spec *s)
{
	return optional_or(s->max_replicas, DEFAULT_MAX_REPLICAS);
}

const char *scaledobject_target_kind(const struct scaledobject_spec *s)
{
	return text_is_given(s->target_kind) ? s->target_kind : "Deployment";
}

/* Both become parts of URLs: letters, digits, '-' and, in groups, '.'. */
static bool is_part(const char *text, size_t len, bool group)
{
	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		bool alnum = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

		if (!alnum && c != '-' && !(group && c == '.'))
			return false;
	}
	return len > 0 && text[0] != '.' && text[len - 1] != '.';
}

int scaledobject_target_gv(const struct scaledobject_spec *s, char *group, char *version, size_t size, struct err *err)
{
	const char *text = text_is_given(s->target_api_version) ? s->target_api_version : "apps/v1";
	const char *slash = strchr(text, '/');
	const char *tail = slash != NULL ? slash + 1 : text;
	size_t group_len = slash != NULL ? (size_t)(slash - text) : 0;

	if (group_len >= size || strlen(tail) >= size || (slash != NULL && !is_part(text, group_len, true)) ||
		!is_part(tail, strlen(tail), false))
		return err_set(err, ERR_INVALID,
			"spec.scaleTargetRef.apiVersion: \"%s\" is not a group and version, like apps/v1", text);
	memcpy(group, text, group_len);
	group[group_len] = '\0';
	memcpy(version, tail, strlen(tail) + 1);
	return 0;
}

char *scaledobject_hpa_name(const struct scaledobject *so, char *out, size_t size)
{
	if (text_is_given(so->spec.hpa_name))
		snprintf(out, size, "%s", so->spec.hpa_name);
	else
		snprintf(out, size, "keda-hpa-%s", so->meta.name);
	return out;
}
