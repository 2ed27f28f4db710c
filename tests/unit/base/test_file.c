/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"

static char folder[] = "/tmp/test_file.XXXXXX";

static char *made(const char *name, size_t len)
{
	char *path = mem_printf("%s/%s", folder, name);
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	for (size_t i = 0; i < len; i++)
		putc("abc"[i % 3], f);
	assert_int_equal(fclose(f), 0);
	return path;
}

static void read_whole_up_to_the_cap(void **state)
{
	static const size_t lens[] = { 0, 1, 4096, 40000 };

	(void)state;
	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		MEM_AUTO char *path = made("file", lens[i]);

		for (int kind = FILE_REGULAR; kind <= FILE_ANY; kind++) {
			struct buf exact = BUF_INIT(lens[i]), small = BUF_INIT(lens[i] > 0 ? lens[i] - 1 : 0);
			struct stat st;
			struct err err;

			assert_int_equal(file_read(path, (enum file_kind)kind, &st, &exact, &err), 0);
			assert_int_equal(exact.len, lens[i]);
			assert_int_equal(st.st_size, lens[i]);
			for (size_t at = 0; at < lens[i]; at++)
				assert_int_equal(exact.data[at], "abc"[at % 3]);
			buf_done(&exact);
			if (lens[i] == 0)
				continue;
			assert_int_equal(file_read(path, (enum file_kind)kind, NULL, &small, &err), -1);
			assert_int_equal(err.kind, ERR_INVALID);
			assert_non_null(strstr(err.msg, "longer than"));
			buf_done(&small);
		}
		unlink(path);
	}
}

static void other_things_than_files(void **state)
{
	MEM_AUTO char *none = mem_printf("%s/none", folder), *fifo = mem_printf("%s/fifo", folder),
		      *file = made("file", 3), *below = mem_printf("%s/below", file);
	const struct {
		const char *path;
		enum err_kind kind;
		const char *message;
		bool there;
	} rows[] = {
		{ none, ERR_MISSING, "No such file", false },
		{ below, ERR_MISSING, "Not a directory", false },
		{ folder, ERR_INVALID, "not a regular file", true },
		{ fifo, ERR_INVALID, "not a regular file", true },
	};

	(void)state;
	assert_int_equal(mkfifo(fifo, 0600), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf out = BUF_INIT(100);
		struct stat st;
		struct err err;

		assert_int_equal(file_read(rows[i].path, FILE_REGULAR, &st, &out, &err), -1);
		assert_int_equal(err.kind, rows[i].kind);
		assert_non_null(strstr(err.msg, rows[i].message));
		assert_int_equal(st.st_mode != 0, rows[i].there);
		assert_int_equal(out.len, 0);
		buf_done(&out);
	}
	unlink(fifo);
	unlink(file);
}

static void pipes_when_they_are_wanted(void **state)
{
	struct buf out = BUF_INIT(100);
	struct err err;
	char path[64];
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "one", 3), 3);
	assert_int_equal(close(ends[1]), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
	assert_int_equal(file_read(path, FILE_ANY, NULL, &out, &err), 0);
	assert_string_equal(buf_text(&out), "one");
	close(ends[0]);
	buf_done(&out);
}

