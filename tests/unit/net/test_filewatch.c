/* SPDX-License-Identifier: Apache-2.0 */
#include "net/filewatch.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "fixture.h"

static char folder[] = "/tmp/test_filewatch.XXXXXX";
static unsigned told;

static void on_change(void *arg)
{
	(void)arg;
	told++;
}

static char *in(const char *name)
{
	return mem_printf("%s/%s", folder, name);
}

static void put(const char *name)
{
	MEM_AUTO char *path = in(name);
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs("x", f);
	assert_int_equal(fclose(f), 0);
}

static void move(const char *from, const char *to)
{
	MEM_AUTO char *old = in(from), *new = in(to);

	assert_int_equal(rename(old, new), 0);
}

static void each_kind_of_change_is_reported_once(void **state)
{
	struct fixture *f = *state;
	MEM_AUTO char *config = in("config"), *link_path = in("link/token"), *data = in("link/..data"),
		      *data_new = in("link/..data_tmp");
	struct filewatch *w = filewatch_new(f->loop, on_change, NULL);

	assert_non_null(w);
	put("config");
	assert_true(filewatch_add(w, config));
	assert_true(filewatch_add(w, config));
	fixture_linger(f, 300);
	assert_int_equal(told, 0);
	put("config"); /* written over */
	UNTIL(f, told == 1);
	put("new");
	move("new", "config");
	UNTIL(f, told == 2);
	fixture_linger(f, 300);
	assert_int_equal(told, 2);
	/* As the kubelet does it. */
	assert_int_equal(symlink("..data/token", link_path) | symlink("1", data), 0);
	put("link/1/token");
	put("link/2/token");
	assert_true(filewatch_add(w, link_path));
	assert_int_equal(symlink("2", data_new), 0);
	move("link/..data_tmp", "link/..data");
	UNTIL(f, told == 3);
	filewatch_free(w);
	put("config");
	fixture_linger(f, 300);
	assert_int_equal(told, 3);
}

static void unwatchable_files(void **state)
{
	struct fixture *f = *state;
	MEM_AUTO char *missing = in("missing/config");
	struct filewatch *w = filewatch_new(f->loop, on_change, NULL);

	assert_false(filewatch_add(w, missing));
	filewatch_free(w);
	filewatch_free(NULL);
}

static int setup(void **state)
{
	static const char *const folders[] = { "link", "link/1", "link/2" };

	if (!mkdtemp(folder))
		return -1;
	for (size_t i = 0; i < MEM_COUNT(folders); i++) {
		MEM_AUTO char *path = in(folders[i]);

		if (mkdir(path, 0700))
			return -1;
	}
	return fixture_setup(state);
}

static int teardown(void **state)
{
	MEM_AUTO char *command = mem_printf("rm -rf '%s'", folder);

	return fixture_teardown(state) || system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_of_change_is_reported_once),
		cmocka_unit_test(unwatchable_files),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
