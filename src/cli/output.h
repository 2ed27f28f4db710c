/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

/*
 * Writes a command's result to standard output. Returns false, after printing the error, if that
 * fails. command: "kscaled get", for that message.
 */

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"

bool output_text(const char *command, const struct buf *text);
bool output_json(const char *command, const json_t *value);

#endif
