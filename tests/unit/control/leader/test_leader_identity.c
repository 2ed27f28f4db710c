/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "control/leader/leader.h"

static char *make_dir(void)
{
	char *dir = mem_dup("leader-test-XXXXXX");

	assert_non_null(mkdtemp(dir));
	return dir;
}

static void remove_dir(char *dir)
{
	MEM_AUTO char *file = mem_printf("%s/identity", dir);

	unlink(file);
	assert_int_equal(rmdir(dir), 0); /* nothing else was left there */
	free(dir);
}

static void identity_is_kept(void **state)
{
	char *dir = make_dir(), *warning, *a, *b;
	MEM_AUTO char *file = mem_printf("%s/identity", dir);
	struct stat st;

	(void)state;
	a = leader_identity(NULL, "pod-1", dir, &warning);
	assert_null(warning);
	assert_int_equal(strlen(a), strlen("pod-1_") + 16);
	assert_memory_equal(a, "pod-1_", 6);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	b = leader_identity("", "pod-1", dir, &warning);
	assert_string_equal(a, b);
	free(b);
	b = leader_identity("mine", "pod-1", dir, &warning);
	assert_string_equal(b, "mine");
	free(b);
	/* Another host with the same folder content has another name. */
	b = leader_identity(NULL, NULL, dir, &warning);
	assert_string_equal(strrchr(a, '_'), strrchr(b, '_'));
	assert_memory_not_equal(b, "pod-1_", 6);
	free(b);
	free(a);
	remove_dir(dir);
}

static void identity_file_that_is_broken_is_replaced(void **state)
{
	static const char *const contents[] = { "", "0123456789abcde", "0123456789abcdefg", "0123456789ABCDEF\n",
		"../../etc/passwd0", "0123456789abcdef\n\n" };

	(void)state;
	for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
		char *dir = make_dir(), *warning, *a, *b;
		MEM_AUTO char *file = mem_printf("%s/identity", dir);
		FILE *f = fopen(file, "w");

		fputs(contents[i], f);
		fclose(f);
		a = leader_identity(NULL, NULL, dir, &warning);
		assert_null(warning);
		b = leader_identity(NULL, NULL, dir, &warning);
		assert_string_equal(a, b);
		assert_int_equal(strspn(strrchr(a, '_') + 1, "0123456789abcdef"), 16);
		free(a);
		free(b);
		remove_dir(dir);
	}
}

static void identity_without_a_place_to_keep_it(void **state)
{
	char *warning, *a = leader_identity(NULL, NULL, "/proc/nowhere", &warning), *b;

	(void)state;
	assert_non_null(warning);
	assert_non_null(strstr(warning, "/proc/nowhere/identity"));
	free(warning);
	b = leader_identity(NULL, NULL, "/proc/nowhere", &warning);
	assert_string_not_equal(a, b);
	free(warning);
	free(a);
	free(b);
	a = leader_identity(NULL, NULL, NULL, &warning);
	assert_null(warning);
	free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identity_is_kept),
		cmocka_unit_test(identity_file_that_is_broken_is_replaced),
		cmocka_unit_test(identity_without_a_place_to_keep_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
