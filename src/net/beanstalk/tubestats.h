/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_BEANSTALK_TUBESTATS_H
#define NET_BEANSTALK_TUBESTATS_H

/* The command stats-tube of beanstalkd's protocol and its answers (its doc/protocol.txt). Pure. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define TUBESTATS_NAME_MAX   200 /* bytes of a tube's name */
#define TUBESTATS_ANSWER_MAX 4096

struct tubestats {
	uint64_t ready, reserved, delayed; /* jobs; a tube that does not exist has none */
};

/* Why a text is not the name of a tube, as the end of a sentence; NULL: it is one. */
const char *tubestats_name_flaw(const char *name);

/* The command; the caller owns it. */
char *tubestats_command(const char *tube);

/*
 * Reads the first answer of `len` bytes. 1: *used is its length; either *out, or with `failed` err,
 * is the server's answer. 0: incomplete. -1 with err: not an answer of beanstalkd.
 */
int tubestats_read(const char *bytes, size_t len, size_t *used, struct tubestats *out, bool *failed, struct err *err);

#endif
