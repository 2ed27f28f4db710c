/* SPDX-License-Identifier: Apache-2.0 */

/*
 * How a number is written ("0" to "8": format and type), where it stands (the rest of the first
 * line), and the text of a key: whatever they are, there is a number or an error, and it is a whole
 * one where that is asked for.
 */

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "scalers/cluster/keynumber.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *newline = size > 0 ? memchr(data, '\n', size) : NULL;
	size_t line_len = newline ? (size_t)(newline - data) : size;
	unsigned how = line_len > 0 ? data[0] - '0' : 0;
	MEM_AUTO char *location = line_len > 1 ? mem_dupn((const char *)data + 1, line_len - 1) : NULL;
	enum keynumber_format format = (enum keynumber_format)(how / 3 % 3);
	enum keynumber_type type = (enum keynumber_type)(how % 3);
	struct keynumber k;
	struct err err = { 0 };
	double value = 0;

	if (keynumber_init(&k, format, type, location, &err) ||
		keynumber_read(&k, newline ? (const char *)newline + 1 : "", newline ? size - line_len - 1 : 0, &value,
			&err))
		must(err.kind == ERR_INVALID && err.msg[0] != '\0');
	else
		must(isfinite(value) && (type != KEYNUMBER_INT64 || format == KEYNUMBER_YAML || value == trunc(value)));
	keynumber_done(&k);
	return 0;
}
