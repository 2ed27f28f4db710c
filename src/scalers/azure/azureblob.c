/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/azure/azureblob.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "scalers/azure/azurecloudparams.h"
#include "scalers/azure/blobglob.h"
#include "scalers/azure/storageaccount.h"
#include "scalers/azure/storagexml.h"
#include "scalers/params.h"

/* Blobs of one page, which have some 2 MiB, and of all that an ask may list. */
#define PAGE_MAX   2000
#define ALL_MAX    (PAGE_MAX * HTTPSOURCE_STEPS_MAX)
#define ANSWER_MAX ((size_t)16 << 20)
#define QUERY_MAX  ((size_t)1 << 14)
/* For all pages together; each has the limit of one request, too. */
#define TIMEOUT_MS 60000

/* The data of a question. */
struct blob_question {
	struct storageaccount account;
	char *container;
	char *prefix, *delimiter; /* "": none */
	char *pattern;            /* as written; NULL */
	struct blobglob *glob;    /* of the pattern; NULL */
};

/* The parameters as written. Owns its texts. */
struct blob_fields {
	char *container, *connection, *account, *prefix, *delimiter, *pattern;
	int64_t target, activation;
	bool recursive;
};

#define AT(field) offsetof(struct blob_fields, field)
static const struct param_row rows[] = {
	{ "blobContainerName", PARAM_TEXT, "m", AT(container), .required = true, .help = "the container" },
	{ "blobCount", PARAM_INT64, "m", AT(target), .otherwise = "5", .help = "target: as many per replica" },
	{ "activationBlobCount", PARAM_INT64, "m", AT(activation), .help = "active when there are more" },
	{ "blobPrefix", PARAM_TEXT, "m", AT(prefix), .help = "folder: only what is in it" },
	{ "blobDelimiter", PARAM_TEXT, "m", AT(delimiter), .otherwise = "/",
		.help = "what ends a folder's name; not what is in folders below" },
	{ "recursive", PARAM_BOOL, "m", AT(recursive), .help = "true: what is in folders below, too" },
	{ "globPattern", PARAM_TEXT, "m", AT(pattern), .help = "blobs whose whole names match it" },
	{ "connection", PARAM_TEXT, "aem", AT(connection), .help = "connection string of the storage account" },
	{ "accountName", PARAM_TEXT, "m", AT(account), .help = "the account, with podIdentity azure-workload" },
};
static const struct param_table table = PARAM_TABLE(rows);

static const struct storageaccount_service service = { .name = "blob",
	.endpoint = "BlobEndpoint",
	.service = AZURECLOUD_BLOB,
	.no_connection = "connection string is required when not using pod identity",
	.no_account = "accountName is required when using Azure Workload Identity" };

static void free_data(void *data)
{
	struct blob_question *q = data;

	storageaccount_done(&q->account);
	free(q->container);
	free(q->prefix);
	free(q->delimiter);
	free(q->pattern);
	blobglob_free(q->glob);
	free(q);
}

/* ---- Building ---- */

/*
 * The delimiter stands behind the prefix also where a pattern makes it count no more, as in KEDA.
 */
static int take_names(struct blob_fields *f, struct blob_question *q, struct err *err)
{
	const char *delimiter = f->recursive ? "" : f->delimiter;

	q->prefix = mem_printf("%s%s", f->prefix ? f->prefix : "", f->prefix ? delimiter : "");
	q->delimiter = mem_dup(f->pattern ? "" : delimiter);
	q->pattern = mem_dup(f->pattern);
	q->container = mem_dup(f->container);
	q->glob = f->pattern ? blobglob_new(f->pattern, err) : NULL;
	return f->pattern && !q->glob ? err_wrap(err, "parameter \"globPattern\"") : 0;
}

static int read_question(const struct scaler_params *params, struct blob_fields *f, struct blob_question *q,
	struct err *err)
{
	int rc = params_read(&table, params, f, err);

	if (rc >= 0 && (params_check_target(params, "blobCount", &f->target, err) || take_names(f, q, err)))
		rc = -1;
	return rc < 0 ? -1 : storageaccount_read(params, &service, f->connection, f->account, rc, &q->account, err);
}

static char *make_key(const struct blob_question *q)
{
	const char *texts[] = { q->container, q->prefix, q->delimiter, q->pattern };
	char print[FINGERPRINT_TEXT];
	MEM_AUTO char *where = storageaccount_key(&q->account);

	return mem_printf("azure-blob %s %s %s", where, q->container, fingerprint_of(texts, MEM_COUNT(texts), print));
}

