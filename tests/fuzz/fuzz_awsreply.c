/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Answers of AWS's services, and the URL of a queue: whatever comes, it is a finite number,
 * nothing, or an error on one line.
 */

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "scalers/aws/cloudwatch.h"
#include "scalers/aws/kinesis.h"
#include "scalers/aws/sqs.h"

static void check_error(const struct err *err)
{
	must(err->kind != ERR_NONE && err->kind != ERR_BUG);
	must(*err->msg && strpbrk(err->msg, "\r\n\t") == NULL);
}

static void check_number(int rc, double value, const struct err *err)
{
	if (rc == 0)
		must(isfinite(value) && value >= 0);
	else
		check_error(err);
}

static void check_cloudwatch(const char *body, size_t len)
{
	struct err err = { 0 };
	double value = NAN;
	enum cloudwatch_found found = cloudwatch_read(body, len, &value, &err);

	if (found == CLOUDWATCH_VALUE)
		must(isfinite(value));
	else if (found == CLOUDWATCH_FAILED)
		check_error(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_dupn((const char *)data, size), *name;
	struct err err = { 0 };
	double value;

	for (unsigned also = 0; also <= (SQS_IN_FLIGHT | SQS_DELAYED); also++)
		check_number(sqs_read(text, size, also, &value, &err), value, &err);
	check_number(kinesis_read(text, size, &value, &err), value, &err);
	check_cloudwatch(text, size);
	name = sqs_queue_name(text, &err);
	must(!name || strcmp(name, text) == 0 || strchr(name, '/') == NULL); /* a bare name is taken as it is */
	free(name);
	free(text);
	return 0;
}
