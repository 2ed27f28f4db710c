/* SPDX-License-Identifier: Apache-2.0 */

/* Parses everything but binary operators and functions, like expr-lang's parser/parser.go. */

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "decide/formula/formula_parts.h"

/* parser/operator/operator.go, plus one as in formula_operators.c */
#define PRECEDENCE_NOT  51
#define PRECEDENCE_SIGN 91

typedef int (*parse_fn)(struct formula_parser *p, struct formula_shape *out);

/* ---- Tokens ---- */

int formula_parse_next(struct formula_parser *p)
{
	return formula_lex_next(&p->lexer, &p->now, p->err);
}

int formula_parse_unexpected(struct formula_parser *p)
{
	const struct formula_token *t = &p->now;

	if (t->kind == TOKEN_END)
		return formula_wrong(p->err, t->place, "the formula ends too early");
	if (t->kind == TOKEN_ASSIGN)
		return formula_wrong(p->err, t->place, "unexpected =: write == to compare");
	if (t->kind == TOKEN_HASH)
		return formula_wrong(p->err, t->place,
			"# is an element of an array within a predicate, as in count([a, b], # > 1)");
	return formula_wrong(p->err, t->place, "unexpected %.*s", formula_lex_shown(t), t->text);
}

int formula_parse_expect(struct formula_parser *p, enum formula_token_kind kind)
{
	return p->now.kind == kind ? formula_parse_next(p) : formula_parse_unexpected(p);
}

/* ---- Names ---- */

/* The error lists the triggers, or names one whose name no formula can contain. */
static int unknown_name(struct formula_parser *p, const struct formula_token *name)
{
	char list[200] = "";
	size_t used = 0;
	int shown = formula_lex_shown(name);

	if (formula_call_exists(name->text, name->len))
		return formula_wrong(p->err, name->place, "%.*s is a function: write %.*s(...)", shown, name->text,
			shown, name->text);
	for (size_t i = 0; i < p->variable_count; i++) {
		const char *variable = p->variables[i];
		if (strncmp(variable, name->text, name->len) == 0 &&
			(variable[name->len] == '-' || variable[name->len] == '.'))
			return formula_wrong(p->err, name->place,
				"unknown name \"%.*s\": a formula cannot say %.63s; name that trigger with letters, "
				"digits and _ only",
				shown, name->text, variable);
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%.63s",
			i == 0                               ? ""
				: i + 1 == p->variable_count ? " and "
							     : ", ",
			*variable ? variable : "one without a name");
		if (used > sizeof(list) - 70 && i + 1 < p->variable_count) {
			snprintf(list + used, sizeof(list) - used, ", ...");
			break;
		}
	}
	return formula_wrong(p->err, name->place, "unknown name \"%.*s\" (the triggers are %s)", shown, name->text,
		p->variable_count == 0 ? "without names" : list);
}

static const struct formula_scope *find_scope(const struct formula_parser *p, const struct formula_token *name)
{
	for (uint32_t i = p->scope_count; i > 0; i--)
		if (p->scopes[i - 1].len == name->len && memcmp(p->scopes[i - 1].name, name->text, name->len) == 0)
			return &p->scopes[i - 1];
	return NULL;
}

/* The index of the first variable with this name; -1: there is none. */
static int find_variable(const struct formula_parser *p, const struct formula_token *name)
{
	size_t low = 0, high = p->variable_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const char *variable = *p->by_name[middle];
		int order = strncmp(variable, name->text, name->len);

		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < p->variable_count && formula_lex_is(name, *p->by_name[low]) ? (int)(p->by_name[low] - p->variables)
										 : -1;
}

static int parse_variable(struct formula_parser *p, const struct formula_token *name, struct formula_shape *out)
{
	const struct formula_scope *scope = find_scope(p, name);
	int index = find_variable(p, name);

	if (scope) {
		formula_emit(p, name->place, OP_LOCAL, scope->slot, 1);
		*out = scope->shape;
		return 0;
	}
	if (index < 0)
		return unknown_name(p, name);
	formula_emit(p, name->place, OP_VARIABLE, (uint32_t)index, 1);
	*out = formula_types_simple(SHAPE_FLOAT);
	return 0;
}

/* ---- Primaries ---- */

