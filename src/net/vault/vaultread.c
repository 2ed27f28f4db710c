/* SPDX-License-Identifier: Apache-2.0 */
#include "net/vault/vault_parts.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/mem.h"
#include "base/timestamp.h"
#include "net/vault/vaultreply.h"
#include "net/vault/vaultrequest.h"

#define CACHED_BYTES  ((size_t)32 << 20) /* over all namespaces */
#define CACHED_FEW    ((size_t)1 << 18)  /* one namespace's maximum from the reserve */
#define CACHED_UNIT   ((size_t)16 << 10) /* a response's minimum */
#define CACHED_MIN_MS 10000 /* of a certificate without a known end, so that its key comes from the same response */

char *vaultread_value(const json_t *answer, const struct vault_call *c, const char *shown_path, struct err *err)
{
	char *value = vaultreply_value(answer, c->engine, c->key, err);

	if (!value)
		err_wrap(err, "%.200s", shown_path);
	return value;
}

/* ---- Reads ---- */

static void read_forget(struct vaultread *r)
{
	shares_give(&r->share, r->share.has);
	json_decref(r->answer);
	r->answer = NULL;
	r->until_ms = 0;
}

static void read_unlist(struct vaultread *r)
{
	if (r->key[0] != '\0')
		HASH_DEL(r->pool->reads, r);
	r->key[0] = '\0';
}

void vaultread_free(struct vaultread *r)
{
	while (r->calls) /* only when the pool is freed */
		vault_call_free(r->calls);
	read_unlist(r);
	vaultlogin_leave(&r->waiter);
	exchange_done(&r->exchange);
	read_forget(r);
	r->entry->reads--;
	free(r->path);
	free(r->shown_path);
	free(r->body);
	free(r->asker);
	free(r->refusal);
	free(r);
}

void vaultread_drop_if_unwanted(struct vaultread *r)
{
	if (!r->calls && r->state != READ_DONE && r->state != READ_CACHED)
		vaultread_free(r);
}

/* No call joins a read in state READ_DONE or READ_CACHED. */
static void finish_calls(struct vaultread *r, const struct err *err)
{
	struct vault_pool *p = r->pool;
	struct err wrong;

	while (r->calls && !p->freed) {
		char *value = err ? NULL : vaultread_value(r->answer, r->calls, r->shown_path, &wrong);

		vault_finish(r->calls, value, value ? vault_time_left(p, r->until_ms) : 0,
			value         ? NULL
				: err ? err
				      : &wrong);
		mem_free_secret(value);
	}
}

/*
 * The oldest cached response without calls, of this namespace, or of all (NULL); NULL: none. The
 * table is in the order of requests, which is close enough.
 */
static struct vaultread *oldest_cached(struct vault_pool *p, const char *asker)
{
	struct vaultread *r, *next;

	HASH_ITER (hh, p->reads, r, next)
		if (r->state == READ_CACHED && !r->calls && (!asker || strcmp(r->asker, asker) == 0))
			return r;
	return NULL;
}

/* False: other namespaces' responses leave no room. */
static bool make_room(struct vaultread *r, size_t size)
{
	size_t amount = size > CACHED_UNIT ? size : CACHED_UNIT;
	struct vaultread *old;

	while (!shares_take(&r->pool->cache_shares, &r->share, r->asker, amount)) {
		old = oldest_cached(r->pool, r->asker);
		if (!old && shares_had_by(&r->pool->cache_shares, r->asker) < CACHED_FEW)
			old = oldest_cached(r->pool, NULL); /* the reserve is used up */
		if (!old)
			return false;
		vaultread_free(old);
	}
	return true;
}

void vaultread_init_shares(struct vault_pool *p)
{
	p->cache_shares = (struct shares){ .total = CACHED_BYTES, .few = CACHED_FEW };
}

static int64_t good_until_ms(struct vaultread *r, const json_t *answer)
{
	enum vault_engine engine = r->body ? VAULT_ENGINE_PKI : VAULT_ENGINE_ANY;
	int64_t good_for_ms = vaultreply_good_for_ms(answer, engine, timestamp_now_ms(), &r->leased),
		now_ms = loop_now_ms(r->pool->loop), ends_ms;

	if (good_for_ms == 0 && engine == VAULT_ENGINE_PKI)
		good_for_ms = CACHED_MIN_MS;
	if (good_for_ms == 0)
		return 0;
	ends_ms = r->leased ? vaultlogin_ends_ms(r->entry->login) : 0;
	if (ends_ms != 0 && ends_ms < now_ms + good_for_ms)
		return ends_ms;
	if (r->leased)
		vaultlogin_need(r->entry->login, now_ms + good_for_ms);
	return now_ms + good_for_ms;
}

