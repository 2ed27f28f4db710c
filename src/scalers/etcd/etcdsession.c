/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/etcd/etcdsession.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/hash.h"
#include "base/mem.h"
#include "scalers/etcd/etcdmessages.h"

#define IDLE_MS 600000

struct etcdsession_entry {
	struct etcdsession *session;
	struct etcdsession_entry *prev, *next;
	char *namespace_; /* owned; NULL */
	int64_t deadline_ms;
	struct loop_timer late;
	etcdsession_fn fn;
	void *arg;
};

struct etcdsession {
	struct etcdsession_pool *pool;
	struct etcdcluster *cluster; /* one reference */
	size_t member;
	char *token;            /* owned: "token: ..."; NULL: none */
	unsigned login;         /* number of successful logins */
	bool open;              /* etcd has authentication disabled */
	struct grpc_call *call; /* the login in progress; NULL */
	size_t tried;           /* members tried in this login */
	int64_t deadline_ms;    /* of the login */
	struct etcdsession_entry *entries;
	struct loop_task settle; /* answers the entries */
	struct err *err;         /* of the last login; owned; NULL */
	int64_t used_ms;
	UT_hash_handle hh;
};

struct etcdsession_pool {
	struct loop *loop;
	struct grpc_pool *grpc;
	struct etcdsession *sessions;
	struct loop_timer sweep;
};

static int64_t now_of(const struct etcdsession *s)
{
	return loop_now_ms(s->pool->loop);
}

static bool needs_login(const struct etcdsession *s)
{
	return s->cluster->username && !s->token && !s->open;
}

static void drop_token(struct etcdsession *s)
{
	mem_free_secret(s->token);
	s->token = NULL;
	s->open = false;
}

static void session_free(struct etcdsession *s)
{
	grpc_cancel(s->call);
	loop_task_cancel(s->pool->loop, &s->settle);
	HASH_DEL(s->pool->sessions, s);
	drop_token(s);
	err_keep(&s->err, NULL);
	etcdcluster_unref(s->cluster);
	free(s);
}

static void on_sweep(void *arg)
{
	struct etcdsession_pool *p = arg;
	struct etcdsession *s, *next;

	HASH_ITER (hh, p->sessions, s, next)
		if (!s->entries && !s->call && now_of(s) - s->used_ms >= IDLE_MS)
			session_free(s);
	if (p->sessions)
		loop_timer_set(&p->sweep, IDLE_MS);
}

static void name_error(const struct etcdsession *s, struct err *err)
{
	err_wrap(err, "etcd %s", s->cluster->members[s->member]->base.name);
}

/* ---- Entries ---- */

static void entry_free(struct etcdsession_entry *e)
{
	DL_DELETE(e->session->entries, e);
	loop_timer_done(&e->late);
	free(e->namespace_);
	free(e);
}

void etcdsession_leave(struct etcdsession_entry *e)
{
	if (e)
		entry_free(e);
}

static void tell(struct etcdsession_entry *e, const struct err *err)
{
	const struct etcdsession *s = e->session;
	const char *const metadata[] = { s->token, NULL };
	const struct etcdsession_pass pass = { s->member, s->token ? s->login : 0, s->token ? metadata : NULL };
	etcdsession_fn fn = e->fn;
	void *arg = e->arg;

	entry_free(e);
	fn(arg, err ? NULL : &pass, err);
}

static void on_late(void *arg)
{
	struct etcdsession_entry *e = arg;
	struct err err;

	err_set(&err, ERR_TEMPORARY, "the login took too long");
	name_error(e->session, &err);
	tell(e, &err);
}

static void start_login(struct etcdsession *s);

/* Answers one entry per run, as its callback may change the list. */
static void on_settle(void *arg)
{
	struct etcdsession *s = arg;
	struct etcdsession_entry *e = s->entries;

	if (!e || s->call)
		return;
	if (needs_login(s) && !s->err) {
		start_login(s);
		return;
	}
	if (e->next)
		loop_task_queue(s->pool->loop, &s->settle);
	if (s->err) {
		struct err err = *s->err;

		if (!e->next)
			err_keep(&s->err, NULL); /* later entries start a new login */
		tell(e, &err);
	} else {
		tell(e, NULL);
	}
}

/* ---- Logging in ---- */

static void put_login(void *arg, struct buf *message)
{
	const struct etcdsession *s = arg;

	etcdmessages_put_login(message, s->cluster->username, s->cluster->password);
}

static void on_login(void *arg, const void *bytes, size_t len, const struct err *failure)
{
	struct etcdsession *s = arg;
	struct err err = failure ? *failure : (struct err){ 0 };
	char *token = NULL;

	s->call = NULL;
	if (failure && strstr(failure->msg, "authentication is not enabled")) {
		s->open = true;
	} else if (failure && failure->kind == ERR_TEMPORARY && ++s->tried < s->cluster->count &&
		now_of(s) < s->deadline_ms) {
		s->member = (s->member + 1) % s->cluster->count;
		start_login(s);
		return;
	} else if (failure || etcdmessages_get_token(bytes, len, &token, &err)) {
		etcdcluster_hide(s->cluster, &err);
		name_error(s, &err);
		err_keep(&s->err, &err);
	} else {
		s->token = mem_printf("token: %s", token);
		s->login++;
		mem_free_secret(token);
	}
	loop_task_queue(s->pool->loop, &s->settle);
}

