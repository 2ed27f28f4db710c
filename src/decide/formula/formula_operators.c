/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Binary operators by precedence climbing, as in expr-lang's parser/parser.go, which allows no
 * other operator beside ??.
 */

#include "decide/formula/formula_parts.h"

/* parser/operator/operator.go */
static const struct operator
{
	int precedence;
	enum formula_op op;
	const char *sign;
}
operators[] = {
	[TOKEN_PIPE] = { 1, OP_POP, "|" }, /* 0 there; each precedence is one more here, so that 0 means none */
	[TOKEN_OR] = { 11, OP_JUMP_IF_TRUE, "or" },
	[TOKEN_AND] = { 16, OP_JUMP_IF_FALSE, "and" },
	[TOKEN_EQ] = { 21, OP_EQUAL, "==" },
	[TOKEN_NE] = { 21, OP_NOT_EQUAL, "!=" },
	[TOKEN_LT] = { 21, OP_LESS, "<" },
	[TOKEN_LE] = { 21, OP_LESS_EQUAL, "<=" },
	[TOKEN_GT] = { 21, OP_MORE, ">" },
	[TOKEN_GE] = { 21, OP_MORE_EQUAL, ">=" },
	[TOKEN_IN] = { 21, OP_IN, "in" },
	[TOKEN_RANGE] = { 26, OP_RANGE, ".." },
	[TOKEN_PLUS] = { 31, OP_ADD, "+" },
	[TOKEN_MINUS] = { 31, OP_SUBTRACT, "-" },
	[TOKEN_STAR] = { 61, OP_MULTIPLY, "*" },
	[TOKEN_SLASH] = { 61, OP_DIVIDE, "/" },
	[TOKEN_PERCENT] = { 61, OP_MODULO, "%" },
	[TOKEN_POWER] = { 101, OP_POWER, "**" },
	[TOKEN_COALESCE] = { 501, OP_JUMP_IF_VALUE, "??" },
	[TOKEN_RBRACE] = { 0, OP_POP, "" }, /* the last kind: the table has a row for each */
};

static int mismatched(struct formula_parser *p, struct formula_place place, const struct operator* o,
	struct formula_shape a, struct formula_shape b)
{
	bool whole = (o->op == OP_MODULO || o->op == OP_RANGE) && formula_types_numeric(a) && formula_types_numeric(b);

	return formula_wrong(p->err, place, "%s does not fit %s and %s%s", o->sign, formula_types_name(a),
		formula_types_name(b), whole ? ": it takes integers, so write int(...)" : "");
}

/* and or ?? */
static int parse_lazy(struct formula_parser *p, struct formula_place place, const struct operator* o,
	struct formula_shape *left)
{
	uint32_t jump = formula_emit(p, place, o->op, 0, 0);
	struct formula_shape right;

	formula_emit(p, place, OP_POP, 0, -1);
	if (formula_parse_at(p, o->precedence + 1, &right) < 0)
		return -1;
	formula_emit_target(p, jump);
	if (o->op == OP_JUMP_IF_VALUE) {
		*left = formula_types_coalesce(*left, right);
		return 0;
	}
	if (!formula_types_truth(*left) || !formula_types_truth(right))
		return mismatched(p, place, o, *left, right);
	*left = formula_types_simple(SHAPE_BOOL);
	return 0;
}

static const struct operator* comparison(enum formula_token_kind kind)
{
	return kind >= TOKEN_LT && kind <= TOKEN_GE ? &operators[kind] : NULL;
}

/*
 * a < b < c is a < b and b < c, with b evaluated once; the jumps that wait for the end are chained
 * through their args.
 */
static int parse_comparisons(struct formula_parser *p, struct formula_place place, const struct operator* o,
	struct formula_shape *left)
{
	uint32_t waiting = UINT32_MAX, slot = UINT32_MAX, locals = p->locals;
	struct formula_shape right, truth;

