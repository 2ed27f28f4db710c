/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Functions and predicates: expr-lang's builtin/builtin.go, builtin/validation.go and the builtins
 * of its checker.
 */

#include <string.h>

#include "base/mem.h"
#include "decide/formula/formula_parts.h"

enum takes { TAKES_ARRAY, TAKES_NUMBER, TAKES_MANY, TAKES_PREDICATE, MAY_TAKE_PREDICATE };

static const struct function {
	const char *name;
	enum takes takes;
	int code; /* enum formula_op; enum formula_loop for predicates */
} functions[] = {
	{ "len", TAKES_ARRAY, OP_LEN },
	{ "min", TAKES_MANY, OP_MIN },
	{ "max", TAKES_MANY, OP_MAX },
	{ "abs", TAKES_NUMBER, OP_ABS },
	{ "ceil", TAKES_NUMBER, OP_CEIL },
	{ "floor", TAKES_NUMBER, OP_FLOOR },
	{ "round", TAKES_NUMBER, OP_ROUND },
	{ "int", TAKES_NUMBER, OP_INT },
	{ "float", TAKES_NUMBER, OP_FLOAT },
	{ "sum", MAY_TAKE_PREDICATE, LOOP_SUM },
	{ "mean", TAKES_MANY, OP_MEAN },
	{ "median", TAKES_MANY, OP_MEDIAN },
	{ "count", MAY_TAKE_PREDICATE, LOOP_COUNT },
	{ "any", TAKES_PREDICATE, LOOP_ANY },
	{ "all", TAKES_PREDICATE, LOOP_ALL },
	{ "none", TAKES_PREDICATE, LOOP_NONE },
	{ "one", TAKES_PREDICATE, LOOP_ONE },
	{ "filter", TAKES_PREDICATE, LOOP_FILTER },
	{ "map", TAKES_PREDICATE, LOOP_MAP },
};

static const struct function *function_of(const char *name, size_t len)
{
	for (size_t i = 0; i < MEM_COUNT(functions); i++)
		if (strlen(functions[i].name) == len && memcmp(functions[i].name, name, len) == 0)
			return &functions[i];
	return NULL;
}

bool formula_call_exists(const char *name, size_t len)
{
	return function_of(name, len);
}

/* ---- Functions of values ---- */

/*
 * The type of the result after one more argument: that of the first number; after an array or an
 * open type it is open, and further arguments are not checked.
 */
static int join_many(struct formula_parser *p, struct formula_place place, const struct function *fn,
	struct formula_shape *result, uint32_t before, struct formula_shape argument)
{
	if (before > 0 && result->base == SHAPE_ANY)
		return 0;
	if (argument.arrays > 0 || formula_types_open(argument))
		*result = formula_types_simple(SHAPE_ANY);
	else if (!formula_types_number(argument))
		return formula_wrong(p->err, place, "%s takes numbers and arrays of them, not %s", fn->name,
			formula_types_name(argument));
	else if (before == 0)
		*result = argument;
	return 0;
}

static int call_many(struct formula_parser *p, const struct formula_token *name, const struct function *fn,
	const struct formula_shape *piped, struct formula_shape *out)
{
	uint32_t count = 0;
	struct formula_shape argument;

	if (piped && join_many(p, name->place, fn, out, count++, *piped) < 0)
		return -1;
	for (bool first = true; p->now.kind != TOKEN_RPAREN; first = false) {
		if (!first && formula_parse_expect(p, TOKEN_COMMA) < 0)
			return -1;
		if (!first && p->now.kind == TOKEN_RPAREN)
			break;
		struct formula_place place = p->now.place;
		if (formula_parse_expression(p, &argument) < 0 || join_many(p, place, fn, out, count++, argument) < 0)
			return -1;
	}
	if (count == 0)
		return formula_wrong(p->err, name->place, "%s needs numbers or an array of them, as in %s(a, b)",
			fn->name, fn->name);
	formula_emit(p, name->place, (enum formula_op)fn->code, count, 1 - (int)count);
	return 0;
}

