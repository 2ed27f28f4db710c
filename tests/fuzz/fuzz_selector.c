/* SPDX-License-Identifier: Apache-2.0 */

/* Label selectors: what is read, written as key=value pairs, is read the same again. */

#include "base/buf.h"
#include "base/mem.h"
#include "base/selector.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	MEM_AUTO char *text = mem_dupn((const char *)data, size);
	struct strmap labels = { NULL, 0 }, again = { NULL, 0 };
	struct buf written = BUF_INIT((size_t)1 << 20);
	struct err err;

	if (selector_parse(text, &labels, &err) < 0) {
		must(labels.count == 0 && err.kind == ERR_INVALID);
		return 0;
	}
	for (size_t i = 0; i < labels.count; i++)
		buf_printf(&written, "%s%s=%s", i > 0 ? "," : "", labels.pairs[i].key, labels.pairs[i].value);
	must(selector_parse(buf_text(&written), &again, &err) == 0);
	must(strmap_equal(&labels, &again));
	strmap_done(&labels);
	strmap_done(&again);
	buf_done(&written);
	return 0;
}
