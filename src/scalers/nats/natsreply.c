/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/nats/natsreply.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostport.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

#define NO_NATS "is this the monitoring port of a NATS server?"

/*
 * Reads all numbers as reals: servers write 18446744073709551615 for "unlimited", and jansson
 * refuses the whole text for such an integer.
 */
static json_t *parse(const char *body, size_t len, struct err *err)
{
	json_t *root;

	if (!json_is_bearable(body, len, err)) {
		err_wrap(err, "the account has too many streams and consumers for one answer");
		return NULL;
	}
	root = json_loadb(body, len, JSON_DECODE_INT_AS_REAL, NULL);
	if (json_is_object(root))
		return root;
	json_decref(root);
	err_set(err, ERR_INVALID, "the answer is not JSON: " NO_NATS);
	return NULL;
}

/* NATS allows no blanks in names; control characters would corrupt our messages. */
static int take_name(const json_t *object, const char *key, char out[NATSREPLY_NAME_SIZE], struct err *err)
{
	const char *text = json_str_or_empty(object, key);
	size_t len = strlen(text), clean = 0;

	while (clean < len && !isspace((unsigned char)text[clean]) && !iscntrl((unsigned char)text[clean]))
		clean++;
	if (clean < len || len >= NATSREPLY_NAME_SIZE)
		return err_set(err, ERR_INVALID, "%s in the answer is not a valid name: " NO_NATS, key);
	memcpy(out, text, len + 1);
	return 0;
}

/* ---- /jsz ---- */

static const json_t *named(const json_t *list, const char *key, const char *name)
{
	size_t count = name ? json_array_size(list) : 0;

	for (size_t i = 0; i < count; i++)
		if (json_str_is(json_array_get(list, i), key, name))
			return json_array_get(list, i);
	return NULL;
}

static int take_count(const json_t *consumer, const char *key, double *sum, struct err *err)
{
	const json_t *value = json_object_get(consumer, key);
	double count = json_number_value(value);

	if (!json_is_number(value) || count < 0 || count != floor(count))
		return err_set(err, ERR_INVALID, "the consumer's %s is not a number of messages: " NO_NATS, key);
	*sum += count;
	return 0;
}

static int take_consumer(const json_t *consumer, struct natsreply_jsz *out, struct err *err)
{
	return take_count(consumer, "num_pending", &out->lag, err) ||
			take_count(consumer, "num_ack_pending", &out->lag, err) ||
			take_name(json_object_get(consumer, "cluster"), "leader", out->leader, err)
		? -1
		: 0;
}

static int find_consumer(const json_t *root, const struct natsreply_wanted *wanted, struct natsreply_jsz *out,
	struct err *err)
{
	const json_t *accounts = json_object_get(root, "account_details"),
		     *account = named(accounts, "id", wanted->account_id), *stream, *consumer;

	if (!account)
		account = named(accounts, "name", wanted->account);
	stream = named(json_object_get(account, "stream_detail"), "name", wanted->stream);
	consumer = named(json_object_get(stream, "consumer_detail"), "name", wanted->consumer);
	out->found = !account ? NATSREPLY_NO_ACCOUNT
		: !stream     ? NATSREPLY_NO_STREAM
		: !consumer   ? NATSREPLY_NO_CONSUMER
			      : NATSREPLY_CONSUMER;
	return consumer ? take_consumer(consumer, out, err) : 0;
}

static int take_jsz(const json_t *root, const struct natsreply_wanted *wanted, struct natsreply_jsz *out,
	struct err *err)
{
	const json_t *size = json_object_get(json_object_get(root, "meta_cluster"), "cluster_size");

	if (json_is_true(json_object_get(root, "disabled")))
		return err_set(err, ERR_INVALID,
			"JetStream is not enabled on this server: natsServerMonitoringEndpoint must name a server "
			"with JetStream");
	if (take_name(root, "server_id", out->id, err))
		return -1;
	if (!*out->id)
		return err_set(err, ERR_INVALID, "the answer has no server_id: " NO_NATS);
	out->is_cluster = json_number_value(size) > 1;
	return find_consumer(root, wanted, out, err);
}

int natsreply_jsz(const char *body, size_t len, const struct natsreply_wanted *wanted, struct natsreply_jsz *out,
	struct err *err)
{
	json_t *root = parse(body, len, err);
	int rc;

	*out = (struct natsreply_jsz){ .found = NATSREPLY_NO_ACCOUNT };
	rc = root ? take_jsz(root, wanted, out, err) : -1;
	json_decref(root);
	return rc;
}

/* ---- /varz ---- */

static bool is_host(const struct hostport *h)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	const char *at = h->host;

	if (!strchr(letters, *at) && !h->bracketed)
		return false;
	while (*at && (strchr(letters, *at) || strchr("-._", *at) || (h->bracketed && *at == ':')))
		at++;
	return at > h->host && !*at;
}

/* Skips entries that are not host:port. */
static void take_hosts(const json_t *urls, struct natsreply_varz *out)
{
	for (size_t i = 0; i < json_array_size(urls) && out->count < NATSREPLY_HOSTS_MAX; i++) {
		const char *url = json_string_value(json_array_get(urls, i));
		struct hostport h;
		size_t k = 0;

		if (!url || hostport_parse(url, &h) != HOSTPORT_GOOD || !is_host(&h))
			continue;
		while (k < out->count && !text_equal_nocase(out->hosts[k], h.host))
			k++;
		if (k == out->count)
			out->hosts[out->count++] = mem_dup(h.host);
	}
}

int natsreply_varz(const char *body, size_t len, struct natsreply_varz *out, struct err *err)
{
	json_t *root = parse(body, len, err);
	int rc = root ? 0 : -1;

	*out = (struct natsreply_varz){ .count = 0 };
	if (root && (take_name(root, "server_name", out->name, err) || take_name(root, "server_id", out->id, err)))
		rc = -1;
	else if (root && (!*out->name || !*out->id))
		rc = err_set(err, ERR_INVALID, "the answer has no server_name and server_id: " NO_NATS);
	if (rc == 0) {
		take_hosts(json_object_get(root, "connect_urls"), out);
		out->are_routes = out->count == 0;
		if (out->are_routes)
			take_hosts(json_object_get(json_object_get(root, "cluster"), "urls"), out);
	}
	json_decref(root);
	return rc;
}

void natsreply_varz_done(struct natsreply_varz *v)
{
	for (size_t i = 0; i < v->count; i++)
		free(v->hosts[i]);
	v->count = 0;
}
