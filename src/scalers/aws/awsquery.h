/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_AWS_AWSQUERY_H
#define SCALERS_AWS_AWSQUERY_H

/*
 * What the types of AWS have in common: region, endpoint, identity (scalers/login/awslogin), and
 * AWS's errors. Over scalers/http/httpsource.
 */

#include "base/err.h"
#include "scalers/http/httpsource.h"
#include "scalers/params.h"

extern const struct param_table awsquery_table; /* with awslogin_table, for the tables of the types */

/*
 * For build: reads the parameters and fills in the login. service: its name in hosts and signatures
 * ("sqs"). The login's url has a trailing slash. 0, or -1 with ERR_INVALID that names the
 * parameter.
 */
int awsquery_login(struct scaler_build *b, const char *service, struct httplogin *out, struct err *err);

/*
 * Makes a POST of this JSON, which is copied. target: "AmazonSQS.GetQueueAttributes"; version:
 * "1.0" or "1.1".
 */
void awsquery_post_json(const struct httplogin *login, const char *target, const char *version, const char *body,
	struct webrequest *out);

/*
 * 0 if the status is 200; else -1 with AWS's code and message. action: the required permission
 * ("sqs:GetQueueAttributes"), for 403. After too many requests the service gets a pause
 * (httpsource.h), whatever the HTTP status.
 */
int awsquery_expect(const struct webresponse *answer, const char *action, struct err *err);

#endif
