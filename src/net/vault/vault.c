/* SPDX-License-Identifier: Apache-2.0 */
#include "net/vault/vault_parts.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/mem.h"

#define LOGINS_MAX 2000 /* over all namespaces */
#define LOGINS_FEW 4    /* one namespace's maximum from the reserve */
#define SWEEP_MS   60000

/* ---- Calls ---- */

static void on_task(void *arg)
{
	struct vault_call *c = arg;
	struct err *err = c->err;
	char *value = c->value;

	c->err = NULL;
	c->value = NULL;
	vault_finish(c, value, !err ? vault_time_left(c->pool, c->until_ms) : 0, err);
	mem_free_secret(value);
	free(err);
}

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

/* Frees expired responses and unused logins. */
static void on_sweep(void *arg)
{
	struct vault_pool *p = arg;
	struct vault_entry *e, *next_entry;

	vaultread_sweep(p);
	HASH_ITER (hh, p->logins, e, next_entry)
		if (e->reads == 0 && !vaultlogin_in_use(e->login))
			entry_free(p, e);
	if (p->logins)
		loop_timer_set(&p->sweep, SWEEP_MS);
}

/* ---- Reading ---- */

static void on_deadline(void *arg)
{
	struct vault_call *c = arg;
	struct vaultread *r = c->read;
	struct err err;

	if (!r)
		return; /* its result is due in this turn */
	err_set(&err, ERR_TEMPORARY, "%.200s: %.200s: %s in time", r->shown_path,
		vaultlogin_server(r->entry->login)->address, r->state == READ_LOGIN ? "no login" : "no answer");
	vault_call_detach(c);
	vaultread_drop_if_unwanted(r);
	vault_finish(c, NULL, 0, &err);
}

/* Joins the call to a read in progress, or queues its task. */
static void begin(struct vault_call *c, const struct vault_server *server, const struct vault_login *login,
	const struct vault_secret *secret)
{
	struct vault_pool *p = c->pool;
	struct err err;
	struct vault_entry *e = find_login(p, server, login, &err);
	struct vaultread *r = e ? vaultread_find(p, e, secret, server->asker, &err) : NULL;

	if (r && !vaultread_is_cached(r)) {
		vaultread_join(r, c);
		return;
	}
	if (r) {
		c->value = vaultread_value(r->answer, c, r->shown_path, &err);
		c->until_ms = r->until_ms;
	}
	if (!c->value)
		err_keep(&c->err, &err);
	DL_APPEND(p->ready, c);
	loop_task_queue(p->loop, &c->task);
}

struct vault_call *vault_read(struct vault_pool *p, const struct vault_server *server, const struct vault_login *login,
	const struct vault_secret *secret, int64_t deadline_ms, vault_fn fn, void *arg)
{
	struct vault_call *c = mem_zalloc(sizeof(*c));
	int64_t left_ms;

	c->pool = p;
	c->engine = secret->engine;
	c->key = mem_dup(secret->key);
	c->fn = fn;
	c->arg = arg;
	left_ms = deadline_ms - loop_now_ms(p->loop);
	loop_timer_init(&c->deadline, p->loop, on_deadline, c);
	loop_task_init(&c->task, on_task, c);
	begin(c, server, login, secret);
	loop_timer_set(&c->deadline, left_ms > 0 ? left_ms : 0);
	if (!loop_timer_pending(&p->sweep))
		loop_timer_set(&p->sweep, SWEEP_MS);
	return c;
}

void vault_cancel(struct vault_call *c)
{
	struct vaultread *r = c ? c->read : NULL;

	if (!c)
		return;
	vault_call_free(c);
	if (r)
		vaultread_drop_if_unwanted(r);
}

/* ---- Life ---- */

void vault_pool_free(struct vault_pool *p)
{
	struct vault_entry *e, *next_entry;
	struct vaultread *r, *next;

	if (!p)
		return;
	p->freed = true;
	if (p->depth > 0)
		return;
	HASH_ITER (hh, p->reads, r, next)
		vaultread_free(r);
	while (p->ready)
		vault_call_free(p->ready);
	HASH_ITER (hh, p->logins, e, next_entry)
		entry_free(p, e);
	loop_timer_done(&p->sweep);
	webclient_free(p->client);
	free(p->ca_file);
	free(p);
}

struct vault_pool *vault_pool_new(struct loop *loop, const char *ca_file, bool skip_verify)
{
	struct vault_pool *p = mem_zalloc(sizeof(*p));

	p->end = vault_pool_free;
	p->loop = loop;
	p->ca_file = mem_dup(ca_file);
	p->skip_verify = skip_verify;
	p->login_shares = (struct shares){ .total = LOGINS_MAX, .few = LOGINS_FEW };
	vaultread_init_shares(p);
	p->client = webclient_new(loop, VAULTREQUEST_MS);
	loop_timer_init(&p->sweep, loop, on_sweep, p);
	return p;
}
