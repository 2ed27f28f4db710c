/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/formula/formula.h"
#include "decide/formula/formula_parts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"

static const char *const names[] = { "a", "b", "c", "trig_one", "trig-two" };
#define NAMES (sizeof(names) / sizeof(names[0]))
#define NIL                                                                                                            \
	{                                                                                                              \
		true, 0                                                                                                \
	}
#define IS(number)                                                                                                     \
	{                                                                                                              \
		false, number                                                                                          \
	}

static struct formula *compiled(const char *text)
{
	struct err err = { 0 };
	struct formula *f = formula_compile(text, names, NAMES, &err);

	if (f == NULL)
		fail_msg("%s: %s", text, err.msg);
	return f;
}

/* a, b and c; the others are 7. */
static int evaluate(const struct formula *f, struct formula_value a, struct formula_value b, struct formula_value c,
	struct formula_value *out, struct err *err)
{
	struct formula_value values[NAMES] = { a, b, c, IS(7), IS(7) };

	return formula_evaluate(f, values, out, err);
}

/* a = 5.5, b = 2, c = -3 */
static void check_number(const char *text, double expected)
{
	struct formula *f = compiled(text);
	struct formula_value out;
	struct err err = { 0 };

	if (evaluate(f, (struct formula_value)IS(5.5), (struct formula_value)IS(2), (struct formula_value)IS(-3), &out,
		    &err) < 0)
		fail_msg("%s: %s", text, err.msg);
	if (out.nil || !(fabs(out.number - expected) <= 1e-12 * fabs(expected)))
		fail_msg("%s: %.17g, not %.17g", text, out.number, expected);
	formula_free(f);
}

static void check_refused(const char *text, const char *message)
{
	struct err err = { 0 };
	struct formula *f = formula_compile(text, names, NAMES, &err);

	if (f != NULL)
		fail_msg("%s: not refused", text);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.msg, message);
	assert_null(formula_compile(text, names, NAMES, NULL));
}

struct number_case {
	const char *text;
	double expected;
};

static void check_numbers(const struct number_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check_number(cases[i].text, cases[i].expected);
}

#define CHECK_NUMBERS(cases) check_numbers(cases, sizeof(cases) / sizeof((cases)[0]))

static void test_arithmetic(void **state)
{
	static const struct number_case cases[] = {
		{ "a", 5.5 },
		{ "trig_one", 7 },
		{ "a + b", 7.5 },
		{ "a - b - c", 6.5 },
		{ "a*-b", -11 },
		{ "a / b", 2.75 },
		{ "1 / 2", 0.5 },
		{ "1 + 2 * 3 - 4 / 5", 6.2 },
		{ "100 / 10 / 2", 5 },
		{ "5 % 3", 2 },
		{ "-5 % 3", -2 },
		{ "5 % -3", 2 },
		{ "2 * 3 % 4", 2 },
		{ "int(a) % 2", 1 },
		{ "2 ** 3 ** 2", 512 },
		{ "2 ^ 3", 8 },
		{ "-2 ** 2", -4 },
		{ "(-2) ** 2", 4 },
		{ "2 ** -1", 0.5 },
		{ "+a", 5.5 },
		{ "--a", 5.5 },
		{ "-(a + b)", -7.5 },
		{ "9223372036854775807 + 1", -9223372036854775808.0 },
		{ "9223372036854775807 * 2", -2 },
		{ "-9223372036854775807 - 1", -9223372036854775808.0 },
		{ "(-9223372036854775807 - 1) % -1", 0 },
		{ "-(-9223372036854775807 - 1)", -9223372036854775808.0 },
	};

	(void)state;
	CHECK_NUMBERS(cases);
}

