/* SPDX-License-Identifier: Apache-2.0 */
#include "net/vault/vaultlogin.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utlist.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/fingerprint.h"
#include "base/mem.h"
#include "net/http/httpurl.h"
#include "net/vault/vaultreply.h"

#define IN_USE_MS      (2 * 3600 * INT64_C(1000)) /* idle time after which it may be freed */
#define RENEW_AGAIN_MS 5000                       /* minimum pause after a failed renewal */
#define CA_FILE_MAX    ((size_t)4 << 20)

enum state { NONE, ASKING, READY, CHECKING };

struct vaultlogin {
	struct loop *loop;
	struct vaultrequest_server server; /* owns its texts, one reference to its access */
	char *jwt_body, *jwt;              /* by JWT: the request body and the JWT, wiped; NULL with a given token */
	char *path;                        /* by JWT: the path of the request */
	char *asker;                       /* the namespace that uses it; "": several do */
	enum state state;
	char *token; /* wiped */
	uint64_t generation;
	int64_t ends_ms; /* loop clock; 0: never */
	int64_t ttl_ms;
	bool renewable;
	struct exchange asked; /* the login, look-up or check */
	struct exchange renewal;
	struct loop_timer renew_timer;
	struct loop_task ready_task; /* calls waiters back when the token is ready */
	struct vaultlogin_waiter *waiters;
	uint64_t next_number;
	int64_t used_ms, needed_until_ms;
	bool used; /* since the last renewal */
	bool freed;
};

/* ---- Waiters ---- */

static void notify_all(struct vaultlogin *l, const struct err *err)
{
	uint64_t end = l->next_number; /* waiters added during the callbacks wait for the next result */
	struct vaultlogin_waiter *w;

	while (!l->freed && (w = l->waiters) != NULL && w->number < end) {
		vaultlogin_leave(w);
		w->fn(w->arg, err);
	}
}

static void on_ready(void *arg)
{
	struct vaultlogin *l = arg;

	if (l->state == READY)
		notify_all(l, NULL);
}

static void become(struct vaultlogin *l, enum state state, const struct err *err)
{
	l->state = state;
	notify_all(l, err);
}

/* ---- Renewal ---- */

static bool ended(const struct vaultlogin *l)
{
	return l->ends_ms != 0 && loop_now_ms(l->loop) >= l->ends_ms;
}

static void set_life(struct vaultlogin *l, const struct vaultreply_token *t)
{
	l->ttl_ms = t->ttl_ms;
	l->renewable = t->renewable;
	l->ends_ms = t->ttl_ms > 0 ? loop_now_ms(l->loop) + t->ttl_ms : 0;
	/*
	 * At a random time between a half and five eighths of the TTL, so that logins that started
	 * together are not renewed together.
	 */
	if (t->renewable && t->ttl_ms > 0)
		loop_timer_set(&l->renew_timer,
			t->ttl_ms / 2 + (int64_t)((double)(t->ttl_ms / 8) * fingerprint_random_unit()));
	else
		loop_timer_cancel(&l->renew_timer);
}

static enum exchange_verdict renewal_next(void *arg, struct webrequest *out, struct err *err)
{
	struct vaultlogin *l = arg;

	(void)err;
	vaultrequest_make(&l->server, "auth/token/renew-self", l->token, "{}", out);
	return EXCHANGE_SEND;
}

static enum exchange_verdict renewal_read(void *arg, const struct webresponse *response, struct err *err)
{
	struct vaultlogin *l = arg;
	json_t *answer = vaultrequest_read(&l->renewal, response, NULL, err);
	struct vaultreply_token t;
	bool renewed = answer && vaultreply_renewal(answer, &t, NULL) == 0;

	json_decref(answer);
	if (renewed)
		set_life(l, &t);
	return renewed ? EXCHANGE_DONE : EXCHANGE_FAILED;
}

/* A failure is no error: the token is used until it expires, and is then replaced. */
static void renewal_end(void *arg, const struct err *err)
{
	struct vaultlogin *l = arg;
	int64_t left_ms = l->ends_ms - loop_now_ms(l->loop);

	if (!err)
		return;
	if (err->kind == ERR_TEMPORARY && err->http_status != 400 && left_ms > 2 * RENEW_AGAIN_MS)
		loop_timer_set(&l->renew_timer, left_ms / 4 > RENEW_AGAIN_MS ? left_ms / 4 : RENEW_AGAIN_MS);
	else
		l->renewable = false;
}

static const struct exchange_kind renewing = { .next = renewal_next, .read = renewal_read, .end = renewal_end };

static void on_renew_timer(void *arg)
{
	struct vaultlogin *l = arg;

	if (l->state != READY || ended(l) || exchange_runs(&l->renewal) || !vaultlogin_in_use(l))
		return;
	l->used = false;
	exchange_start(&l->renewal, &renewing, l);
}

/* ---- Getting a token ---- */

static void forget_token(struct vaultlogin *l)
{
	loop_timer_cancel(&l->renew_timer);
	exchange_done(&l->renewal);
	l->ends_ms = 0;
	if (!l->jwt)
		return;
	mem_free_secret(l->token);
	l->token = NULL;
}

