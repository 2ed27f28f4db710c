/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_TOKENFACTS_H
#define KUBE_TOKENFACTS_H

/*
 * What a service account's token says about itself: its owner, audience and lifetime. A JWT (RFC
 * 7519) whose signature is not checked: it only decides when we ask for the next one, and whether
 * we send it.
 */

#include <stdint.h>

#include "base/err.h"

struct tokenfacts {
	char namespace_[64], account[254]; /* of the ServiceAccount; "": not a service account's */
	char audience[512];                /* the only one; "": none, several, or a longer one */
	int64_t issued_unix_ms;            /* 0: not given */
	int64_t ends_unix_ms;              /* 0: never, or not given */
};

/* ERR_INVALID: not a JWT; the message does not contain the token. */
int tokenfacts_read(const char *token, struct tokenfacts *out, struct err *err);

/*
 * When to renew it: at half of its life, and at the latest a quarter of an hour before its end, so
 * that a failing renewal has the other half to succeed in. 0: never.
 */
int64_t tokenfacts_renew_unix_ms(const struct tokenfacts *facts);

#endif
