/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_AWSXML_H
#define NET_IDENTITY_AWSXML_H

/*
 * Reads texts from an XML response of AWS (STS, CloudWatch, errors of all services). Pure; the
 * input is untrusted.
 */

#include <stddef.h>

#include "base/err.h"

#define AWSXML_PATHS_MAX 6

/*
 * out[i] is the text of the element at paths[i] ("ErrorResponse/Error/Code"), owned by the caller;
 * NULL: absent. Of elements with the same name the first counts, at each level. 0, or -1 with
 * ERR_INVALID, which quotes nothing: not XML, a DTD, too deep, or more than 100,000 elements
 * (base/xmlreader).
 */
int awsxml_read(const char *body, size_t len, const char *const *paths, size_t count, char **out, struct err *err);

#endif
