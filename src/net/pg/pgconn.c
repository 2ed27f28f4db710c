/* SPDX-License-Identifier: Apache-2.0 */
#include "net/pg/pgconn.h"

#include <event2/event.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/answers.h"
#include "net/descriptors.h"
#include "net/dns.h"
#include "net/identity/identity.h"
#include "net/pemfile.h"
#include "net/pg/pglogin.h"
#include "net/pg/pgparameters.h"
#include "net/pg/pgpump.h"
#include "net/pg/pgrefusal.h"
#include "net/sourcerules.h"
#include "net/web/webtoken.h"

#define TEXT_MAX 1024
#define GREETING_MAX                                                                                                   \
	((size_t)256 << 10) /* bytes from a server before the login is complete: certificates, settings, an error */

enum state { CONNECTING, IDLE, BUSY, CLOSED };

struct pgconn {
	struct loop *loop;
	struct pgendpoint *endpoint; /* one count */
	struct pgconn_config config;
	const struct pgconn_handler *handler;
	void *arg;
	enum state state;
	PGconn *pg;
	struct event *event;
	short watched;            /* what event waits for */
	struct pgpump *pump;      /* while connecting and during a long answer; else NULL */
	unsigned reads;           /* reads of the result under way */
	struct loop_timer rewire; /* inserts or removes the pump */
	short wanted;             /* what is watched when the pump is in place */
	bool settled;             /* connected, or the result is complete: told when the pump is removed */
	struct webtoken_wait *token_wait;
	struct credential credential; /* of the endpoint's identity, while connecting; later libpq has it */
	/* While connecting: the current host, and its addresses; two rounds for prefer-standby. */
	struct dns_lookup *lookup;
	struct dns_address *addresses;
	size_t address_count, address, host;
	bool second_round;
	bool asked_timeout; /* the startup packet of this attempt has our options */
	int64_t deadline_ms;
	struct loop_timer timer;
	struct pemfile pems[3]; /* only while connecting */
	struct descriptors_hold hold;
	struct answers_hold bytes; /* bytes through the pump */
	bool renewed;              /* the token, after a refusal */
	bool reached;              /* the server of this attempt has answered */
	struct err err; /* of the attempt that came furthest: that "::1" refuses says nothing when 127.0.0.1 says what
			   is wrong */
	bool err_reached;
};

static void settle(struct pgconn *c);
static void try_host(struct pgconn *c);
static void try_address(struct pgconn *c);
static void fetch_token(struct pgconn *c);
static void on_socket(evutil_socket_t fd, short what, void *arg);

/* ---- The socket ---- */

static void unwatch(struct pgconn *c)
{
	if (c->event)
		event_free(c->event);
	c->event = NULL;
	c->watched = 0;
}

static void watch(struct pgconn *c, short what)
{
	if (c->watched == what)
		return;
	unwatch(c);
	c->event = event_new(loop_base(c->loop), PQsocket(c->pg), what | EV_PERSIST, on_socket, c);
	event_add(c->event, NULL);
	c->watched = what;
}

/* In the next turn: see net/pg/pgpump.h. */
static void rewire_later(struct pgconn *c, short what)
{
	unwatch(c);
	c->wanted = what;
	loop_timer_set(&c->rewire, 0);
}

static void close_attempt(struct pgconn *c)
{
	unwatch(c);
	loop_timer_cancel(&c->rewire);
	c->settled = false;
	pgpump_free(c->pump);
	c->pump = NULL;
	if (c->pg)
		PQfinish(c->pg);
	c->pg = NULL;
}

/* ---- Certificates ---- */

static void close_pems(struct pgconn *c)
{
	for (size_t i = 0; i < 3; i++)
		pemfile_close(&c->pems[i]);
}

/* ---- Connecting ---- */

static void forget_token(struct pgconn *c)
{
	webtoken_cancel(c->token_wait);
	c->token_wait = NULL;
	credential_done(&c->credential);
}

static void close_all(struct pgconn *c)
{
	close_attempt(c);
	forget_token(c);
	close_pems(c);
	dns_lookup_cancel(c->lookup);
	c->lookup = NULL;
	mem_free_ptr(&c->addresses);
	c->address_count = 0;
	loop_timer_cancel(&c->timer);
	descriptors_give(&c->hold, 0);
	answers_release(&c->bytes);
	c->state = CLOSED;
}