static void fail(struct vaultlogin *l, const struct err *cause)
{
	struct err err = *cause;

	/*
	 * 400 is an unknown role, 404 an unknown mount: permanent errors of the login's settings.
	 */
	if (l->jwt && (err.http_status == 400 || err.http_status == 404))
		err.kind = ERR_DENIED;
	if (l->jwt)
		err_wrap(&err, "logging in at %s", l->path);
	else
		err_wrap(&err, "looking up the token");
	forget_token(l);
	become(l, NONE, &err);
}

static bool logs_in(const struct vaultlogin *l)
{
	return l->jwt && l->state == ASKING;
}

static enum exchange_verdict asked_next(void *arg, struct webrequest *out, struct err *err)
{
	struct vaultlogin *l = arg;

	(void)err;
	if (logs_in(l))
		vaultrequest_make(&l->server, l->path, NULL, l->jwt_body, out);
	else
		vaultrequest_make(&l->server, "auth/token/lookup-self", l->token, NULL, out);
	return EXCHANGE_SEND;
}

static enum exchange_verdict read_token(struct vaultlogin *l, const json_t *answer, struct err *err)
{
	struct vaultreply_token t = { .token = NULL };

	if ((l->jwt ? vaultreply_login(answer, &t, err) : vaultreply_lookup(answer, &t, err)) < 0)
		return EXCHANGE_FAILED;
	if (t.token) {
		mem_free_secret(l->token);
		l->token = t.token;
	}
	l->generation++;
	set_life(l, &t);
	return EXCHANGE_DONE;
}

/* Of a refused token. */
static enum exchange_verdict read_check(struct vaultlogin *l, const json_t *answer, const struct err *err)
{
	struct vaultreply_token t;

	if (answer && vaultreply_lookup(answer, &t, NULL) == 0)
		set_life(l, &t);
	if (answer)
		return EXCHANGE_DONE;
	if (err->kind != ERR_DENIED || !l->jwt)
		return EXCHANGE_FAILED;
	forget_token(l);
	l->state = ASKING;
	return EXCHANGE_NEXT;
}

static enum exchange_verdict asked_read(void *arg, const struct webresponse *response, struct err *err)
{
	struct vaultlogin *l = arg;
	json_t *answer = vaultrequest_read(&l->asked, response, logs_in(l) ? l->jwt : NULL, err);
	enum exchange_verdict verdict = l->state == CHECKING ? read_check(l, answer, err)
		: answer                                     ? read_token(l, answer, err)
							     : EXCHANGE_FAILED;

	json_decref(answer);
	return verdict;
}

/* After another error in a check the token may be valid: the next read tries it. */
static void asked_end(void *arg, const struct err *err)
{
	struct vaultlogin *l = arg;

	if (err && (l->state != CHECKING || err->kind == ERR_DENIED))
		fail(l, err);
	else
		become(l, READY, err);
}

static const struct exchange_kind asking = { .next = asked_next, .read = asked_read, .end = asked_end };

static void ask(struct vaultlogin *l)
{
	forget_token(l);
	l->state = ASKING;
	exchange_start(&l->asked, &asking, l);
}

/* ---- Interface ---- */

static void join(struct vaultlogin *l, struct vaultlogin_waiter *w)
{
	w->login = l;
	w->number = l->next_number++;
	DL_APPEND(l->waiters, w);
}

void vaultlogin_recheck(struct vaultlogin *l, struct vaultlogin_waiter *w, uint64_t generation)
{
	if (l->state != READY || l->generation != generation) {
		vaultlogin_wait(l, w);
		return;
	}
	l->state = CHECKING;
	exchange_start(&l->asked, &asking, l);
	join(l, w);
}

void vaultlogin_wait(struct vaultlogin *l, struct vaultlogin_waiter *w)
{
	l->used_ms = loop_now_ms(l->loop);
	l->used = true;
	join(l, w);
	if (l->state == NONE || (l->state == READY && ended(l))) {
		ask(l);
	} else if (l->state == READY) {
		loop_task_queue(l->loop, &l->ready_task);
		/* it was idle when renewal was due */
		if (l->renewable && l->ttl_ms > 0 && !exchange_runs(&l->renewal) &&
			!loop_timer_pending(&l->renew_timer))
			loop_timer_set(&l->renew_timer, 0);
	}
}

void vaultlogin_share(struct vaultlogin *l, const char *asker)
{
	if (strcmp(l->asker, asker ? asker : "") != 0)
		*l->asker = '\0';
}

void vaultlogin_leave(struct vaultlogin_waiter *w)
{
	if (!w->login)
		return;
	DL_DELETE(w->login->waiters, w);
	w->login = NULL;
}

const char *vaultlogin_token(const struct vaultlogin *l)
{
	return l->token;
}

uint64_t vaultlogin_generation(const struct vaultlogin *l)
{
	return l->generation;
}

const struct vaultrequest_server *vaultlogin_server(const struct vaultlogin *l)
{
	return &l->server;
}

