/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_ZONEFILE_H
#define BASE_ZONEFILE_H

/*
 * Time zones by their names ("Europe/Berlin"), from the files of the system's tzdata: below $TZDIR,
 * else /usr/share/zoneinfo. Whoever holds a zone shares it with all others who do.
 *
 * The file is read right here, though the loop waits meanwhile: it is a few hundred bytes of a
 * local disk, read once when the first trigger with that zone is built, and the same would be so of
 * a page of this program.
 */

#include "base/err.h"
#include "base/zone.h"

/*
 * A count of the zone; NULL and ERR_INVALID: no such zone, no zone of that name can be, or tzdata
 * is not installed, which the message says. "UTC" needs no file.
 */
const struct zone *zonefile_get(const char *name, struct err *err);
void zonefile_put(const struct zone *z); /* gives the count back; NULL is fine */

#endif
