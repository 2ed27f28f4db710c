/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_FORMULA_FORMULA_PARTS_H
#define DECIDE_FORMULA_FORMULA_PARTS_H

/*
 * Shared by the files of decide/formula; no other file includes it. A formula is compiled in one
 * pass from left to right: formula_lex.c makes tokens; formula_parse.c, formula_operators.c and
 * formula_call.c (functions, predicates) emit postfix code (formula_emit.c) and check operand types
 * (formula_types.c). formula_run.c executes the code; formula_values.c has arithmetic, equality and
 * the functions over arrays.
 *
 * The rules are those of expr-lang 1.17 (its language definition, parser, checker, vm), tested
 * against it formula by formula. Where its static type is wrong (max(1, a) is an integer to its
 * checker, a float at run time) and it fails, the type of the value counts here.
 */

#include <stdarg.h>
#include <stdint.h>

#include "decide/formula/formula.h"

#define FORMULA_DEPTH_MAX  200    /* nesting */
#define FORMULA_LOCALS_MAX 128    /* let and chained comparisons in scope at a time */
#define FORMULA_LOOPS_MAX  16     /* nested predicates */
#define FORMULA_STEPS_MAX  100000 /* instructions and elements looked at in one evaluation: about a millisecond */
#define FORMULA_CELLS_MAX  4096   /* operands, locals and elements of arrays in one evaluation: 64 KiB of stack */
#define FORMULA_RANGE_MAX  1000000

struct formula_place {
	unsigned line, column;
}; /* from 1; columns count characters */

/* ---- Tokens ---- */

enum formula_token_kind {
	TOKEN_END,
	TOKEN_INT,
	TOKEN_FLOAT,
	TOKEN_NAME,
	TOKEN_LET,
	TOKEN_IF,
	TOKEN_ELSE,
	TOKEN_NOT,
	TOKEN_IN,
	TOKEN_AND,
	TOKEN_OR,
	TOKEN_EQ,
	TOKEN_NE,
	TOKEN_LT,
	TOKEN_LE,
	TOKEN_GT,
	TOKEN_GE,
	TOKEN_PLUS,
	TOKEN_MINUS,
	TOKEN_STAR,
	TOKEN_SLASH,
	TOKEN_PERCENT,
	TOKEN_POWER,
	TOKEN_RANGE,
	TOKEN_COALESCE,
	TOKEN_PIPE,
	TOKEN_BANG,
	TOKEN_QUESTION,
	TOKEN_COLON,
	TOKEN_COMMA,
	TOKEN_SEMICOLON,
	TOKEN_ASSIGN,
	TOKEN_HASH,
	TOKEN_LPAREN,
	TOKEN_RPAREN,
	TOKEN_LBRACKET,
	TOKEN_RBRACKET,
	TOKEN_LBRACE,
	TOKEN_RBRACE,
};

struct formula_token {
	enum formula_token_kind kind;
	struct formula_place place;
	const char *text; /* borrowed from the formula */
	size_t len;
	union {
		int64_t integer;
		double real;
	} number;
};

struct formula_lexer {
	const char *at; /* copy the struct to backtrack */
	struct formula_place place;
};

int formula_lex_next(struct formula_lexer *lexer, struct formula_token *out, struct err *err);

/* "column 9: <text>", "line 2, column 9: <text>"; ERR_INVALID; returns -1. */
int formula_wrong(struct err *err, struct formula_place place, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int formula_vwrong(struct err *err, struct formula_place place, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));
int formula_lex_shown(const struct formula_token *token); /* bytes of its text that a message quotes */
bool formula_lex_is(const struct formula_token *token, const char *word);

/* ---- Code ---- */

