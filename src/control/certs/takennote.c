/* SPDX-License-Identifier: Apache-2.0 */
#include "control/certs/takennote.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"

static const char *const kept[] = { "service", "caBundle", "insecureSkipTLSVerify" };

/* These members of a spec; null for missing ones, as in a merge patch. */
static json_t *kept_of(const json_t *spec)
{
	json_t *out = json_object();

	for (size_t i = 0; i < MEM_COUNT(kept); i++) {
		json_t *value = json_object_get(spec, kept[i]);

		json_object_set_new(out, kept[i], value ? json_deep_copy(value) : json_null());
	}
	return out;
}

char *takennote_make(const json_t *apiservice)
{
	json_t *note = kept_of(json_object_get(apiservice, "spec"));
	char *text = json_text(note);

	json_decref(note);
	return text;
}

/* The note's content; NULL: there is none, or it names no Service. The caller owns it. */
static json_t *note_of(const json_t *apiservice)
{
	const char *text = json_str_or_empty(json_metadata(apiservice, "annotations"), TAKENNOTE);
	json_t *note = *text ? json_parse_foreign(text, strlen(text), NULL) : NULL;

	if (*json_str_or_empty(json_object_get(note, "service"), "name"))
		return note;
	json_decref(note);
	return NULL;
}

char *takennote_service(const json_t *apiservice)
{
	json_t *note = note_of(apiservice);
	const json_t *service = json_object_get(note, "service");
	char *text = note
		? mem_printf("%s/%s", json_str_or_empty(service, "namespace"), json_str_or_empty(service, "name"))
		: NULL;

	json_decref(note);
	return text;
}

json_t *takennote_undo(const json_t *apiservice)
{
	json_t *note = note_of(apiservice), *patch;

	if (!note)
		return NULL;
	patch = json_pack("{s:{s:s, s:{s:n}}, s:o}", "metadata", "resourceVersion",
		json_metadata_text(apiservice, "resourceVersion"), "annotations", TAKENNOTE, "spec", kept_of(note));
	json_decref(note);
	return patch;
}
