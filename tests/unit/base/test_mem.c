/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

static void nothing_is_still_something(void **state)
{
	(void)state;
	void *blocks[] = { mem_alloc(0), mem_zalloc(0), mem_array(0, 8), mem_array(8, 0), mem_resize(NULL, 0, 8) };

	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		assert_non_null(blocks[i]);
		free(blocks[i]);
	}
}

static void arrays_are_zeroed_and_grow(void **state)
{
	uint32_t *numbers = mem_array(100, sizeof(*numbers));

	(void)state;
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(numbers[i], 0);
	numbers[99] = 7;
	numbers = mem_resize(numbers, 1000, sizeof(*numbers));
	assert_int_equal(numbers[99], 7);
	free(numbers);
}

static void texts(void **state)
{
	(void)state;
	MEM_AUTO char *copy = mem_dup("text");
	MEM_AUTO char *piece = mem_dupn("a\0bc", 3);
	MEM_AUTO char *none = mem_dupn("", 0);
	MEM_AUTO char *printed = mem_printf("%s-%d", "s0", 12);

	assert_string_equal(copy, "text");
	assert_memory_equal(piece, "a\0b", 4);
	assert_string_equal(none, "");
	assert_string_equal(printed, "s0-12");
	assert_null(mem_dup(NULL));
}

static void frees_through_the_pointer(void **state)
{
	char *text = mem_dup("x");

	(void)state;
	mem_free_ptr(&text);
	assert_null(text);
	mem_free_ptr(&text);
	mem_free_secret(NULL);
	mem_wipe(NULL, 0);
}

static void wipes(void **state)
{
	char secret[] = "hunter2";

	(void)state;
	mem_wipe(secret, 4);
	assert_memory_equal(secret, "\0\0\0\0er2", 8);
}

/* In a child, because it must end the process. */
static int child_status(void (*fn)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		close(STDERR_FILENO);
		fn();
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void overflow_array(void)
{
	volatile size_t count = SIZE_MAX / 2;
	free(mem_array(count, 4));
}

static void overflow_resize(void)
{
	volatile size_t count = SIZE_MAX / 2;
	free(mem_resize(NULL, count, 4));
}

static void overflow_ends_the_process(void **state)
{
	(void)state;
	assert_int_not_equal(child_status(overflow_array), 0);
	assert_int_not_equal(child_status(overflow_resize), 0);
}

static void settling_keeps_used_memory(void **state)
{
	(void)state;
	mem_tune();
	char *big = mem_alloc((size_t)1 << 20);
	memset(big, 'x', (size_t)1 << 20);
	MEM_AUTO char *small = mem_dup("kept");
	free(big);
	mem_settle();
	assert_string_equal(small, "kept");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_still_something),
		cmocka_unit_test(arrays_are_zeroed_and_grow),
		cmocka_unit_test(texts),
		cmocka_unit_test(frees_through_the_pointer),
		cmocka_unit_test(wipes),
		cmocka_unit_test(overflow_ends_the_process),
		cmocka_unit_test(settling_keeps_used_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