/* root/in, root/sub/in, root/up -> ../out, root/to -> sub, and out beside the root. */
static void paths_out_of_a_folder(void **state)
{
	MEM_AUTO char *root = mem_printf("%s/root", folder), *sub = mem_printf("%s/sub", root),
		      *up = mem_printf("%s/up", root), *to = mem_printf("%s/to", root),
		      *away = mem_printf("%s/away", root), *like = mem_printf("%s/root-like", folder), *in, *deep, *out,
		      *beside;
	const struct {
		const char *path, *found; /* below the root; NULL: none */
	} rows[] = {
		{ "in", "in" },
		{ "./in", "in" },
		{ "sub/in", "sub/in" },
		{ "sub/../in", "in" },
		{ "to/in", "sub/in" },
		{ NULL, "in" }, /* by its whole path */
		{ "none", NULL },
		{ "", NULL },
		{ ".", NULL },
		{ "..", NULL },
		{ "../out", NULL },
		{ "sub/../../out", NULL },
		{ "up", NULL },
		{ "away/hosts", NULL },
		{ "../root-like/in", NULL },
		{ "/etc/hosts", NULL },
		{ "/", NULL },
	};
	struct err err;

	(void)state;
	assert_int_equal(mkdir(root, 0700) | mkdir(sub, 0700) | mkdir(like, 0700), 0);
	assert_int_equal(symlink("../out", up) | symlink("sub", to) | symlink("/etc", away), 0);
	in = made("root/in", 1);
	deep = made("root/sub/in", 1);
	out = made("out", 1);
	beside = made("root-like/in", 1);
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		MEM_AUTO char *got = file_beneath(root, rows[i].path ? rows[i].path : in, &err);
		MEM_AUTO char *wanted = mem_printf("%s/%s", root, rows[i].found ? rows[i].found : "");

		if (rows[i].found) {
			assert_non_null(got);
			assert_string_equal(got, wanted);
		} else {
			assert_null(got);
			assert_int_equal(err.kind, ERR_INVALID);
		}
	}
	assert_null(file_beneath(away + strlen(folder) + 1, "in", &err)); /* a root that is not there */
	unlink(in), unlink(deep), unlink(out), unlink(beside), unlink(up), unlink(to), unlink(away);
	assert_int_equal(rmdir(sub) | rmdir(root) | rmdir(like), 0);
}

static int listed(const char *name)
{
	MEM_AUTO char *path = mem_printf("%s/%s", folder, name);

	return access(path, F_OK) == 0;
}

static void replaced_whole_or_not_at_all(void **state)
{
	MEM_AUTO char *path = mem_printf("%s/token", folder), *left = mem_printf("%s.new", path),
		      *nowhere = mem_printf("%s/none/token", folder);
	struct buf text = BUF_INIT(100);
	struct stat st;
	struct err err;

	(void)state;
	assert_int_equal(file_replace(path, "first", 5, &err), 0);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(symlink("/etc/hosts", left), 0); /* a trap set by another user, or left by a crash */
	assert_int_equal(file_replace(path, "second", 6, &err), 0);
	assert_int_equal(file_read(path, FILE_REGULAR, &st, &text, &err), 0);
	assert_string_equal(buf_text(&text), "second");
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_false(listed("token.new"));
	buf_done(&text);
	assert_int_equal(file_replace(nowhere, "x", 1, &err), -1);
	assert_string_equal(err.msg, "No such file or directory");
	unlink(path);
	assert_int_equal(mkdir(path, 0700),
		0); /* a path that cannot be renamed over stays, and no other file is left */
	assert_int_equal(file_replace(path, "x", 1, &err), -1);
	assert_false(listed("token.new"));
	assert_int_equal(rmdir(path), 0);
}

static void folders(void **state)
{
	static const char *const rows[][2] = { { "/a/b", "/a" }, { "/a/b/", "/a/b" }, { "/b", "/" }, { "b", "." },
		{ "a/b", "a" }, { "", "." } };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		MEM_AUTO char *folder_of = file_folder(rows[i][0]);

		assert_string_equal(folder_of, rows[i][1]);
	}
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_whole_up_to_the_cap),
		cmocka_unit_test(other_things_than_files),
		cmocka_unit_test(paths_out_of_a_folder),
		cmocka_unit_test(replaced_whole_or_not_at_all),
		cmocka_unit_test(pipes_when_they_are_wanted),
		cmocka_unit_test(folders),
	};

	if (!mkdtemp(folder))
		return 1;
	return cmocka_run_group_tests(tests, NULL, remove_folder);
}
