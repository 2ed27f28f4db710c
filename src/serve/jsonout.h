/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_JSONOUT_H
#define SERVE_JSONOUT_H

/*
 * Writes JSON into a buffer, member by member, with commas and indentation: for answers about
 * thousands of objects, where a tree of values would cost more than the text. The key is NULL
 * inside arrays. The caller closes what it opens.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct jsonout {
	struct buf *out; /* borrowed */
	unsigned depth;  /* at most 32 */
	uint32_t arrays; /* bit n: an array is open at depth n, else an object */
	bool empty;      /* what was opened last has no members yet */
};

#define JSONOUT_INIT(buf)                                                                                              \
	{                                                                                                              \
		(buf), 0, 0, true                                                                                      \
	}

void jsonout_object(struct jsonout *j, const char *key);
void jsonout_array(struct jsonout *j, const char *key);
void jsonout_end(struct jsonout *j); /* of the object or array that was opened last */

void jsonout_text(struct jsonout *j, const char *key, const char *value); /* NULL: null */
void jsonout_bool(struct jsonout *j, const char *key, bool value);
void jsonout_int_known(struct jsonout *j, const char *key, bool known, int64_t value); /* not known: null */
void jsonout_int(struct jsonout *j, const char *key, int64_t value);
void jsonout_double(struct jsonout *j, const char *key, double value);  /* NaN, infinite: null */
void jsonout_time(struct jsonout *j, const char *key, int64_t unix_ms); /* RFC 3339 with milliseconds; 0: null */
void jsonout_null(struct jsonout *j, const char *key);

#endif
