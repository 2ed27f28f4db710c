/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_AWSPLACE_H
#define NET_IDENTITY_AWSPLACE_H

/* Where AWS's services are. Pure. */

#include "base/err.h"

/*
 * Whether a text can be a region ("eu-west-1"). It becomes part of a host's name to which
 * credentials are sent, so nothing else may stand in it. ERR_INVALID does not repeat it.
 */
int awsplace_check_region(const char *region, struct err *err);

/* "sqs.eu-west-1.amazonaws.com", and that with "https://"; the caller owns both. */
char *awsplace_host(const char *service, const char *region);
char *awsplace_url(const char *service, const char *region);

#endif