static void test_literals(void **state)
{
	static const struct number_case cases[] = {
		{ "42", 42 },
		{ "1.5", 1.5 },
		{ ".5", 0.5 },
		{ "1.", 1 },
		{ "1e3", 1000 },
		{ "1.5E-1", 0.15 },
		{ "1_000", 1000 },
		{ "0x1F", 31 },
		{ "0Xff", 255 },
		{ "0b101", 5 },
		{ "0o17", 15 },
		{ "017", 17 },
		{ "9223372036854775807", 9223372036854775807.0 },
		{ "a\xC2\xA0+ 1", 6.5 },
		{ "a // all of it", 5.5 },
		{ "a /* b */ + 1", 6.5 },
		{ "a\n+\n\tb", 7.5 },
	};

	(void)state;
	CHECK_NUMBERS(cases);
}

static void test_comparison_and_logic(void **state)
{
	static const struct number_case cases[] = {
		{ "(a + b) * 2 > 10 ? a : b", 5.5 },
		{ "a < b ? 1 : 2", 2 },
		{ "a >= 5.5 ? 1 : 2", 1 },
		{ "a == 5.5 ? 1 : 2", 1 },
		{ "b == 2 ? 1 : 2", 1 },
		{ "b != 2 ? 1 : 2", 2 },
		{ "1 == 1.0 ? 1 : 2", 1 },
		{ "1 < b < a <= 5.5 ? 1 : 2", 1 },
		{ "1 < a < b ? 1 : 2", 2 },
		{ "9 < a < 1 / 0 ? 1 : 2", 2 },
		{ "a < b == false ? 1 : 2", 1 },
		{ "a > 0 and b > 0 ? 1 : 2", 1 },
		{ "a > 0 && b < 0 ? 1 : 2", 2 },
		{ "a < 0 or b > 0 ? 1 : 2", 1 },
		{ "a < 0 || b < 0 ? 1 : 2", 2 },
		{ "a < 0 or a > 0 and b < 0 ? 1 : 2", 2 },
		{ "not (a > 1) ? 1 : 2", 2 },
		{ "!(a > 1) ? 1 : 2", 2 },
		{ "!!true ? 1 : 2", 1 },
		{ "not true or true ? 1 : 2", 1 },
		{ "a > 1 ? b > 5 ? 1 : 2 : 3", 2 },
		{ "a > 9 ? 1 : b > 1 ? 2 : 3", 2 },
		{ "(a > 9 ?: b > 1) ? 1 : 2", 1 },
		{ "if a > 1 { 2 } else { 3 }", 2 },
		{ "if a > 9 { 2 } else if b > 9 { 3 } else { let x = 4; x }", 4 },
		{ "a < 9 || [b][3] == 1 ? 1 : 2", 1 },
		{ "a > 9 && [b][3] == 1 ? 1 : 2", 2 },
		{ "true == (1 == 1) ? 1 : 2", 1 },
		{ "[1, [2, true]] == [1.0, [2, true]] ? 1 : 2", 1 },
		{ "[1] == [1, 2] ? 1 : 2", 2 },
		{ "nil == nil ? 1 : 2", 1 },
		{ "[nil] == [0] ? 1 : 2", 2 },
	};

	(void)state;
	CHECK_NUMBERS(cases);
}

static void test_arrays(void **state)
{
	static const struct number_case cases[] = {
		{ "[a, b, c][0]", 5.5 },
		{ "[a, b, c][-1]", -3 },
		{ "[a, b,][int(b) - 1]", 2 },
		{ "[a, [b, c]][1][0]", 2 },
		{ "(2..4)[1]", 3 },
		{ "[[true], [1]][1][0] + 1", 2 },
		{ "b in [1, 2] ? 1 : 2", 1 },
		{ "b in 1..3 ? 1 : 2", 1 },
		{ "a in 1..9 ? 1 : 2", 2 },
		{ "a not in [1] ? 1 : 2", 1 },
		{ "not (a in [5.5]) ? 1 : 2", 2 },
		{ "1 + a not in [6.5] ? 1 : 2", 2 },
		{ "[1] in [[1.0]] ? 1 : 2", 1 },
		{ "a in [] ? 1 : 2", 2 },
		{ "1..3 == [1, 2, 3] ? 1 : 2", 1 },
		{ "len(1..0)", 0 },
		{ "len(1..999999)", 999999 },
		{ "len([a, b, c])", 3 },
		{ "len([])", 0 },
	};

	(void)state;
	CHECK_NUMBERS(cases);
}