/* Each remaining member gets an equal share of the remaining time. */
static void start_login(struct etcdsession *s)
{
	const struct etcdsession_entry *first = s->entries;
	int64_t now_ms = now_of(s);
	struct grpc_request request = { .method = "/etcdserverpb.Auth/Authenticate",
		.put = put_login,
		.fn = on_login,
		.arg = s };

	if (s->tried == 0)
		s->deadline_ms = first->deadline_ms;
	request.namespace_ = first ? first->namespace_ : NULL;
	request.deadline_ms = now_ms + (s->deadline_ms - now_ms) / (int64_t)(s->cluster->count - s->tried);
	s->call = grpc_unary(s->pool->grpc, s->cluster->members[s->member], &request);
}

/* ---- Entering ---- */

static struct etcdsession *session_get(struct etcdsession_pool *p, struct etcdcluster *cluster)
{
	struct etcdsession *s;

	HASH_FIND_STR(p->sessions, cluster->key, s);
	if (s)
		return s;
	s = mem_zalloc(sizeof(*s));
	s->pool = p;
	s->cluster = etcdcluster_ref(cluster);
	loop_task_init(&s->settle, on_settle, s);
	HASH_ADD_KEYPTR(hh, p->sessions, s->cluster->key, strlen(s->cluster->key), s);
	if (!loop_timer_pending(&p->sweep))
		loop_timer_set(&p->sweep, IDLE_MS);
	return s;
}

struct etcdsession_entry *etcdsession_enter(struct etcdsession_pool *p, struct etcdcluster *cluster,
	const char *namespace_, int64_t deadline_ms, etcdsession_fn fn, void *arg)
{
	struct etcdsession_entry *e = mem_zalloc(sizeof(*e));
	struct etcdsession *s = session_get(p, cluster);
	int64_t left_ms;

	s->used_ms = now_of(s);
	left_ms = deadline_ms - s->used_ms;
	*e = (struct etcdsession_entry){ .session = s,
		.namespace_ = mem_dup(namespace_),
		.deadline_ms = deadline_ms,
		.fn = fn,
		.arg = arg };
	loop_timer_init(&e->late, p->loop, on_late, e);
	loop_timer_set(&e->late, left_ms > 1 ? left_ms : 1);
	if (!s->entries)
		err_keep(&s->err, NULL); /* of a login whose entries have left */
	DL_APPEND(s->entries, e);
	if (!s->call) {
		s->tried = 0;
		loop_task_queue(p->loop, &s->settle);
	}
	return e;
}

/* etcd's messages about an invalid or missing token. */
static bool is_about_token(const struct err *err)
{
	static const char *const words[] = { "invalid auth token", "revision of auth store is old",
		"user name is empty", "UNAUTHENTICATED" };

	for (size_t i = 0; i < MEM_COUNT(words); i++)
		if (strstr(err->msg, words[i]))
			return true;
	return false;
}

enum etcdsession_advice etcdsession_complain(struct etcdsession_pool *p, struct etcdcluster *cluster,
	const struct etcdsession_pass *pass, struct err *err)
{
	struct etcdsession *s = session_get(p, cluster);
	enum etcdsession_advice advice = ETCDSESSION_NO;

	if (s->token && strstr(err->msg, s->token + strlen("token: ")))
		err_set(err, err->kind, "the server's message is not shown, as it contains the token");
	if (cluster->username && is_about_token(err)) {
		if (pass->login == (s->token ? s->login : 0))
			drop_token(s);
		advice = ETCDSESSION_TOKEN;
	} else if (err->kind == ERR_TEMPORARY && cluster->count > 1) {
		if (pass->member == s->member)
			s->member = (s->member + 1) % cluster->count;
		advice = ETCDSESSION_MEMBER;
	}
	etcdcluster_hide(cluster, err);
	return advice;
}

/* ---- The pool ---- */

static void begin_part(struct scaler_sources *s)
{
	struct etcdsession_pool *p = mem_zalloc(sizeof(*p));

	p->loop = s->loop;
	p->grpc = s->grpc;
	loop_timer_init(&p->sweep, p->loop, on_sweep, p);
	s->etcd = p;
}

static void end_part(struct scaler_sources *sources)
{
	struct etcdsession_pool *p = sources->etcd;
	struct etcdsession *s, *next;

	HASH_ITER (hh, p->sessions, s, next)
		session_free(s);
	loop_timer_done(&p->sweep);
	free(p);
}

const struct sources_part etcdsession_part = { begin_part, end_part };