/* Secrets first, as half of one would be found no more. */
static void clean_text(const struct pgconn *c, const char *text, char out[TEXT_MAX])
{
	char *whole = mem_dup(text);

	pgendpoint_clean(c->endpoint, c->endpoint->identity && c->pg ? PQpass(c->pg) : NULL, whole);
	snprintf(out, TEXT_MAX, "%s", whole);
	mem_free_secret(whole);
}

static void lose(struct pgconn *c, enum err_kind kind, const char *text)
{
	char clean[TEXT_MAX];
	struct err err;

	clean_text(c, text, clean);
	err_set(&err, kind, "%s", clean[0] ? clean : "the connection is lost");
	close_all(c);
	c->handler->lost(c->arg, &err);
}

static void keep_reason(struct pgconn *c, const struct err *err, bool reached)
{
	if (c->err_reached && !reached)
		return;
	c->err = *err;
	c->err_reached = reached;
}

static void next_address(struct pgconn *c)
{
	if (++c->address < c->address_count) {
		try_address(c);
		return;
	}
	c->host++;
	if (c->host >= c->endpoint->host_count && !c->second_round &&
		strcmp(c->endpoint->target, "prefer-standby") == 0) {
		c->second_round = true;
		c->host = 0;
	}
	if (c->host < c->endpoint->host_count)
		try_host(c);
	else
		lose(c, c->err.kind, c->err.msg);
}

/*
 * A server that refuses the token may take another one: once for a connection, and as often as
 * net/web/webtoken has it.
 */
static bool takes_another_token(struct pgconn *c)
{
	bool another = webtoken_reject(c->config.tokens, c->endpoint->identity, &c->credential);

	if (!another || c->renewed)
		return false;
	c->renewed = true;
	loop_timer_cancel(&c->timer);
	fetch_token(c);
	return true;
}

static void attempt_failed(struct pgconn *c)
{
	const struct pgendpoint_host *h = &c->endpoint->hosts[c->host];
	const char *refused = pgpump_refused(c->pump);
	char text[TEXT_MAX];
	struct err err;

	clean_text(c, PQerrorMessage(c->pg), text);
	if (!refused && pglogin_is_refusal(text))
		refused = "GSSAPI or SSPI";
	close_attempt(c);
	if (refused) {
		err_set(&err, ERR_DENIED,
			"\"%s\", port %u, asks for a login by %s, which kscaled never makes: let this user in by "
			"password or certificate (pg_hba.conf)",
			*h->host ? h->host : h->hostaddr, h->port, refused);
		keep_reason(c, &err, true);
		next_address(c);
		return;
	}
	if (c->asked_timeout && pgrefusal_is_of_options(text)) {
		*c->config.refuses_options = true;
		try_address(c);
		return;
	}
	if (c->endpoint->identity && pgrefusal_is_of_token(text) && takes_another_token(c))
		return;
	err_set(&err, pgrefusal_of_login(text), "%s", text);
	keep_reason(c, &err, c->reached);
	next_address(c);
}

static void opened(struct pgconn *c)
{
	close_pems(c);
	forget_token(c);
	descriptors_give(&c->hold, 1);
	mem_free_ptr(&c->addresses);
	c->address_count = 0;
	loop_timer_cancel(&c->timer);
	PQsetnonblocking(c->pg, 1);
	settle(c);
}

/* Counts the server's bytes from the first one on. */
static void step_on(struct pgconn *c, short what)
{
	ConnStatusType status = PQstatus(c->pg);

	if (c->pump && !pgpump_is_at(c->pump, PQsocket(c->pg))) {
		pgpump_free(c->pump);
		c->pump = NULL;
	}
	if (!c->pump && status != CONNECTION_STARTED && status != CONNECTION_NEEDED)
		rewire_later(c, what);
	else
		watch(c, what);
}

/* The socket may be a new one after each step, even with the same number. */
static void step(struct pgconn *c)
{
	unwatch(c);
	c->reached = PQstatus(c->pg) != CONNECTION_STARTED;
	if (pgpump_bytes(c->pump) > GREETING_MAX) {
		struct err err;

		err_set(&err, ERR_TEMPORARY, "connecting to \"%s\": no PostgreSQL answers there: far too much came",
			c->endpoint->hosts[c->host].host);
		keep_reason(c, &err, true);
		close_attempt(c);
		next_address(c);
		return;
	}
	switch (PQconnectPoll(c->pg)) {
	case PGRES_POLLING_READING: step_on(c, EV_READ); break;
	case PGRES_POLLING_WRITING: step_on(c, EV_WRITE); break;
	case PGRES_POLLING_OK: opened(c); break;
	default: attempt_failed(c); break;
	}
}

