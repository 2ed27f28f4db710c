/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

/*
 * Base64 (RFC 4648, with padding): the form of bytes in Kubernetes' JSON, such as Secrets and
 * caBundle.
 */

#include <stddef.h>

#define BASE64_MAX (16u << 20) /* bytes, of text and of data */

/* Without line ends. Aborts above BASE64_MAX. The caller owns the text. */
char *base64_encode(const void *bytes, size_t len);

/* The same for URLs, without padding (RFC 4648, 5). */
char *base64_encode_url(const void *bytes, size_t len);

/*
 * The bytes and a terminating NUL, which *len (may be NULL) does not count. Line ends in the text
 * are skipped. NULL: the text is not base64, or too long. The caller owns the result.
 */
char *base64_decode(const char *text, size_t *len);

#endif
