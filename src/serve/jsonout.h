/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_JSONOUT_H
#define SERVE_JSONOUT_H

/*
 * Writes JSON straight into a buffer, member by member, with its commas and indentation: for
 * answers about thousands of objects, where a tree of values would cost more than the text. A key
 * is NULL inside of arrays. Whoever writes sees to it that what is opened is closed.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct jsonout {
	struct buf *out; /* borrowed */
	unsigned depth;
	bool empty; /* nothing stands yet in what was opened last */
};

#define JSONOUT_INIT(buf)                                                                                              \
	{                                                                                                              \
		(buf), 0, true                                                                                         \
	}

void jsonout_object(struct jsonout *j, const char *key);
void jsonout_array(struct jsonout *j, const char *key);
void jsonout_end_object(struct jsonout *j);
void jsonout_end_array(struct jsonout *j);

void jsonout_text(struct jsonout *j, const char *key, const char *value); /* NULL: null */
void jsonout_bool(struct jsonout *j, const char *key, bool value);
void jsonout_int_known(struct jsonout *j, const char *key, bool known, int64_t value); /* null while it is not */
void jsonout_int(struct jsonout *j, const char *key, int64_t value);
void jsonout_double(struct jsonout *j, const char *key, double value);  /* what is no number: null */
void jsonout_time(struct jsonout *j, const char *key, int64_t unix_ms); /* RFC 3339 with milliseconds; 0: null */
void jsonout_null(struct jsonout *j, const char *key);

#endif