static void on_notice(void *arg, const PGresult *notice)
{
	const struct pgconn *c = arg;
	const char *text = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);

	log_debug("postgresql", "%s says: %.200s", c->endpoint->base.name, text ? text : "");
}

/*
 * The share of this address in the time left, among all remaining addresses of this host and all
 * further hosts.
 */
static int64_t share_ms(const struct pgconn *c)
{
	size_t left = c->endpoint->host_count - c->host - 1 + (c->address_count ? c->address_count - c->address : 1);
	int64_t left_ms = c->deadline_ms - loop_now_ms(c->loop);

	return left_ms <= 0 ? 0 : left_ms / (int64_t)left;
}

/* Whether net/sourcerules allows the address. */
static int judge_address(const struct pgconn *c, struct err *err)
{
	const struct pgendpoint_host *h = &c->endpoint->hosts[c->host];
	const struct sourcerules *rules = loop_source_rules(c->loop);

	if (c->address < c->address_count)
		return sourcerules_judge(rules, (const struct sockaddr *)&c->addresses[c->address].sa,
			c->addresses[c->address].len, err);
	return sourcerules_judge_path(rules, h->host, err);
}

static void try_address(struct pgconn *c)
{
	const struct tls_client_config *tls = &c->endpoint->base.tls;
	const char *const pems[3] = { tls->ca_pem, tls->cert_pem, tls->key_pem };
	struct pgparameters p;
	struct err err;
	bool failed;

	c->reached = false;
	if (judge_address(c, &err)) {
		keep_reason(c, &err, false);
		next_address(c);
		return;
	}
	/* for the socket, and for the files until it is connected */
	c->hold.namespace_ = endpoint_namespace(&c->endpoint->base);
	c->hold.wants = 1U + !!pems[0] + !!pems[1] + !!pems[2];
	failed = descriptors_take(loop_descriptors(c->loop), &c->hold, &c->err);
	for (size_t i = 0; i < 3 && !failed; i++)
		failed = c->pems[i].fd < 0 && pemfile_open(&c->pems[i], pems[i], &c->err);
	if (failed) {
		lose(c, c->err.kind, c->err.msg);
		return;
	}
	pgparameters_fill(&p,
		&(struct pgparameters_of){
			.endpoint = c->endpoint,
			.host = c->host,
			.address = c->address_count ? &c->addresses[c->address] : NULL,
			.pems = { c->pems[0].path, c->pems[1].path, c->pems[2].path },
			.second_round = c->second_round,
			.statement_timeout_ms = *c->config.refuses_options ? 0 : c->config.statement_timeout_ms,
			.token = c->credential.token,
		});
	c->asked_timeout = p.asked_timeout;
	c->pg = PQconnectStartParams(p.names, p.values, 0);
	pgparameters_done(&p);
	if (!c->pg) {
		lose(c, ERR_TEMPORARY, "no memory for a connection");
		return;
	}
	if (PQstatus(c->pg) == CONNECTION_BAD) {
		attempt_failed(c);
		return;
	}
	PQsetNoticeReceiver(c->pg, on_notice, c);
	step_on(c, EV_WRITE); /* a Unix socket connects at once */
	loop_timer_set(&c->timer, share_ms(c));
}

static void on_addresses(void *arg, const struct dns_address *addresses, size_t count, const struct err *err)
{
	struct pgconn *c = arg;

	c->lookup = NULL;
	loop_timer_cancel(&c->timer);
	if (!count) {
		keep_reason(c, err, false);
		next_address(c);
		return;
	}
	c->addresses = mem_array(count, sizeof(*addresses));
	memcpy(c->addresses, addresses, count * sizeof(*addresses));
	c->address_count = count;
	try_address(c);
}

static void try_host(struct pgconn *c)
{
	const struct pgendpoint_host *h = &c->endpoint->hosts[c->host];

	mem_free_ptr(&c->addresses);
	c->address_count = c->address = 0;
	if (!h->hostaddr && (h->host[0] == '/' || h->host[0] == '@')) {
		try_address(c);
		return;
	}
	c->lookup = dns_lookup_start(c->loop, h->hostaddr ? h->hostaddr : h->host, h->port,
		endpoint_namespace(&c->endpoint->base), on_addresses, c);
	loop_timer_set(&c->timer, share_ms(c));
}

static int64_t patience_ms(const struct pgendpoint *e)
{
	int64_t each_ms = e->connect_ms ? e->connect_ms : PGCONN_CONNECT_MS / (int64_t)e->host_count;

	return each_ms * (int64_t)e->host_count;
}