static int build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err)
{
	struct blob_question *q = mem_zalloc(sizeof(*q));
	struct blob_fields f = { 0 };
	int rc = read_question(params, &f, q, err);

	if (rc >= 0) {
		out->target = quantity_from_int(f.target);
		out->activation = (double)f.activation;
		if (q->container)
			*metric_name = params_normalise(mem_printf("azure-blob-%s", q->container));
	}
	if (rc == 0) {
		out->question = storageaccount_question(&azureblob_scaler_type, &q->account, make_key(q), q);
		out->question->timeout_ms = TIMEOUT_MS;
	} else {
		free_data(q);
	}
	params_done(&table, &f);
	return rc;
}

/* ---- Asking ---- */

/* The note: what is kept from page to page. */
struct blob_note {
	struct storagexml *page; /* owned; of the request under way; NULL */
	const struct blob_question *question;
	size_t budget; /* of the pattern, for one piece */
	double count;
	char *marker; /* owned: where the next page begins; NULL: the first */
};

static void note_done(void *note)
{
	struct blob_note *n = note;

	storagexml_free(n->page);
	free(n->marker);
	n->page = NULL;
	n->marker = NULL;
}

static int fits(void *arg, const char *name, struct err *err)
{
	struct blob_note *n = arg;

	return blobglob_fits(n->question->glob, name, &n->budget, err);
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
	const struct blob_question *q = ask->base.question->data;
	struct blob_note *n = ask->note;
	struct buf query = BUF_INIT(QUERY_MAX);
	int rc;

	n->question = q;
	storagexml_free(n->page);
	n->page = storagexml_new(STORAGEXML_BLOBS, q->glob ? fits : NULL, n);
	buf_printf(&query, "restype=container&comp=list&maxresults=%d", PAGE_MAX);
	put_parameter(&query, "prefix", q->prefix);
	put_parameter(&query, "delimiter", q->delimiter);
	put_parameter(&query, "marker", n->marker);
	out->max_body = ANSWER_MAX;
	rc = buf_failed(&query)
		? err_set(err, ERR_INVALID, "the URL would have more than %zu bytes", QUERY_MAX)
		: storageaccount_request(&q->account, q->container, "", buf_text(&query), timestamp_now_ms(), out, err);
	buf_done(&query);
	return rc;
}

static bool piece(struct httpsource *ask, const char *bytes, size_t len, size_t *kept, struct err *err)
{
	struct blob_note *n = ask->note;

	n->budget = BLOBGLOB_BUDGET;
	if (storagexml_feed(n->page, bytes, len, err)) {
		err_wrap(err, "container %.100s", n->question->container);
		return false;
	}
	*kept = storagexml_kept(n->page);
	return true;
}

/* A part of the list is no answer: with a pattern or a prefix it may be 0. */
static int next_page(struct httpsource *ask, char *marker, struct err *err)
{
	struct blob_note *n = ask->note;

	if (n->marker && strcmp(n->marker, marker) == 0)
		return err_set(err, ERR_INVALID, "the next page is the same one again");
	if (ask->step >= HTTPSOURCE_STEPS_MAX)
		return err_set(err, ERR_INVALID,
			"there are more than %d blobs, of which so many are looked at: give blobPrefix, or move away "
			"what is done",
			ALL_MAX);
	free(n->marker);
	n->marker = mem_dup(marker);
	return 0;
}

static enum httpsource_verdict judge_page(struct httpsource *ask, struct answer *out, struct err *err)
{
	struct blob_note *n = ask->note;
	MEM_AUTO char *marker = NULL;
	size_t count;

	n->budget = BLOBGLOB_BUDGET;
	if (storagexml_end(n->page, &count, &marker, err))
		return HTTPSOURCE_FAILED;
	n->count += (double)count;
	if (*marker)
		return next_page(ask, marker, err) ? HTTPSOURCE_FAILED : HTTPSOURCE_NEXT;
	out->value = n->count;
	return HTTPSOURCE_ANSWERED;
}

static enum httpsource_verdict judge(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err)
{
	const struct blob_question *q = ask->base.question->data;
	enum httpsource_verdict verdict = HTTPSOURCE_FAILED;

	if (storageaccount_expect(answer, "permission l, or the role Storage Blob Data Reader", err) == 0)
		verdict = judge_page(ask, out, err);
	if (verdict == HTTPSOURCE_FAILED)
		err_wrap(err, "container %.100s", q->container);
	return verdict;
}

static const struct httpsource_type http = { .note_size = sizeof(struct blob_note),
	.note_done = note_done,
	.request = request,
	.read = judge,
	.piece = piece };

const struct scaler_type azureblob_scaler_type = {
	.name = "azure-blob",
	.go_name = "azureBlobScaler",
	.tables = { &table, &azurecloudparams_table },
	.azure_workload = true,
	.build = build,
	.ask = httpsource_ask,
	.cancel = httpsource_cancel,
	.http = &http,
	.free_data = free_data,
};
