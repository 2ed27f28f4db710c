/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Operators and functions on values, as in expr-lang's vm/runtime and builtin/lib.go. Integers have
 * 64 bits and wrap, as in Go; what panics in Go is an error.
 */

#include <math.h>
#include <string.h>

#include "decide/formula/formula_parts.h"

#define WHOLE_MAX 9.2e18 /* below the maximum of 64 bits */

static const char *const signs[] = {
	[OP_NOT] = "not",
	[OP_NEGATE] = "-",
	[OP_ADD] = "+",
	[OP_SUBTRACT] = "-",
	[OP_MULTIPLY] = "*",
	[OP_DIVIDE] = "/",
	[OP_MODULO] = "%",
	[OP_POWER] = "**",
	[OP_LESS] = "<",
	[OP_LESS_EQUAL] = "<=",
	[OP_MORE] = ">",
	[OP_MORE_EQUAL] = ">=",
	[OP_EQUAL] = "==",
	[OP_NOT_EQUAL] = "!=",
	[OP_IN] = "in",
	[OP_RANGE] = "..",
	[OP_LEN] = "len",
	[OP_ABS] = "abs",
	[OP_CEIL] = "ceil",
	[OP_FLOOR] = "floor",
	[OP_ROUND] = "round",
	[OP_INT] = "int",
	[OP_FLOAT] = "float",
	[OP_MIN] = "min",
	[OP_MAX] = "max",
	[OP_MEAN] = "mean",
	[OP_MEDIAN] = "median",
};

const char *formula_values_name(const struct formula_cell *value)
{
	static const char *const names[] = { [TAG_NIL] = "nil",
		[TAG_BOOL] = "true or false",
		[TAG_INT] = "an integer",
		[TAG_FLOAT] = "a float",
		[TAG_ARRAY] = "an array",
		[TAG_RANGE] = "an array" };

	return names[value->tag];
}

static bool is_number(const struct formula_cell *v)
{
	return v->tag == TAG_INT || v->tag == TAG_FLOAT;
}

static bool is_array(const struct formula_cell *v)
{
	return v->tag == TAG_ARRAY || v->tag == TAG_RANGE;
}

static double real(const struct formula_cell *v)
{
	return v->tag == TAG_INT ? (double)v->is.integer : v->is.real;
}

static void set_real(struct formula_cell *v, double number)
{
	v->tag = TAG_FLOAT;
	v->is.real = number;
}

static void set_integer(struct formula_cell *v, uint64_t number)
{
	v->tag = TAG_INT;
	v->is.integer = (int64_t)number;
}

static int set_truth(struct formula_cell *v, bool truth)
{
	v->tag = TAG_BOOL;
	v->is.truth = truth;
	return 0;
}

int formula_values_whole(struct formula_machine *m, const struct formula_cell *value, int64_t *out)
{
	if (value->tag == TAG_INT) {
		*out = value->is.integer;
		return 0;
	}
	if (value->tag != TAG_FLOAT)
		return formula_machine_wrong(m, "an integer is needed here, not %s", formula_values_name(value));
	bool fits = fabs(value->is.real) < WHOLE_MAX; /* not so for NaN */
	*out = fits ? (int64_t)value->is.real : INT64_MIN;
	if (fits || m->trial)
		return 0;
	if (isnan(value->is.real))
		return formula_machine_wrong(m, "0 divided by 0 is not an integer");
	/* In Go the result depends on the machine; most often it is INT64_MIN. */
	return formula_machine_wrong(m, "%g does not fit an integer", value->is.real);
}

/* ---- One operand ---- */

static int unary_number(struct formula_machine *m, enum formula_op op, struct formula_cell *a)
{
	int64_t whole;

	if (!is_number(a))
		return formula_machine_wrong(m, "%s takes a number, not %s", signs[op], formula_values_name(a));
	if (op == OP_ABS && !(real(a) < 0))
		return 0;
	switch (op) {
	case OP_ABS:
	case OP_NEGATE:
		a->tag == TAG_INT ? set_integer(a, 0 - (uint64_t)a->is.integer) : set_real(a, -a->is.real);
		break;
	case OP_CEIL: set_real(a, ceil(real(a))); break;
	case OP_FLOOR: set_real(a, floor(real(a))); break;
	case OP_ROUND: set_real(a, round(real(a))); break;
	case OP_FLOAT: set_real(a, real(a)); break;
	default: /* OP_INT */
		if (formula_values_whole(m, a, &whole) < 0)
			return -1;
		set_integer(a, (uint64_t)whole);
		break;
	}
	return 0;
}

