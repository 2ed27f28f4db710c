/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

/*
 * A command's result on standard output. Both return whether all of it was written; if not, the
 * error is printed. command: "kscaled get", for that message.
 */

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"

bool output_text(const char *command, const struct buf *text);
bool output_json(const char *command, const json_t *value);

#endif
