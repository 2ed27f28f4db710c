/* SPDX-License-Identifier: Apache-2.0 */
#include "net/vault/vault.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/fingerprint.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/shares.h"
#include "base/timestamp.h"
#include "net/vault/vaultlogin.h"
#include "net/vault/vaultreply.h"
#include "net/vault/vaultrequest.h"

#define LOGINS_MAX         2000 /* over all namespaces */
#define LOGINS_FEW         4    /* one namespace's maximum from the reserve */
#define SWEEP_MS           60000
#define CERTIFICATE_MIN_MS 10000 /* life of a certificate without a known end */

struct vault_entry {
	char key[FINGERPRINT_TEXT];
	struct vaultlogin *login;
	size_t reads; /* calls that use it */
	char *asker;  /* owned; the namespace whose share it uses: the first that asked */
	struct shares_hold share;
	UT_hash_handle hh;
};

/* One read of a path: it waits for the login, asks, and again after a check of a refused token. */
enum state { LOGIN, ASKING, CHECKING };

struct vault_call {
	struct vault_pool *pool;
	struct vault_entry *entry; /* NULL: the settings are invalid */
	enum state state;
	char *path;       /* encoded */
	char *shown_path; /* as the user wrote it */
	char *body;       /* of PKI; NULL: a GET request */
	char *asker;      /* owned */
	struct exchange exchange;
	struct vaultlogin_waiter waiter;
	uint64_t generation; /* of the token that was sent */
	struct err *err;     /* owned; of the settings, or the refusal if the token turns out to be valid; NULL */
	json_t *answer;
	vault_fn fn;
	void *arg;
	struct vault_call *prev, *next;
};

struct vault_pool {
	struct loop *loop;
	struct webclient *client;
	char *ca_file;
	bool skip_verify;
	struct vault_entry *logins;
	struct shares login_shares; /* logins, by namespace */
	struct vault_call *calls;
	struct loop_timer sweep;
};

/* ---- Logins ---- */

static void entry_free(struct vault_pool *p, struct vault_entry *e)
{
	HASH_DEL(p->logins, e);
	shares_give(&e->share, 1);
	vaultlogin_free(e->login);
	free(e->asker);
	free(e);
}

/* The least recently used idle login of this namespace, or of all (NULL); NULL: all are in use. */
static struct vault_entry *oldest_login(struct vault_pool *p, const char *asker)
{
	struct vault_entry *e, *next, *oldest = NULL;

	HASH_ITER (hh, p->logins, e, next)
		if (e->reads == 0 && (!asker || strcmp(e->asker, asker) == 0) &&
			(!oldest || vaultlogin_used_ms(e->login) < vaultlogin_used_ms(oldest->login)))
			oldest = e;
	return oldest;
}

static int make_room_for_login(struct vault_pool *p, const char *asker, struct shares_hold *share, struct err *err)
{
	struct vault_entry *e;

	while (!shares_take(&p->login_shares, share, asker, 1)) {
		e = oldest_login(p, asker);
		if (!e && shares_had_by(&p->login_shares, asker) < LOGINS_FEW)
			e = oldest_login(p, NULL); /* the reserve is used up */
		if (!e)
			return err_set(err, ERR_TEMPORARY,
				"logins to Vault: this namespace has used up its share of the %d; its "
				"TriggerAuthentications have too many credentials, or their servers do not answer",
				LOGINS_MAX);
		entry_free(p, e);
	}
	return 0;
}

static struct vault_entry *find_login(struct vault_pool *p, const struct vault_server *server,
	const struct vault_login *login, struct err *err)
{
	const char *const parts[] = { server->address, server->namespace_, login->token, login->jwt, login->role,
		login->mount };
	const char *asker = server->asker ? server->asker : "";
	struct shares_hold share = { 0 };
	char key[FINGERPRINT_TEXT];
	struct vault_entry *e;
	struct vaultlogin *l;

	fingerprint_of(parts, MEM_COUNT(parts), key);
	HASH_FIND_STR(p->logins, key, e);
	if (e) {
		vaultlogin_share(e->login, asker);
		return e;
	}
	if (make_room_for_login(p, asker, &share, err) < 0)
		return NULL;
	l = vaultlogin_new(p->loop, p->client, server, login, p->ca_file, p->skip_verify, err);
	if (!l) {
		shares_give(&share, 1);
		return NULL;
	}
	e = mem_zalloc(sizeof(*e));
	memcpy(e->key, key, sizeof(key));
	e->login = l;
	e->asker = mem_dup(asker);
	e->share = share;
	HASH_ADD_STR(p->logins, key, e);
	return e;
}

static void on_sweep(void *arg)
{
	struct vault_pool *p = arg;
	struct vault_entry *e, *next;

	HASH_ITER (hh, p->logins, e, next)
		if (e->reads == 0 && !vaultlogin_in_use(e->login))
			entry_free(p, e);
	if (p->logins)
		loop_timer_set(&p->sweep, SWEEP_MS);
}

/* ---- Reading ---- */

static void call_free(struct vault_call *c)
{
	DL_DELETE(c->pool->calls, c);
	exchange_done(&c->exchange);
	vaultlogin_leave(&c->waiter);
	if (c->entry)
		c->entry->reads--;
	json_decref(c->answer);
	err_keep(&c->err, NULL);
	free(c->path);
	free(c->shown_path);
	free(c->body);
	free(c->asker);
	free(c);
}

static void on_late(void *arg, struct err *err)
{
	const struct vault_call *c = arg;

	err_set(err, ERR_TEMPORARY, "%.200s: %s in time", vaultlogin_server(c->entry->login)->address,
		c->state == LOGIN ? "no login" : "no answer");
}