static void test_functions(void **state)
{
	static const struct number_case cases[] = {
		{ "min(a, b, c)", -3 },
		{ "max(a, [b, [9]], c)", 9 },
		{ "max(a, b,)", 5.5 },
		{ "max(1, a) == 5.5 ? 1 : 2", 1 },
		{ "max([])  ?? 8", 8 },
		{ "min([], [a])", 5.5 },
		{ "max(1, 2) % 2", 0 },
		{ "sum([a, b, c])", 4.5 },
		{ "sum([])", 0 },
		{ "sum([a])", 5.5 },
		{ "sum(1..100)", 5050 },
		{ "sum([0.1, b, 0.3])", 2.4 },
		{ "sum([a, b], # * 2)", 15 },
		{ "mean(a, b)", 3.75 },
		{ "mean([a, b, c])", 1.5 },
		{ "mean([])", 0 },
		{ "mean(1, 2)", 1.5 },
		{ "median(a, b, c)", 2 },
		{ "median([a, b, [c, 4]])", 3 },
		{ "median([])", 0 },
		{ "median(1..101)", 51 },
		{ "abs(c)", 3 },
		{ "abs(-7) % 4", 3 },
		{ "ceil(a)", 6 },
		{ "floor(c / b)", -2 },
		{ "round(2.5)", 3 },
		{ "round(-2.5)", -3 },
		{ "int(-1.9)", -1 },
		{ "float(3) / 2", 1.5 },
		{ "round(a * 100) / 1000", 0.55 },
		{ "[a, b] | max(9)", 9 },
		{ "[a, b, c] | filter(# > 0) | sum()", 7.5 },
		{ "a + 1 | max(b)", 6.5 },
	};

	(void)state;
	CHECK_NUMBERS(cases);
}

static void test_predicates(void **state)
{
	static const struct number_case cases[] = {
		{ "count([a, b, c], {# > 1})", 2 },
		{ "count([a, b, c], # > 1)", 2 },
		{ "count([a,b],{#>1}) > 1 ? 5 : 0", 5 },
		{ "count([a > 1, b > 9, true])", 2 },
		{ "count([], # > 1)", 0 },
		{ "any([a, b], # > 5) ? 1 : 2", 1 },
		{ "any([], # > 5) ? 1 : 2", 2 },
		{ "all([a, b], # > 1) ? 1 : 2", 1 },
		{ "all([a, c], # > 1) ? 1 : 2", 2 },
		{ "all([], # > 1) ? 1 : 2", 1 },
		{ "none([a, b], # > 9) ? 1 : 2", 1 },
		{ "none([a, b], # > 5) ? 1 : 2", 2 },
		{ "one([a, b], # > 5) ? 1 : 2", 1 },
		{ "one([a, b], # > 1) ? 1 : 2", 2 },
		{ "filter([a, b, c, 9, 8], # > 1)[1]", 2 },
		{ "len(filter(1..10, # % 2 == 0))", 5 },
		{ "map([a, b], # * 2)[0]", 11 },
		{ "sum(map(1..3, # * #))", 14 },
		{ "max(filter([a], # > 9)) ?? 3", 3 },
		{ "sum(map([[1, 2], [3, 4]], sum(#)))", 10 },
		{ "count([[1], [2, 9]], any(#, # > 5))", 1 },
		{ "sum(map(1..3, sum(map(1..#, # * 2))))", 20 },
		{ "map([a, b], [#, 1])[1][0]", 2 },
		{ "map([a], {let x = #; x * x})[0]", 30.25 },
		{ "sum(map(map(1..3, [#, # * 10]), #[1]))", 60 },
		{ "len(filter(map(1..50, [#]), #[0] > 10))", 40 },
		{ "sum(map(1..1500, # in [a, b] ? 1 : 0))", 1 },
		{ "all([true, false], #) ? 1 : 2", 2 },
		{ "count([a, b], # > 1,)", 2 },
	};

	(void)state;
	CHECK_NUMBERS(cases);
}

