/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/azure/storageaccount.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/http/httpstatus.h"
#include "net/http/httpurl.h"
#include "net/identity/awsxml.h"
#include "net/sign/azuresign.h"
#include "scalers/azure/azurecloudparams.h"
#include "scalers/login/azurelogin.h"
#include "scalers/params.h"

#define VERSION     "2021-12-02" /* names in lists may be encoded since 2021-02-12 */
#define URL_MAX     ((size_t)1 << 14)
#define WORDS_SHOWN 300

/* ---- Connection strings ---- */

/* Parsed. Owns its texts, some of which are secrets. */
struct connection_string {
	char *protocol, *suffix, *endpoint, *account, *key, *sas;
};

static void connection_string_done(struct connection_string *c)
{
	mem_free_secret(c->protocol);
	mem_free_secret(c->suffix);
	mem_free_secret(c->endpoint);
	mem_free_secret(c->account);
	mem_free_secret(c->key);
	mem_free_secret(c->sas);
}

/* Case-sensitive, the last of several counts, as in Azure's Go library; "" is absent. */
static int read_pairs(const char *text, const char *endpoint, struct connection_string *c, struct err *err)
{
	const struct {
		const char *key;
		char **value;
	} known[] = { { "DefaultEndpointsProtocol", &c->protocol }, { "EndpointSuffix", &c->suffix },
		{ endpoint, &c->endpoint }, { "AccountName", &c->account }, { "AccountKey", &c->key },
		{ "SharedAccessSignature", &c->sas } };

	for (size_t len; *text; text += len + (text[len] == ';')) {
		const char *equals;

		len = strcspn(text, ";");
		equals = memchr(text, '=', len);
		if (len > 0 && !equals)
			return err_set(err, ERR_INVALID,
				"connection string is either blank or malformed. The expected connection string should "
				"contain key value pairs separated by semicolons. For example "
				"'DefaultEndpointsProtocol=https;AccountName=<accountName>;AccountKey=<accountKey>;"
				"EndpointSuffix=core.windows.net'");
		for (size_t i = 0; equals && i < MEM_COUNT(known); i++) {
			size_t key_len = (size_t)(equals - text);

			if (strlen(known[i].key) != key_len || memcmp(known[i].key, text, key_len) != 0)
				continue;
			mem_free_secret(*known[i].value);
			*known[i].value = len > key_len + 1 ? mem_dupn(equals + 1, len - key_len - 1) : NULL;
		}
	}
	return 0;
}

/* ---- The endpoint ---- */

/* Adds a trailing slash. */
static int take_url(const char *url, struct storageaccount *out, struct err *err)
{
	MEM_AUTO char *clean = NULL;

	if (strchr(url, '?'))
		return err_set(err, ERR_INVALID, "its endpoint has a query");
	clean = httpurl_without_user(url, err);
	if (!clean)
		return err_wrap(err, "its endpoint");
	out->login.url = mem_printf("%s%s", clean, clean[strlen(clean) - 1] == '/' ? "" : "/");
	return 0;
}

static int take_endpoint(const struct connection_string *c, const struct storageaccount_service *service,
	struct storageaccount *out, struct err *err)
{
	MEM_AUTO char *usual = NULL;

	if (!c->endpoint && !c->account)
		return err_set(err, ERR_INVALID, "connection string needs either AccountName or %s", service->endpoint);
	if (c->account && !azurecloud_is_label(c->account))
		return err_set(err, ERR_INVALID,
			"its AccountName is invalid: it has 1 to 63 letters, digits and hyphens");
	if (!c->endpoint)
		usual = mem_printf("%s://%s.%s.%s", c->protocol ? c->protocol : "https", c->account, service->name,
			c->suffix ? c->suffix : "core.windows.net");
	return take_url(c->endpoint ? c->endpoint : usual, out, err);
}

/* ---- Authorization ---- */

