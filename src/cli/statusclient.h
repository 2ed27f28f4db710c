/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_STATUSCLIENT_H
#define CLI_STATUSCLIENT_H

/*
 * One GET to the status address of a running kscaled, for sub-commands: blocking, with a deadline,
 * through no proxy.
 */

#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * address: as --status-address has it; one that means all addresses (":8080", "0.0.0.0:8080",
 * "[::]:8080") is asked on this host. path: percent-encoded. The body goes into *body (given with
 * its cap, kept as sent) and, parsed, into *object (the caller owns it). ERR_MISSING: kscaled says
 * that there is no such object, in its words. ERR_INVALID: the address is none. ERR_TEMPORARY:
 * nobody answers there, or nothing that is kscaled.
 */
int statusclient_get(const char *address, const char *path, struct buf *body, json_t **object, struct err *err);

#endif