static void test_let(void **state)
{
	static const struct number_case cases[] = {
		{ "let x = a; x + 1", 6.5 },
		{ "let x = a; let y = x * b; y + x", 16.5 },
		{ "(let y = 1; y) + (let y = 5; y)", 6 },
		{ "let x = [a, b, c]; sum(x) / len(x)", 1.5 },
		{ "let x = a > 1; x ? 1 : 2", 1 },
		{ "let x = nil; x ?? 4", 4 },
		{ "let x = a; x; b", 2 },
		{ "(a; b) + 1", 3 },
		{ "let x = 1 < b < 9 ? 3 : 4; 0 < x < 4 ? x : 0", 3 },
	};

	(void)state;
	CHECK_NUMBERS(cases);
}

static void test_coalescing(void **state)
{
	static const struct {
		const char *text;
		struct formula_value a, b, expected;
	} cases[] = {
		{ "a ?? b ?? 5", IS(1), NIL, IS(1) },
		{ "a ?? b ?? 5", NIL, IS(2), IS(2) },
		{ "a ?? b ?? 5", NIL, NIL, IS(5) },
		{ "a ?? b", NIL, NIL, NIL },
		{ "1 + a ?? b", NIL, IS(2), IS(3) },
		{ "-a ?? b", NIL, IS(2), IS(-2) },
		{ "2 * a ?? b + 1", NIL, IS(2), IS(5) },
		{ "(a ?? b) + 1", NIL, IS(2), IS(3) },
		{ "a == nil ? (b ?? nil) : a", NIL, IS(4), IS(4) },
		{ "a == nil ? (b ?? nil) : a", NIL, NIL, NIL },
		{ "a != nil ? a : 3", NIL, IS(1), IS(3) },
		{ "max(a) ?? 6", NIL, IS(1), IS(6) },
		{ "max(filter([a, b], # != nil)) ?? nil", NIL, NIL, NIL },
		{ "sum(map([a, b], # ?? 10))", NIL, IS(1), IS(11) },
		{ "a in [nil] ? 1 : 2", NIL, IS(1), IS(1) },
	};
	struct formula_value out;
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct formula *f = compiled(cases[i].text);
		if (evaluate(f, cases[i].a, cases[i].b, (struct formula_value)IS(0), &out, &err) < 0)
			fail_msg("%s: %s", cases[i].text, err.msg);
		if (out.nil != cases[i].expected.nil || (!out.nil && out.number != cases[i].expected.number))
			fail_msg("%s: case %zu", cases[i].text, i);
		formula_free(f);
	}
}

