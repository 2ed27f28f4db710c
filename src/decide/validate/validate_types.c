/* SPDX-License-Identifier: Apache-2.0 */
/* Which types of triggers there are; what all other files of the room ask. */

#include "base/text.h"
#include "decide/validate/validate.h"

bool validate_is_resource_type(const char *type)
{
	static const char *const resources[] = { "cpu", "memory", NULL };

	return type && text_is_one_of(type, resources);
}
