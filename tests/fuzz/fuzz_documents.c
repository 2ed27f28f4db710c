/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Manifests from strangers: whatever is read has lines inside the text, and is judged without a
 * fault of our own.
 */

#include <stdio.h>
#include <string.h>

#include "cli/check/checkobjects.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const paths[] = { "", "spec", "spec.triggers[0].metadata.listName",
		"metadata.annotations[a.b/c]", "[0][", "items[3]" };
	struct checkobjects_params params = { .namespace_ = "default",
		.rules = { .cluster_namespace = "kscaled" },
		.complete = size % 2 == 1,
		.verbose = true };
	struct documents *d = documents_new();
	FILE *out = fopen("/dev/null", "w");
	struct err err = { 0 };
	size_t lines = 1;

	must(out != NULL);
	if (documents_read(d, "f", (const char *)data, size, &err) < 0)
		must(err.kind == ERR_INVALID && strncmp(err.msg, "line ", 5) == 0);
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n' || data[i] == '\r' || data[i] == 0x85 || data[i] == 0xA8 ||
			data[i] == 0xA9; /* libyaml has five line ends */
	for (size_t i = 0; i < d->count; i++) {
		const struct document *doc = &d->list[i];

		must(doc->json != NULL && doc->line >= 1 && doc->line <= lines);
		for (size_t k = 0; k < sizeof(paths) / sizeof(paths[0]); k++)
			must(documents_line(doc, paths[k]) >= 1 && documents_line(doc, paths[k]) <= lines);
	}
	checkobjects_run(&params, d, out);
	documents_free(d);
	fclose(out);
	return 0;
}
