/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/formula/formula.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "decide/formula/formula_parts.h"

/*
 * KEDA puts float() around the formula, and leaves nil as it is when the text contains ??
 * (castToFloatIfNecessary).
 */
static int to_number(const struct formula *f, const struct formula_cell *value, struct formula_value *out,
	struct err *err)
{
	*out = (struct formula_value){ .nil = value->tag == TAG_NIL && f->may_be_nil, .number = 0 };
	if (value->tag == TAG_INT)
		out->number = (double)value->is.integer;
	else if (value->tag == TAG_FLOAT)
		out->number = value->is.real;
	else if (!out->nil)
		return err_set(err, ERR_INVALID, "the result is %s: it must be a number%s", formula_values_name(value),
			value->tag == TAG_NIL
				? " (write a ?? b to say what takes the place of a trigger that has no value)"
				: "");
	return 0;
}

/*
 * A formula that fails with -1 for each trigger is refused, as in KEDA
 * (validateScalingModifiersFormula); a division by zero does not fail there.
 */
static int try(const struct formula *f, struct err *err)
{
	struct formula_value *values = mem_array(f->variable_count + 1, sizeof(*values)), result;
	struct formula_cell value;

	for (uint32_t i = 0; i < f->variable_count; i++)
		values[i].number = -1;
	int rc = formula_run(f, values, true, &value, err) < 0 || to_number(f, &value, &result, err) < 0 ? -1 : 0;
	free(values);
	return rc < 0 ? err_wrap(err, "tried with -1 for each trigger") : 0;
}

static int compare_places(const void *a, const void *b)
{
	const char *const *x = *(const char *const *const *)a, *const *y = *(const char *const *const *)b;
	int order = strcmp(*x, *y);

	return order != 0 ? order : (x > y) - (x < y);
}

/* A formula of 16 KiB may refer thousands of times to one of a thousand variables. */
static void sort_variables(struct formula_parser *p)
{
	p->by_name = mem_array(p->variable_count + 1, sizeof(*p->by_name));
	for (size_t i = 0; i < p->variable_count; i++)
		p->by_name[i] = &p->variables[i];
	qsort(p->by_name, p->variable_count, sizeof(*p->by_name), compare_places);
}

static int compile(struct formula *f, const char *text, const char *const *variables, size_t count, struct err *err)
{
	struct formula_parser *p = mem_zalloc(sizeof(*p)); /* some KiB */

	p->variables = variables;
	p->variable_count = count;
	p->out = f;
	p->err = err;
	sort_variables(p);
	int rc = formula_parse(p, text);
	free(p->by_name);
	free(p);
	if (rc == 0 && f->stack_size + f->local_count > FORMULA_CELLS_MAX / 2)
		rc = err_set(err, ERR_INVALID, "the formula has more than %d values at a time", FORMULA_CELLS_MAX / 2);
	return rc < 0 ? -1 : try(f, err);
}

struct formula *formula_compile(const char *text, const char *const *variables, size_t count, struct err *err)
{
	struct formula *f;

	if (strlen(text) > FORMULA_LENGTH_MAX) {
		err_set(err, ERR_INVALID, "the formula is longer than %d bytes", FORMULA_LENGTH_MAX);
		return NULL;
	}
	if (count > FORMULA_VARIABLES_MAX) {
		err_set(err, ERR_INVALID, "more than %d triggers with a name: a formula cannot have so many",
			FORMULA_VARIABLES_MAX);
		return NULL;
	}
	f = mem_zalloc(sizeof(*f));
	f->variable_count = (uint32_t)count;
	f->may_be_nil = strstr(text, "??");
	if (compile(f, text, variables, count, err) < 0) {
		formula_free(f);
		return NULL;
	}
	f->code = mem_resize(f->code, f->code_count, sizeof(*f->code));
	if (f->constant_count > 0)
		f->constants = mem_resize(f->constants, f->constant_count, sizeof(*f->constants));
	return f;
}

void formula_free(struct formula *f)
{
	if (!f)
		return;
	free(f->code);
	free(f->constants);
	free(f);
}

int formula_evaluate(const struct formula *f, const struct formula_value *values, struct formula_value *out,
	struct err *err)
{
	struct formula_cell value;

	if (formula_run(f, values, false, &value, err) < 0 || to_number(f, &value, out, err) < 0)
		return -1;
	if (!isfinite(out->number))
		return err_set(err, ERR_INVALID, "the result is %s, as of a division by zero: it must be a number",
			isnan(out->number) ? "not a number" : "infinite");
	return 0;
}
