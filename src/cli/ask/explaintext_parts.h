/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ASK_EXPLAINTEXT_PARTS_H
#define CLI_ASK_EXPLAINTEXT_PARTS_H

/* Private to the files of cli/ask/explaintext. */

#include <jansson.h>
#include <stdint.h>

#include "base/buf.h"
#include "cli/ask/asking.h"

struct explaintext_page { /* borrowed */
	const struct asking_screen *screen;
	int64_t now_unix_ms;
	struct buf *out;
};

/*
 * A number with no more digits than needed, "?" if it is not one; an age: "3.2 s", "4 min", "5 h",
 * "6 d". Both write to text and return it.
 */
const char *explaintext_number(const json_t *object, const char *path, char text[32]);
const char *explaintext_age(double seconds, char text[32]);

/*
 * Appends a pattern, in which "{path}" stands for the text of a field of object, and "{#path}" for
 * its number.
 */
void explaintext_fill(struct buf *out, const char *pattern, const json_t *object);

/*
 * A labelled line, broken at the width of the screen. The second one frees text, and prints nothing
 * if it is empty.
 */
void explaintext_field(const struct explaintext_page *p, const char *label, const char *text);
void explaintext_field_of(const struct explaintext_page *p, const char *label, struct buf *text);
#define EXPLAINTEXT_LINE() BUF_INIT(65536)

/* The table of the triggers, and below it errors and notes about them. */
void explaintext_triggers(const struct explaintext_page *p, const json_t *answer);

#endif