static void test_evaluation_fails(void **state)
{
	static const struct {
		const char *text;
		struct formula_value a;
		const char *message;
	} cases[] = {
		{ "a", NIL,
			"the result is nil: it must be a number (write a ?? b to say what takes the place of a trigger "
			"that has no value)" },
		{ "a + 1", NIL, "column 3: + takes numbers, not nil and an integer" },
		{ "2 +\n\ta * 3", NIL, "line 2, column 4: * takes numbers, not nil and an integer" },
		{ "-a", NIL, "column 1: - takes a number, not nil" },
		{ "round(a)", NIL, "column 1: round takes a number, not nil" },
		{ "max(1, a)", NIL, "column 1: max takes numbers and arrays of them, not nil" },
		{ "1 / a", IS(0), "the result is infinite, as of a division by zero: it must be a number" },
		{ "a / a", IS(0), "the result is not a number, as of a division by zero: it must be a number" },
		{ "10 ** a", IS(400), "the result is infinite, as of a division by zero: it must be a number" },
		{ "5 % int(a)", IS(0.5), "column 3: % by zero" },
		{ "[b, c][int(a)]", IS(2), "column 7: index 2 is out of range: the array has 2 elements" },
		{ "[b, c][int(a)]", IS(-3), "column 7: index -3 is out of range: the array has 2 elements" },
		{ "int(a / 0)", IS(0), "column 1: 0 divided by 0 is not an integer" },
		{ "int(a)", IS(1e300), "column 1: 1e+300 does not fit an integer" },
		{ "sum(1..int(a))", IS(99999999), "column 6: 1..99999999 is longer than 1000000" },
		{ "sum(map(1..int(a), 1))", IS(9999), "column 5: too many elements: a formula can hold about 4096" },
		{ "count(1..int(a), # > 1)", IS(90000), "column 20: more than 100000 steps" },
		{ "median(1..int(a))", IS(9999), "column 1: too many elements: a formula can hold about 4096" },
		{ "(a > 0 ? 1 : [1])[0]", IS(1), "column 18: [] takes an element of an array, not of an integer" },
		{ "len(a > 0 ? true : [1])", IS(1), "column 1: len takes an array, not true or false" },
		{ "any(a > 0 ? 1 : [1], # > 0) ? 1 : 2", IS(1), "column 1: an array is needed here, not an integer" },
		{ "(a > 0 ? 1 : true) ? 1 : 2", IS(1), "column 20: true or false is needed here, not an integer" },
		{ "a > 0 ? (a > 1 ? true : 1) : 2", IS(2), "the result is true or false: it must be a number" },
		{ "max(1, a) % 2", IS(2), "column 11: % takes integers, not a float: write int(...)" },
		{ "1 in (a > 0 ? 1 : [1]) ? 1 : 2", IS(2), "column 3: in takes an array, not an integer" },
		{ "!(a > 0 ? 1 : true) ? 1 : 2", IS(2), "column 1: not takes true or false, not an integer" },
	};
	struct formula_value out;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = { 0 };
		struct formula *f = compiled(cases[i].text);
		if (evaluate(f, cases[i].a, (struct formula_value)IS(1), (struct formula_value)IS(1), &out, &err) != -1)
			fail_msg("%s: did not fail", cases[i].text);
		assert_int_equal(err.kind, ERR_INVALID);
		assert_string_equal(err.msg, cases[i].message);
		formula_free(f);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "", "the formula is empty" },
		{ " // nothing", "the formula is empty" },
		{ "a + trig_two",
			"column 5: unknown name \"trig_two\" (the triggers are a, b, c, trig_one and trig-two)" },
		{ "a + trig-two",
			"column 5: unknown name \"trig\": a formula cannot say trig-two; name that trigger with "
			"letters, digits and _ only" },
		{ "a +", "column 4: the formula ends too early" },
		{ "(a", "column 3: the formula ends too early" },
		{ "a b", "column 3: unexpected b" },
		{ "a)", "column 2: unexpected )" },
		{ "a = b ? 1 : 2", "column 3: unexpected =: write == to compare" },
		{ "a & b", "column 3: unexpected &: write && or and" },
		{ "a | b", "column 6: the formula ends too early" },
		{ "a | 1",
			"column 5: | gives what is before it to a function, as in [a, b] | max(); write || or \"or\" "
			"for one of two conditions" },
		{ "a @ b", "column 3: unexpected character @" },
		{ "a not b", "column 7: unexpected b" },
		{ "a; b", "column 2: unexpected ;" },
		{ "\"a\"", "column 1: texts in quotes are not supported: a formula is about numbers" },
		{ "a contains b", "column 3: contains is for texts, which a formula here cannot have" },
		{ "a.b",
			"column 2: members (a.b) are not supported: a trigger's name in a formula is made of letters, "
			"digits and _" },
		{ "a ?.5 : 1",
			"column 3: members (a.b) are not supported: a trigger's name in a formula is made of letters, "
			"digits and _" },
		{ "{a: 1}", "column 1: maps ({a: 1}) are not supported" },
		{ "[1, 2][0:1]", "column 9: slices (a[1:2]) are not supported" },
		{ "a /* b", "column 3: this comment does not end: */ is missing" },
		{ "1abc", "column 1: 1a is not a number, and a name begins with a letter" },
		{ "1e", "column 1: 1e is not a number" },
		{ "0x", "column 1: 0x is not a number" },
		{ "0x1.5", "column 1: 0x1.5 is not a number" },
		{ "1e999", "column 1: the number 1e999 is too large" },
		{ "9223372036854775808",
			"column 1: the integer 9223372036854775808 is too large: write 9223372036854775808.0" },
		{ "now()",
			"column 1: unknown function now (there are len min max abs ceil floor round int float sum mean "
			"median count any all none one filter map)" },
		{ "a(1)", "column 1: a is a trigger or variable here, not a function" },
		{ "max + 1", "column 1: max is a function: write max(...)" },
		{ "#", "column 1: # is an element of an array within a predicate, as in count([a, b], # > 1)" },
		{ "map([a], #index)[0]", "column 10: #index is not supported, only # alone" },
		{ "let a = 1; a", "column 5: a exists already: choose another name" },
		{ "let x = 1; let x = 2; x", "column 16: x exists already: choose another name" },
		{ "let max = 1; max", "column 5: max is a function: choose another name" },
		{ "let x = 1", "column 10: the formula ends too early" },
		{ "a ?? b + 1",
			"column 8: ?? and + cannot stand side by side: put one of them in parentheses, as in (a ?? b) "
			"+ c" },
		{ "a ?? b > 1 ? 1 : 2",
			"column 8: ?? and > cannot stand side by side: put one of them in parentheses, as in (a ?? b) "
			"+ c" },
		{ "a % 2", "column 3: % does not fit a float and an integer: it takes integers, so write int(...)" },
		{ "a > 0 ? int(a) % 0 : 1", "column 16: % by zero" },
		{ "sum(1..a)",
			"column 6: .. does not fit an integer and a float: it takes integers, so write int(...)" },
		{ "a + true", "column 3: + does not fit a float and true or false" },
		{ "nil + 1", "column 5: + does not fit nil and an integer" },
		{ "a == true ? 1 : 2", "column 3: == does not fit a float and true or false" },
		{ "1 < a < true ? 1 : 2", "column 7: < does not fit a float and true or false" },
		{ "a and b > 1 ? 1 : 2", "column 3: and does not fit a float and true or false" },
		{ "true in [1, 2] ? 1 : 2", "column 6: in does not fit true or false and an array" },
		{ "a in b ? 1 : 2", "column 3: in does not fit a float and a float" },
		{ "not a > 1 ? 1 : 2",
			"column 1: not takes true or false, not a float: put what it is about in parentheses, as in "
			"not (a > 1)" },
		{ "-true", "column 1: - takes a number, not true or false" },
		{ "a ? 1 : 2", "column 3: the condition must be true or false, not a float: compare it, as in a > 0" },
		{ "if nil { 1 } else { 2 }", "column 1: the condition must be true or false, not nil" },
		{ "if a > 1 { 1 }", "column 15: the formula ends too early" },
		{ "a[0]", "column 2: [] takes an element of an array, not of a float" },
		{ "[a, b][c]", "column 7: an array's index must be an integer, not a float: write int(...)" },
		{ "[1][true]", "column 4: an array's index must be an integer, not true or false" },
		{ "len(a)", "column 5: len takes an array, not a float" },
		{ "abs(true)", "column 5: abs takes a number, not true or false" },
		{ "abs()", "column 1: abs needs one argument" },
		{ "abs(a, b)", "column 8: abs takes one argument: ) is missing here" },
		{ "max()", "column 1: max needs numbers or an array of them, as in max(a, b)" },
		{ "max(a, nil)", "column 8: max takes numbers and arrays of them, not nil" },
		{ "count()", "column 1: count needs an array, as in count([a, b], # > 1)" },
		{ "any([a])", "column 1: any needs a predicate, as in any([a, b], # > 1)" },
		{ "sum(a)", "column 5: sum takes an array, not a float: put it in [ ]" },
		{ "count([a], #)", "column 12: the predicate of count must give true or false, not a float" },
		{ "map([a], nil)", "column 10: the predicate of map gives nil" },
		{ "count([a], # > 1; true)", "column 17: put a predicate of several parts in braces: { ... }" },
		{ "a > 1", "the formula gives true or false: it must give a number" },
		{ "float(a) > 1", "the formula gives true or false: it must give a number" },
		{ "[a]", "the formula gives an array: it must give a number" },
		{ "nil", "the formula gives nil: it must give a number" },
		{ "nil ?? nil", "the formula gives nil: it must give a number" },
		{ "a +\n  bb",
			"line 2, column 3: unknown name \"bb\" (the triggers are a, b, c, trig_one and trig-two)" },
		{ "\xC3\xA4 + 1",
			"column 1: unknown name \"\xC3\xA4\" (the triggers are a, b, c, trig_one and trig-two)" },
		{ "a + \xC3\xA4 + \xC3\xA4 + @",
			"column 5: unknown name \"\xC3\xA4\" (the triggers are a, b, c, trig_one and trig-two)" },
		{ "a /* \xC3\xA4 */ + bb",
			"column 13: unknown name \"bb\" (the triggers are a, b, c, trig_one and trig-two)" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_refused(cases[i].text, cases[i].message);
}