/* The key only signs. It is in the access for its fingerprint, and for hiding it in error texts. */
static int take_key(const struct connection_string *c, struct storageaccount *out, struct err *err)
{
	const struct webaccess_config config = { .password = c->key };
	char *bytes = base64_decode(c->key, NULL);

	mem_free_secret(bytes);
	if (!bytes)
		return err_set(err, ERR_INVALID, "its AccountKey is not base64");
	out->account = mem_dup(c->account);
	out->key = mem_dup(c->key);
	return httplogin_log_in(&out->login, &config, err);
}

/* The signature goes into the access, so that no URL of ours contains it. */
static int take_sas(const struct connection_string *c, struct storageaccount *out, struct err *err)
{
	struct webaccess_config config = { .query_name = "sig" };
	struct buf rest = BUF_INIT(URL_MAX);
	char *signature = NULL;
	int rc;

	for (const char *at = c->sas + (*c->sas == '?'); *at; at += strspn(at, "&")) {
		size_t len = strcspn(at, "&");

		if (text_begins(at, "sig=")) {
			mem_free_secret(signature);
			signature = mem_dupn(at + 4, len - 4);
			text_percent_decode(signature, len - 4);
		} else if (len > 0) {
			buf_printf(&rest, "%s%.*s", rest.len > 0 ? "&" : "", (int)len, at);
		}
		at += len;
	}
	if (!signature || !*signature || buf_failed(&rest) || strpbrk(buf_text(&rest), " #?\"<>\\^`{|}\t\r\n")) {
		mem_free_secret(signature);
		buf_done_secret(&rest);
		return err_set(err, ERR_INVALID,
			"its SharedAccessSignature is invalid: it is a query string with a sig");
	}
	out->sas = buf_take(&rest);
	config.query_value = signature;
	config.password = out->sas;
	rc = httplogin_log_in(&out->login, &config, err);
	mem_free_secret(signature);
	return rc;
}

static int take_connection(const char *text, const struct storageaccount_service *service, struct storageaccount *out,
	struct err *err)
{
	struct connection_string c = { 0 };
	int rc = read_pairs(text, service->endpoint, &c, err);

	if (rc == 0)
		rc = take_endpoint(&c, service, out, err);
	if (rc == 0 && c.account && c.key)
		rc = take_key(&c, out, err);
	else if (rc == 0 && c.sas)
		rc = take_sas(&c, out, err);
	else if (rc == 0)
		rc = err_set(err, ERR_INVALID, "connection string needs either AccountKey or SharedAccessSignature");
	connection_string_done(&c);
	return rc ? params_wrap(err, "connection") : 0;
}

static int take_workload(const struct pod_identity *pod, enum azurecloud_service service, const char *account,
	const char *suffix, struct storageaccount *out, struct err *err)
{
	MEM_AUTO char *host = mem_printf("%s.%s", account, suffix);
	struct webaccess_config config = { 0 };

	if (!azurecloud_is_label(account))
		return params_wrong(err, "accountName",
			"value \"%.100s\" is invalid: it has 1 to 63 letters, digits and "
			"hyphens",
			account);
	config.identity = azurelogin_new(pod, NULL, &(struct disclosure){ .service = service, .host = host }, err);
	if (!config.identity)
		return -1;
	out->login.url = mem_printf("https://%s/", host);
	return httplogin_log_in(&out->login, &config, err);
}

/* ---- Reading ---- */

int storageaccount_read(const struct scaler_params *params, const struct storageaccount_service *service,
	const char *connection, const char *account, bool open, struct storageaccount *out, struct err *err)
{
	MEM_AUTO char *suffix = NULL;
	int rc = azurecloudparams_read(params, service->service, &suffix, err), workload;

	*out = (struct storageaccount){ 0 };
	workload = rc < 0 ? -1 : azurelogin_is_workload(params->identity, params->type, err);
	if (workload < 0)
		return -1;
	if (rc == 0)
		rc = open;
	if (rc == 0 && workload)
		rc = account ? take_workload(params->identity, service->service, account, suffix, out, err)
			     : err_set_about(err, "accountName", "%s", service->no_account);
	else if (rc == 0)
		rc = connection ? take_connection(connection, service, out, err)
				: err_set_about(err, "connection", "%s", service->no_connection);
	if (rc < 0)
		storageaccount_done(out);
	return rc;
}