static void begin(struct pgconn *c)
{
	c->deadline_ms = loop_now_ms(c->loop) + patience_ms(c->endpoint);
	c->host = 0;
	c->second_round = false;
	try_host(c);
}

static void on_token(void *arg, const struct credential *credential, const struct err *err)
{
	struct pgconn *c = arg;

	c->token_wait = NULL;
	if (err) {
		lose(c, err->kind, err->msg);
		return;
	}
	credential_copy(&c->credential, credential);
	begin(c);
}

static void fetch_token(struct pgconn *c)
{
	credential_done(&c->credential);
	c->token_wait = webtoken_ask(c->config.tokens, c->endpoint->identity, endpoint_namespace(&c->endpoint->base),
		on_token, c);
}

static void on_timer(void *arg)
{
	struct pgconn *c = arg;
	const struct pgendpoint_host *h;
	struct err err;

	if (!c->lookup && !c->pg) {
		if (c->endpoint->identity)
			fetch_token(c);
		else
			begin(c);
		return;
	}
	h = &c->endpoint->hosts[c->host];
	if (c->lookup) {
		err_set(&err, ERR_TEMPORARY, "looking up \"%s\": timed out", h->host);
		keep_reason(c, &err, false);
		dns_lookup_cancel(c->lookup);
		c->lookup = NULL;
	} else {
		bool reached = PQstatus(c->pg) != CONNECTION_STARTED;

		err_set(&err, ERR_TEMPORARY, "connecting to \"%s\", port %u: %s", *h->host ? h->host : h->hostaddr,
			h->port, reached ? "the server accepts and says nothing: timed out" : "timed out");
		keep_reason(c, &err, reached);
		close_attempt(c);
	}
	next_address(c);
}

/* ---- Statements ---- */

void pgconn_explain(const struct pgconn *c, const PGresult *result, struct err *err)
{
	const char *primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY),
		   *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	char text[TEXT_MAX];

	clean_text(c, primary ? primary : PQresultErrorMessage(result), text);
	if (pgrefusal_is_state(state))
		err_set(err, pgrefusal_of_state(state), "%s (SQLSTATE %s)", text, state);
	else
		err_set(err, ERR_TEMPORARY, "%s", text[0] ? text : "no reason given");
}

int pgconn_send(struct pgconn *c, const char *sql, struct err *err)
{
	int left;

	if (c->state != IDLE)
		return err_set(err, ERR_BUG, "a statement on a connection that is not free");
	if (!PQsendQuery(c->pg, sql) || !PQsetSingleRowMode(c->pg) || (left = PQflush(c->pg)) < 0) {
		char text[TEXT_MAX];

		clean_text(c, PQerrorMessage(c->pg), text);
		return err_set(err, ERR_TEMPORARY, "%s", text);
	}
	c->state = BUSY;
	c->reads = 0;
	pgpump_restart(c->pump);
	watch(c, left ? EV_READ | EV_WRITE : EV_READ);
	return 0;
}

/*
 * libpq closes its socket when it parses an invalid message, and reports that in a result or,
 * between statements, not at all. The next socket that is opened gets its number: an event left on
 * that number would keep the new socket from being watched.
 */
static bool is_dropped(struct pgconn *c)
{
	if (PQstatus(c->pg) != CONNECTION_BAD)
		return false;
	lose(c, ERR_TEMPORARY, PQerrorMessage(c->pg));
	return true;
}

/*
 * False when no more results can be read now: the connection was closed, or its pump is removed
 * first.
 */
static bool take_results(struct pgconn *c)
{
	while (c->state == BUSY && !c->settled && !PQisBusy(c->pg)) {
		PGresult *r = PQgetResult(c->pg);

		if (is_dropped(c)) {
			PQclear(r);
			return false;
		}
		if (!r) {
			settle(c);
			continue;
		}
		switch (PQresultStatus(r)) {
		case PGRES_COPY_IN:
		case PGRES_COPY_OUT:
		case PGRES_COPY_BOTH: lose(c, ERR_INVALID, "COPY is no query"); break;
		default: c->handler->result(c->arg, r); break;
		}
		PQclear(r);
	}
	return c->state != CLOSED && !c->settled;
}

