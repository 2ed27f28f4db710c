/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Stands in for libFuzzer in ordinary builds: gives each file of the target's corpus
 * ($srcdir/tests/fuzz/corpus/<name>, or the files named) to the target and says so in TAP. A target
 * that crashes ends the program, which the test driver counts.
 */

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

/* The bytes in a block of just their size, so that sanitizers see a step too far. */
static bool run_file(const char *path)
{
	struct stat status;
	FILE *file = fopen(path, "rb");

	if (file == NULL || fstat(fileno(file), &status) < 0 || !S_ISREG(status.st_mode)) {
		if (file != NULL)
			fclose(file);
		return false;
	}
	size_t size = (size_t)status.st_size;
	uint8_t *data = malloc(size > 0 ? size : 1);
	size_t got = data != NULL ? fread(data, 1, size, file) : 0;
	fclose(file);
	if (data != NULL && got == size)
		LLVMFuzzerTestOneInput(data, size);
	free(data);
	return data != NULL && got == size;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int replay(const char *folder)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_visible, alphasort);
	int failed = 0;

	if (count <= 0) {
		printf("Bail out! no corpus in %s\n", folder);
		return 1;
	}
	printf("1..%d\n", count);
	for (int i = 0; i < count; i++) {
		char *path = NULL;
		fflush(stdout);
		bool good = asprintf(&path, "%s/%s", folder, entries[i]->d_name) > 0 && run_file(path);
		free(path);
		printf("%sok %d - %s\n", good ? "" : "not ", i + 1, entries[i]->d_name);
		failed += good ? 0 : 1;
		free(entries[i]);
	}
	free(entries);
	return failed > 0 ? 1 : 0;
}

#pragma weak LLVMFuzzerInitialize

int main(int argc, char **argv)
{
	char *folder = NULL;
	const char *top = getenv("srcdir");
	const char *name = strrchr(argv[0], '/');

	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(NULL, NULL);
	for (int i = 1; i < argc; i++)
		if (!run_file(argv[i]))
			return 1;
	if (argc > 1)
		return 0;
	name = name != NULL ? name + 1 : argv[0];
	name += strncmp(name, "fuzz_", 5) == 0 ? 5 : 0;
	if (asprintf(&folder, "%s/tests/fuzz/corpus/%s", top != NULL ? top : ".", name) < 0)
		return 1;
	int status = replay(folder);
	free(folder);
	return status;
}
