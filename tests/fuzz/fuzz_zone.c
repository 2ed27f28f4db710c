/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Time zones: bytes of a file, a rule, or the name that a trigger says. What is taken can be asked
 * about any time, and its stretches are seamless; a name leads nowhere but below the folder.
 */

#include <string.h>

#include "base/mem.h"
#include "base/zone.h"
#include "base/zonefile.h"
#include "fuzz.h"

static void walk(const struct zone *z)
{
	static const int64_t times[] = { INT64_MIN, -4000000000, 0, 1750000000, 4000000000, INT64_C(1) << 40,
		INT64_MAX };

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct zone_period p = zone_period(z, times[i]);

		must(p.offset_s > -200000 && p.offset_s < 200000);
	}
	for (int64_t t = 1000000000; t < 1100000000;) {
		struct zone_period p = zone_period(z, t);

		must(p.from_s <= t && t < p.until_s);
		if (p.until_s > 1100000000)
			break;
		t = p.until_s;
	}
}

static void check_name(const uint8_t *data, size_t size)
{
	MEM_AUTO char *name = mem_dupn((const char *)data, size);
	struct err err = { 0 };
	const struct zone *z = zonefile_get(name, &err);

	if (z)
		walk(z);
	must(z ? *name != '/' && !strstr(name, "..") : err.kind == ERR_INVALID && err.msg[0] != '\0');
	zonefile_put(z);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct zone *z = zone_parse(data, size, NULL);
	struct zonerule r;

	if (z)
		walk(z);
	zone_free(z);
	if (size < 200)
		check_name(data, size);
	if (size < 200 && zonerule_parse((const char *)data, size, &r, NULL) == 0) {
		struct zone_period p = zonerule_period(&r, 1750000000);

		must(p.from_s <= 1750000000 && 1750000000 < p.until_s);
	}
	return 0;
}
