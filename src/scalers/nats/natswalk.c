/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the next request: first to the consumer's leader, if known; else to the endpoint, and if
 * that belongs to a cluster, to its servers in turn, by /varz and /jsz, until one is the consumer's
 * leader. Each server gets a third of the remaining time to answer, and is skipped if it does not.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hostport.h"
#include "base/mem.h"
#include "net/loop.h"
#include "scalers/nats/nats_parts.h"

#define PLACES_MAX    (2 * NATSREPLY_HOSTS_MAX)
#define LEFT_LEAST_MS 20
/* Enough for an account with a thousand consumers. */
#define JSZ_MAX ((size_t)4 << 20)

enum nats_step {
	AT_START,         /* no request yet */
	AT_KNOWN,         /* /jsz of the last known leader */
	AT_ENDPOINT,      /* /jsz of the endpoint */
	AT_ENDPOINT_NAME, /* /varz of the endpoint */
	AT_PLACE_NAME,    /* /varz of a server of the cluster */
	AT_PLACE,         /* /jsz of that server */
};

struct nats_walk {
	enum nats_step step;
	double lag; /* reported by the endpoint */
	char endpoint_id[NATSREPLY_NAME_SIZE];
	char leader[NATSREPLY_NAME_SIZE];                        /* of the consumer; "": not reported yet */
	char name[NATSREPLY_NAME_SIZE], id[NATSREPLY_NAME_SIZE]; /* of the server being asked */
	enum natsreply_found found;                              /* the best result so far */
	char *places[PLACES_MAX];                                /* owned: "http://10.0.0.7:8222" */
	size_t count, next;
	struct err missed; /* of the last server that failed */
};

static struct nats_question *question_of(const struct httpsource *ask)
{
	return ask->data;
}

static void walk_done(void *state)
{
	struct nats_walk *w = state;

	for (size_t i = 0; i < w->count; i++)
		free(w->places[i]);
	w->count = 0;
}

/* ---- The leader ---- */

void natswalk_forget(struct nats_question *q)
{
	mem_free_ptr(&q->leader.base);
	mem_free_ptr(&q->leader.name);
	mem_free_ptr(&q->leader.id);
}

static void remember(struct nats_question *q, const char *base, const char *name, const char *id)
{
	natswalk_forget(q);
	q->leader.base = mem_dup(base);
	q->leader.name = mem_dup(name);
	q->leader.id = mem_dup(id);
}

/* ---- The servers of the cluster ---- */

static bool is_address(const char *host)
{
	struct in6_addr address;

	return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1;
}

static void add_place(struct nats_walk *w, const struct nats_question *q, const char *host)
{
	char *place;
	MEM_AUTO char *joined = *q->port ? hostport_join_text(host, q->port) : NULL;

	if (w->count == PLACES_MAX)
		return;
	if (joined)
		place = mem_printf("%s://%s", (q->https ? "https" : "http"), joined);
	else
		place = mem_printf(strchr(host, ':') ? "%s://[%s]" : "%s://%s", (q->https ? "https" : "http"), host);
	w->places[w->count++] = place;
}

/*
 * Addresses for clients are used as they are. A route's name may resolve only in the servers'
 * namespace, so KEDA prepends its first label, the Pod's name, to the Service that the endpoint
 * names. As this is wrong outside of Kubernetes, the route's full name is tried as well.
 */
static void add_route(struct nats_walk *w, const struct nats_question *q, const char *host)
{
	MEM_AUTO char *pod = mem_printf("%.*s.%s", (int)strcspn(host, "."), host, q->host);

	if (is_address(host) || is_address(q->host)) {
		add_place(w, q, host);
		return;
	}
	add_place(w, q, pod);
	if (strchr(host, '.') && strcasecmp(pod, host) != 0)
		add_place(w, q, host);
}

static void take_places(struct nats_walk *w, const struct nats_question *q, const struct natsreply_varz *v)
{
	for (size_t i = 0; i < v->count; i++)
		if (v->are_routes)
			add_route(w, q, v->hosts[i]);
		else
			add_place(w, q, v->hosts[i]);
}

/* ---- Errors ---- */

