/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_ZONEFILE_H
#define BASE_ZONEFILE_H

/*
 * Time zones by name ("Europe/Berlin"), from the system's tzdata: below $TZDIR, by default
 * /usr/share/zoneinfo. A zone is shared by reference count.
 *
 * Reading a file blocks the loop, but it has only a few hundred bytes on a local disk, and is read
 * once, when the first trigger with that zone is built.
 */

#include "base/err.h"
#include "base/zone.h"

/*
 * A reference to the zone. NULL and ERR_INVALID: there is no such zone, the name is invalid, or
 * tzdata is not installed. "UTC" needs no file.
 */
const struct zone *zonefile_get(const char *name, struct err *err);
void zonefile_put(const struct zone *z); /* releases the reference; NULL is fine */

#endif