int formula_values_unary(struct formula_machine *m, enum formula_op op, struct formula_cell *a)
{
	if (op == OP_NOT) {
		if (a->tag != TAG_BOOL)
			return formula_machine_wrong(m, "not takes true or false, not %s", formula_values_name(a));
		return set_truth(a, !a->is.truth);
	}
	if (op == OP_LEN) {
		if (!is_array(a))
			return formula_machine_wrong(m, "len takes an array, not %s", formula_values_name(a));
		set_integer(a, a->len);
		return 0;
	}
	return unary_number(m, op, a);
}

/* ---- Two operands ---- */

static int divide(struct formula_machine *m, struct formula_cell *a, const struct formula_cell *b)
{
	if (b->is.integer == 0)
		return formula_machine_wrong(m, "%% by zero");
	/* the least integer % -1 traps in C */
	set_integer(a, b->is.integer == -1 ? 0 : (uint64_t)(a->is.integer % b->is.integer));
	return 0;
}

/* With NaN a number is neither less, equal nor greater. */
static int compare(enum formula_op op, struct formula_cell *out, bool less, bool equal, bool more)
{
	if (op == OP_LESS || op == OP_LESS_EQUAL)
		return set_truth(out, less || (equal && op == OP_LESS_EQUAL));
	return set_truth(out, more || (equal && op == OP_MORE_EQUAL));
}

static int integers(struct formula_machine *m, enum formula_op op, struct formula_cell *a, const struct formula_cell *b)
{
	uint64_t x = (uint64_t)a->is.integer, y = (uint64_t)b->is.integer;

	switch (op) {
	case OP_ADD: set_integer(a, x + y); return 0;
	case OP_SUBTRACT: set_integer(a, x - y); return 0;
	case OP_MULTIPLY: set_integer(a, x * y); return 0;
	case OP_MODULO: return divide(m, a, b);
	default: return compare(op, a, (a->is.integer < b->is.integer), x == y, (a->is.integer > b->is.integer));
	}
}

static int reals(struct formula_machine *m, enum formula_op op, struct formula_cell *a, double x, double y)
{
	switch (op) {
	case OP_ADD: set_real(a, x + y); return 0;
	case OP_SUBTRACT: set_real(a, x - y); return 0;
	case OP_MULTIPLY: set_real(a, x * y); return 0;
	case OP_DIVIDE: set_real(a, x / y); return 0;
	case OP_POWER: set_real(a, pow(x, y)); return 0;
	case OP_MODULO: return formula_machine_wrong(m, "%% takes integers, not a float: write int(...)");
	default: return compare(op, a, (x < y), x == y, (x > y));
	}
}

/* -1: too many steps; 0 or 1: whether they are equal. */
static int equal(struct formula_machine *m, const struct formula_cell *a, const struct formula_cell *b)
{
	if (a->tag == TAG_INT && b->tag == TAG_INT)
		return a->is.integer == b->is.integer;
	if (is_number(a) && is_number(b))
		return real(a) == real(b);
	if (a->tag == TAG_BOOL && b->tag == TAG_BOOL)
		return a->is.truth == b->is.truth;
	if (!is_array(a) || !is_array(b))
		return a->tag == TAG_NIL && b->tag == TAG_NIL;
	if (a->len != b->len)
		return 0;
	for (uint32_t i = 0; i < a->len; i++) {
		struct formula_cell x = formula_machine_element(m, a, i), y = formula_machine_element(m, b, i);
		int rc = formula_machine_spend(m, 1) < 0 ? -1 : equal(m, &x, &y);
		if (rc != 1)
			return rc;
	}
	return 1;
}

static int member(struct formula_machine *m, struct formula_cell *a, const struct formula_cell *array)
{
	int found = 0;

	if (array->tag == TAG_NIL)
		return set_truth(a, false);
	if (!is_array(array))
		return formula_machine_wrong(m, "in takes an array, not %s", formula_values_name(array));
	for (uint32_t i = 0; i < array->len && found == 0; i++) {
		struct formula_cell element = formula_machine_element(m, array, i);
		found = formula_machine_spend(m, 1) < 0 ? -1 : equal(m, &element, a);
	}
	return found < 0 ? -1 : set_truth(a, found == 1);
}

static int range(struct formula_machine *m, struct formula_cell *a, const struct formula_cell *b)
{
	int64_t from, to;

	if (formula_values_whole(m, a, &from) < 0 || formula_values_whole(m, b, &to) < 0)
		return -1;
	uint64_t len = from <= to ? (uint64_t)to - (uint64_t)from + 1 : 0;
	if (len >= FORMULA_RANGE_MAX || (len == 0 && from <= to))
		return formula_machine_wrong(m, "%lld..%lld is longer than %d", (long long)from, (long long)to,
			FORMULA_RANGE_MAX);
	*a = (struct formula_cell){ TAG_RANGE, (uint32_t)len, { .integer = from } };
	return 0;
}

