/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trigger type `azure-blob` (doc/keda.md 8.25): blobs of a container of Azure Storage. Over
 * scalers/http/httpsource, page by page; storageaccount logs in, storagexml counts, blobglob
 * matches names.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "scalers/azure/azurecloudparams.h"
#include "scalers/azure/blobglob.h"
#include "scalers/azure/storageaccount.h"
#include "scalers/azure/storagexml.h"
#include "scalers/params.h"
#include "scalers/types.h"

/* Blobs of one page, some 2 MiB, and of a whole ask. */
#define PAGE_MAX   2000
#define ALL_MAX    (PAGE_MAX * HTTPSOURCE_STEPS_MAX)
#define ANSWER_MAX ((size_t)16 << 20)
#define QUERY_MAX  ((size_t)1 << 14)
/* For all pages together; each has the limit of one request, too. */
#define TIMEOUT_MS 60000

struct blobs {
	struct storageaccount account;
	char *container;
	char *prefix, *delimiter; /* as sent; "": none */
	char *pattern;
	bool recursive;
	struct blobglob *glob; /* of the pattern; NULL */
};

#define AT(field) offsetof(struct blobs, field)
static const struct param_row rows[] = {
	{ "blobContainerName", PARAM_TEXT, "m", AT(container), .required = true, .help = "name of the container" },
	{ "blobCount", PARAM_WHOLE_TARGET, "m", .otherwise = "5", .help = "target: blobs per replica" },
	{ "activationBlobCount", PARAM_WHOLE_ACTIVATION, "m", .help = "active above this number of blobs" },
	{ "blobPrefix", PARAM_TEXT, "m", AT(prefix), .help = "count only the blobs in this folder" },
	{ "blobDelimiter", PARAM_TEXT, "m", AT(delimiter), .otherwise = "/",
		.help = "separator of folders; subfolders do not count" },
	{ "recursive", PARAM_BOOL, "m", AT(recursive), .help = "true: subfolders count, too" },
	{ "globPattern", PARAM_TEXT, "m", AT(pattern), .help = "count only blobs whose whole name matches" },
};
static const struct param_table table = PARAM_TABLE(rows);

#define LOGIN_AT(field) offsetof(struct storageaccount_fields, field)
static const struct param_row login_rows[] = {
	{ "connection", PARAM_TEXT, "aem", LOGIN_AT(connection), .help = "connection string of the storage account" },
	{ "accountName", PARAM_TEXT, "m", LOGIN_AT(account),
		.help = "storage account, with podIdentity azure-workload" },
};
static const struct param_table login_table = PARAM_LOGIN_TABLE(login_rows);

static const struct storageaccount_service service = { .name = "blob",
	.endpoint = "BlobEndpoint",
	.service = AZURECLOUD_BLOB,
	.no_connection = "connection string is required when not using pod identity",
	.no_account = "accountName is required when using Azure Workload Identity",
	.login_table = &login_table };

static void data_done(void *data)
{
	struct blobs *q = data;

	storageaccount_done(&q->account);
	blobglob_free(q->glob);
}

/* ---- Building ---- */

/* The prefix ends with the delimiter even if a pattern disables the delimiter, as in KEDA. */
static int take_names(struct blobs *q, struct err *err)
{
	const char *delimiter = q->recursive ? "" : q->delimiter;
	char *prefix = mem_printf("%s%s", q->prefix ? q->prefix : "", q->prefix ? delimiter : "");

	free(q->prefix);
	q->prefix = prefix;
	if (q->pattern || q->recursive)
		*q->delimiter = '\0';
	q->glob = q->pattern ? blobglob_new(q->pattern, err) : NULL;
	return q->pattern && !q->glob ? params_wrap(err, "globPattern") : 0;
}

static int build(struct scaler_build *b, struct err *err)
{
	struct blobs *q = b->data;

	b->metric_name = mem_printf("azure-blob-%s", q->container);
	if (take_names(q, err) || storageaccount_login(b, &service, &q->account, err))
		return -1;
	b->timeout_ms = TIMEOUT_MS;
	return 0;
}

