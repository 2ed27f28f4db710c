/* SPDX-License-Identifier: Apache-2.0 */
#include "mongotext.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct mongofilter mongotext_make(const char *text)
{
	struct mongofilter made = { 0 };
	struct err err = { 0 };

	if (mongofilter_parse(text, &made, &err))
		fail_msg("%s: %s", text, err.msg);
	return made;
}