/*
 * KEDA runs a formula once with -1 everywhere before it accepts it; a division by zero then is not
 * a reason to refuse.
 */
static void test_trial(void **state)
{
	struct formula_value out;
	struct formula *f;

	(void)state;
	check_refused("[a, b][int(a) - 2]",
		"tried with -1 for each trigger: column 7: index -3 is out of range: the array has 2 elements");
	check_refused("5 % int(a + 1)", "tried with -1 for each trigger: column 3: % by zero");
	check_refused("max([])",
		"tried with -1 for each trigger: the result is nil: it must be a number (write a ?? b to say what "
		"takes the place of a trigger that has no value)");
	check_refused("a > 0 ? 1 : (b < 0 ? true : 1)",
		"tried with -1 for each trigger: the result is true or false: it must be a number");
	check_refused("count(1..900000, # > 1)", "tried with -1 for each trigger: column 1: more than 100000 steps");
	check_number("1 / (a + 1)", 1 / 6.5);
	f = compiled("int(b / (a + 1))");
	assert_int_equal(evaluate(f, (struct formula_value)IS(1), (struct formula_value)IS(4),
				 (struct formula_value)IS(1), &out, NULL),
		0);
	assert_true(!out.nil && out.number == 2);
	formula_free(f);
}

static char *repeated(const char *before, const char *part, size_t times, const char *after)
{
	struct buf text = BUF_INIT(1 << 20);

	buf_puts(&text, before);
	for (size_t i = 0; i < times; i++)
		buf_puts(&text, part);
	buf_puts(&text, after);
	return buf_take(&text);
}

