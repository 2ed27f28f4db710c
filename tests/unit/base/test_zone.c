/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time zones: the system's files read as the C library reads them, files that are none, rules,
 * names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/zonefile.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The C library knows one zone at a time: that of the process. */
static void agrees_with_the_c_library(void **state)
{
	static const char *const names[] = {
		"Europe/Berlin",
		"America/New_York",
		"Australia/Lord_Howe",
		"Asia/Kolkata",
		"Pacific/Apia",
		"Africa/Casablanca",
		"Asia/Tehran",
		"Europe/Dublin",
		"America/St_Johns",
		"Pacific/Chatham",
		"America/Sao_Paulo",
		"Africa/Cairo",
		"Etc/GMT-14",
		"UTC",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		struct err err = { 0 };
		const struct zone *z = zonefile_get(names[i], &err);

		if (!z)
			fail_msg("%s", err.msg);
		setenv("TZ", names[i], 1);
		tzset();
		/* As far as its time_t goes. */
		for (int64_t s = -2000000000; s < 4200000000 && (time_t)s == s; s += 86400 * 3 + 12345) {
			struct zone_period p = zone_period(z, s);
			time_t t = (time_t)s;
			struct tm local;

			localtime_r(&t, &local);
			if (p.offset_s != local.tm_gmtoff)
				fail_msg("%s at %lld: %d, not %ld", names[i], (long long)s, p.offset_s,
					local.tm_gmtoff);
			assert_true(p.from_s <= s && s < p.until_s);
		}
		zonefile_put(z);
	}
	unsetenv("TZ");
	tzset();
}

/* Stretches lie side by side, each with one offset. */
static void periods_are_seamless(void **state)
{
	const struct zone *z = zonefile_get("Europe/Berlin", NULL);
	struct zone_period p = zone_period(z, 0);

	(void)state;
	assert_non_null(z);
	for (int i = 0; i < 400; i++) {
		struct zone_period next = zone_period(z, p.until_s);

		assert_true(next.from_s == p.until_s && next.until_s > next.from_s);
		assert_true(zone_period(z, next.from_s - 1).offset_s == p.offset_s &&
			zone_period(z, next.until_s - 1).offset_s == next.offset_s);
		p = next;
	}
	assert_true(p.from_s > INT64_C(5900000000)); /* 2157: by the rule */
	assert_true(zone_period(z, INT64_MAX).until_s == INT64_MAX || zone_period(z, INT64_MAX).offset_s >= 3600);
	assert_true(zone_period(z, INT64_MIN).from_s == INT64_MIN);
	zonefile_put(z);
}

/* ---- Rules ---- */

static void rules(void **state)
{
	static const struct {
		const char *rule;
		int64_t at_s;
		int32_t offset_s;
	} rows[] = {
		{ "CET-1CEST,M3.5.0,M10.5.0/3", 1774746000 - 1, 3600 },
		{ "CET-1CEST,M3.5.0,M10.5.0/3", 1774746000, 7200 },
		{ "CET-1CEST,M3.5.0,M10.5.0/3", 1792890000 - 1, 7200 },
		{ "CET-1CEST,M3.5.0,M10.5.0/3", 1792890000, 3600 },
		{ "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 1775314800, 37800 },
		{ "IST-5:30", 0, 19800 },
		{ "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", 1774746000, -3600 },
		{ "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", 1774746000 - 1, -7200 },
		{ "XXX3EDT4,0/0,J365/23", 1774746000, -14400 },
		{ "XXX3EDT4,0/0,J365/23", 1767225600 + 3 * 3600, -14400 },
		{ "AAA0BBB,J60/0,J61/0", 1772323200, 3600 },
		{ "AAA0BBB,59/0,60/0", 1772323200, 3600 },
		{ "AAA0BBB,J60/0,J61/0", 1709251200, 3600 },
		{ "AAA0BBB,59/0,60/0", 1709251200, 0 },
	};
	static const char *const bad[] = { "", "A", "CET", "CET-", "CET-1CEST", "CET-1CEST,M3.5.0",
		"CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M1.1.0", "CET-1CEST,M3.5.7,M1.1.0", "CET-25", "<CET-1",
		"CET-1 ", "CET-1CEST,J0,J1", "CET-1CEST,366,1", "CET-1CEST,M3.5.0/168,M1.1.0", "CET-1:60",
		"CET-99999999999999999999" };
	struct zonerule r;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err = { 0 };

		if (zonerule_parse(rows[i].rule, strlen(rows[i].rule), &r, &err))
			fail_msg("%s", err.msg);
		if (zonerule_period(&r, rows[i].at_s).offset_s != rows[i].offset_s)
			fail_msg("%zu: %s at %lld: %d", i, rows[i].rule, (long long)rows[i].at_s,
				zonerule_period(&r, rows[i].at_s).offset_s);
	}
	for (size_t i = 0; i < COUNT(bad); i++)
		if (zonerule_parse(bad[i], strlen(bad[i]), &r, NULL) == 0)
			fail_msg("\"%s\" was accepted", bad[i]);
}

/* ---- Bytes that are no zone ---- */

static size_t read_zone(const char *name, unsigned char *bytes, size_t size)
{
	char path[256];
	FILE *f;
	size_t len;

	snprintf(path, sizeof(path), "/usr/share/zoneinfo/%s", name);
	f = fopen(path, "rb");
	if (!f)
		fail_msg("%s is missing: install tzdata", path);
	len = fread(bytes, 1, size, f);
	fclose(f);
	return len;
}

