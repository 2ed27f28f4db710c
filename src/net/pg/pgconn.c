/* SPDX-License-Identifier: Apache-2.0 */
#include "net/pg/pgconn.h"

#include <event2/event.h>
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
#include "net/network.h"
#include "net/pg/pgparameters.h"
#include "net/pg/pgpump.h"
#include "net/pg/pgrefusal.h"
#include "net/pg/pgtls.h"
#include "net/sourcerules.h"
#include "net/web/webtoken.h"

#define TEXT_MAX  1024
#define SOCKETS   3  /* the server's, and the pair of net/pg/pgpump */
#define STEPS_MAX 32 /* of libpq in a row without waiting, while it logs in */

enum state { CONNECTING, IDLE, BUSY, CLOSED };

struct pgconn {
	struct loop *loop;
	struct pgendpoint *endpoint; /* one count */
	struct pgconn_config config;
	const struct pgconn_handler *handler;
	void *arg;
	enum state state;
	PGconn *pg;
	struct event *connected;  /* until libpq's socket is connected; else NULL */
	struct loop_timer insert; /* inserts the pump in the next turn: net/pg/pgpump.h */
	struct pgpump *pump;      /* NULL: libpq is not connected */
	struct webtoken_wait *token_wait;
	struct credential credential; /* of the endpoint's identity, while connecting; later libpq has it */
	/* While connecting: the current host, and its addresses; two rounds for prefer-standby. */
	struct dns_lookup *lookup;
	struct dns_address *addresses;
	size_t address_count, address, host;
	bool second_round;
	bool asked_timeout; /* this attempt's startup packet has our options */
	int64_t deadline_ms;
	struct loop_timer timer;
	char *namespace_; /* NULL: the endpoint's */
	struct descriptors_hold hold;
	struct answers_hold bytes; /* bytes through the pump */
	bool renewed;              /* the token was renewed after a refusal */
	bool again;                /* second attempt at this address, with TLS instead of without or vice versa */
	char *first;               /* error of the first attempt there; NULL */
	bool reached;              /* the server has answered in this attempt */
	struct err err; /* of the attempt that came furthest: 127.0.0.1's login error matters more than ::1's refusal */
	bool err_reached;
};

static void try_host(struct pgconn *c);
static void try_address(struct pgconn *c);
static void fetch_token(struct pgconn *c);
static void start_attempt(struct pgconn *c);

static const char *namespace_of(const struct pgconn *c)
{
	return c->namespace_ ? c->namespace_ : endpoint_namespace(&c->endpoint->base);
}

static void unwatch(struct pgconn *c)
{
	if (c->connected)
		event_free(c->connected);
	c->connected = NULL;
}

static void close_attempt(struct pgconn *c)
{
	unwatch(c);
	loop_timer_cancel(&c->insert);
	pgpump_free(c->pump);
	c->pump = NULL;
	if (c->pg)
		PQfinish(c->pg);
	c->pg = NULL;
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
	dns_lookup_cancel(c->lookup);
	c->lookup = NULL;
	mem_free_ptr(&c->first);
	mem_free_ptr(&c->addresses);
	c->address_count = 0;
	loop_timer_cancel(&c->timer);
	descriptors_give(&c->hold, 0);
	answers_release(&c->bytes);
	c->state = CLOSED;
}

/* Removes secrets before truncating, as half a secret would not be recognised. */
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
 * After a refusal retries with a renewed token: once per connection, and only as often as
 * net/web/webtoken allows.
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

/* sslmode "allow" and "prefer": after a refusal makes a second attempt, with or without TLS. */
static bool takes_another_way(struct pgconn *c, bool had_tls, const char *text)
{
	if (c->again || c->address_count == 0 || !pgtls_may_change(c->endpoint, had_tls))
		return false;
	c->again = true;
	c->first = mem_dup(text);
	start_attempt(c);
	return true;
}