static void check_long(const char *before, const char *part, size_t times, const char *after, const char *message)
{
	MEM_AUTO char *text = repeated(before, part, times, after);

	if (message != NULL)
		check_refused(text, message);
	else
		formula_free(compiled(text));
}

static void test_limits(void **state)
{
	static const char *many[FORMULA_VARIABLES_MAX + 1];
	struct err err = { 0 };

	(void)state;
	check_long("a", "+a", 8191, "", NULL);
	check_long("a", "+a", 8192, "", "the formula is longer than 16384 bytes");
	check_long("", "(", 199, "a", "column 201: the formula ends too early");
	check_long("", "(", 16000, "a", "column 201: more than 200 levels within one another");
	check_long("", "-", 16000, "a", "column 201: more than 200 levels within one another");
	check_long("sum([a", ",a", 1000, "])", NULL);
	check_long("max([a", ",a", 2500, "])", "the formula has more than 2048 values at a time");
	check_long("", "map([1],", 17, "1", "column 129: more than 16 predicates within one another");
	check_long("0.", "1", 130, "", "column 1: the number 0.11111111111111111111111111111111111111... is too long");
	for (size_t i = 0; i <= FORMULA_VARIABLES_MAX; i++)
		many[i] = "x";
	formula_free(formula_compile("x", many, FORMULA_VARIABLES_MAX, &err));
	assert_int_equal(err.kind, ERR_NONE);
	assert_null(formula_compile("x", many, FORMULA_VARIABLES_MAX + 1, &err));
	assert_string_equal(err.msg, "more than 1000 triggers with a name: a formula cannot have so many");
	assert_null(formula_compile("y", NULL, 0, &err));
	assert_string_equal(err.msg, "column 1: unknown name \"y\" (the triggers are without names)");
	formula_free(NULL);
}

