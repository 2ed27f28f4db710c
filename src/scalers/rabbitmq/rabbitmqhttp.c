/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/rabbitmq/rabbitmqhttp.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"

#define URL_MAX ((size_t)1 << 14)
/*
 * Limits the answer, which has kilobytes per queue otherwise. The counters distinguish a rate of 0
 * from no rate.
 */
#define COLUMNS                                                                                                        \
	"columns=name,messages,messages_ready,message_stats.publish,message_stats.deliver_get,"                        \
	"message_stats.publish_details.rate,message_stats.deliver_get_details.rate"

/* ---- The URL ---- */

/* "/a//b/./c" becomes "/a/b/c", as in KEDA. */
static void put_subpath(struct buf *out, const char *path, size_t len)
{
	const char *end = path + len;

	for (const char *at = path; at < end;) {
		size_t piece = strcspn(at, "/");

		if (piece > (size_t)(end - at))
			piece = (size_t)(end - at);
		if (piece > 0 && !(piece == 1 && *at == '.')) {
			buf_putc(out, '/');
			buf_append(out, at, piece);
		}
		at += piece + 1;
	}
}

/* A blank in a name becomes %20; KEDA's '+' means a plus to RabbitMQ. */
char *rabbitmqhttp_url(const struct rabbitmqhttp_place *place, struct err *err)
{
	const char *authority = strstr(place->url, "://"), *path = authority ? strchr(authority + 3, '/') : NULL;
	const char *last = path ? strrchr(path, '/') + 1 : "";
	struct buf out = BUF_INIT(URL_MAX);

	if (strchr(place->url, '?')) {
		err_set(err, ERR_INVALID, "it must not have a query (?...)");
		return NULL;
	}
	buf_append(&out, place->url, path ? (size_t)(path - place->url) : strlen(place->url));
	if (path)
		put_subpath(&out, path, (size_t)(last - path));
	buf_puts(&out, "/api/queues/");
	if (place->vhost)
		buf_put_percent(&out, place->vhost, "");
	else
		buf_puts(&out, *last ? last : "%2F");
	if (place->regex) {
		buf_puts(&out, "?page=1&use_regex=true&pagination=false&name=");
		buf_put_percent(&out, place->queue, "");
		buf_printf(&out, "&page_size=%" PRId64 "&" COLUMNS, place->page_size);
	} else {
		buf_putc(&out, '/');
		buf_put_percent(&out, place->queue, "");
		buf_puts(&out, "?" COLUMNS);
	}
	if (!buf_failed(&out))
		return buf_take(&out);
	buf_done(&out);
	err_set(err, ERR_INVALID, "the URL has more than %zu bytes", URL_MAX);
	return NULL;
}

/* ---- Answers ---- */

static int set_error(struct err *err, const char *name, const char *what)
{
	size_t len = strcspn(name, "\r\n"); /* the name may come from the server */

	return err_set(err, ERR_TEMPORARY, "queue \"%.*s\": %s", len < 80 ? (int)len : 80, name, what);
}

static const json_t *messages_of(const json_t *queue, const struct rabbitmqhttp_question *q)
{
	return json_object_get(queue, q->ready_only ? "messages_ready" : "messages");
}

static int read_messages(const json_t *value, const char *name, double *out, struct err *err)
{

	if (!value)
		return set_error(err, name,
			"it has no statistics: it was declared just now, its node is down, or the management plug-in "
			"keeps none (management_agent.disable_metrics_collector)");
	*out = json_number_value(value);
	if (!json_is_number(value) || *out < 0)
		return set_error(err, name, "its number of messages is not a number from 0 on");
	return 0;
}

/*
 * A queue to which nothing was ever published, or from which nothing was delivered, has no such
 * counter: its rate is 0. If it has the counter but no rate, the server keeps no rates.
 */
static int read_rate(const json_t *queue, const char *counter, const char *details, const char *name, double *out,
	struct err *err)
{
	const json_t *stats = json_object_get(queue, "message_stats");
	const json_t *rate = json_object_get(json_object_get(stats, details), "rate");

	*out = json_number_value(rate);
	if (rate ? json_is_number(rate) && *out >= 0 : !json_object_get(stats, counter))
		return 0;
	return set_error(err, name,
		rate ? "its rate is not a number" : "the server keeps no rates (management.rates_mode)");
}

static int read_queue(const json_t *queue, const struct rabbitmqhttp_question *q, const char *name,
	struct rabbitmqvalue_figures *out, struct err *err)
{
	if (!json_is_object(queue))
		return set_error(err, name, "the answer is not an object");
	*out = (struct rabbitmqvalue_figures){ 0 };
	if (read_messages(messages_of(queue, q), name, &out->messages, err))
		return -1;
	if (!q->rates)
		return 0;
	if (read_rate(queue, "publish", "publish_details", name, &out->published, err) ||
		read_rate(queue, "deliver_get", "deliver_get_details", name, &out->delivered, err))
		return -1;
	return 0;
}

static void add_figures(struct rabbitmqvalue_figures *all, const struct rabbitmqvalue_figures *one, bool greatest)
{
	all->messages = greatest ? fmax(all->messages, one->messages) : all->messages + one->messages;
	all->published = greatest ? fmax(all->published, one->published) : all->published + one->published;
	all->delivered = greatest ? fmax(all->delivered, one->delivered) : all->delivered + one->delivered;
}

/*
 * No match counts 0. A queue without statistics is skipped if there are others. Counts are divided
 * as integers, as in KEDA.
 */
static int read_page(const json_t *page, const struct rabbitmqhttp_question *q, struct rabbitmqvalue_figures *out,
	struct err *err)
{
	const json_t *items = json_object_get(page, "items"), *pages = json_object_get(page, "page_count");
	size_t matches = json_array_size(items), count = 0;
	struct rabbitmqvalue_figures one;

	*out = (struct rabbitmqvalue_figures){ 0 };
	if (!json_is_array(items))
		return set_error(err, q->queue, "the answer has no list of queues");
	if (!json_is_number(pages)) /* other servers may have an empty list of items, too */
		return set_error(err, q->queue, "the answer has no number of pages (page_count): is it RabbitMQ's?");
	if (json_number_value(pages) > 1)
		return err_set(err, ERR_INVALID,
			"regex \"%.80s\" matches more queues than can be recovered at once (raise pageSize; the server "
			"takes 500 at most)",
			q->queue);
	for (size_t i = 0; i < matches; i++) {
		const json_t *queue = json_array_get(items, i);

		if (json_is_object(queue) && !messages_of(queue, q) && (count > 0 || i + 1 < matches))
			continue;
		count++;
		if (read_queue(queue, q, json_str_or_empty(queue, "name"), &one, err))
			return -1;
		add_figures(out, &one, q->operation == RABBITMQHTTP_MAX);
	}
	if (!isfinite(out->messages) || !isfinite(out->published) || !isfinite(out->delivered))
		return set_error(err, q->queue, "the sum over the matching queues is not finite");
	if (q->operation == RABBITMQHTTP_AVG && count > 0) {
		out->messages = floor(out->messages / (double)count);
		out->published /= (double)count;
		out->delivered /= (double)count;
	}
	return 0;
}

int rabbitmqhttp_read(const struct rabbitmqhttp_question *q, const char *body, size_t len,
	struct rabbitmqvalue_figures *out, struct err *err)
{
	json_t *json = json_parse_foreign(body, len, err);
	int rc;

	if (!json)
		return err_wrap(err, "the answer is not RabbitMQ's");
	rc = q->regex ? read_page(json, q, out, err) : read_queue(json, q, q->queue, out, err);
	json_decref(json);
	return rc;
}