static int not_here(const struct nats_question *q, enum natsreply_found found, struct err *err)
{
	if (found == NATSREPLY_NO_CONSUMER)
		return err_set(err, ERR_INVALID, "consumer \"%s\" not found in stream \"%s\"", q->consumer, q->stream);
	if (found == NATSREPLY_NO_STREAM)
		return err_set(err, ERR_INVALID, "stream \"%s\" not found", q->stream);
	return err_set(err, ERR_INVALID,
		"account not found: the server has no such account with streams; \"account\" is its name ($G without "
		"accounts), \"accountID\" its public key if the server has an operator (JWT)");
}

static int not_found(const struct nats_question *q, const struct nats_walk *w, struct err *err)
{
	const char *missed = w->missed.kind != ERR_NONE ? "; " : "";

	if (w->found != NATSREPLY_CONSUMER) {
		not_here(q, w->found, err);
		if (w->missed.kind == ERR_NONE)
			return -1;
		err->kind = ERR_TEMPORARY;
		err_wrap(err, "one of the cluster's servers did not answer (%.200s), and on the others", w->missed.msg);
		return -1;
	}
	if (!*w->leader)
		return err_set(err, ERR_TEMPORARY, "consumer \"%s\" has no leader at present%s%s", q->consumer, missed,
			w->missed.msg);
	return err_set(err, ERR_TEMPORARY,
		"leader node not found for consumer \"%s\": none of the cluster's %zu addresses, at the endpoint's "
		"port, belongs to %s; connect_urls in /varz must be reachable from here%s%.160s",
		q->consumer, w->count, w->leader, missed, w->missed.msg);
}

/* ---- Asking ---- */

static int64_t third_of_what_is_left(const struct httpsource *ask)
{
	return (ask->base.deadline_ms - loop_now_ms(ask->base.sources->loop)) / 3;
}

static int walk_request(const struct httpsource *ask, struct webrequest *out, struct err *err)
{
	const struct nats_question *q = question_of(ask);
	struct nats_walk *w = ask->state;
	const char *base = q->login.url;
	bool is_name = w->step == AT_ENDPOINT_NAME || w->step == AT_PLACE_NAME;

	if (w->step == AT_START)
		w->step = q->leader.base ? AT_KNOWN : AT_ENDPOINT;
	if (w->step == AT_KNOWN)
		base = q->leader.base;
	if (w->step == AT_PLACE_NAME || w->step == AT_PLACE) {
		if (w->next == w->count || third_of_what_is_left(ask) < LEFT_LEAST_MS)
			return not_found(q, w, err);
		base = w->places[w->next];
	}
	if (base != q->login.url)
		out->timeout_ms = third_of_what_is_left(ask);
	out->max_body = is_name ? 0 : JSZ_MAX;
	out->url = mem_printf("%s%s", base, is_name ? "/varz" : q->jsz);
	return 0;
}

static int read_jsz(const struct nats_question *q, const struct webresponse *answer, struct natsreply_jsz *out,
	struct err *err)
{
	const struct natsreply_wanted wanted = { q->account, q->account_id, q->stream, q->consumer };

	return httpsource_expect(answer, 200, 200, err) || natsreply_jsz(answer->body, answer->len, &wanted, out, err)
		? -1
		: 0;
}

static int read_varz(const struct webresponse *answer, struct natsreply_varz *out, struct err *err)
{
	return httpsource_expect(answer, 200, 200, err) || natsreply_varz(answer->body, answer->len, out, err) ? -1 : 0;
}

static enum exchange_verdict answered(struct answer *out, double lag)
{
	out->value = lag;
	return EXCHANGE_DONE;
}

/* Skips this server; err: why, or NULL if it is not the leader. */
static enum exchange_verdict next_place(struct nats_walk *w, const struct err *err)
{
	if (err)
		w->missed = *err;
	w->next++;
	w->step = AT_PLACE_NAME;
	return EXCHANGE_NEXT;
}

/* The last leader may have been restarted or lost its role. */
static enum exchange_verdict read_known(struct nats_question *q, struct nats_walk *w, const struct webresponse *answer,
	struct answer *out)
{
	struct natsreply_jsz said;
	struct err err;

	if (read_jsz(q, answer, &said, &err) == 0 && said.found == NATSREPLY_CONSUMER &&
		strcmp(said.id, q->leader.id) == 0 && strcmp(said.leader, q->leader.name) == 0)
		return answered(out, said.lag);
	natswalk_forget(q);
	w->step = AT_ENDPOINT;
	return EXCHANGE_NEXT;
}