static int parse_array(struct formula_parser *p, struct formula_shape *out)
{
	struct formula_place place = p->now.place;
	struct formula_shape elements = { 0, SHAPE_UNKNOWN }, next;
	uint32_t count = 0, start = p->out->code_count;

	if (formula_parse_next(p) < 0)
		return -1;
	while (p->now.kind != TOKEN_RBRACKET) {
		if (count > 0 && formula_parse_expect(p, TOKEN_COMMA) < 0)
			return -1;
		if (count > 0 && p->now.kind == TOKEN_RBRACKET)
			break;
		if (formula_parse_expression(p, &next) < 0)
			return -1;
		elements = count++ == 0 ? next : formula_types_join(elements, next);
	}
	formula_emit(p, place, OP_ARRAY, count, 1 - (int)count);
	p->array_start = start;
	p->array_end = p->out->code_count;
	*out = formula_types_array_of(elements);
	return formula_parse_next(p);
}

/* a[0], a[0][1], ... */
static int parse_postfix(struct formula_parser *p, struct formula_shape *out)
{
	while (p->now.kind == TOKEN_LBRACKET) {
		struct formula_place place = p->now.place;
		struct formula_shape index;

		if (formula_parse_next(p) < 0 || formula_parse_expression(p, &index) < 0)
			return -1;
		if (p->now.kind == TOKEN_COLON)
			return formula_wrong(p->err, p->now.place, "slices (a[1:2]) are not supported");
		if (formula_parse_expect(p, TOKEN_RBRACKET) < 0)
			return -1;
		if (out->arrays == 0 && !formula_types_open(*out))
			return formula_wrong(p->err, place, "[] takes an element of an array, not of %s",
				formula_types_name(*out));
		if (out->arrays > 0 && !formula_types_integer(index))
			return formula_wrong(p->err, place, "an array's index must be an integer, not %s%s",
				formula_types_name(index), formula_types_number(index) ? ": write int(...)" : "");
		formula_emit(p, place, OP_INDEX, 0, -1);
		*out = formula_types_element(*out);
	}
	return 0;
}

static int parse_name(struct formula_parser *p, struct formula_shape *out)
{
	static const struct {
		const char *word;
		struct formula_cell value;
		enum formula_base base;
	} words[] = {
		{ "true", { TAG_BOOL, 0, { .truth = true } }, SHAPE_BOOL },
		{ "false", { TAG_BOOL, 0, { .truth = false } }, SHAPE_BOOL },
		{ "nil", { TAG_NIL, 0, { .integer = 0 } }, SHAPE_NIL },
	};
	struct formula_token name = p->now;

	if (formula_parse_next(p) < 0)
		return -1;
	for (size_t i = 0; i < MEM_COUNT(words); i++)
		if (formula_lex_is(&name, words[i].word)) {
			formula_emit_constant(p, name.place, words[i].value);
			*out = formula_types_simple(words[i].base);
			return 0;
		}
	if (p->now.kind != TOKEN_LPAREN)
		return parse_variable(p, &name, out) < 0 ? -1 : parse_postfix(p, out);
	if (find_variable(p, &name) >= 0 || find_scope(p, &name))
		return formula_wrong(p->err, name.place, "%.*s is a trigger or variable here, not a function",
			formula_lex_shown(&name), name.text);
	return formula_call(p, &name, NULL, out) < 0 ? -1 : parse_postfix(p, out);
}

static int parse_unary(struct formula_parser *p, struct formula_shape *out)
{
	struct formula_token sign = p->now;
	bool logic = sign.kind == TOKEN_NOT || sign.kind == TOKEN_BANG;

	if (formula_parse_next(p) < 0 || formula_parse_at(p, logic ? PRECEDENCE_NOT : PRECEDENCE_SIGN, out) < 0)
		return -1;
	if (logic && !formula_types_truth(*out))
		return formula_wrong(p->err, sign.place,
			"%.*s takes true or false, not %s: put what it is about in parentheses, as in %.*s (a > 1)",
			(int)sign.len, sign.text, formula_types_name(*out), (int)sign.len, sign.text);
	if (!logic && !formula_types_numeric(*out))
		return formula_wrong(p->err, sign.place, "%.*s takes a number, not %s", (int)sign.len, sign.text,
			formula_types_name(*out));
	if (logic)
		*out = formula_types_simple(SHAPE_BOOL);
	if (!logic && formula_types_open(*out))
		*out = formula_types_simple(SHAPE_UNKNOWN);
	if (sign.kind != TOKEN_PLUS)
		formula_emit(p, sign.place, logic ? OP_NOT : OP_NEGATE, 0, 0);
	return 0;
}

