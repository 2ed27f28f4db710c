/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A dot path (the first line) into an answer (the rest) that is taken for XML and for YAML: a
 * number or an error.
 */

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "scalers/metricsapi/xmlvalue.h"
#include "scalers/values/yamlpath.h"

static void check(int rc, double value, const struct err *err)
{
	must(rc == 0 ? isfinite(value) : err->kind == ERR_INVALID && err->msg[0] != '\0');
}

/* As it comes: in two pieces. */
static void check_xml(const struct dotpath *path, const char *answer, size_t len)
{
	struct xmlvalue *x = xmlvalue_new(path);
	struct err err = { 0 };
	double value = 0;

	if (len > 1 && xmlvalue_feed(x, answer, len / 2) == 0)
		xmlvalue_feed(x, answer + len / 2, len - len / 2);
	check(xmlvalue_end(x, &value, &err), value, &err);
	xmlvalue_free(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *newline = size > 0 ? memchr(data, '\n', size) : NULL;
	size_t path_len = newline ? (size_t)(newline - data) : size, len = newline ? size - path_len - 1 : 0;
	MEM_AUTO char *text = mem_dupn((const char *)data, path_len);
	const char *answer = newline ? (const char *)newline + 1 : "";
	struct err err = { 0 };
	struct dotpath path;
	double value = 0;

	if (dotpath_read(text, &path, &err)) {
		must(err.kind == ERR_INVALID && err.msg[0] != '\0');
		return 0;
	}
	check(yamlpath_number(&path, answer, len, &value, &err), value, &err);
	if (xmlvalue_check(&path, &err) == 0)
		check_xml(&path, answer, len);
	dotpath_done(&path);
	return 0;
}