static enum exchange_verdict read_endpoint(const struct nats_question *q, struct nats_walk *w,
	const struct webresponse *answer, struct answer *out, struct err *err)
{
	struct natsreply_jsz said;

	if (read_jsz(q, answer, &said, err))
		return EXCHANGE_FAILED;
	if (!said.is_cluster) {
		if (said.found == NATSREPLY_CONSUMER)
			return answered(out, said.lag);
		return not_here(q, said.found, err);
	}
	w->found = said.found;
	w->lag = said.lag;
	memcpy(w->leader, said.leader, sizeof(w->leader));
	memcpy(w->endpoint_id, said.id, sizeof(w->endpoint_id));
	w->step = AT_ENDPOINT_NAME;
	return EXCHANGE_NEXT;
}

/* Behind a Service /varz may be answered by another server than /jsz was. */
static enum exchange_verdict read_endpoint_name(struct nats_question *q, struct nats_walk *w,
	const struct webresponse *answer, struct answer *out, struct err *err)
{
	struct natsreply_varz said;
	bool leads;

	if (read_varz(answer, &said, err))
		return EXCHANGE_FAILED;
	leads = w->found == NATSREPLY_CONSUMER && strcmp(said.id, w->endpoint_id) == 0 &&
		strcmp(said.name, w->leader) == 0;
	if (leads)
		remember(q, q->login.url, said.name, said.id);
	else
		take_places(w, q, &said);
	natsreply_varz_done(&said);
	w->step = AT_PLACE_NAME;
	return leads ? answered(out, w->lag) : EXCHANGE_NEXT;
}

static enum exchange_verdict read_place_name(struct nats_walk *w, const struct webresponse *answer)
{
	struct natsreply_varz said;
	struct err err = { 0 };

	if (read_varz(answer, &said, &err)) {
		err_wrap(&err, "%s", w->places[w->next]);
		return next_place(w, &err);
	}
	natsreply_varz_done(&said);
	if (*w->leader && strcmp(said.name, w->leader) != 0)
		return next_place(w, NULL);
	memcpy(w->name, said.name, sizeof(w->name));
	memcpy(w->id, said.id, sizeof(w->id));
	w->step = AT_PLACE;
	return EXCHANGE_NEXT;
}

static enum exchange_verdict read_place(struct nats_question *q, struct nats_walk *w, const struct webresponse *answer,
	struct answer *out)
{
	struct natsreply_jsz said;
	struct err err = { 0 };

	if (read_jsz(q, answer, &said, &err)) {
		err_wrap(&err, "%s", w->places[w->next]);
		return next_place(w, &err);
	}
	if (said.found > w->found)
		w->found = said.found;
	if (said.found == NATSREPLY_CONSUMER)
		memcpy(w->leader, said.leader, sizeof(w->leader));
	if (said.found != NATSREPLY_CONSUMER || strcmp(said.leader, w->name) != 0 || strcmp(said.id, w->id) != 0)
		return next_place(w, NULL);
	remember(q, w->places[w->next], w->name, w->id);
	return answered(out, said.lag);
}

static enum exchange_verdict walk_read(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err)
{
	struct nats_question *q = question_of(ask);
	struct nats_walk *w = ask->state;

	switch (w->step) {
	case AT_KNOWN: return read_known(q, w, answer, out);
	case AT_ENDPOINT: return read_endpoint(q, w, answer, out, err);
	case AT_ENDPOINT_NAME: return read_endpoint_name(q, w, answer, out, err);
	case AT_PLACE_NAME: return read_place_name(w, answer);
	case AT_PLACE: return read_place(q, w, answer, out);
	case AT_START: break;
	}
	return EXCHANGE_FAILED;
}

static enum exchange_verdict walk_lost(struct httpsource *ask, const struct err *err)
{
	struct nats_walk *w = ask->state;

	if (w->step == AT_PLACE_NAME || w->step == AT_PLACE)
		return next_place(w, err);
	if (w->step != AT_KNOWN)
		return EXCHANGE_FAILED;
	natswalk_forget(question_of(ask));
	w->step = AT_ENDPOINT;
	return EXCHANGE_NEXT;
}

const struct httpsource_type natswalk_http = { .state_size = sizeof(struct nats_walk),
	.state_done = walk_done,
	.request = walk_request,
	.read = walk_read,
	.lost = walk_lost };
