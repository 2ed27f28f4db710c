/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/host/optiontext.h"

#include <string.h>

#include "base/mem.h"
#include "cli/plaintext.h"

void optiontext_put_one(struct buf *out, const char *option, const char *value, char between)
{
	if (!value)
		return;
	buf_printf(out, " --%s%c", option, between);
	plaintext_put_word(out, value);
}

void optiontext_put(struct buf *out, const struct option *options, const void *values, char between)
{
	for (const struct option *o = options; o->name; o++) {
		const void *value = (const char *)values + o->offset;

		if (o->kind == OPTION_COUNT) {
			if (*(const int64_t *)value > 0)
				buf_printf(out, " --%s%c%lld", o->name, between, (long long)*(const int64_t *)value);
		} else if (o->kind != OPTION_SWITCH) {
			optiontext_put_one(out, o->name, *(const char *const *)value, between);
		} else if (*(const bool *)value) {
			buf_printf(out, " --%s", o->name);
		}
	}
}

char *optiontext_find(const char *text, const char *option)
{
	MEM_AUTO char *word = mem_printf(" --%s", option), *line = mem_printf(" %s", text);
	const char *at = strstr(line, word), *value = at ? at + strlen(word) : NULL;
	bool quoted = value && value[0] == '=' && value[1] == '\'';

	if (!value || (*value && *value != '=' && *value != ' '))
		return NULL;
	value += *value == '=';
	value += quoted;
	return mem_dupn(value, strcspn(value, quoted ? "'" : " "));
}
