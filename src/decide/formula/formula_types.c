/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The type rules of expr-lang's checker (checker/checker.go, checker/nature/nature.go), for the
 * types that a formula can have here.
 */

#include "decide/formula/formula_parts.h"

static bool same(struct formula_shape a, struct formula_shape b)
{
	return a.arrays == b.arrays && a.base == b.base;
}

static bool is(struct formula_shape s, enum formula_base base)
{
	return s.arrays == 0 && s.base == base;
}

struct formula_shape formula_types_simple(enum formula_base base)
{
	return (struct formula_shape){ 0, (uint8_t)base };
}

bool formula_types_open(struct formula_shape s)
{
	return is(s, SHAPE_UNKNOWN) || is(s, SHAPE_ANY);
}

bool formula_types_number(struct formula_shape s)
{
	return is(s, SHAPE_INT) || is(s, SHAPE_FLOAT);
}

bool formula_types_numeric(struct formula_shape s)
{
	return formula_types_number(s) || formula_types_open(s);
}

bool formula_types_truth(struct formula_shape s)
{
	return is(s, SHAPE_BOOL) || formula_types_open(s);
}

bool formula_types_integer(struct formula_shape s)
{
	return is(s, SHAPE_INT) || formula_types_open(s);
}

struct formula_shape formula_types_element(struct formula_shape array)
{
	if (array.arrays == 0)
		return formula_types_simple(SHAPE_UNKNOWN);
	array.arrays--;
	return array;
}

struct formula_shape formula_types_array_of(struct formula_shape element)
{
	element.arrays++; /* FORMULA_LENGTH_MAX is far below what overflows it */
	return element;
}

/* In expr-lang all arrays are []any; nil is assignable to arrays and to any. */
static bool assignable(struct formula_shape from, struct formula_shape to)
{
	if (is(from, SHAPE_NIL) && (to.arrays > 0 || is(to, SHAPE_ANY)))
		return true;
	if (is(from, SHAPE_NIL) || is(from, SHAPE_UNKNOWN) || is(to, SHAPE_NIL) || is(to, SHAPE_UNKNOWN))
		return false;
	return is(to, SHAPE_ANY) || same(from, to) || (from.arrays > 0 && to.arrays > 0);
}

/* As elements, all arrays are of one kind; nil and unknown have none. */
static unsigned kind_of(struct formula_shape s)
{
	if (s.arrays > 0)
		return 100;
	return s.base == SHAPE_NIL ? SHAPE_UNKNOWN : s.base;
}

struct formula_shape formula_types_join(struct formula_shape elements, struct formula_shape next)
{
	return kind_of(elements) == kind_of(next) ? next : formula_types_simple(SHAPE_ANY);
}

struct formula_shape formula_types_either(struct formula_shape a, struct formula_shape b)
{
	if (is(a, SHAPE_NIL))
		return b;
	if (is(b, SHAPE_NIL))
		return a;
	if (!assignable(a, b))
		return formula_types_simple(SHAPE_UNKNOWN);
	if (a.arrays > 0 && b.arrays > 0) {
		struct formula_shape first = formula_types_element(a), second = formula_types_element(b);
		if (!assignable(first, second) || !assignable(second, first))
			return formula_types_array_of(formula_types_simple(SHAPE_ANY));
	}
	return a;
}

struct formula_shape formula_types_coalesce(struct formula_shape a, struct formula_shape b)
{
	if (is(a, SHAPE_NIL))
		return b;
	if (is(b, SHAPE_NIL) || assignable(b, a))
		return a;
	return formula_types_simple(SHAPE_UNKNOWN);
}

static bool comparable(struct formula_shape a, struct formula_shape b)
{
	return formula_types_open(a) || formula_types_open(b) || is(a, SHAPE_NIL) || is(b, SHAPE_NIL) ||
		(formula_types_number(a) && formula_types_number(b)) || (a.arrays > 0 && b.arrays > 0) ||
		assignable(a, b);
}

static enum formula_base arithmetic(struct formula_shape a, struct formula_shape b)
{
	if (formula_types_open(a) || formula_types_open(b))
		return SHAPE_UNKNOWN;
	return is(a, SHAPE_FLOAT) || is(b, SHAPE_FLOAT) ? SHAPE_FLOAT : SHAPE_INT;
}

static bool membership(struct formula_shape a, struct formula_shape b)
{
	return b.arrays > 0 ? comparable(a, formula_types_element(b)) : formula_types_open(b);
}

bool formula_types_binary(enum formula_op op, struct formula_shape a, struct formula_shape b, struct formula_shape *out)
{
	bool numbers = formula_types_numeric(a) && formula_types_numeric(b),
	     integers = formula_types_integer(a) && formula_types_integer(b);

	*out = formula_types_simple(SHAPE_BOOL);
	switch (op) {
	case OP_ADD:
	case OP_SUBTRACT:
	case OP_MULTIPLY: *out = formula_types_simple(arithmetic(a, b)); return numbers;
	case OP_DIVIDE:
	case OP_POWER: *out = formula_types_simple(SHAPE_FLOAT); return numbers;
	case OP_MODULO: *out = formula_types_simple(SHAPE_INT); return integers;
	case OP_RANGE: *out = formula_types_array_of(formula_types_simple(SHAPE_INT)); return integers;
	case OP_EQUAL:
	case OP_NOT_EQUAL: return comparable(a, b);
	case OP_IN: return membership(a, b);
	default: return numbers; /* < <= > >= */
	}
}

const char *formula_types_name(struct formula_shape s)
{
	static const char *const names[] = {
		[SHAPE_UNKNOWN] = "a value of a type known only later",
		[SHAPE_ANY] = "a value of a type known only later",
		[SHAPE_NIL] = "nil",
		[SHAPE_BOOL] = "true or false",
		[SHAPE_INT] = "an integer",
		[SHAPE_FLOAT] = "a float",
	};

	return s.arrays > 0 ? "an array" : names[s.base];
}