/* Counted: comparisons of words with the formula's text. */
static unsigned compared;

bool __real_formula_lex_is(const struct formula_token *token, const char *word);
bool __wrap_formula_lex_is(const struct formula_token *token, const char *word);
bool __wrap_formula_lex_is(const struct formula_token *token, const char *word)
{
	compared++;
	return __real_formula_lex_is(token, word);
}

/*
 * A thousand names, each used once: not each compared with each. Of equal names the first counts.
 */
static void test_many_names(void **state)
{
	enum { MANY = 1000 };
	static char texts[MANY][16];
	struct formula_value values[MANY] = { 0 }, result;
	const char *many[MANY];
	struct buf text = BUF_INIT(1 << 16);
	struct err err = { 0 };
	struct formula *f;

	(void)state;
	for (int i = 0; i < MANY; i++) {
		snprintf(texts[i], sizeof(texts[i]), "t%d", i % 999 * 7919 % 999);
		many[i] = texts[i];
		values[i].number = i;
	}
	buf_puts(&text, "0");
	for (int i = 0; i < 999; i++)
		buf_printf(&text, "+t%d", i);
	compared = 0;
	f = formula_compile(buf_text(&text), many, MANY, &err);
	assert_string_equal(err.msg, "");
	assert_in_range(compared, 999, 50 * 999);
	assert_int_equal(formula_evaluate(f, values, &result, &err), 0);
	assert_true(result.number == 998.0 * 999 / 2);
	formula_free(f);
	buf_done(&text);
}

static void test_many_locals(void **state)
{
	struct buf text = BUF_INIT(1 << 16);

	(void)state;
	for (int i = 0; i < 128; i++)
		buf_printf(&text, "let x%d = %d; ", i, i);
	buf_puts(&text, "x127 + x1");
	check_number(buf_text(&text), 128);
	buf_reset(&text);
	for (int i = 0; i < 129; i++)
		buf_printf(&text, "let x%d = %d; ", i, i);
	buf_puts(&text, "x127 + x1");
	check_refused(buf_text(&text), "column 1833: more than 128 let and chained comparisons within one another");
	buf_done(&text);
}

/* A list of names is cut in the message. */
static void test_long_names(void **state)
{
	const char *names_[8];
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < 8; i++)
		names_[i] = "a23456789012345678901234567890123456789012345678901234567890123";
	assert_null(formula_compile("x", names_, 8, &err));
	assert_string_equal(err.msg,
		"column 1: unknown name \"x\" (the triggers are "
		"a23456789012345678901234567890123456789012345678901234567890123, "
		"a23456789012345678901234567890123456789012345678901234567890123, "
		"a23456789012345678901234567890123456789012345678901234567890123, ...)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arithmetic),
		cmocka_unit_test(test_literals),
		cmocka_unit_test(test_comparison_and_logic),
		cmocka_unit_test(test_arrays),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_predicates),
		cmocka_unit_test(test_let),
		cmocka_unit_test(test_coalescing),
		cmocka_unit_test(test_evaluation_fails),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_trial),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_many_names),
		cmocka_unit_test(test_many_locals),
		cmocka_unit_test(test_long_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