/* A result that did not come at once may have any length: from now on it is counted. */
static bool count_bytes(struct pgconn *c)
{
	struct err err;

	c->bytes.namespace_ = endpoint_namespace(&c->endpoint->base);
	if (c->state == BUSY && ++c->reads == 2 && !c->pump) {
		rewire_later(c, c->watched);
		return false; /* the data comes through the pump */
	}
	if (c->state == BUSY && pgpump_bytes(c->pump) > PGCONN_ANSWER_MAX) {
		lose(c, ERR_INVALID, "the answer is longer than 1 MiB: select one number (LIMIT 1, no long texts)");
		return false;
	}
	if (answers_hold(loop_answers(c->loop), &c->bytes, pgpump_bytes(c->pump), &err)) {
		lose(c, err.kind, err.msg);
		return false;
	}
	return true;
}

static void take_all(struct pgconn *c)
{
	while (take_results(c)) {
		PGnotify *n;
		SSL *ssl;

		while (c->state != CLOSED && (n = PQnotifies(c->pg)) != NULL) {
			if (c->handler->notified)
				c->handler->notified(c->arg, n->relname);
			PQfreemem(n);
		}
		if (c->state == CLOSED || is_dropped(c))
			return;
		/* A record that OpenSSL has read, but libpq has not: there is no event for it. */
		ssl = PQsslStruct(c->pg, "OpenSSL");
		if (!ssl || SSL_pending(ssl) <= 0)
			return;
		if (!PQconsumeInput(c->pg)) {
			lose(c, ERR_TEMPORARY, PQerrorMessage(c->pg));
			return;
		}
	}
}

/* ---- The pump ---- */

static void tell_settled(struct pgconn *c)
{
	bool was_busy = c->state == BUSY;

	c->settled = false;
	c->state = IDLE;
	answers_release(&c->bytes);
	watch(c, EV_READ);
	if (was_busy)
		c->handler->finished(c->arg);
	else
		c->handler->opened(c->arg);
}

static void settle(struct pgconn *c)
{
	if (!c->pump) {
		tell_settled(c);
		return;
	}
	c->settled = true;
	pgpump_rest(c->pump);
	rewire_later(c, EV_READ);
}

static void on_rewire(void *arg)
{
	struct pgconn *c = arg;
	struct err err;

	if (c->settled) {
		if (pgpump_leave(c->pump, PQsocket(c->pg)))
			c->pump = NULL;
		tell_settled(c);
		if (c->state != CLOSED)
			take_all(c);
		return;
	}
	c->pump = pgpump_new(c->loop, PQsocket(c->pg), c->state == CONNECTING, &err);
	if (c->pump)
		watch(c, c->wanted);
	else
		lose(c, err.kind, err.msg);
}

static void on_socket(evutil_socket_t fd, short what, void *arg)
{
	struct pgconn *c = arg;
	int left;

	(void)fd;
	loop_enter(c->loop);
	if (c->state == CONNECTING) {
		step(c);
		return;
	}
	if (what & EV_WRITE) {
		left = PQflush(c->pg);
		if (left < 0)
			lose(c, ERR_TEMPORARY, PQerrorMessage(c->pg));
		else if (left == 0)
			watch(c, EV_READ);
	}
	if (!(what & EV_READ) || c->state == CLOSED || !count_bytes(c))
		return;
	if (PQconsumeInput(c->pg))
		take_all(c);
	else
		lose(c, ERR_TEMPORARY, PQerrorMessage(c->pg));
}

/* ---- Beginning and end ---- */

struct pgconn *pgconn_start(struct loop *loop, struct pgendpoint *e, const struct pgconn_config *config,
	const struct pgconn_handler *handler, void *arg)
{
	struct pgconn *c = mem_zalloc(sizeof(*c));

	c->loop = loop;
	c->endpoint = pgendpoint_ref(e);
	c->config = *config;
	c->handler = handler;
	c->arg = arg;
	for (size_t i = 0; i < 3; i++)
		c->pems[i].fd = -1;
	loop_timer_init(&c->rewire, loop, on_rewire, c);
	loop_timer_init(&c->timer, loop, on_timer, c);
	loop_timer_set(&c->timer, 0);
	return c;
}

const char *pgconn_step(const struct pgconn *c)
{
	return c && c->token_wait ? "no token for the login in time" : "connecting: no answer in time";
}

void pgconn_free(struct pgconn *c)
{
	if (!c)
		return;
	close_all(c);
	loop_timer_done(&c->timer);
	loop_timer_done(&c->rewire);
	pgendpoint_unref(c->endpoint);
	c->endpoint = NULL;
	loop_free_later(c->loop, c, free); /* its own functions may be on the stack */
}
