/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often a second a formula is evaluated on one core: the slowest of a few that users write. One
 * number.
 *
 *   formula [SECONDS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "decide/formula/formula.h"

#define ROUND 100000

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double per_second(const char *text, double seconds)
{
	static const char *const names[] = { "a", "b", "c" };
	struct formula_value values[] = { { false, 1 }, { false, 2 }, { false, 3.5 } }, out;
	struct err err;
	struct formula *f = formula_compile(text, names, 3, &err);
	double sum = 0, begin, took = 0;
	long count = 0;

	if (f == NULL) {
		fprintf(stderr, "%s: %s\n", text, err.msg);
		exit(1);
	}
	begin = now_s();
	while (took < seconds) {
		for (int i = 0; i < ROUND; i++) {
			values[0].number = i % 10;
			if (formula_evaluate(f, values, &out, &err) < 0) {
				fprintf(stderr, "%s: %s\n", text, err.msg);
				exit(1);
			}
			sum += out.number;
		}
		count += ROUND;
		took = now_s() - begin;
	}
	formula_free(f);
	fprintf(stderr, "%12.0f/s  %s  (%g)\n", (double)count / took, text, sum);
	return (double)count / took;
}

int main(int argc, char **argv)
{
	static const char *const formulas[] = {
		"(a + b) * 2 > 10 ? a : b",
		"a ?? b ?? 5",
		"max([a, b, c])",
		"count([a, b, c], {# > 1}) > 1 ? 5 : 0",
		"let x = a + b; x > 10 ? 10 : round(x / 3)",
	};
	double seconds = argc > 1 ? atof(argv[1]) : 1, slowest = 0;

	for (size_t i = 0; i < sizeof(formulas) / sizeof(formulas[0]); i++) {
		double rate = per_second(formulas[i], seconds);
		slowest = i == 0 || rate < slowest ? rate : slowest;
	}
	printf("%.0f\n", slowest);
	return 0;
}
