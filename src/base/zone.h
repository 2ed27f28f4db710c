/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_ZONE_H
#define BASE_ZONE_H

/*
 * One time zone, from a TZif file (RFC 9636, versions 1 to 4). glibc computes local times only in
 * the process's own zone, and TZ cannot be changed while libraries have threads. Finds the period
 * of constant offset from UTC that contains an instant. Local times follow from that, also when
 * clocks change: a local time in the gap is in no period, one that comes twice is in two. Reads the
 * 64-bit part of a file, and its rule for the time after its last transition; ignores leap seconds.
 * No I/O: base/zonefile.h reads files.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/zonerule.h"

struct zone;

#define ZONE_BYTES_MAX (256u << 10) /* the largest file of the database has less than 4 KiB */

/* NULL and ERR_INVALID. The caller owns the result. */
struct zone *zone_parse(const void *bytes, size_t len, struct err *err);
struct zone *zone_utc(void);
void zone_free(struct zone *z); /* NULL is fine */

/* The period that contains unix_s: from_s <= unix_s < until_s. */
struct zone_period zone_period(const struct zone *z, int64_t unix_s);

#endif
