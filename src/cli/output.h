/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

/* Writes a command's result to standard output. -1 and ERR_TEMPORARY if that fails. */

#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"

int output_text(const struct buf *text, struct err *err);
int output_json(const json_t *value, struct err *err);

#endif