	for (;;) {
		if (formula_parse_at(p, o->precedence + 1, &right) < 0)
			return -1;
		if (!formula_types_binary(o->op, *left, right, &truth))
			return mismatched(p, place, o, *left, right);
		const struct operator* next = comparison(p->now.kind);
		if (next && slot == UINT32_MAX && formula_emit_local(p, place, &slot) < 0)
			return -1;
		if (next)
			formula_emit(p, place, OP_KEEP, slot, 0);
		formula_emit(p, place, o->op, 0, -1);
		if (!next)
			break;
		waiting = formula_emit(p, place, OP_JUMP_IF_FALSE, waiting, 0);
		formula_emit(p, place, OP_POP, 0, -1);
		formula_emit(p, place, OP_LOCAL, slot, 1);
		*left = right;
		o = next;
		place = p->now.place;
		if (formula_parse_next(p) < 0)
			return -1;
	}
	while (waiting != UINT32_MAX) {
		uint32_t jump = waiting;
		waiting = (uint32_t)p->out->code[jump].arg;
		formula_emit_target(p, jump);
	}
	p->locals = locals;
	*left = truth;
	return 0;
}

/* Whether the right operand is a literal 0, with which % always fails. */
static bool is_zero(const struct formula *f, uint32_t start)
{
	if (f->code_count != start + 1 || f->code[start].op != OP_PUSH)
		return false;
	const struct formula_cell *value = &f->constants[f->code[start].arg];
	return value->tag == TAG_INT && value->is.integer == 0;
}

static int parse_binary(struct formula_parser *p, const struct formula_token *sign, bool negated,
	struct formula_shape *left)
{
	const struct operator* o = & operators[sign->kind];
	struct formula_shape right, given = *left;
	uint32_t start = p->out->code_count;

	if (o->op == OP_JUMP_IF_TRUE || o->op == OP_JUMP_IF_FALSE || o->op == OP_JUMP_IF_VALUE)
		return parse_lazy(p, sign->place, o, left);
	if (comparison(sign->kind))
		return parse_comparisons(p, sign->place, o, left);
	if (formula_parse_at(p, o->op == OP_POWER ? o->precedence : o->precedence + 1, &right) < 0)
		return -1;
	if (!formula_types_binary(o->op, given, right, left))
		return mismatched(p, sign->place, o, given, right);
	if (o->op == OP_MODULO && is_zero(p->out, start))
		return formula_wrong(p->err, sign->place, "%% by zero");
	formula_emit(p, sign->place, o->op, 0, -1);
	if (negated)
		formula_emit(p, sign->place, OP_NOT, 0, 0);
	return 0;
}

static int parse_pipe(struct formula_parser *p, struct formula_shape *left)
{
	struct formula_token name = p->now;
	struct formula_shape piped = *left;

	if (name.kind != TOKEN_NAME)
		return formula_wrong(p->err, name.place,
			"| gives what is before it to a function, as in [a, b] | max(); write || or \"or\" for one of "
			"two conditions");
	if (formula_parse_next(p) < 0)
		return -1;
	if (p->now.kind != TOKEN_LPAREN)
		return formula_parse_unexpected(p);
	return formula_call(p, &name, &piped, left);
}

/*
 * At `not in`: 1 when its precedence is high enough, and p->now is the `in`; 0 when it belongs to
 * an outer expression.
 */
static int take_not_in(struct formula_parser *p, int precedence)
{
	struct formula_lexer lexer = p->lexer;
	struct formula_token not = p->now;

	if (formula_parse_next(p) < 0)
		return -1;
	if (p->now.kind != TOKEN_IN)
		return formula_parse_unexpected(p);
	if (operators[TOKEN_IN].precedence >= precedence)
		return 1;
	p->lexer = lexer;
	p->now = not ;
	return 0;
}

int formula_operators(struct formula_parser *p, int precedence, struct formula_shape *out)
{
	enum formula_token_kind before = TOKEN_END;

	if (formula_parse_primary(p, out) < 0)
		return -1;
	for (;;) {
		int negated = p->now.kind == TOKEN_NOT ? take_not_in(p, precedence) : 0;
		struct formula_token sign = p->now;

		if (negated < 0)
			return -1;
		if (operators[sign.kind].precedence == 0 || operators[sign.kind].precedence < precedence)
			return 0;
		if (formula_parse_next(p) < 0)
			return -1;
		if (before == TOKEN_COALESCE && sign.kind != TOKEN_COALESCE && sign.kind != TOKEN_PIPE)
			return formula_wrong(p->err, sign.place,
				"?? and %.*s cannot stand side by side: put one of them in parentheses, as in (a ?? b) "
				"+ c",
				(int)sign.len, sign.text);
		int rc = sign.kind == TOKEN_PIPE ? parse_pipe(p, out) : parse_binary(p, &sign, negated == 1, out);
		if (rc < 0)
			return -1;
		before = sign.kind;
	}
}
