/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_ZONE_H
#define BASE_ZONE_H

/*
 * One time zone, read from the bytes of a TZif file (RFC 9636, versions 1 to 4): glibc has no local
 * time of a zone beside the process's own, and changing TZ is not for a process that uses libraries
 * with threads. It answers one question: in which stretch of time with one distance to UTC does an
 * instant lie. Local time and back follow from that, and what happens when clocks change as well: a
 * local time in a gap lies in no stretch, one that comes twice in two. Of a file the 64-bit part is
 * read, and the rule at its end for what comes behind its last change; leap seconds are not
 * counted. No I/O: files are base/zonefile.h.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/zonerule.h"

struct zone;

#define ZONE_BYTES_MAX (256u << 10) /* the fattest file of the database has less than 4 KiB */

/* NULL and ERR_INVALID. The caller owns the result. */
struct zone *zone_parse(const void *bytes, size_t len, struct err *err);
struct zone *zone_utc(void);
void zone_free(struct zone *z); /* NULL is fine */

/* Never empty: from_s <= unix_s < until_s. */
struct zone_period zone_period(const struct zone *z, int64_t unix_s);

#endif
