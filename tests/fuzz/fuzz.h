/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

/*
 * What every fuzz target defines (libFuzzer's entry point) and what it says things with: must()
 * stops the program when what should always hold does not.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Before the first input, where a target has it (tests/fuzz/alone.c). argc NULL: of replay.c. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define must(condition)                                                                                                \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			abort();                                                                                       \
	} while (0)

#endif
