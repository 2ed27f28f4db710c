/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameters of azure-blob (doc/keda.md 8.25). Connection strings are in test_storageaccount.c,
 * lists in test_storagexml.c, patterns in test_blobglob.c; live tests cover requests and pages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../aws/awstrigger.h"
#include "base/mem.h"
#include "scalers/types.h"

#define CONNECTION "connection=AccountName=shop;AccountKey=c2VjcmV0LXZhbHVl"
#define SOURCE     "azure-blob https://shop.blob.core.windows.net:443"
#define FILES      "blobContainerName=files"

static void accepted(void **state)
{
	static const struct awstrigger_good rows[] = {
		{ FILES, CONNECTION, "s1-azure-blob-files", SOURCE, 5000, 0 },
		{ "blobContainerName=$logs|blobCount=7|activationBlobCount=2|recursive=true", CONNECTION,
			"s1-azure-blob-$logs", SOURCE, 7000, 2 },
		{ FILES "|blobPrefix=in|blobDelimiter=-|globPattern=in/*.{json,xml}|" CONNECTION, NULL,
			"s1-azure-blob-files", SOURCE, 5000, 0 },
		{ FILES "|accountName=ignored|cloud=AzureChinaCloud", CONNECTION, "s1-azure-blob-files", SOURCE, 5000,
			0 },
		{ FILES, "connection=BlobEndpoint=https://h/;SharedAccessSignature=sig=secret-value",
			"s1-azure-blob-files", "azure-blob https://h:443", 5000, 0 },
	};

	(void)state;
	awstrigger_accepts("azure-blob", rows, MEM_COUNT(rows));
}

static void rejected(void **state)
{
	static const struct awstrigger_bad rows[] = {
		{ "blobCount=5", CONNECTION, "missing required parameter \"blobContainerName\"" },
		{ FILES, NULL, "connection string is required when not using pod identity" },
		{ FILES "|blobCount=0", CONNECTION, "\"blobCount\" value \"0\" must be greater than 0" },
		{ FILES "|blobCount=five", CONNECTION, "\"blobCount\" value \"five\"" },
		{ FILES "|activationBlobCount=x", CONNECTION, "\"activationBlobCount\" value \"x\"" },
		{ FILES "|recursive=maybe", CONNECTION, "\"recursive\" value \"maybe\"" },
		{ FILES "|globPattern=[", CONNECTION,
			"parameter \"globPattern\": invalid glob pattern \"[\": a [ is not" },
		{ FILES "|cloud=Nowhere", CONNECTION, "invalid cloud environment Nowhere" },
		{ FILES, "connection=QueueEndpoint=https://h;AccountKey=c2VjcmV0LXZhbHVl",
			"connection string needs either AccountName or BlobEndpoint" },
		/* of the environment's and the metadata's the environment's goes first */
		{ FILES "|connectionFromEnv=S|" CONNECTION, NULL, "connection string is either blank or malformed" },
	};

	(void)state;
	awstrigger_refuses("azure-blob", rows, MEM_COUNT(rows));
}

#define BASE FILES "|" CONNECTION

static void questions(void **state)
{
	static const struct awstrigger_pair rows[] = {
		{ BASE, BASE "|blobCount=9|activationBlobCount=3|blobDelimiter=/|recursive=false", NULL, true },
		{ BASE, "blobContainerName=others|" CONNECTION, NULL, false },
		{ BASE, BASE "|blobPrefix=in", NULL, false },
		{ BASE "|blobPrefix=in", BASE "|blobPrefix=in/|recursive=true", NULL, false },
		{ BASE, BASE "|recursive=true", NULL, false },
		{ BASE "|recursive=true", BASE "|recursive=true|blobDelimiter=-", NULL, true },
		{ BASE, BASE "|blobDelimiter=-", NULL, false },
		{ BASE, BASE "|globPattern=*", NULL, false },
		{ BASE "|globPattern=*", BASE "|globPattern=*|blobDelimiter=-", NULL, true },
		{ BASE "|globPattern=*|blobPrefix=in", BASE "|globPattern=*|blobDelimiter=-|blobPrefix=in", NULL,
			false },
		{ BASE, BASE, CONNECTION "AAAA", false },
	};

	(void)state;
	awstrigger_shares("azure-blob", rows, MEM_COUNT(rows));
}

/* All pages have one deadline. */
static void deadline(void **state)
{
	struct scaler s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(awstrigger_build("azure-blob", BASE, NULL, &s, &err), 0);
	assert_int_equal(s.question->timeout_ms, 60000);
	scaler_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(accepted), cmocka_unit_test(rejected),
		cmocka_unit_test(questions), cmocka_unit_test(deadline) };

	return cmocka_run_group_tests_name("scalers/azure/azureblob", tests, NULL, NULL);
}
