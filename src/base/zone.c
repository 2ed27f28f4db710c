/* SPDX-License-Identifier: Apache-2.0 */
#include "base/zone.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define HEADER_SIZE  44
#define TYPE_SIZE    6
#define OFFSET_MAX_S (26 * 3600)

struct zone {
	size_t count;      /* of transitions */
	int64_t *at_s;     /* owned; ascending */
	int32_t *offset_s; /* owned; from at_s[i] on */
	int32_t first_s;   /* the offset before the first transition */
	bool has_rule;     /* for the time after the last transition */
	struct zonerule rule;
};

/* The counts of a header, and its data. */
struct block {
	uint64_t utc_marks, standard_marks, leaps, changes, types, names;
	size_t time_size; /* bytes of one point in time: 4 or 8 */
	const uint8_t *data;
	size_t size;
};

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t be_time(const uint8_t *p, size_t size)
{
	if (size == 4)
		return (int32_t)be32(p);
	return (int64_t)((uint64_t)be32(p) << 32 | be32(p + 4));
}

static bool read_header(const uint8_t *bytes, size_t len, size_t time_size, struct block *b)
{
	uint64_t size;

	if (len < HEADER_SIZE || memcmp(bytes, "TZif", 4) != 0)
		return false;
	*b = (struct block){
		.utc_marks = be32(bytes + 20),
		.standard_marks = be32(bytes + 24),
		.leaps = be32(bytes + 28),
		.changes = be32(bytes + 32),
		.types = be32(bytes + 36),
		.names = be32(bytes + 40),
		.time_size = time_size,
		.data = bytes + HEADER_SIZE,
	};
	size = b->changes * (time_size + 1) + b->types * TYPE_SIZE + b->names + b->leaps * (time_size + 4) +
		b->standard_marks + b->utc_marks;
	b->size = (size_t)size;
	return size <= len - HEADER_SIZE;
}

static bool read_offset(const struct block *b, size_t type, int32_t *out)
{
	const uint8_t *types = b->data + b->changes * (b->time_size + 1);

	if (type >= b->types)
		return false;
	*out = (int32_t)be32(types + type * TYPE_SIZE);
	return *out > -OFFSET_MAX_S && *out < OFFSET_MAX_S;
}

static bool read_changes(const struct block *b, struct zone *z)
{
	const uint8_t *types = b->data + b->changes * b->time_size;

	if (!read_offset(b, 0, &z->first_s))
		return false;
	z->count = (size_t)b->changes;
	z->at_s = mem_array(z->count + 1, sizeof(*z->at_s));
	z->offset_s = mem_array(z->count + 1, sizeof(*z->offset_s));
	for (size_t i = 0; i < z->count; i++) {
		z->at_s[i] = be_time(b->data + i * b->time_size, b->time_size);
		if (!read_offset(b, types[i], &z->offset_s[i]) || (i > 0 && z->at_s[i] <= z->at_s[i - 1]))
			return false;
	}
	return true;
}

/* "\n<rule>\n"; with an empty rule the last offset remains. */
static bool read_footer(const uint8_t *bytes, size_t len, struct zone *z)
{
	const uint8_t *end = len > 1 ? memchr(bytes + 1, '\n', len - 1) : NULL;

	if (len == 0 || bytes[0] != '\n' || !end)
		return false;
	z->has_rule = end > bytes + 1;
	return !z->has_rule || zonerule_parse((const char *)bytes + 1, (size_t)(end - bytes - 1), &z->rule, NULL) == 0;
}

/* The second part has 64-bit times; version 1 has only the first. */
static bool read_all(const uint8_t *bytes, size_t len, struct zone *z)
{
	struct block b;
	size_t skip;

	if (!read_header(bytes, len, 4, &b))
		return false;
	if (bytes[4] < '2')
		return read_changes(&b, z);
	skip = HEADER_SIZE + b.size;
	if (!read_header(bytes + skip, len - skip, 8, &b) || !read_changes(&b, z))
		return false;
	skip += HEADER_SIZE + b.size;
	return read_footer(bytes + skip, len - skip, z);
}

struct zone *zone_parse(const void *bytes, size_t len, struct err *err)
{
	struct zone *z = mem_zalloc(sizeof(*z));

	if (len <= ZONE_BYTES_MAX && read_all(bytes, len, z))
		return z;
	zone_free(z);
	err_set(err, ERR_INVALID, "is not a time zone file (TZif)");
	return NULL;
}

struct zone *zone_utc(void)
{
	return mem_zalloc(sizeof(struct zone));
}

void zone_free(struct zone *z)
{
	if (!z)
		return;
	free(z->at_s);
	free(z->offset_s);
	free(z);
}

/* The number of transitions at or before unix_s. */
static size_t changes_until(const struct zone *z, int64_t unix_s)
{
	size_t low = 0, high = z->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (z->at_s[middle] <= unix_s)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct zone_period zone_period(const struct zone *z, int64_t unix_s)
{
	size_t n = changes_until(z, unix_s);
	struct zone_period p = {
		.from_s = n > 0 ? z->at_s[n - 1] : INT64_MIN,
		.until_s = n < z->count ? z->at_s[n] : INT64_MAX,
		.offset_s = n > 0 ? z->offset_s[n - 1] : z->first_s,
	};

	if (n < z->count || !z->has_rule)
		return p;
	p = zonerule_period(&z->rule, unix_s);
	if (z->count > 0 && p.from_s < z->at_s[n - 1])
		p.from_s = z->at_s[n - 1];
	return p;
}
