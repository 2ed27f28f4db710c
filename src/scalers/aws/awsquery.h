/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_AWS_AWSQUERY_H
#define SCALERS_AWS_AWSQUERY_H

/*
 * What the types that ask AWS have in common: region, endpoint, as whom (scalers/login/awslogin),
 * and what an error of AWS says. Over scalers/http/httpsource; a type's question begins with a
 * struct awsquery.
 */

#include "base/err.h"
#include "scalers/http/httpsource.h"
#include "scalers/params.h"

extern const struct param_table awsquery_table; /* beside awslogin_table, for the tables of the types */

struct awsquery {
	struct httpsource_login login;
	char *url; /* owned; ends with a slash */
};

/*
 * Reads the parameters. service: its name in hosts and signatures ("sqs"). Returns 0; -1 with
 * ERR_INVALID that names the parameter; 1 when some values are unknown. After 0 and 1 the caller
 * frees *out with awsquery_done; after -1 it need not.
 */
int awsquery_read(const struct scaler_params *params, const char *service, struct awsquery *out, struct err *err);
void awsquery_done(struct awsquery *q);

/* A question of a type. Takes key and data. */
struct question *awsquery_question(const struct scaler_type *type, const struct awsquery *q, char *key, void *data);

/*
 * A POST of this JSON, which is copied. target: "AmazonSQS.GetQueueAttributes"; version: "1.0" or
 * "1.1".
 */
void awsquery_post_json(const struct awsquery *q, const char *target, const char *version, const char *body,
	struct webrequest *out);

/*
 * 0 when the answer is good; else -1 with AWS's code and what it says. action: the right that is
 * needed ("sqs:GetQueueAttributes"), told when there is none. One of too many requests has the
 * service left alone for a while (httpsource.h), whatever its HTTP status.
 */
int awsquery_expect(const struct webresponse *answer, const char *action, struct err *err);

#endif