int formula_values_binary(struct formula_machine *m, enum formula_op op, struct formula_cell *a,
	const struct formula_cell *b)
{
	if (op == OP_EQUAL || op == OP_NOT_EQUAL) {
		int same = equal(m, a, b);
		return same < 0 ? -1 : set_truth(a, (same == 1) == (op == OP_EQUAL));
	}
	if (op == OP_IN)
		return member(m, a, b);
	if (op == OP_RANGE)
		return range(m, a, b);
	if (!is_number(a) || !is_number(b))
		return formula_machine_wrong(m, "%s takes numbers, not %s and %s", signs[op], formula_values_name(a),
			formula_values_name(b));
	if (a->tag == TAG_INT && b->tag == TAG_INT && op != OP_DIVIDE && op != OP_POWER)
		return integers(m, op, a, b);
	return reals(m, op, a, real(a), real(b));
}

/* ---- Any number of operands, and arrays of them ---- */

struct fold {
	enum formula_op op;
	struct formula_cell best; /* min, max: TAG_NIL before the first */
	double total;
	uint32_t count;
	uint32_t sorted; /* median: where the numbers are kept */
};

static int take_number(struct formula_machine *m, struct fold *fold, const struct formula_cell *v)
{
	struct formula_cell better;
	uint32_t ignored;

	fold->count++;
	fold->total += real(v);
	if (fold->op == OP_MEDIAN) {
		if (formula_machine_take(m, 1, &ignored) < 0)
			return -1;
		set_real(&m->cells[fold->sorted + fold->count - 1], real(v));
	}
	if (fold->op != OP_MIN && fold->op != OP_MAX)
		return 0;
	better = fold->best;
	if (better.tag != TAG_NIL)
		formula_values_binary(m, fold->op == OP_MAX ? OP_LESS : OP_MORE, &better, v);
	if (better.tag == TAG_NIL || better.is.truth)
		fold->best = *v;
	return 0;
}

static int fold_value(struct formula_machine *m, struct fold *fold, const struct formula_cell *v)
{
	if (formula_machine_spend(m, 1) < 0)
		return -1;
	if (is_number(v))
		return take_number(m, fold, v);
	if (!is_array(v))
		return formula_machine_wrong(m, "%s takes numbers and arrays of them, not %s", signs[fold->op],
			formula_values_name(v));
	for (uint32_t i = 0; i < v->len; i++) {
		struct formula_cell element = formula_machine_element(m, v, i);
		if (fold_value(m, fold, &element) < 0)
			return -1;
	}
	return 0;
}

/* Go puts NaN first. */
static bool before(const struct formula_cell *a, const struct formula_cell *b)
{
	return a->is.real < b->is.real || (isnan(a->is.real) && !isnan(b->is.real));
}

static void sift(struct formula_cell *heap, uint32_t at, uint32_t count)
{
	for (;;) {
		uint32_t child = 2 * at + 1;
		if (child >= count)
			return;
		if (child + 1 < count && before(&heap[child], &heap[child + 1]))
			child++;
		if (!before(&heap[at], &heap[child]))
			return;
		struct formula_cell moved = heap[at];
		heap[at] = heap[child];
		heap[child] = moved;
		at = child;
	}
}

/* By heap: qsort may allocate. */
static double median_of(struct formula_cell *v, uint32_t count)
{
	for (uint32_t i = count / 2; i > 0; i--)
		sift(v, i - 1, count);
	for (uint32_t end = count; end > 1; end--) {
		struct formula_cell last = v[end - 1];
		v[end - 1] = v[0];
		v[0] = last;
		sift(v, 0, end - 1);
	}
	return count % 2 == 1 ? v[count / 2].is.real : (v[count / 2 - 1].is.real + v[count / 2].is.real) / 2;
}

int formula_values_many(struct formula_machine *m, enum formula_op op, struct formula_cell *a, uint32_t count)
{
	struct fold fold = { .op = op, .best = { TAG_NIL, 0, { .integer = 0 } }, .sorted = m->used };

	/* max(nil) is nil, so that max(a) ?? 5 works for a trigger without a value. */
	if (count == 1 && !is_number(a) && !is_array(a) && (op == OP_MIN || op == OP_MAX))
		return 0;
	for (uint32_t i = 0; i < count; i++)
		if (fold_value(m, &fold, &a[i]) < 0)
			return -1;
	if (op == OP_MIN || op == OP_MAX)
		*a = fold.best;
	else if (fold.count == 0)
		set_real(a, 0);
	else
		set_real(a, op == OP_MEAN ? fold.total / fold.count : median_of(&m->cells[fold.sorted], fold.count));
	m->used = fold.sorted;
	return 0;
}
