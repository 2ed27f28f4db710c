/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/etcd/etcdmessages.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "net/grpc/grpcmessage.h"
#include "scalers/etcd/etcd.pb-c.h"
#include "scalers/values/metricvalue.h"

#define KEY_SHOWN    120
#define REASON_SHOWN 160

/* ---- Requests ---- */

/* protobuf-c's structs have non-const pointers, but packing only reads. */
static char *lent(const char *text)
{
	return (char *)(uintptr_t)text;
}

static ProtobufCBinaryData bytes_of(const char *text)
{
	return (ProtobufCBinaryData){ strlen(text), (uint8_t *)lent(text) };
}

void etcdmessages_put_range(struct buf *out, const char *key)
{
	Etcd__RangeRequest request;

	etcd__range_request__init(&request);
	request.key = bytes_of(key);
	grpcmessage_put(out, &request.base);
}

void etcdmessages_put_login(struct buf *out, const char *username, const char *password)
{
	Etcd__AuthenticateRequest request;

	etcd__authenticate_request__init(&request);
	request.name = lent(username);
	request.password = lent(password);
	grpcmessage_put(out, &request.base);
}

void etcdmessages_put_watch(struct buf *out, const char *key)
{
	Etcd__WatchCreateRequest create;
	Etcd__WatchRequest request;

	etcd__watch_create_request__init(&create);
	etcd__watch_request__init(&request);
	create.key = bytes_of(key);
	create.progress_notify = 1;
	request.create_request = &create;
	grpcmessage_put(out, &request.base);
}

/* ---- Answers ---- */

static int read_number(const Etcd__RangeResponse *answer, const char *key, double *out, struct err *err)
{
	const ProtobufCBinaryData *value;

	if (answer->n_kvs == 0)
		return err_set(err, ERR_MISSING, "watchKey %.*s doesn't exist", KEY_SHOWN, key);
	if (answer->n_kvs > 1)
		return err_set(err, ERR_INVALID, "the answer has %zu keys instead of one", answer->n_kvs);
	value = &answer->kvs[0]->value;
	if (!metricvalue_float_of_text(value->data ? (const char *)value->data : "", value->len, out))
		return err_set(err, ERR_INVALID,
			"the value of watchKey %.*s (%zu bytes) must be a number such as 5 or 1.5 and nothing else",
			KEY_SHOWN, key, value->len);
	return 0;
}

int etcdmessages_get_number(const void *bytes, size_t len, const char *key, double *out, struct err *err)
{
	struct grpcmessage m;
	int rc;

	if (grpcmessage_read(&m, &etcd__range_response__descriptor, bytes, len, err))
		return -1;
	rc = read_number((const Etcd__RangeResponse *)m.message, key, out, err);
	grpcmessage_done(&m);
	return rc;
}

int etcdmessages_get_token(const void *bytes, size_t len, char **out, struct err *err)
{
	struct grpcmessage m;
	char *token;
	size_t length;
	int rc = 0;

	if (grpcmessage_read(&m, &etcd__authenticate_response__descriptor, bytes, len, err))
		return -1;
	token = ((Etcd__AuthenticateResponse *)m.message)->token;
	length = strlen(token);
	for (size_t i = 0; i < length && rc == 0; i++)
		if (!isgraph((unsigned char)token[i]))
			rc = -1;
	if (rc || length == 0 || length > ETCDMESSAGES_TOKEN_MAX)
		rc = err_set(err, ERR_INVALID, "the answer has no valid token");
	else
		*out = mem_dup(token);
	mem_wipe(token, length);
	grpcmessage_done(&m);
	return rc;
}

/* The reasons are etcd's; one of them is a missing read permission. */
static int canceled(const Etcd__WatchResponse *answer, struct err *err)
{
	MEM_AUTO char *reason = mem_dupn(answer->cancel_reason, strnlen(answer->cancel_reason, REASON_SHOWN));

	text_line(reason, strlen(reason), reason, REASON_SHOWN + 1);
	if (answer->compact_revision > 0)
		return err_set(err, ERR_TEMPORARY, "the watch was canceled: its revision has been compacted");
	return err_set(err, strstr(reason, "permission denied") ? ERR_DENIED : ERR_TEMPORARY,
		"the watch was canceled%s%s", *reason ? ": " : "", reason);
}

int etcdmessages_get_news(const void *bytes, size_t len, enum etcdmessages_news *out, struct err *err)
{
	const Etcd__WatchResponse *answer;
	struct grpcmessage m;
	int rc = 0;

	if (grpcmessage_read(&m, &etcd__watch_response__descriptor, bytes, len, err))
		return -1;
	answer = (const Etcd__WatchResponse *)m.message;
	if (answer->canceled || answer->compact_revision > 0)
		rc = canceled(answer, err);
	else
		*out = answer->created         ? ETCDMESSAGES_CREATED
			: answer->n_events > 0 ? ETCDMESSAGES_CHANGED
					       : ETCDMESSAGES_ALIVE;
	grpcmessage_done(&m);
	return rc;
}
