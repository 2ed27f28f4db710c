/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A message of etcd, as the answer to each of the three things that are asked: a number, a token
 * that can be sent, news, or an error on one line.
 */

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "scalers/etcd/etcdmessages.h"

static void check_line(const struct err *err)
{
	must(err->kind != ERR_NONE && err->msg[0] != '\0' && strpbrk(err->msg, "\r\n\t") == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum etcdmessages_news news;
	struct err err = { 0 };
	char *token = NULL;
	double value = NAN;

	if (etcdmessages_get_number(data, size, "jobs", &value, &err) == 0)
		must(isfinite(value));
	else
		check_line(&err);
	if (etcdmessages_get_news(data, size, &news, &err))
		check_line(&err);
	if (etcdmessages_get_token(data, size, &token, &err)) {
		check_line(&err);
		return 0;
	}
	must(*token && strlen(token) <= ETCDMESSAGES_TOKEN_MAX);
	for (const char *c = token; *c; c++)
		must(isgraph((unsigned char)*c));
	mem_free_secret(token);
	return 0;
}
