/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Formulas: whatever is written, it is compiled or refused with a place, ends in time, and never
 * gives anything but a finite number or an allowed nil.
 */

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "decide/formula/formula.h"
#include "fuzz.h"

static const char *const names[] = { "a", "b", "trig_one", "trig-two" };

static void evaluate(const struct formula *f, const struct formula_value *values, bool may_be_nil)
{
	struct formula_value out, again;
	struct err err;

	if (formula_evaluate(f, values, &out, &err) < 0) {
		must(err.kind == ERR_INVALID && err.msg[0] != '\0');
		return;
	}
	must(out.nil ? may_be_nil : isfinite(out.number));
	must(formula_evaluate(f, values, &again, NULL) == 0);
	must(again.nil == out.nil && (out.nil || again.number == out.number));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct formula_value values[][4] = {
		{ { false, -1 }, { false, -1 }, { false, -1 }, { false, -1 } },
		{ { false, 0 }, { false, 1e300 }, { false, 3.5 }, { false, 7 } },
		{ { true, 0 }, { false, 2 }, { true, 0 }, { false, 1 } },
	};
	MEM_AUTO char *text = mem_dupn((const char *)data, size);
	struct err err;
	struct formula *f = formula_compile(text, names, 4, &err);

	if (f == NULL) {
		must(err.kind == ERR_INVALID && err.msg[0] != '\0');
		return 0;
	}
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		evaluate(f, values[i], strstr(text, "??") != NULL);
	formula_free(f);
	return 0;
}