static void broken_files(void **state)
{
	unsigned char bytes[16384], broken[16384];
	size_t len = read_zone("America/New_York", bytes, sizeof(bytes));
	struct err err = { 0 };

	(void)state;
	for (size_t cut = 0; cut < len; cut++) {
		struct zone *z = zone_parse(bytes, cut, &err);

		if (z)
			fail_msg("accepted when cut to %zu of %zu bytes", cut, len);
		assert_int_equal(err.kind, ERR_INVALID);
	}
	/* Nonsense in any byte is refused or gives a zone that can be asked. */
	for (size_t i = 0; i < len; i++) {
		struct zone *z;

		memcpy(broken, bytes, len);
		broken[i] ^= 0xff;
		z = zone_parse(broken, len, &err);
		if (z) {
			struct zone_period p = zone_period(z, 1800000000);

			assert_true(p.from_s <= 1800000000 && p.until_s > 1800000000);
		}
		zone_free(z);
	}
}

/* Only the 32-bit part: version 1. */
static void first_version(void **state)
{
	static const unsigned char bytes[] = "TZif\0"
					     "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
					     "\0\0\0\0"
					     "\0\0\0\0"
					     "\0\0\0\0"
					     "\0\0\0\1"
					     "\0\0\0\2"
					     "\0\0\0\4"
					     "\0\0\1\0"
					     "\1"
					     "\0\0\0\0\0\0"
					     "\0\0\16\20\1\0"
					     "ABC";
	struct err err = { 0 };
	struct zone *z = zone_parse(bytes, sizeof(bytes), &err);

	(void)state;
	assert_non_null(z);
	assert_int_equal(zone_period(z, 255).offset_s, 0);
	assert_int_equal(zone_period(z, 256).offset_s, 3600);
	assert_true(zone_period(z, 256).until_s == INT64_MAX);
	zone_free(z);
}

/* ---- Names ---- */

static void names_that_are_none(void **state)
{
	static const struct {
		const char *name, *message;
	} rows[] = {
		{ "", "cannot be the name of a time zone" },
		{ "../../etc/passwd", "cannot be the name" },
		{ "/etc/localtime", "cannot be the name" },
		{ "Europe//Berlin", "cannot be the name" },
		{ "Europe/Berlin\n", "cannot be the name" },
		{ "Europe/Entenhausen", "unknown time zone \"Europe/Entenhausen\"" },
		{ "Europe", "unknown time zone \"Europe\"" },
		{ "europe/berlin", "upper and lower case matter" },
		{ "Europe/Berlin/x", "unknown time zone" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err = { 0 };

		assert_null(zonefile_get(rows[i].name, &err));
		assert_int_equal(err.kind, ERR_INVALID);
		if (!strstr(err.msg, rows[i].message))
			fail_msg("%s: said \"%s\"", rows[i].name, err.msg);
	}
}

/* Where the package with the old names may be missing, the message has its name. */
static void old_names_that_are_not_installed(void **state)
{
	static const char utc[] = "/UTC", eastern[] = "/US/Eastern", legacy[] = "are in the package tzdata-legacy";
	char directory[] = "/tmp/kscaled-zones-XXXXXX", path[64], folder[64];
	struct err err = { 0 };

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s%s", directory, utc);
	assert_int_equal(symlink("/usr/share/zoneinfo/UTC", path), 0);
	setenv("TZDIR", directory, 1);
	assert_null(zonefile_get("US/Eastern", &err));
	assert_non_null(strstr(err.msg, legacy));
	assert_null(zonefile_get("CET", &err));
	assert_non_null(strstr(err.msg, legacy));
	snprintf(folder, sizeof(folder), "%s/US", directory);
	assert_int_equal(mkdir(folder, 0700), 0);
	snprintf(path, sizeof(path), "%s%s", directory, eastern);
	assert_int_equal(symlink("/usr/share/zoneinfo/UTC", path), 0);
	assert_null(zonefile_get("Europe/Entenhausen", &err));
	assert_null(strstr(err.msg, legacy));
	unsetenv("TZDIR");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
	snprintf(path, sizeof(path), "%s%s", directory, utc);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(directory), 0);
}

static void shared_while_held(void **state)
{
	const struct zone *a = zonefile_get("Europe/Berlin", NULL), *b = zonefile_get("Europe/Berlin", NULL);

	(void)state;
	assert_ptr_equal(a, b);
	zonefile_put(a);
	assert_int_equal(zone_period(b, 1750000000).offset_s, 7200);
	zonefile_put(b);
	zonefile_put(NULL);
}

static void without_tzdata(void **state)
{
	char directory[] = "/tmp/test_zone-XXXXXX", path[64];
	const struct zone *z;
	struct err err = { 0 };
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(directory));
	setenv("TZDIR", directory, 1);
	assert_null(zonefile_get("Europe/Berlin", &err));
	assert_non_null(strstr(err.msg, "install the package tzdata"));
	z = zonefile_get("UTC", &err); /* needs none */
	assert_non_null(z);
	assert_int_equal(zone_period(z, 0).offset_s, 0);
	zonefile_put(z);
	snprintf(path, sizeof(path), "%s/Bad", directory);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("no zone", f);
	fclose(f);
	assert_null(zonefile_get("Bad", &err));
	assert_non_null(strstr(err.msg, "is not a time zone file"));
	unlink(path);
	rmdir(directory);
	unsetenv("TZDIR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_the_c_library),
		cmocka_unit_test(periods_are_seamless),
		cmocka_unit_test(rules),
		cmocka_unit_test(broken_files),
		cmocka_unit_test(first_version),
		cmocka_unit_test(names_that_are_none),
		cmocka_unit_test(old_names_that_are_not_installed),
		cmocka_unit_test(shared_while_held),
		cmocka_unit_test(without_tzdata),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