enum formula_op {
	OP_PUSH, /* constants[arg] */
	OP_VARIABLE,
	OP_LOCAL, /* number arg */
	OP_STORE, /* pops into local arg */
	OP_KEEP,  /* copies into local arg */
	OP_POP,
	OP_JUMP, /* to arg; conditional jumps do not pop */
	OP_JUMP_IF_FALSE,
	OP_JUMP_IF_TRUE,
	OP_JUMP_IF_VALUE,
	OP_NOT,
	OP_NEGATE,
	OP_ADD,
	OP_SUBTRACT,
	OP_MULTIPLY,
	OP_DIVIDE,
	OP_MODULO,
	OP_POWER,
	OP_LESS,
	OP_LESS_EQUAL,
	OP_MORE,
	OP_MORE_EQUAL,
	OP_EQUAL,
	OP_NOT_EQUAL,
	OP_IN,
	OP_RANGE,
	OP_ARRAY, /* of the top arg values */
	OP_INDEX,
	OP_LEN,
	OP_ABS,
	OP_CEIL,
	OP_FLOOR,
	OP_ROUND,
	OP_INT,
	OP_FLOAT,
	OP_MIN,
	OP_MAX,
	OP_MEAN,
	OP_MEDIAN, /* MIN to MEDIAN: of the top arg values */
	OP_LOOP,   /* pops an array; arg: index of its OP_RESULT */
	OP_ITEM,   /* element of the innermost loop */
	OP_NEXT,   /* pops the predicate's result; to arg while there are more elements */
	OP_RESULT, /* arg: enum formula_loop */
};

enum formula_loop { LOOP_ALL, LOOP_NONE, LOOP_ANY, LOOP_ONE, LOOP_COUNT, LOOP_FILTER, LOOP_MAP, LOOP_SUM };

struct formula_insn {
	uint8_t op;   /* enum formula_op */
	uint8_t line; /* stays 255 beyond */
	uint16_t column;
	int32_t arg;
};

/* ---- Values ---- */

enum formula_tag { TAG_NIL, TAG_BOOL, TAG_INT, TAG_FLOAT, TAG_ARRAY, TAG_RANGE };

struct formula_cell {
	uint32_t tag;
	uint32_t len; /* of an array or a range */
	union {
		bool truth;
		int64_t integer; /* of a range: its first */
		double real;
		uint32_t first; /* of an array: index of its first cell */
	} is;
};

struct formula {
	struct formula_insn *code;
	struct formula_cell *constants;
	uint32_t code_count, constant_count;
	uint32_t stack_size, local_count;
	uint32_t variable_count;
	bool may_be_nil;
};

/* ---- Static types (expr-lang's natures) ---- */

/*
 * Both are known only at run time ("open"): SHAPE_ANY results from functions and mixed arrays,
 * SHAPE_UNKNOWN from everything else. They differ in the type of a conditional.
 */
enum formula_base { SHAPE_UNKNOWN, SHAPE_ANY, SHAPE_NIL, SHAPE_BOOL, SHAPE_INT, SHAPE_FLOAT };

struct formula_shape {
	uint16_t arrays; /* levels of array around the base */
	uint8_t base;    /* enum formula_base */
};

struct formula_shape formula_types_simple(enum formula_base base);
bool formula_types_open(struct formula_shape s); /* known only at run time */
bool formula_types_number(struct formula_shape s);
bool formula_types_numeric(struct formula_shape s); /* a number, or open */
bool formula_types_truth(struct formula_shape s);   /* a boolean, or open */
bool formula_types_integer(struct formula_shape s); /* an integer, or open */
struct formula_shape formula_types_element(struct formula_shape array);
struct formula_shape formula_types_array_of(struct formula_shape element);
/* type of an array's elements after one more, `next` */
struct formula_shape formula_types_join(struct formula_shape elements, struct formula_shape next);
struct formula_shape formula_types_either(struct formula_shape a, struct formula_shape b); /* of c ? a : b */
struct formula_shape formula_types_coalesce(struct formula_shape a, struct formula_shape b);
/* false: they do not fit */
bool formula_types_binary(enum formula_op op, struct formula_shape a, struct formula_shape b,
	struct formula_shape *out);
const char *formula_types_name(struct formula_shape s); /* "an integer" */

/* ---- Parsing ---- */

struct formula_scope {
	const char *name;
	size_t len;
	uint32_t slot;
	struct formula_shape shape;
};