static struct formula_shape result_of(enum formula_op op, struct formula_shape argument)
{
	if (op == OP_LEN || op == OP_INT)
		return formula_types_simple(SHAPE_INT);
	if (op == OP_ABS)
		return formula_types_open(argument) ? formula_types_simple(SHAPE_ANY) : argument;
	return formula_types_simple(SHAPE_FLOAT);
}

static int call_one(struct formula_parser *p, const struct formula_token *name, const struct function *fn,
	const struct formula_shape *piped, struct formula_shape *out)
{
	struct formula_place place = p->now.place;
	struct formula_shape argument = piped ? *piped : formula_types_simple(SHAPE_UNKNOWN);

	if (!piped) {
		if (p->now.kind == TOKEN_RPAREN)
			return formula_wrong(p->err, name->place, "%s needs one argument", fn->name);
		if (formula_parse_expression(p, &argument) < 0)
			return -1;
		if (p->now.kind == TOKEN_COMMA && formula_parse_next(p) < 0)
			return -1;
	}
	if (p->now.kind != TOKEN_RPAREN)
		return formula_wrong(p->err, p->now.place, "%s takes one argument: ) is missing here", fn->name);
	if (fn->takes == TAKES_ARRAY ? argument.arrays == 0 && !formula_types_open(argument)
				     : !formula_types_numeric(argument))
		return formula_wrong(p->err, place, "%s takes %s, not %s", fn->name,
			fn->takes == TAKES_ARRAY ? "an array" : "a number", formula_types_name(argument));
	formula_emit(p, name->place, (enum formula_op)fn->code, 0, 0);
	*out = result_of((enum formula_op)fn->code, argument);
	return 0;
}

/* ---- Predicates ---- */

static struct formula_shape loop_result(enum formula_loop kind, struct formula_shape array,
	struct formula_shape predicate, bool bare)
{
	switch (kind) {
	case LOOP_FILTER: return array.arrays > 0 ? array : formula_types_array_of(formula_types_simple(SHAPE_ANY));
	case LOOP_MAP: return formula_types_array_of(predicate);
	case LOOP_COUNT: return formula_types_simple(SHAPE_INT);
	case LOOP_SUM:
		if (bare || (predicate.arrays == 0 && predicate.base != SHAPE_UNKNOWN))
			return predicate;
		return predicate.arrays > 0 ? formula_types_array_of(formula_types_simple(SHAPE_ANY))
					    : formula_types_simple(SHAPE_ANY);
	default: return formula_types_simple(SHAPE_BOOL);
	}
}

/* {# > 1} or # > 1 */
static int parse_predicate(struct formula_parser *p, struct formula_shape *out)
{
	if (p->now.kind == TOKEN_LBRACE)
		return formula_parse_enclosed(p, TOKEN_RBRACE, out);
	if (formula_parse_expression(p, out) < 0)
		return -1;
	if (p->now.kind == TOKEN_SEMICOLON)
		return formula_wrong(p->err, p->now.place, "put a predicate of several parts in braces: { ... }");
	return 0;
}

static int check_predicate(struct formula_parser *p, struct formula_place place, const struct function *fn,
	struct formula_shape predicate)
{
	bool any_value = fn->code == LOOP_MAP || fn->code == LOOP_SUM;

	if (any_value && predicate.arrays == 0 && predicate.base == SHAPE_NIL)
		return formula_wrong(p->err, place, "the predicate of %s gives nil", fn->name);
	if (!any_value && !formula_types_truth(predicate))
		return formula_wrong(p->err, place, "the predicate of %s must give true or false, not %s", fn->name,
			formula_types_name(predicate));
	return 0;
}

/*
 * The array is on the stack. Without a predicate (bare) the elements themselves are counted or
 * added.
 */
static int parse_loop(struct formula_parser *p, const struct formula_token *name, const struct function *fn,
	struct formula_shape array, bool piped, struct formula_shape *out)
{
	struct formula_shape predicate = formula_types_element(array);
	bool bare = p->now.kind == TOKEN_RPAREN;
	struct formula_place place;

