/* SPDX-License-Identifier: Apache-2.0 */
#include "net/identity/awsplace.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define REGION_MAX 40

int awsplace_check_region(const char *region, struct err *err)
{
	size_t len = strlen(region);

	if (len > 0 && len <= REGION_MAX && strspn(region, "abcdefghijklmnopqrstuvwxyz0123456789-") == len &&
		region[0] != '-' && region[len - 1] != '-')
		return 0;
	return err_set(err, ERR_INVALID, "is not the name of an AWS region, such as eu-west-1");
}

char *awsplace_url(const char *service, const char *region)
{
	return mem_printf("https://%s.%s.amazonaws.com%s", service, region, text_begins(region, "cn-") ? ".cn" : "");
}
