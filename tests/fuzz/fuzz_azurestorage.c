/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What Azure Storage answers, and what a connection string says. The first byte chooses: a list of
 * messages or of blobs, in pieces of some size, which has at most as many as there are bytes, or an
 * error on one line; blobs by a pattern, which stands before the first zero; an error's words; a
 * connection string, whose request has one URL.
 */

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/xmlreader.h"
#include "fuzz.h"
#include "scalers/azure/azurequeue.h"
#include "scalers/azure/blobglob.h"
#include "scalers/azure/storageaccount.h"
#include "scalers/azure/storagexml.h"

static void check_line(const struct err *err)
{
	must(err->kind != ERR_NONE && err->kind != ERR_BUG);
	must(err->msg[0] != '\0' && strpbrk(err->msg, "\r\n\t") == NULL);
}

/* ---- Lists ---- */

struct picking {
	struct blobglob *glob; /* NULL: none fits */
	size_t budget;
};

static int fits(void *arg, const char *name, struct err *err)
{
	struct picking *p = arg;

	return p->glob ? blobglob_matches(p->glob, name, &p->budget, err) : 0;
}

static void read_list(enum storagexml_list list, struct picking *picking, const char *text, size_t len, size_t step)
{
	struct storagexml *x = storagexml_new(list, picking ? fits : NULL, picking);
	struct err err = { 0 };
	size_t count;
	MEM_AUTO char *marker = NULL;
	int rc = 0;

	for (size_t at = 0; rc == 0 && at < len; at += step) {
		if (picking)
			picking->budget = BLOBGLOB_BUDGET;
		rc = storagexml_feed(x, text + at, at + step < len ? step : len - at, &err);
		if (rc == 0)
			must(storagexml_kept(x) <= len);
	}
	if (rc == 0)
		rc = storagexml_end(x, &count, &marker, &err);
	if (rc == 0)
		must(count < len && count < XMLREADER_ELEMENTS_MAX && strlen(marker) <= STORAGEXML_MARKER_MAX);
	else
		check_line(&err);
	storagexml_free(x);
}

static void pick(const char *text, size_t len, size_t step)
{
	size_t pattern = strnlen(text, len);
	struct err err = { 0 };
	MEM_AUTO char *copy = mem_dupn(text, pattern);
	struct picking picking = { .glob = blobglob_new(copy, &err) };

	if (!picking.glob)
		check_line(&err);
	if (pattern < len)
		read_list(STORAGEXML_BLOBS, &picking, text + pattern + 1, len - pattern - 1, step);
	blobglob_free(picking.glob);
}

/* ---- Words ---- */

static void read_words(const char *text, size_t len)
{
	const struct webresponse answer = { .status = 403, .body = text, .len = len };
	struct err err = { 0 };
	double value;

	must(storageaccount_expect(&answer, "permission r", &err) == -1 && err.http_status == 403);
	check_line(&err);
	err = (struct err){ 0 };
	if (azurequeue_read_count(text, &value, &err) == 0)
		must(isfinite(value) && value >= 0);
	else
		check_line(&err);
}

/* ---- Connection strings ---- */

static void read_connection(const char *text)
{
	static const struct storageaccount_service service = { .name = "queue",
		.endpoint = "QueueEndpoint",
		.service = AZURECLOUD_QUEUE };
	struct strmap nothing = { 0 };
	const struct scaler_params params = { .type = "azure-queue", .metadata = &nothing };
	struct storageaccount account;
	struct webrequest r = { 0 };
	struct err err = { 0 };

	if (storageaccount_read(&params, &service, text, NULL, false, &account, &err)) {
		must(err.kind == ERR_INVALID && strpbrk(err.msg, "\r\n\t") == NULL);
		return;
	}
	must(account.login.url[strlen(account.login.url) - 1] == '/' && account.login.access);
	if (storageaccount_request(&account, "orders", "/messages", "peekonly=true", 0, &r, &err) == 0)
		must(strncmp(r.url, "http", 4) == 0 && strpbrk(r.url, " \r\n\t") == NULL);
	else
		check_line(&err);
	free(r.url);
	strmap_done_secret(&r.headers);
	storageaccount_done(&account);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned how = size > 0 ? data[0] : 0;
	size_t step = 1 + (how >> 3) * 7;
	char *text = size > 0 ? mem_dupn((const char *)data + 1, size - 1) : NULL;

	if (!text)
		return 0;
	switch (how & 7) {
	case 0: read_list(STORAGEXML_MESSAGES, NULL, text, size - 1, step); break;
	case 1: read_list(STORAGEXML_BLOBS, NULL, text, size - 1, step); break;
	case 2: pick(text, size - 1, step); break;
	case 3: read_words(text, size - 1); break;
	default: read_connection(text); break;
	}
	free(text);
	return 0;
}
