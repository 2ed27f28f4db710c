/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_SCALERS_AWS_AWSTRIGGER_H
#define TESTS_UNIT_SCALERS_AWS_AWSTRIGGER_H

/* Builds triggers from texts of pairs ("a=1|b=2"), and compares the results. */

#include <stdbool.h>
#include <stddef.h>

#include "scalers/scaler.h"

#define KEYS "awsAccessKeyID=AKID|awsSecretAccessKey=secret-value"

/* Without auth: NULL. The environment has Q=queue-of-env, K=AKID and S=secret-value. */
int awstrigger_build(const char *type, const char *metadata, const char *auth, struct scaler *out, struct err *err);

struct awstrigger_good {
	const char *metadata, *auth, *metric, *source;
	long long target_milli;
	double activation;
};
void awstrigger_accepts(const char *type, const struct awstrigger_good *rows, size_t count);

struct awstrigger_bad {
	const char *metadata, *auth, *message;
};
void awstrigger_refuses(const char *type, const struct awstrigger_bad *rows, size_t count);

struct awstrigger_pair { /* b_auth NULL: the same keys */
	const char *a, *b, *b_auth;
	bool same;
};
void awstrigger_shares(const char *type, const struct awstrigger_pair *rows, size_t count);

#endif