static void on_login(void *arg, const struct err *err)
{
	struct vault_call *c = arg;

	if (!err && c->state == CHECKING && vaultlogin_generation(c->entry->login) == c->generation)
		err = c->err;
	if (!err)
		c->state = ASKING;
	exchange_resume(&c->exchange, err);
}

static enum exchange_verdict on_next(void *arg, struct webrequest *out, struct err *err)
{
	struct vault_call *c = arg;
	struct vaultlogin *l = c->entry ? c->entry->login : NULL;

	if (!l) {
		*err = *c->err;
		return EXCHANGE_FAILED;
	}
	if (c->state == ASKING) {
		c->generation = vaultlogin_generation(l);
		vaultrequest_make(vaultlogin_server(l), c->path, vaultlogin_token(l), c->body, out);
		return EXCHANGE_SEND;
	}
	if (c->state == CHECKING)
		vaultlogin_recheck(l, &c->waiter, c->generation);
	else
		vaultlogin_wait(l, &c->waiter);
	return EXCHANGE_WAIT;
}

static enum exchange_verdict on_read(void *arg, const struct webresponse *response, struct err *err)
{
	struct vault_call *c = arg;
	bool is_late = loop_now_ms(c->pool->loop) >= c->exchange.options.deadline_ms;

	c->answer = vaultrequest_read(&c->exchange, response, NULL, err);
	if (c->answer)
		return EXCHANGE_DONE;
	if (response->status == 0 && is_late)
		on_late(c, err);
	if (err->kind != ERR_DENIED || c->err)
		return EXCHANGE_FAILED;
	err_keep(&c->err, err);
	c->state = CHECKING;
	return EXCHANGE_NEXT;
}

/* A lease ends with the token. */
static int64_t good_for_ms(const struct vault_call *c)
{
	enum vault_engine engine = c->body ? VAULT_ENGINE_PKI : VAULT_ENGINE_ANY;
	bool leased;
	int64_t good_ms = vaultreply_good_for_ms(c->answer, engine, timestamp_now_ms(), &leased),
		now_ms = loop_now_ms(c->pool->loop), ends_ms = leased ? vaultlogin_ends_ms(c->entry->login) : 0;

	if (good_ms == 0)
		return c->body ? CERTIFICATE_MIN_MS : 0;
	if (ends_ms != 0 && ends_ms < now_ms + good_ms)
		return ends_ms > now_ms ? ends_ms - now_ms : 1;
	if (leased)
		vaultlogin_need(c->entry->login, now_ms + good_ms);
	return good_ms;
}

static void on_end(void *arg, const struct err *cause)
{
	struct vault_call *c = arg;
	json_t *answer = json_incref(c->answer);
	int64_t good_ms = answer ? good_for_ms(c) : 0;
	vault_fn fn = c->fn;
	void *fn_arg = c->arg;
	struct err err;

	if (cause) {
		err = *cause;
		if (c->entry)
			err_wrap(&err, "%.200s", c->shown_path);
	}
	call_free(c);
	fn(fn_arg, answer, good_ms, cause ? &err : NULL);
	json_decref(answer);
}

static const struct exchange_kind reading = { .next = on_next, .read = on_read, .late = on_late, .end = on_end };

struct vault_call *vault_read(struct vault_pool *p, const struct vault_server *server, const struct vault_login *login,
	const struct vault_secret *secret, int64_t deadline_ms, vault_fn fn, void *arg)
{
	struct vault_call *c = mem_zalloc(sizeof(*c));
	struct err err;

	c->pool = p;
	c->fn = fn;
	c->arg = arg;
	c->waiter.fn = on_login;
	c->waiter.arg = c;
	c->shown_path = mem_dup(secret->path);
	c->body = secret->engine == VAULT_ENGINE_PKI ? vaultreply_issue_body(secret) : NULL;
	c->asker = mem_dup(server->asker ? server->asker : "");
	c->path = vaultreply_path("", secret->path, "", &err);
	DL_APPEND(p->calls, c);
	if (c->path)
		c->entry = find_login(p, server, login, &err);
	if (c->entry) {
		c->entry->reads++;
		c->exchange = vaultrequest_exchange(p->loop, p->client, vaultlogin_server(c->entry->login), c->asker);
	} else {
		err_keep(&c->err, &err);
		c->exchange = (struct exchange){ .loop = p->loop, .client = p->client, .steps_max = 1 };
	}
	c->exchange.options.deadline_ms = deadline_ms > 0 ? deadline_ms : 1;
	exchange_start(&c->exchange, &reading, c);
	if (!loop_timer_pending(&p->sweep))
		loop_timer_set(&p->sweep, SWEEP_MS);
	return c;
}

void vault_cancel(struct vault_call *c)
{
	if (c)
		call_free(c);
}

/* ---- Life ---- */

void vault_pool_free(struct vault_pool *p)
{
	struct vault_entry *e, *next;

	if (!p)
		return;
	while (p->calls)
		call_free(p->calls);
	HASH_ITER (hh, p->logins, e, next)
		entry_free(p, e);
	loop_timer_done(&p->sweep);
	webclient_free(p->client);
	free(p->ca_file);
	free(p);
}

struct vault_pool *vault_pool_new(struct loop *loop, const char *ca_file, bool skip_verify)
{
	struct vault_pool *p = mem_zalloc(sizeof(*p));

	p->loop = loop;
	p->ca_file = mem_dup(ca_file);
	p->skip_verify = skip_verify;
	p->login_shares = (struct shares){ .total = LOGINS_MAX, .few = LOGINS_FEW };
	p->client = webclient_new(loop, VAULTREQUEST_MS);
	loop_timer_init(&p->sweep, loop, on_sweep, p);
	return p;
}