int storageaccount_login(struct scaler_build *b, const struct storageaccount_service *service,
	struct storageaccount *out, struct err *err)
{
	const struct storageaccount_fields *f = params_read_login(b, service->login_table, sizeof(*f), err);
	int rc = f ? storageaccount_read(b->params, service, f->connection, f->account, b->open, out, err) : -1;

	b->open |= rc == 1;
	if (rc == 0)
		params_add_key(b, out->account);
	return rc < 0 ? -1 : 0;
}

void storageaccount_done(struct storageaccount *s)
{
	httplogin_done(&s->login);
	free(s->account);
	mem_free_secret(s->key);
	mem_free_secret(s->sas);
	*s = (struct storageaccount){ 0 };
}

/* ---- Asking ---- */

/* "Thu, 26 Nov 2026 18:30:00 GMT" */
static char *http_date(int64_t unix_ms)
{
	static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	time_t seconds = (time_t)(unix_ms / 1000);
	struct tm t;

	gmtime_r(&seconds, &t);
	return mem_printf("%.3s, %02d %.3s %04d %02d:%02d:%02d GMT", days + 3 * (t.tm_wday % 7), t.tm_mday,
		months + 3 * (t.tm_mon % 12), t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
}

static int sign(const struct storageaccount *s, const char *path, const char *query, struct webrequest *out,
	struct err *err)
{
	const struct azuresign_request request = { .method = "GET",
		.path = path,
		.query = query,
		.headers = &out->headers };
	char *signature = azuresign_shared_key(&request, s->account, s->key, err);

	if (!signature)
		return -1;
	strmap_set(&out->headers, "Authorization", signature);
	mem_free_secret(signature);
	return 0;
}

int storageaccount_request(const struct storageaccount *s, const char *name, const char *more, const char *query,
	int64_t unix_ms, struct webrequest *out, struct err *err)
{
	struct buf url = BUF_INIT(URL_MAX);
	MEM_AUTO char *date = http_date(unix_ms), *path = NULL;

	buf_puts(&url, s->login.url);
	buf_put_percent(&url, name, "$"); /* $logs, $root */
	buf_puts(&url, more);
	path = mem_dup(strchr(strstr(buf_text(&url), "://") + 3, '/'));
	buf_printf(&url, "?%s%s%s", query, s->sas && *s->sas ? "&" : "", s->sas ? s->sas : "");
	if (buf_failed(&url)) {
		buf_done_secret(&url);
		return err_set(err, ERR_INVALID, "the URL would have more than %zu bytes", URL_MAX);
	}
	out->url = buf_take(&url);
	strmap_set(&out->headers, "x-ms-date", date);
	strmap_set(&out->headers, "x-ms-version", VERSION);
	return s->key ? sign(s, path, query, out, err) : 0;
}

/* "QueueNotFound: The specified queue does not exist."; the rest is ids and times. */
static void put_words(const struct webresponse *answer, char out[WORDS_SHOWN])
{
	static const char *const paths[] = { "Error/Code", "Error/Message" };
	char *found[MEM_COUNT(paths)] = { NULL };

	*out = '\0';
	if (awsxml_read(answer->body, answer->len, paths, MEM_COUNT(paths), found, NULL) == 0 && found[0])
		snprintf(out, WORDS_SHOWN, ", %.60s%s%.*s", found[0], found[1] ? ": " : "",
			found[1] ? (int)strcspn(found[1], "\r\n") : 0, found[1] ? found[1] : "");
	text_line(out, strlen(out), out, WORDS_SHOWN);
	free(found[0]);
	free(found[1]);
}

int storageaccount_expect(const struct webresponse *answer, const char *needed, struct err *err)
{
	char words[WORDS_SHOWN];
	bool denied = answer->status == 401 || answer->status == 403;

	if (answer->status == 200)
		return 0;
	put_words(answer, words);
	err_set(err, httpstatus_kind(answer->status), "HTTP status %d%s%s%s", answer->status, words,
		denied ? "; required: the account's key, a shared access signature with " : "", denied ? needed : "");
	err->http_status = answer->status;
	return -1;
}
