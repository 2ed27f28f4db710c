/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_SOURCEPLACE_H
#define SCALERS_SOURCEPLACE_H

/*
 * Checks whether the place of a trigger's server is forbidden (net/sourcerules), as far as its name
 * tells: an address, localhost (RFC 6761) or a Unix socket. So users learn of it before a
 * connection is made. The addresses of other names are checked when connecting.
 */

#include "base/err.h"
#include "net/sourcerules.h"
#include "scalers/scaler.h"

/* source: of a question. 0: not known to be forbidden; -1 with the error of a connection. */
int sourceplace_judge(const struct sourcerules *rules, const char *source, struct err *err);

#endif