static int parse_item(struct formula_parser *p, struct formula_shape *out)
{
	struct formula_token sign = p->now;

	if (p->loop_count == 0)
		return formula_parse_unexpected(p);
	if (formula_parse_next(p) < 0)
		return -1;
	if (p->now.kind == TOKEN_NAME && p->now.text == sign.text + 1)
		return formula_wrong(p->err, sign.place, "#%.*s is not supported, only # alone",
			formula_lex_shown(&p->now), p->now.text);
	formula_emit(p, sign.place, OP_ITEM, 0, 1);
	*out = p->items[p->loop_count - 1];
	return 0;
}

int formula_parse_primary(struct formula_parser *p, struct formula_shape *out)
{
	struct formula_token token = p->now;
	int rc;

	switch (token.kind) {
	case TOKEN_NOT:
	case TOKEN_BANG:
	case TOKEN_MINUS:
	case TOKEN_PLUS: rc = parse_unary(p, out); break;
	case TOKEN_LPAREN: rc = formula_parse_enclosed(p, TOKEN_RPAREN, out); break;
	case TOKEN_HASH: rc = parse_item(p, out); break;
	case TOKEN_NAME: return parse_name(p, out);
	case TOKEN_LBRACKET: rc = parse_array(p, out); break;
	case TOKEN_LBRACE: return formula_wrong(p->err, token.place, "maps ({a: 1}) are not supported");
	case TOKEN_INT:
		*out = formula_types_simple(SHAPE_INT);
		formula_emit_constant(p, token.place,
			(struct formula_cell){ TAG_INT, 0, { .integer = token.number.integer } });
		return formula_parse_next(p);
	case TOKEN_FLOAT:
		formula_emit_constant(p, token.place,
			(struct formula_cell){ TAG_FLOAT, 0, { .real = token.number.real } });
		*out = formula_types_simple(SHAPE_FLOAT);
		return formula_parse_next(p);
	default: return formula_parse_unexpected(p);
	}
	return rc < 0 ? -1 : parse_postfix(p, out);
}

/* ---- Conditionals, let, sequences ---- */

static int must_be_truth(struct formula_parser *p, struct formula_place place, struct formula_shape s)
{
	if (formula_types_truth(s))
		return 0;
	return formula_wrong(p->err, place, "the condition must be true or false, not %s%s", formula_types_name(s),
		formula_types_number(s) ? ": compare it, as in a > 0" : "");
}

/* a ?: b is a ? a : b. */
static int parse_short_ternary(struct formula_parser *p, struct formula_place place, struct formula_shape *out)
{
	uint32_t end = formula_emit(p, place, OP_JUMP_IF_TRUE, 0, 0);
	struct formula_shape other;

	formula_emit(p, place, OP_POP, 0, -1);
	if (formula_parse_next(p) < 0 || formula_parse_expression(p, &other) < 0)
		return -1;
	formula_emit_target(p, end);
	*out = formula_types_either(*out, other);
	return 0;
}

/* The condition is on the stack; `between` separates the branches. */
static int parse_branches(struct formula_parser *p, struct formula_place place, parse_fn yes,
	enum formula_token_kind between, parse_fn no, struct formula_shape *out)
{
	uint32_t if_not = formula_emit(p, place, OP_JUMP_IF_FALSE, 0, 0), end;
	struct formula_shape other;

	formula_emit(p, place, OP_POP, 0, -1);
	if (yes(p, out) < 0)
		return -1;
	end = formula_emit(p, place, OP_JUMP, 0, 0);
	formula_emit_target(p, if_not);
	formula_emit(p, place, OP_POP, 0, -1);
	if (formula_parse_expect(p, between) < 0 || no(p, &other) < 0)
		return -1;
	formula_emit_target(p, end);
	*out = formula_types_either(*out, other);
	return 0;
}

static int parse_ternary(struct formula_parser *p, struct formula_shape *out)
{
	struct formula_place place = p->now.place;

	if (p->now.kind != TOKEN_QUESTION)
		return 0;
	if (must_be_truth(p, place, *out) < 0 || formula_parse_next(p) < 0)
		return -1;
	if (p->now.kind == TOKEN_COLON)
		return parse_short_ternary(p, place, out);
	return parse_branches(p, place, formula_parse_expression, TOKEN_COLON, formula_parse_expression, out);
}

static int parse_block(struct formula_parser *p, struct formula_shape *out)
{
	return p->now.kind == TOKEN_LBRACE ? formula_parse_enclosed(p, TOKEN_RBRACE, out) : formula_parse_unexpected(p);
}

static int parse_else(struct formula_parser *p, struct formula_shape *out)
{
	return p->now.kind == TOKEN_IF ? formula_parse_expression(p, out) : parse_block(p, out);
}

