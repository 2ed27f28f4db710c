/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/files.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/fingerprint.h"
#include "base/mem.h"

static uint64_t stamp_of(const struct stat *st)
{
	uint64_t parts[5] = { (uint64_t)st->st_dev, (uint64_t)st->st_ino, (uint64_t)st->st_size,
		(uint64_t)st->st_mtim.tv_sec, (uint64_t)st->st_mtim.tv_nsec };
	uint64_t stamp = fingerprint_fast(parts, sizeof parts);

	return stamp ? stamp : 1;
}

uint64_t files_stamp(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? stamp_of(&st) : 0;
}

static void remember(struct files *f, const char *path, uint64_t stamp)
{
	for (size_t i = 0; i < f->count; i++)
		if (strcmp(f->entries[i].path, path) == 0)
			return;
	f->entries = mem_resize(f->entries, f->count + 1, sizeof *f->entries);
	f->entries[f->count].path = mem_dup(path);
	f->entries[f->count].stamp = stamp;
	f->count++;
}

int files_read(struct files *f, const char *path, size_t cap, char **text, size_t *len, struct err *err)
{
	struct buf out = BUF_INIT(cap);
	struct stat st;
	int failed = file_read(path, FILE_REGULAR, &st, &out, err);

	remember(f, path, st.st_mode ? stamp_of(&st) : 0);
	if (failed) {
		buf_done_secret(&out);
		return err_wrap(err, "%s", path);
	}
	*len = out.len;
	*text = buf_take(&out);
	return 0;
}

int files_read_beneath(struct files *f, const char *root, const char *path, size_t cap, char **text, size_t *len,
	struct err *err)
{
	MEM_AUTO char *named = *path == '/' ? mem_dup(path) : mem_printf("%s/%s", root, path);
	MEM_AUTO char *found = file_beneath(root, path, err);
	struct buf out = BUF_INIT(cap);

	remember(f, named, files_stamp(named));
	if (!found || file_read(found, FILE_REGULAR, NULL, &out, err)) {
		buf_done_secret(&out);
		return err_wrap(err, "%s", named);
	}
	*len = out.len;
	*text = buf_take(&out);
	return 0;
}

bool files_changed(const struct files *f)
{
	for (size_t i = 0; i < f->count; i++)
		if (files_stamp(f->entries[i].path) != f->entries[i].stamp)
			return true;
	return false;
}

void files_done(struct files *f)
{
	for (size_t i = 0; i < f->count; i++)
		free(f->entries[i].path);
	free(f->entries);
	*f = (struct files){ NULL, 0 };
}