	if (p->loop_count == FORMULA_LOOPS_MAX)
		return formula_wrong(p->err, name->place, "more than %d predicates within one another",
			FORMULA_LOOPS_MAX);
	uint32_t loop = formula_emit(p, name->place, OP_LOOP, 0, -1), body = p->out->code_count;
	if (bare) {
		formula_emit(p, name->place, OP_ITEM, 0, 1);
	} else {
		if (!piped && formula_parse_expect(p, TOKEN_COMMA) < 0)
			return -1;
		place = p->now.place;
		p->items[p->loop_count++] = predicate;
		if (parse_predicate(p, &predicate) < 0 || check_predicate(p, place, fn, predicate) < 0)
			return -1;
		p->loop_count--;
		if (p->now.kind == TOKEN_COMMA && formula_parse_next(p) < 0)
			return -1;
	}
	formula_emit(p, name->place, OP_NEXT, body, -1);
	formula_emit_target(p, loop);
	formula_emit(p, name->place, OP_RESULT, (uint32_t)fn->code, 1);
	*out = loop_result((enum formula_loop)fn->code, array, predicate, bare);
	return 0;
}

/*
 * expr-lang adds the elements of a literal array from the right, without making the array; doing
 * the same keeps the last digit the same.
 */
static void add_written(struct formula_parser *p, const struct formula_token *name, struct formula_shape array,
	struct formula_shape *out)
{
	uint32_t count = (uint32_t)p->out->code[--p->out->code_count].arg;

	p->array_end = 0;
	p->stack += count - 1;
	for (uint32_t i = 1; i < count; i++)
		formula_emit(p, name->place, OP_ADD, 0, -1);
	*out = formula_types_element(array);
}

static int call_predicate(struct formula_parser *p, const struct formula_token *name, const struct function *fn,
	const struct formula_shape *piped, struct formula_shape *out)
{
	struct formula_place place = p->now.place;
	struct formula_shape array;
	uint32_t start = p->out->code_count;

	if (piped)
		array = *piped;
	else if (p->now.kind == TOKEN_RPAREN)
		return formula_wrong(p->err, name->place, "%s needs an array, as in %s([a, b], # > 1)", fn->name,
			fn->name);
	else if (formula_parse_expression(p, &array) < 0)
		return -1;
	if (array.arrays == 0 && !formula_types_open(array))
		return formula_wrong(p->err, place, "%s takes an array, not %s: put it in [ ]", fn->name,
			formula_types_name(array));
	if (p->now.kind == TOKEN_RPAREN && fn->takes == TAKES_PREDICATE)
		return formula_wrong(p->err, name->place, "%s needs a predicate, as in %s([a, b], # > 1)", fn->name,
			fn->name);
	bool written = p->array_end == p->out->code_count && p->array_start == start &&
		p->out->code[p->array_end - 1].arg > 1;
	if (fn->code == LOOP_SUM && p->now.kind == TOKEN_RPAREN && written) {
		add_written(p, name, array, out);
		return 0;
	}
	return parse_loop(p, name, fn, array, piped != NULL, out);
}

int formula_call(struct formula_parser *p, const struct formula_token *name, const struct formula_shape *piped,
	struct formula_shape *out)
{
	const struct function *fn = function_of(name->text, name->len);
	int rc;

	if (!fn)
		return formula_wrong(p->err, name->place, "unknown function %.*s (there are %s)",
			formula_lex_shown(name), name->text,
			"len min max abs ceil floor round int float sum mean median count any all none one filter map");
	if (formula_parse_next(p) < 0)
		return -1;
	if (fn->takes == TAKES_MANY)
		rc = call_many(p, name, fn, piped, out);
	else if (fn->takes == TAKES_PREDICATE || fn->takes == MAY_TAKE_PREDICATE)
		rc = call_predicate(p, name, fn, piped, out);
	else
		rc = call_one(p, name, fn, piped, out);
	return rc < 0 ? -1 : formula_parse_expect(p, TOKEN_RPAREN);
}
