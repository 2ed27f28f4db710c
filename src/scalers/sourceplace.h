/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_SOURCEPLACE_H
#define SCALERS_SOURCEPLACE_H

/*
 * Whether a trigger's server is where none may be (net/sourcerules), as far as its name tells, so
 * that it is told before anybody connects: an address, localhost (RFC 6761), a Unix socket. What
 * other names resolve to is judged when it is connected to.
 */

#include "base/err.h"
#include "net/sourcerules.h"
#include "scalers/scaler.h"

/* source: of a question. 0: nothing is known against it; -1 with the error of a connection. */
int sourceplace_judge(const struct sourcerules *rules, const char *source, struct err *err);

#endif
