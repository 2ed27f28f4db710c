/* SPDX-License-Identifier: Apache-2.0 */
#include "base/zonefile.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <utlist.h>

#include "base/file.h"
#include "base/mem.h"

#define NAME_MAX_LEN 127

/* A zone with its reference count. They are few, so a list suffices. */
struct held_zone {
	struct held_zone *prev, *next;
	char *name;
	struct zone *zone;
	size_t count;
};

static struct held_zone *all;

static const char *directory(void)
{
	const char *given = getenv("TZDIR");

	return given && *given ? given : "/usr/share/zoneinfo";
}

/* No dots, so that a name cannot lead out of the directory. */
static bool is_name(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len <= NAME_MAX_LEN && name[0] != '/' && name[len - 1] != '/' && !strstr(name, "//") &&
		strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-/") == len;
}

static bool is_installed(void)
{
	MEM_AUTO char *utc = mem_printf("%s/UTC", directory());

	return access(utc, F_OK) == 0;
}

/*
 * Since Debian 13 and Ubuntu 24.04 the names from before Continent/City are in a package of their
 * own.
 */
static const char *lacks_old_names(void)
{
	MEM_AUTO char *eastern = mem_printf("%s/US/Eastern", directory());

	return access(eastern, F_OK) == 0
		? ""
		: "; old names, like US/Eastern, CET and Asia/Calcutta, are in the package tzdata-legacy";
}

static int tell_unknown(const char *name, struct err *err)
{
	if (!is_installed())
		return err_set(err, ERR_INVALID,
			"time zone \"%s\": there is no time zone database in %s: install the package tzdata where "
			"kscaled runs",
			name, directory());
	return err_set(err, ERR_INVALID,
		"unknown time zone \"%s\": the time zone database in %s has none of that name (names are as in "
		"Europe/Berlin, upper and lower case matter%s)",
		name, directory(), lacks_old_names());
}

static struct zone *load(const char *name, struct err *err)
{
	MEM_AUTO char *path = mem_printf("%s/%s", directory(), name);
	struct buf bytes = BUF_INIT(ZONE_BYTES_MAX);
	struct zone *z = NULL;
	struct err why;
	struct stat st;
	int failed = file_read(path, FILE_REGULAR, &st, &bytes, &why);

	if (failed && (why.kind == ERR_MISSING || (st.st_mode && !S_ISREG(st.st_mode)) || !is_installed())) {
		tell_unknown(name, err);
	} else if (failed) {
		err_set(err, ERR_INVALID, "time zone \"%s\": %s cannot be read: %s", name, path, why.msg);
	} else {
		z = zone_parse((const uint8_t *)bytes.data, bytes.len, err);
		if (!z)
			err_wrap(err, "time zone \"%s\": %s", name, path);
	}
	buf_done(&bytes);
	return z;
}

static struct held_zone *held_zone_of(const char *name)
{
	struct held_zone *h;

	DL_FOREACH (all, h)
		if (strcmp(h->name, name) == 0)
			return h;
	return NULL;
}

const struct zone *zonefile_get(const char *name, struct err *err)
{
	struct held_zone *h = held_zone_of(name);
	struct zone *z;

	if (h) {
		h->count++;
		return h->zone;
	}
	if (!is_name(name)) {
		err_set(err, ERR_INVALID,
			"\"%.128s\" cannot be the name of a time zone (names are as in Europe/Berlin)", name);
		return NULL;
	}
	z = strcmp(name, "UTC") == 0 ? zone_utc() : load(name, err);
	if (!z)
		return NULL;
	h = mem_zalloc(sizeof(*h));
	h->name = mem_dup(name);
	h->zone = z;
	h->count = 1;
	DL_APPEND(all, h);
	return z;
}

void zonefile_put(const struct zone *z)
{
	struct held_zone *h;

	DL_FOREACH (all, h)
		if (h->zone == z)
			break;
	if (!h || --h->count > 0)
		return;
	DL_DELETE(all, h);
	zone_free(h->zone);
	free(h->name);
	free(h);
}
