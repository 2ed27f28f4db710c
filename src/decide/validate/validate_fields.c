/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for single fields of any object; all other files of the room use them. */
#include <string.h>

#include "base/text.h"
#include "decide/validate/validate.h"
#include "decide/validate/validate_parts.h"

int validate_decoded(const struct scaled *of, struct err *err)
{
	if (!of->spec_err)
		return 0;
	if (err)
		*err = *of->spec_err;
	return -1;
}

int validate_name(const struct scaled *of, struct err *err)
{
	size_t len = strlen(of->meta->name);

	if (len <= VALIDATE_LABEL_MAX)
		return 0;
	return err_set(err, ERR_INVALID,
		"metadata.name: \"%s\" has %zu characters: at most %d, as it becomes the value of a label: create it "
		"anew under a shorter name",
		of->meta->name, len, VALIDATE_LABEL_MAX);
}

int validate_bounds(const struct validate_bound *bounds, size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++)
		if (bounds[i].value != INT32_UNSET && bounds[i].value < bounds[i].least)
			return err_set(err, ERR_INVALID, "%s: %d is too small: at least %d", bounds[i].field,
				(int)bounds[i].value, (int)bounds[i].least);
	return 0;
}

bool validate_is_resource_type(const char *type)
{
	static const char *const resources[] = { "cpu", "memory", NULL };

	return type && text_is_one_of(type, resources);
}
