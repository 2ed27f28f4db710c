/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_SECRETMANAGERS_GOOGLESECRETS_H
#define NET_SECRETMANAGERS_GOOGLESECRETS_H

/*
 * Google Cloud Secret Manager: projects.secrets.versions.access of its REST API. Values are bytes,
 * in base64, with a CRC-32C that is verified.
 */

#include <stdint.h>

#include "net/secretmanagers/secretmanager.h"

#define GOOGLESECRETS_URL "https://secretmanager.googleapis.com"

extern const struct secretmanager googlesecrets;

/* CRC-32C (Castagnoli; RFC 3720, B.4). */
uint32_t googlesecrets_checksum(const void *bytes, size_t len);

#endif