/* All attempts at this address have failed. */
static void give_up(struct pgconn *c, enum err_kind kind, const char *text)
{
	struct err err;

	err_set(&err, kind, "%s%s%s", c->first ? c->first : "", c->first ? "; " : "", text);
	keep_reason(c, &err, c->reached);
	next_address(c);
}

static void attempt_failed(struct pgconn *c)
{
	bool complained = pgpump_complained(c->pump), had_tls = pgpump_has_tls(c->pump);
	char text[TEXT_MAX];

	clean_text(c, PQerrorMessage(c->pg), text);
	close_attempt(c);
	if (c->asked_timeout && pgrefusal_is_of_options(text)) {
		*c->config.refuses_options = true;
		start_attempt(c);
		return;
	}
	if (c->endpoint->identity && pgrefusal_is_of_token(text) && takes_another_token(c))
		return;
	if (complained && takes_another_way(c, had_tls, text))
		return;
	give_up(c, pgrefusal_of_login(text), text);
}

/* The pump has ended the attempt: TLS failed, or it has refused a message of the server. */
static void attempt_ended(struct pgconn *c, const struct err *why)
{
	const struct pgendpoint_host *h = &c->endpoint->hosts[c->host];
	bool shook = pgpump_is_shaking(c->pump);
	MEM_AUTO char *whole = pgpump_is_refused(c->pump)
		? mem_printf("\"%s\", port %u, %s", *h->host ? h->host : h->hostaddr, h->port, why->msg)
		: mem_printf("connection to server at \"%s\", port %s failed: %s", PQhostaddr(c->pg), PQport(c->pg),
			  why->msg);
	char text[TEXT_MAX];

	clean_text(c, whole, text);
	close_attempt(c);
	if (!shook || !takes_another_way(c, true, text))
		give_up(c, why->kind, text);
}

static void opened(struct pgconn *c)
{
	forget_token(c);
	mem_free_ptr(&c->first);
	mem_free_ptr(&c->addresses);
	c->address_count = 0;
	loop_timer_cancel(&c->timer);
	PQsetnonblocking(c->pg, 1);
	pgpump_opened(c->pump);
	c->state = IDLE;
	answers_release(&c->bytes);
	c->handler->opened(c->arg);
}

static void wait_connected(struct pgconn *c);

/*
 * Writes to the socket pair never block, so libpq only waits for the server. libpq itself
 * reconnects without application_name to a server that does not know a setting.
 */
static void step(struct pgconn *c)
{
	PostgresPollingStatusType state = PGRES_POLLING_WRITING;

	for (int i = 0; i < STEPS_MAX && state == PGRES_POLLING_WRITING; i++) {
		state = PQconnectPoll(c->pg);
		pgpump_send(c->pump);
		if (PQsocket(c->pg) >= 0 && !pgpump_is_at(c->pump, PQsocket(c->pg))) {
			pgpump_free(c->pump);
			c->pump = NULL;
			wait_connected(c);
			return;
		}
	}
	if (state == PGRES_POLLING_OK)
		opened(c);
	else if (state != PGRES_POLLING_READING)
		attempt_failed(c);
}

static void on_notice(void *arg, const PGresult *notice)
{
	const struct pgconn *c = arg;
	const char *text = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);

	log_debug("postgresql", "%s says: %.200s", c->endpoint->base.name, text ? text : "");
}

/* The share of the remaining time for this address, of the host's remaining ones and all hosts. */
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
	const struct sourcerules *rules = &network_of(c->loop)->rules;

	if (c->address < c->address_count)
		return sourcerules_judge(rules, (const struct sockaddr *)&c->addresses[c->address].sa,
			c->addresses[c->address].len, err);
	return sourcerules_judge_path(rules, h->host, err);
}

static void on_connected(evutil_socket_t fd, short what, void *arg)
{
	struct pgconn *c = arg;

	(void)fd;
	(void)what;
	loop_enter(c->loop);
	unwatch(c);
	if (PQconnectPoll(c->pg) == PGRES_POLLING_FAILED)
		attempt_failed(c);
	else
		wait_connected(c);
}