/* Ends the read, or caches its response. */
static void on_end(void *arg, const struct err *cause)
{
	struct vaultread *r = arg;
	struct vault_pool *p = r->pool;
	int64_t until_ms = cause ? 0 : good_until_ms(r, r->answer);
	bool cached = until_ms > 0 && make_room(r, r->size);
	struct err err;

	if (cause) {
		err = *cause;
		err_wrap(&err, "%.200s", r->shown_path);
	}
	r->until_ms = cached ? until_ms : 0;
	r->state = cached ? READ_CACHED : READ_DONE;
	if (!cached)
		read_unlist(r);
	p->depth++;
	finish_calls(r, cause ? &err : NULL);
	if (!cached)
		vaultread_free(r);
	vault_leave(p);
}

static void on_login(void *arg, const struct err *err)
{
	struct vaultread *r = arg;

	if (!err && r->state == READ_CHECKING && vaultlogin_generation(r->entry->login) == r->generation)
		err = r->refusal;
	r->state = READ_ASKING;
	exchange_resume(&r->exchange, err);
}

/* Waits for the login, or for its check of the token that was refused; then asks. */
static enum exchange_verdict on_next(void *arg, struct webrequest *out, struct err *err)
{
	struct vaultread *r = arg;
	struct vaultlogin *l = r->entry->login;

	(void)err;
	if (r->state == READ_ASKING) {
		r->generation = vaultlogin_generation(l);
		vaultrequest_make(vaultlogin_server(l), r->path, vaultlogin_token(l), r->body, out);
		return EXCHANGE_SEND;
	}
	if (r->state == READ_CHECKING)
		vaultlogin_recheck(l, &r->waiter, r->generation);
	else
		vaultlogin_wait(l, &r->waiter);
	return EXCHANGE_WAIT;
}

static enum exchange_verdict on_read(void *arg, const struct webresponse *response, struct err *err)
{
	struct vaultread *r = arg;

	r->answer = vaultrequest_read(&r->exchange, response, NULL, err);
	r->size = response->len;
	if (r->answer)
		return EXCHANGE_DONE;
	if (err->kind != ERR_DENIED || r->refusal)
		return EXCHANGE_FAILED;
	err_keep(&r->refusal, err);
	r->state = READ_CHECKING;
	return EXCHANGE_NEXT;
}

static const struct exchange_kind reading = { .next = on_next, .read = on_read, .end = on_end };

static void vaultread_start(struct vaultread *r)
{
	read_forget(r);
	err_keep(&r->refusal, NULL);
	r->state = READ_LOGIN;
	r->waiter.fn = on_login;
	r->waiter.arg = r;
	r->exchange = vaultrequest_exchange(r->pool->loop, r->pool->client, vaultlogin_server(r->entry->login),
		r->asker);
	exchange_start(&r->exchange, &reading, r);
}

bool vaultread_is_cached(const struct vaultread *r)
{
	if (r->state != READ_CACHED)
		return false;
	return r->calls ||
		(r->until_ms > loop_now_ms(r->pool->loop) &&
			(!r->leased || r->generation == vaultlogin_generation(r->entry->login)));
}

struct vaultread *vaultread_find(struct vault_pool *p, struct vault_entry *e, const struct vault_secret *secret,
	const char *asker, struct err *err)
{
	char *path = vaultreply_path("", secret->path, "", err), *body;
	char key[FINGERPRINT_TEXT];
	struct vaultread *r;

	if (!path)
		return NULL;
	body = secret->engine == VAULT_ENGINE_PKI ? vaultreply_issue_body(secret) : NULL;
	fingerprint_of((const char *const[]){ e->key, path, body }, 3, key);
	HASH_FIND_STR(p->reads, key, r);
	if (r) {
		free(path);
		free(body);
		return r;
	}
	r = mem_zalloc(sizeof(*r));
	memcpy(r->key, key, sizeof(key));
	r->pool = p;
	r->entry = e;
	r->path = path;
	r->body = body;
	r->shown_path = mem_dup(secret->path);
	r->asker = mem_dup(asker ? asker : "");
	e->reads++;
	HASH_ADD_STR(p->reads, key, r);
	vaultread_start(r);
	return r;
}

void vaultread_join(struct vaultread *r, struct vault_call *c)
{
	if (r->state == READ_CACHED)
		vaultread_start(r);
	c->read = r;
	DL_APPEND(r->calls, c);
}

void vaultread_sweep(struct vault_pool *p)
{
	struct vaultread *r, *next;

	HASH_ITER (hh, p->reads, r, next)
		if (r->state == READ_CACHED && !r->calls && r->until_ms <= loop_now_ms(p->loop))
			vaultread_free(r);
}
