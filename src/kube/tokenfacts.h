/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_TOKENFACTS_H
#define KUBE_TOKENFACTS_H

/*
 * What a service account's token says of itself: whose it is and how long it lives. A JWT (RFC
 * 7519), whose signature nobody checks here: it is our own, and decides only when we ask for the
 * next one.
 */

#include <stdint.h>

#include "base/err.h"

struct tokenfacts {
	char namespace_[64], account[254]; /* of the ServiceAccount; "": it is no service account's */
	int64_t issued_unix_ms;            /* 0: not said */
	int64_t ends_unix_ms;              /* 0: never, or not said */
};

/* ERR_INVALID: it is no JWT; the message does not contain it. */
int tokenfacts_read(const char *token, struct tokenfacts *out, struct err *err);

/*
 * When it is to be renewed: at half of its life, and a quarter of an hour before its end at the
 * latest, so that a failing renewal has the other half to succeed in. 0: never.
 */
int64_t tokenfacts_renew_unix_ms(const struct tokenfacts *facts);

#endif