/* ---- Asking ---- */

/* Kept from page to page. */
struct blob_state {
	struct storagexml *page; /* owned; of the current request; NULL */
	const struct blobs *question;
	size_t budget; /* of the pattern, for one piece of the body */
	double count;
	char *marker; /* owned: of the next page; NULL: the first */
};

static void state_done(void *state)
{
	struct blob_state *n = state;

	storagexml_free(n->page);
	free(n->marker);
	n->page = NULL;
	n->marker = NULL;
}

static int fits(void *arg, const char *name, struct err *err)
{
	struct blob_state *n = arg;

	return blobglob_matches(n->question->glob, name, &n->budget, err);
}

static void put_parameter(struct buf *query, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	buf_printf(query, "&%s=", name);
	buf_put_percent(query, value, "");
}

static int request(const struct httpsource *ask, struct webrequest *out, struct err *err)
{
	const struct blobs *q = ask->data;
	struct blob_state *n = ask->state;
	struct buf query = BUF_INIT(QUERY_MAX);
	int rc;

	n->question = q;
	storagexml_free(n->page);
	n->page = storagexml_new(STORAGEXML_BLOBS, q->glob ? fits : NULL, n);
	buf_printf(&query, "restype=container&comp=list&maxresults=%d", PAGE_MAX);
	put_parameter(&query, "prefix", q->prefix);
	put_parameter(&query, "delimiter", q->delimiter);
	put_parameter(&query, "marker", n->marker);
	rc = buf_failed(&query)
		? err_set(err, ERR_INVALID, "the URL would have more than %zu bytes", QUERY_MAX)
		: storageaccount_request(&q->account, q->container, "", buf_text(&query), timestamp_now_ms(), out, err);
	buf_done(&query);
	return rc;
}

static bool piece(struct httpsource *ask, const char *bytes, size_t len, size_t *kept, struct err *err)
{
	struct blob_state *n = ask->state;

	n->budget = BLOBGLOB_BUDGET;
	if (storagexml_feed(n->page, bytes, len, err))
		return false;
	*kept = storagexml_kept(n->page);
	return true;
}

/* An incomplete list fails: with a pattern or a prefix its count may be far too low. */
static enum exchange_verdict next_page(struct httpsource *ask, char *marker, struct err *err)
{
	struct blob_state *n = ask->state;

	if (n->marker && strcmp(n->marker, marker) == 0)
		return err_set(err, ERR_INVALID, "the next page repeats this one");
	if (ask->step >= HTTPSOURCE_STEPS_MAX)
		return err_set(err, ERR_INVALID,
			"there are more than %d blobs, the most that are counted: set blobPrefix, or remove processed "
			"blobs",
			ALL_MAX);
	free(n->marker);
	n->marker = mem_dup(marker);
	return EXCHANGE_NEXT;
}

static enum exchange_verdict judge(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err)
{
	struct blob_state *n = ask->state;
	MEM_AUTO char *marker = NULL;
	size_t count;

	if (storageaccount_expect(answer, "permission l, or the role Storage Blob Data Reader", err))
		return EXCHANGE_FAILED;
	n->budget = BLOBGLOB_BUDGET;
	if (storagexml_end(n->page, &count, &marker, err))
		return EXCHANGE_FAILED;
	n->count += (double)count;
	if (*marker)
		return next_page(ask, marker, err);
	out->value = n->count;
	return EXCHANGE_DONE;
}

static const struct httpsource_type http = { .subject = "container",
	.subject_at = AT(container),
	.max_body = ANSWER_MAX,
	.state_size = sizeof(struct blob_state),
	.state_done = state_done,
	.request = request,
	.read = judge,
	.piece = piece };

const struct scaler_type azureblob_scaler_type = {
	.name = "azure-blob",
	.go_name = "azureBlobScaler",
	.tables = { &table, &login_table, &azurecloudparams_table },
	.azure_workload = true,
	.data_size = sizeof(struct blobs),
	.build = build,
	.data_done = data_done,
	.asker = &httpsource_asker,
	.http = &http,
};