/* if a > 1 { 2 } else { 3 } */
static int parse_if(struct formula_parser *p, struct formula_shape *out)
{
	struct formula_place place = p->now.place;

	if (formula_parse_next(p) < 0 || formula_parse_expression(p, out) < 0 || must_be_truth(p, place, *out) < 0)
		return -1;
	return parse_branches(p, place, parse_block, TOKEN_ELSE, parse_else, out);
}

static int parse_let(struct formula_parser *p)
{
	struct formula_token name;
	struct formula_shape shape;
	uint32_t slot;

	if (formula_parse_next(p) < 0)
		return -1;
	name = p->now;
	if (formula_parse_expect(p, TOKEN_NAME) < 0)
		return -1;
	int shown = formula_lex_shown(&name);
	if (find_scope(p, &name) || find_variable(p, &name) >= 0)
		return formula_wrong(p->err, name.place, "%.*s exists already: choose another name", shown, name.text);
	if (formula_call_exists(name.text, name.len))
		return formula_wrong(p->err, name.place, "%.*s is a function: choose another name", shown, name.text);
	if (formula_parse_expect(p, TOKEN_ASSIGN) < 0 || formula_parse_expression(p, &shape) < 0 ||
		formula_emit_local(p, name.place, &slot) < 0)
		return -1;
	formula_emit(p, name.place, OP_STORE, slot, -1);
	p->scopes[p->scope_count++] = (struct formula_scope){ name.text, name.len, slot, shape };
	return formula_parse_expect(p, TOKEN_SEMICOLON);
}

static int parse_sequence(struct formula_parser *p, struct formula_shape *out);

static int parse_lets(struct formula_parser *p, struct formula_shape *out)
{
	uint32_t scopes = p->scope_count, locals = p->locals;

	while (p->now.kind == TOKEN_LET)
		if (parse_let(p) < 0)
			return -1;
	if (parse_sequence(p, out) < 0)
		return -1;
	p->scope_count = scopes;
	p->locals = locals;
	return 0;
}

/* precedence 0: a whole expression. */
int formula_parse_at(struct formula_parser *p, int precedence, struct formula_shape *out)
{
	int rc;

	if (p->depth == FORMULA_DEPTH_MAX)
		return formula_wrong(p->err, p->now.place, "more than %d levels within one another", FORMULA_DEPTH_MAX);
	p->depth++;
	if (precedence == 0 && p->now.kind == TOKEN_LET)
		rc = parse_lets(p, out);
	else if (precedence == 0 && p->now.kind == TOKEN_IF)
		rc = parse_if(p, out);
	else if ((rc = formula_operators(p, precedence, out)) == 0 && precedence == 0)
		rc = parse_ternary(p, out);
	p->depth--;
	return rc;
}

int formula_parse_expression(struct formula_parser *p, struct formula_shape *out)
{
	return formula_parse_at(p, 0, out);
}

static int parse_sequence(struct formula_parser *p, struct formula_shape *out)
{
	if (formula_parse_expression(p, out) < 0)
		return -1;
	while (p->now.kind == TOKEN_SEMICOLON) {
		formula_emit(p, p->now.place, OP_POP, 0, -1);
		if (formula_parse_next(p) < 0 || formula_parse_expression(p, out) < 0)
			return -1;
	}
	return 0;
}

int formula_parse_enclosed(struct formula_parser *p, enum formula_token_kind close, struct formula_shape *out)
{
	if (formula_parse_next(p) < 0 || parse_sequence(p, out) < 0)
		return -1;
	return formula_parse_expect(p, close);
}

/* ---- The whole ---- */

/* KEDA puts float() around the formula. */
static int must_be_number(struct formula_parser *p, struct formula_shape s)
{
	if (formula_types_numeric(s))
		return 0;
	return err_set(p->err, ERR_INVALID, "the formula gives %s: it must give a number", formula_types_name(s));
}

int formula_parse(struct formula_parser *p, const char *text)
{
	struct formula_shape shape;

	p->lexer = (struct formula_lexer){ text, { 1, 1 } };
	if (formula_parse_next(p) < 0)
		return -1;
	if (p->now.kind == TOKEN_END)
		return err_set(p->err, ERR_INVALID, "the formula is empty");
	if ((p->out->may_be_nil ? parse_sequence(p, &shape) : formula_parse_expression(p, &shape)) < 0)
		return -1;
	if (p->now.kind != TOKEN_END)
		return formula_parse_unexpected(p);
	return must_be_number(p, shape);
}
