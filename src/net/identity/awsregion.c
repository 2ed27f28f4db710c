/* SPDX-License-Identifier: Apache-2.0 */
#include "net/identity/awsregion.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define REGION_MAX 40

int awsregion_check(const char *region, struct err *err)
{
	size_t len = strlen(region);

	if (len > 0 && len <= REGION_MAX && strspn(region, "abcdefghijklmnopqrstuvwxyz0123456789-") == len &&
		region[0] != '-' && region[len - 1] != '-')
		return 0;
	return err_set(err, ERR_INVALID, "is not the name of an AWS region, such as eu-west-1");
}

/* AWS's partitions, by the prefix of their regions; the last is the default. */
static const struct {
	const char *region, *domain;
} partitions[] = {
	{ "cn-", "amazonaws.com.cn" },
	{ "eusc-", "amazonaws.eu" },
	{ "us-iso-", "c2s.ic.gov" },
	{ "us-isob-", "sc2s.sgov.gov" },
	{ "us-isof-", "csp.hci.ic.gov" },
	{ "eu-isoe-", "cloud.adc-e.uk" },
	{ "", "amazonaws.com" },
};

char *awsregion_host(const char *service, const char *region)
{
	size_t i = 0;

	while (!text_begins(region, partitions[i].region))
		i++;
	return mem_printf("%s.%s.%s", service, region, partitions[i].domain);
}

char *awsregion_url(const char *service, const char *region)
{
	MEM_AUTO char *host = awsregion_host(service, region);

	return mem_printf("https://%s", host);
}
