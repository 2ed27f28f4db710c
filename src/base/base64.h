/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

/* Base64 (RFC 4648, padded) as Kubernetes writes bytes into JSON: Secrets, caBundle. */

#include <stddef.h>

#define BASE64_MAX (16u << 20) /* of either side; more is refused */

/* On one line. The caller owns the text. */
char *base64_encode(const void *bytes, size_t len);

/*
 * The bytes, with a NUL behind them; line ends in the text are skipped. NULL when the text is not
 * base64 or too long. The caller owns the result; *len (may be NULL) is without the NUL.
 */
char *base64_decode(const char *text, size_t *len);

#endif
