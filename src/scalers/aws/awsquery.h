/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_AWS_AWSQUERY_H
#define SCALERS_AWS_AWSQUERY_H

/*
 * What the types that ask AWS have in common: region, endpoint, as whom (scalers/login/awslogin),
 * and what an error of AWS says. Over scalers/http/httpsource.
 */

#include "base/err.h"
#include "scalers/http/httpsource.h"
#include "scalers/params.h"

extern const struct param_table awsquery_table; /* beside awslogin_table, for the tables of the types */

/*
 * For build: reads the parameters and logs in. service: its name in hosts and signatures ("sqs").
 * The login's url ends with a slash. 0, or -1 with ERR_INVALID that names the parameter.
 */
int awsquery_login(struct scaler_build *b, const char *service, struct httplogin *out, struct err *err);

/*
 * A POST of this JSON, which is copied. target: "AmazonSQS.GetQueueAttributes"; version: "1.0" or
 * "1.1".
 */
void awsquery_post_json(const struct httplogin *login, const char *target, const char *version, const char *body,
	struct webrequest *out);

/*
 * 0 when the answer is good; else -1 with AWS's code and what it says. action: the right that is
 * needed ("sqs:GetQueueAttributes"), told when there is none. One of too many requests has the
 * service left alone for a while (httpsource.h), whatever its HTTP status.
 */
int awsquery_expect(const struct webresponse *answer, const char *action, struct err *err);

#endif
