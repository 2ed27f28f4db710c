/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/manifestobjects.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/fields.h"

struct documents *manifestobjects_make(const struct manifests_params *params, struct err *err)
{
	struct documents *objects = documents_new();
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int failed = out ? manifests_print(params, out, err) : err_set(err, ERR_TEMPORARY, "no memory");

	if (out)
		fclose(out);
	if (failed || documents_read(objects, "manifests", text, len, err) < 0) {
		documents_free(objects);
		objects = NULL;
	}
	free(text);
	return objects;
}

/*
 * "networkpolicies" of "NetworkPolicy", "ingresses" of "Ingress"; "endpoints" is a plural already.
 */
static char *plural_of(const char *kind)
{
	size_t len = strlen(kind);
	char *plural = mem_alloc(len + 4);

	for (size_t i = 0; i <= len; i++)
		plural[i] = (char)tolower((unsigned char)kind[i]);
	if (strcmp(plural, "endpoints") == 0)
		return plural;
	if (len > 1 && plural[len - 1] == 'y')
		strcpy(plural + len - 1, "ies");
	else
		strcpy(plural + len, len > 0 && plural[len - 1] == 's' ? "es" : "s");
	return plural;
}

char *manifestobjects_path(const json_t *object)
{
	const char *version = json_str_or_empty(object, "apiVersion"), *namespace_ = fields_namespace(object);
	MEM_AUTO char *plural = plural_of(json_str_or_empty(object, "kind"));

	return mem_printf("/%s/%s%s%s/%s/%s", strchr(version, '/') ? "apis" : "api", version,
		*namespace_ ? "/namespaces/" : "", namespace_, plural, fields_name(object));
}

char *manifestobjects_title(const json_t *object)
{
	const char *namespace_ = fields_namespace(object);

	return mem_printf("%s %s%s%s", json_str_or_empty(object, "kind"), namespace_, *namespace_ ? "/" : "",
		fields_name(object));
}
