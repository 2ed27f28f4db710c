/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Request targets: whatever comes in is split inside its bounds, and what decodes is text that came
 * from it.
 */

#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "net/httpd/httppath.h"

static void decode(const char *text, size_t len, bool plus_is_space)
{
	char *out = mem_alloc(len + 1);

	if (httppath_decode(text, len, plus_is_space, out, len + 1) == 0) {
		size_t got = strlen(out);

		must(got <= len);
		for (size_t at = 0; at < got; at += utf8_step(out + at, got - at))
			must(utf8_step(out + at, got - at) > 0);
		/* It does not fit into less than it needs. */
		must(got == 0 || httppath_decode(text, len, plus_is_space, out, got) < 0);
	} else {
		must(out[0] == '\0');
	}
	mem_free_ptr(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	MEM_AUTO char *target = mem_dupn((const char *)data, size);
	size_t target_len = strlen(target), value_len = 0;
	struct httppath split;
	const char *value;

	httppath_split(target, &split);
	must(split.path_len <= target_len);
	must(split.path_len == 0 || (split.path >= target && split.path + split.path_len <= target + target_len));
	must(!split.query || (split.query >= target && split.query + split.query_len <= target + target_len));
	decode(split.path, split.path_len, false);
	value = httppath_param(split.query, split.query_len, "labelSelector", &value_len);
	if (value) {
		must(value >= split.query && value + value_len <= split.query + split.query_len);
		decode(value, value_len, true);
	}
	return 0;
}
