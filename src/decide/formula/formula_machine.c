/* SPDX-License-Identifier: Apache-2.0 */
/* The limits of a running formula: steps and cells. */
#include "decide/formula/formula_parts.h"

int formula_machine_wrong(struct formula_machine *m, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	formula_vwrong(m->err, (struct formula_place){ m->at->line, m->at->column }, fmt, ap);
	va_end(ap);
	return -1;
}

int formula_machine_spend(struct formula_machine *m, uint64_t steps)
{
	if (steps >= m->steps)
		return formula_machine_wrong(m, "more than %d steps", FORMULA_STEPS_MAX);
	m->steps -= (uint32_t)steps;
	return 0;
}

int formula_machine_take(struct formula_machine *m, uint64_t count, uint32_t *first)
{
	*first = m->used;
	if (count > FORMULA_CELLS_MAX - m->used)
		return formula_machine_wrong(m, "too many elements: a formula can hold about %d", FORMULA_CELLS_MAX);
	m->used += (uint32_t)count;
	return 0;
}

struct formula_cell formula_machine_element(const struct formula_machine *m, const struct formula_cell *array,
	uint32_t index)
{
	if (array->tag == TAG_ARRAY)
		return m->cells[array->is.first + index];
	return (struct formula_cell){ TAG_INT, 0, { .integer = array->is.integer + index } };
}
