/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_AWSREGION_H
#define NET_IDENTITY_AWSREGION_H

/* AWS regions and the host names of services. Pure. */

#include "base/err.h"

/*
 * Checks the syntax of a region ("eu-west-1"). It becomes part of a host name to which credentials
 * are sent. ERR_INVALID does not quote it.
 */
int awsregion_check(const char *region, struct err *err);

/* "sqs.eu-west-1.amazonaws.com", and the same with "https://"; the caller owns the text. */
char *awsregion_host(const char *service, const char *region);
char *awsregion_url(const char *service, const char *region);

#endif
