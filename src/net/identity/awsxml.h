/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_AWSXML_H
#define NET_IDENTITY_AWSXML_H

/*
 * Reads single texts out of an XML answer of AWS (STS, CloudWatch, errors of all). Pure; the bytes
 * may be anybody's.
 */

#include <stddef.h>

#include "base/err.h"

#define AWSXML_PATHS_MAX 6

/*
 * out[i] is the text of the element at paths[i] ("ErrorResponse/Error/Code"), which the caller
 * owns; NULL: there is none. Of several elements of one name the first counts, at each step.
 * 0, or -1 with ERR_INVALID, which quotes nothing: it is not XML, or has a DTD, is nested too deep,
 * or has more than 100,000 elements (base/xmlreader).
 */
int awsxml_read(const char *body, size_t len, const char *const *paths, size_t count, char **out, struct err *err);

#endif