/* A Unix socket is connected at once. */
static void wait_connected(struct pgconn *c)
{
	if (PQstatus(c->pg) != CONNECTION_STARTED && PQstatus(c->pg) != CONNECTION_NEEDED) {
		c->reached = true;
		loop_timer_set(&c->insert, 0);
		return;
	}
	c->connected = event_new(loop_base(c->loop), PQsocket(c->pg), EV_WRITE, on_connected, c);
	event_add(c->connected, NULL);
}

static void start_attempt(struct pgconn *c)
{
	struct pgparameters p;

	pgparameters_fill(&p,
		&(struct pgparameters_of){
			.endpoint = c->endpoint,
			.host = c->host,
			.address = c->address_count ? &c->addresses[c->address] : NULL,
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
	wait_connected(c);
	loop_timer_set(&c->timer, share_ms(c));
}

static void try_address(struct pgconn *c)
{
	struct err err;

	c->reached = c->again = false;
	mem_free_ptr(&c->first);
	if (judge_address(c, &err)) {
		keep_reason(c, &err, false);
		next_address(c);
		return;
	}
	c->hold.namespace_ = namespace_of(c);
	c->hold.wants = SOCKETS;
	if (descriptors_take(&network_of(c->loop)->descriptors, &c->hold, &c->err))
		lose(c, c->err.kind, c->err.msg);
	else
		start_attempt(c);
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
	c->lookup = dns_lookup_start(c->loop, h->hostaddr ? h->hostaddr : h->host, h->port, namespace_of(c),
		on_addresses, c);
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
		err_set(&err, ERR_TEMPORARY, "connecting to \"%s\", port %u: %s", *h->host ? h->host : h->hostaddr,
			h->port, c->reached ? "the server accepts but does not answer: timed out" : "timed out");
		keep_reason(c, &err, c->reached);
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
	pgpump_ask(c->pump);
	left = PQsendQuery(c->pg, sql) && PQsetSingleRowMode(c->pg) ? PQflush(c->pg) : -1;
	while (left > 0) {
		pgpump_send(c->pump);
		left = PQflush(c->pg);
	}
	if (left < 0) {
		char text[TEXT_MAX];

		clean_text(c, PQerrorMessage(c->pg), text);
		return err_set(err, ERR_TEMPORARY, "%s", text);
	}
	pgpump_asked(c->pump);
	c->state = BUSY;
	return 0;
}

/*
 * Whether libpq has closed its socket, as it does after an invalid message; it reports that in a
 * result or, between statements, not at all.
 */
static bool is_dropped(struct pgconn *c)
{
	if (PQstatus(c->pg) != CONNECTION_BAD)
		return false;
	lose(c, ERR_TEMPORARY, PQerrorMessage(c->pg));
	return true;
}

static void finish(struct pgconn *c)
{
	c->state = IDLE;
	answers_release(&c->bytes);
	c->handler->finished(c->arg);
}

/* False when the connection was closed. */
static bool take_results(struct pgconn *c)
{
	while (c->state == BUSY && !PQisBusy(c->pg)) {
		PGresult *r = PQgetResult(c->pg);

		if (is_dropped(c)) {
			PQclear(r);
			return false;
		}
		if (!r) {
			finish(c);
			continue;
		}
		switch (PQresultStatus(r)) {
		case PGRES_COPY_IN:
		case PGRES_COPY_OUT:
		case PGRES_COPY_BOTH: lose(c, ERR_INVALID, "COPY is not a query"); break;
		default: c->handler->result(c->arg, r); break;
		}
		PQclear(r);
	}
	return c->state != CLOSED;
}

static void take_notifications(struct pgconn *c)
{
	PGnotify *n;

	while (c->state != CLOSED && (n = PQnotifies(c->pg)) != NULL) {
		if (c->handler->notified)
			c->handler->notified(c->arg, n->relname);
		PQfreemem(n);
	}
	if (c->state != CLOSED)
		is_dropped(c);
}

/* ---- The pump ---- */

static void on_ready(void *arg)
{
	step(arg);
}

static void on_came(void *arg)
{
	struct pgconn *c = arg;
	struct err err;

	c->bytes.namespace_ = namespace_of(c);
	if (c->state == CONNECTING)
		step(c);
	else if (answers_hold(&network_of(c->loop)->answers, &c->bytes, pgpump_bytes(c->pump), &err))
		lose(c, err.kind, err.msg);
	else if (!PQconsumeInput(c->pg))
		lose(c, ERR_TEMPORARY, PQerrorMessage(c->pg));
	else if (take_results(c))
		take_notifications(c);
}

static void on_ended(void *arg, const struct err *why)
{
	struct pgconn *c = arg;

	if (c->state == CONNECTING)
		attempt_ended(c, why);
	else
		lose(c, why->kind, why->msg);
}

static void on_insert(void *arg)
{
	static const struct pgpump_handler handler = { .ready = on_ready, .came = on_came, .ended = on_ended };
	struct pgconn *c = arg;
	struct pgpump_config config = {
		.endpoint = c->endpoint,
		.host = &c->endpoint->hosts[c->host],
		.salter = strmap_get(&c->endpoint->settings, "require_auth") ? NULL : c->config.salter,
		.password = c->endpoint->identity ? c->credential.token
						  : strmap_get(&c->endpoint->settings, "password"),
		.memory = &c->endpoint->memory,
		.namespace_ = namespace_of(c),
		.tls = c->address_count > 0 && pgtls_is_tried(c->endpoint, c->again),
		.listens = c->config.listens,
	};
	struct err err;

	c->pump = pgpump_new(c->loop, PQsocket(c->pg), &config, &handler, c, &err);
	if (!c->pump)
		lose(c, err.kind, err.msg);
}

bool pgconn_is_reusable(const struct pgconn *c)
{
	return !pgpump_is_worn(c->pump);
}

/* ---- Creation ---- */

struct pgconn *pgconn_start(struct loop *loop, struct pgendpoint *e, const struct pgconn_config *config,
	const struct pgconn_handler *handler, void *arg)
{
	struct pgconn *c = mem_zalloc(sizeof(*c));

	c->loop = loop;
	c->endpoint = endpoint_ref(e);
	c->config = *config;
	c->namespace_ = config->namespace_ ? mem_dup(config->namespace_) : NULL;
	c->handler = handler;
	c->arg = arg;
	loop_timer_init(&c->insert, loop, on_insert, c);
	loop_timer_init(&c->timer, loop, on_timer, c);
	loop_timer_set(&c->timer, 0);
	return c;
}

void pgconn_count_for(struct pgconn *c, const char *namespace_)
{
	struct descriptors_hold hold = { .namespace_ = namespace_, .wants = SOCKETS };
	struct err err;

	if (strcmp(namespace_of(c), namespace_) == 0 ||
		descriptors_take(&network_of(c->loop)->descriptors, &hold, &err))
		return;
	descriptors_give(&c->hold, 0);
	c->hold = hold;
	free(c->namespace_);
	c->namespace_ = mem_dup(namespace_);
}

const char *pgconn_step(const struct pgconn *c)
{
	return c->token_wait ? "no token for the login in time" : "connecting: no answer in time";
}

void pgconn_free(struct pgconn *c)
{
	if (!c)
		return;
	close_all(c);
	loop_timer_done(&c->timer);
	loop_timer_done(&c->insert);
	endpoint_unref(c->endpoint);
	c->endpoint = NULL;
	mem_free_ptr(&c->namespace_);
	loop_free_later(c->loop, c, free); /* its own functions may be on the stack */
}