struct formula_parser {
	struct formula_lexer lexer;
	struct formula_token now;
	const char *const *variables; /* borrowed */
	size_t variable_count;
	const char *const **by_name; /* owned; the places of variables, sorted by name */
	struct formula *out;
	uint32_t code_alloc, constant_alloc;
	uint32_t depth, stack, locals; /* in use at this place */
	struct formula_scope scopes[FORMULA_LOCALS_MAX];
	uint32_t scope_count;
	struct formula_shape items[FORMULA_LOOPS_MAX]; /* of the loops around this place */
	uint32_t loop_count;
	uint32_t array_start, array_end; /* code of the array literal that was read last */
	struct err *err;
};

int formula_parse(struct formula_parser *p, const char *text); /* writes p->out */
int formula_parse_next(struct formula_parser *p);
int formula_parse_expect(struct formula_parser *p, enum formula_token_kind kind);
int formula_parse_expression(struct formula_parser *p, struct formula_shape *out);
int formula_parse_unexpected(struct formula_parser *p);
/* a sequence from its opening sign to its closing one */
int formula_parse_enclosed(struct formula_parser *p, enum formula_token_kind close, struct formula_shape *out);
/* operators of at least this precedence; 0: a whole expression */
int formula_parse_at(struct formula_parser *p, int precedence, struct formula_shape *out);
int formula_parse_primary(struct formula_parser *p, struct formula_shape *out);
/* a primary and the binary operators after it */
int formula_operators(struct formula_parser *p, int precedence, struct formula_shape *out);

/*
 * A call: p->now stands at the parenthesis. piped: the argument that is on the stack already, or
 * NULL.
 */
int formula_call(struct formula_parser *p, const struct formula_token *name, const struct formula_shape *piped,
	struct formula_shape *out);
bool formula_call_exists(const char *name, size_t len);

/* Appends an instruction that changes the stack's height by `moves`; returns its index. */
uint32_t formula_emit(struct formula_parser *p, struct formula_place place, enum formula_op op, uint32_t arg,
	int moves);
void formula_emit_constant(struct formula_parser *p, struct formula_place place, struct formula_cell value);
void formula_emit_target(struct formula_parser *p, uint32_t jump); /* the jump goes to the next instruction */
/* reserves a local, until p->locals is set back */
int formula_emit_local(struct formula_parser *p, struct formula_place place, uint32_t *slot);

/* ---- Running ---- */

struct formula_frame { /* a loop */
	struct formula_cell array, sum;
	uint32_t index, count;
	uint32_t kept; /* where the result of filter and map begins */
	uint32_t mark; /* cells from here on belong to the iteration */
	enum formula_loop kind;
};

struct formula_machine {
	const struct formula *formula;
	const struct formula_value *values;
	const struct formula_insn *at;
	struct formula_cell *cells;
	uint32_t used;  /* cells */
	uint32_t steps; /* left */
	struct formula_frame frames[FORMULA_LOOPS_MAX];
	uint32_t frame_count;
	bool trial;
	struct err *err;
};

/* trial: a run with made-up values, where a division by zero is no error. */
int formula_run(const struct formula *f, const struct formula_value *values, bool trial, struct formula_cell *out,
	struct err *err);
int formula_machine_wrong(struct formula_machine *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int formula_machine_spend(struct formula_machine *m, uint64_t steps);                 /* -1: too many */
int formula_machine_take(struct formula_machine *m, uint64_t count, uint32_t *first); /* cells; -1: too many */
struct formula_cell formula_machine_element(const struct formula_machine *m, const struct formula_cell *array,
	uint32_t index);

/* Each puts its result in *a. */
int formula_values_unary(struct formula_machine *m, enum formula_op op, struct formula_cell *a);
int formula_values_binary(struct formula_machine *m, enum formula_op op, struct formula_cell *a,
	const struct formula_cell *b);
/* a[0] to a[count - 1] */
int formula_values_many(struct formula_machine *m, enum formula_op op, struct formula_cell *a, uint32_t count);
const char *formula_values_name(const struct formula_cell *value); /* "an integer" */
/* a number without its fraction */
int formula_values_whole(struct formula_machine *m, const struct formula_cell *value, int64_t *out);

#endif