void vaultlogin_need(struct vaultlogin *l, int64_t until_ms)
{
	if (until_ms > l->needed_until_ms)
		l->needed_until_ms = until_ms;
}

int64_t vaultlogin_ends_ms(const struct vaultlogin *l)
{
	return l->renewable ? 0 : l->ends_ms;
}

/*
 * A given token is renewed while it is used now and then, as we cannot get another; one from a
 * login can be replaced.
 */
bool vaultlogin_in_use(const struct vaultlogin *l)
{
	int64_t now_ms = loop_now_ms(l->loop);

	return l->waiters || now_ms < l->used_ms + IN_USE_MS || now_ms < l->needed_until_ms ||
		(!l->jwt && l->used && l->renewable && !ended(l));
}

int64_t vaultlogin_used_ms(const struct vaultlogin *l)
{
	return l->used_ms;
}

/* ---- Life ---- */

static int read_authorities(const char *path, char **out, struct err *err)
{
	struct buf text = BUF_INIT(CA_FILE_MAX);
	int failed = file_read(path, FILE_ANY, NULL, &text, err);

	if (!failed && text.len == 0)
		failed = err_set(err, ERR_INVALID, "empty");
	*out = buf_take(&text);
	return failed ? err_wrap(err, "certificate authorities %s", path) : 0;
}

static int take_address(struct vaultlogin *l, const char *address, struct err *err)
{
	size_t len = strlen(address),
	       scheme = strncasecmp(address, "https://", 8) == 0 ? 8
		: strncasecmp(address, "http://", 7) == 0        ? 7
								 : 0;
	struct httpurl_place place;

	if (scheme == 0)
		return err_set(err, ERR_INVALID, "address \"%.200s\": must begin with http:// or https://", address);
	while (len > scheme && address[len - 1] == '/')
		len--;
	if (len == scheme || strpbrk(address, "?#@ \t\r\n"))
		return err_set(err, ERR_INVALID, "address: must be a host, perhaps with a port and a path");
	l->server.address = mem_dupn(address, len);
	if (httpurl_place(l->server.address, &place, err) < 0)
		return err_wrap(err, "address");
	httpurl_place_done(&place);
	return 0;
}

static int take_login(struct vaultlogin *l, const struct vault_login *login, struct err *err)
{
	if (login->token) {
		l->token = mem_dup(login->token);
		return vaultreply_is_token(login->token)
			? 0
			: err_set(err, ERR_INVALID, "the token %s",
				  *login->token == '\0' ? "is empty" : "contains invalid characters");
	}
	if (!login->role || *login->role == '\0' || !login->mount || *login->mount == '\0')
		return err_set(err, ERR_INVALID, "a login by kubernetes needs a role and a mount");
	if (!login->jwt || *login->jwt == '\0')
		return err_set(err, ERR_INVALID, "the service account's token is empty");
	l->jwt = mem_dup(login->jwt);
	l->jwt_body = vaultreply_login_body(login);
	l->path = vaultreply_path("auth/", login->mount, "/login", err);
	return l->path ? 0 : err_wrap(err, "mount");
}

/* At the end of the turn, as one of its own callbacks may free it. */
static void really_free(void *arg)
{
	struct vaultlogin *l = arg;

	free(l->server.address);
	free(l->server.namespace_);
	webaccess_unref(l->server.access);
	mem_free_secret(l->jwt);
	mem_free_secret(l->jwt_body);
	mem_free_secret(l->token);
	free(l->path);
	free(l->asker);
	free(l);
}

struct vaultlogin *vaultlogin_new(struct loop *loop, struct webclient *client, const struct vault_server *server,
	const struct vault_login *login, const char *ca_file, bool skip_verify, struct err *err)
{
	struct vaultlogin *l = mem_zalloc(sizeof(*l));
	char *ca_pem = NULL;
	bool bad = take_address(l, server->address, err) < 0 || take_login(l, login, err) < 0 ||
		(ca_file && read_authorities(ca_file, &ca_pem, err) < 0);

	l->server.namespace_ = mem_dup(server->namespace_);
	l->asker = mem_dup(server->asker ? server->asker : "");
	l->server.access = webaccess_for_operator(ca_pem, skip_verify);
	free(ca_pem);
	l->loop = loop;
	l->asked = l->renewal = vaultrequest_exchange(loop, client, &l->server, l->asker);
	loop_timer_init(&l->renew_timer, loop, on_renew_timer, l);
	loop_task_init(&l->ready_task, on_ready, l);
	if (!bad)
		return l;
	really_free(l);
	return NULL;
}

void vaultlogin_free(struct vaultlogin *l)
{
	struct vaultlogin_waiter *w;

	if (!l)
		return;
	l->freed = true;
	while ((w = l->waiters) != NULL)
		vaultlogin_leave(w);
	exchange_done(&l->asked);
	exchange_done(&l->renewal);
	loop_timer_done(&l->renew_timer);
	loop_task_cancel(l->loop, &l->ready_task);
	loop_free_later(l->loop, l, really_free);
}
