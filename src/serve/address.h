/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_ADDRESS_H
#define SERVE_ADDRESS_H

/* Where to listen, as --status-address says it: "127.0.0.1:8080", "[::1]:8080", ":8080" (all addresses). Pure. */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* host becomes "" for all addresses. ERR_INVALID names the text. Port 0 is a free one. */
int address_parse(const char *text, char *host, size_t host_size, uint16_t *port, struct err *err);

#endif
