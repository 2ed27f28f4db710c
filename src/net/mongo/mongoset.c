/* SPDX-License-Identifier: Apache-2.0 */
#include "net/mongo/mongoset.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/hostport.h"
#include "base/mem.h"

#define OLDEST_WIRE 6 /* MongoDB 3.6, the first with OP_MSG */
#define SHOWN_MAX   3 /* hosts in a message */
#define NOTE_MAX    160

struct host {
	struct mongoendpoint_host at;
	bool tried;
	bool second_best; /* acceptable if nothing better is found */
	char *note;       /* its role, or why it could not be greeted */
	enum err_kind kind;
};

struct mongoset {
	const struct mongoendpoint *endpoint;
	const char *wanted; /* required replica set; NULL: any or none */
	bool several;       /* there were several hosts to begin with */
	struct host hosts[MONGOSET_HOSTS_MAX];
	size_t count;
	size_t current;
	bool settles; /* accepts a second-best host */
	char *name;   /* of the replica set */
};

static void add_host(struct mongoset *s, const char *name, uint16_t port, size_t at)
{
	memmove(&s->hosts[at + 1], &s->hosts[at], (s->count - at) * sizeof(s->hosts[0]));
	s->hosts[at] = (struct host){ .at = { mem_dup(name), port } };
	s->count++;
}

struct mongoset *mongoset_new(const struct mongoendpoint *e, const struct mongoseeds *seeds)
{
	const struct mongoendpoint_host *hosts = seeds ? seeds->hosts : e->hosts;
	size_t count = seeds ? seeds->count : e->count;
	struct mongoset *s = mem_zalloc(sizeof(*s));

	s->endpoint = e;
	s->wanted = seeds ? seeds->set : e->set;
	s->several = count > 1;
	s->name = mem_dup(s->wanted);
	for (size_t i = 0; i < count; i++)
		add_host(s, hosts[i].name, hosts[i].port, i);
	s->current = SIZE_MAX;
	return s;
}

void mongoset_free(struct mongoset *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++) {
		free(s->hosts[i].at.name);
		free(s->hosts[i].note);
	}
	free(s->name);
	free(s);
}

/* A second-best host to retry after all were tried; s->count: none. */
static size_t second_best(const struct mongoset *s)
{
	size_t i = s->settles ? s->count : 0;

	while (i < s->count && !s->hosts[i].second_best)
		i++;
	return i;
}

const struct mongoendpoint_host *mongoset_next(struct mongoset *s)
{
	size_t i = 0;

	while (i < s->count && s->hosts[i].tried)
		i++;
	if (i == s->count) {
		i = second_best(s);
		s->settles = true;
	}
	if (i == s->count)
		return NULL;
	s->hosts[i].tried = true;
	s->current = i;
	return &s->hosts[i].at;
}

size_t mongoset_left(const struct mongoset *s)
{
	size_t left = second_best(s) < s->count;

	for (size_t i = 0; i < s->count; i++)
		left += !s->hosts[i].tried;
	return left;
}

static void set_note(struct mongoset *s, enum err_kind kind, const char *text)
{
	struct host *h = &s->hosts[s->current];

	free(h->note);
	h->note = mem_dup(text);
	h->kind = kind;
}

void mongoset_failed(struct mongoset *s, const struct err *why)
{
	set_note(s, why->kind, why->msg);
}

/* ---- Members ---- */

/* The index of a host; s->count: unknown. */
static size_t find_host(const struct mongoset *s, const struct mongoendpoint_host *h)
{
	size_t i = 0;

	while (i < s->count && (s->hosts[i].at.port != h->port || strcasecmp(s->hosts[i].at.name, h->name) != 0))
		i++;
	return i;
}

/*
 * Has the member tried next, in the server's order, which has the primary first. Untried hosts are
 * at *at or behind.
 */
static void add_member(struct mongoset *s, const struct mongoendpoint_host *member, size_t *at)
{
	size_t there = find_host(s, member);
	struct host known;

	if (there == s->count && s->count < MONGOSET_HOSTS_MAX) {
		add_host(s, member->name, member->port, (*at)++);
	} else if (there < s->count && !s->hosts[there].tried) {
		known = s->hosts[there];
		memmove(&s->hosts[*at + 1], &s->hosts[*at], (there - *at) * sizeof(known));
		s->hosts[(*at)++] = known;
	}
}

static void add_members(struct mongoset *s, const struct mongoreply_hello *hello)
{
	const char *password = s->endpoint->password;
	size_t at = s->current + 1;
	struct mongoendpoint_host host;

	for (size_t i = 0; i < hello->count; i++) {
		if ((password && *password && strstr(hello->members[i], password)) ||
			mongoendpoint_parse_host(hello->members[i], &host))
			continue;
		if (find_host(s, &host) >= at) /* neither tried nor placed yet */
			add_member(s, &host, &at);
		free(host.name);
	}
}

/* ---- Judging ---- */

/* Why this server cannot be asked, whatever its role; NULL: it can. */
static const char *unfit(const struct mongoset *s, const struct mongoreply_hello *h)
{
	const struct mongoendpoint *e = s->endpoint;

	if (h->newest < OLDEST_WIRE)
		return "it is older than MongoDB 3.6, or not a MongoDB server";
	if (e->direct)
		return NULL;
	if (h->is_router)
		return s->wanted ? "it is a mongos, which is in no replica set: leave out replicaSet" : NULL;
	if (h->is_unready)
		return "its replica set is not initiated, or it was removed from it";
	if (!h->set && s->wanted)
		return "it is in no replica set, but replicaSet is given";
	if (!h->set && s->several)
		return "it is a standalone server, but several hosts of one replica set are given";
	if (h->set && s->name && strcmp(h->set, s->name) != 0)
		return s->wanted ? "it is in another replica set than replicaSet says"
				 : "it is in another replica set than the previous hosts";
	return NULL;
}

/* How well its role fits the read preference. */
static enum worth { WANTED, SECOND_BEST, USELESS } worth_of(const struct mongoset *s, const struct mongoreply_hello *h)
{
	switch (s->endpoint->reads) {
	case MONGOENDPOINT_PRIMARY: return h->is_primary ? WANTED : USELESS;
	case MONGOENDPOINT_PRIMARY_PREFERRED: return h->is_primary ? WANTED : h->is_secondary ? SECOND_BEST : USELESS;
	case MONGOENDPOINT_SECONDARY: return h->is_secondary ? WANTED : USELESS;
	case MONGOENDPOINT_SECONDARY_PREFERRED: return h->is_secondary ? WANTED : h->is_primary ? SECOND_BEST : USELESS;
	case MONGOENDPOINT_NEAREST: break;
	}
	return h->is_primary || h->is_secondary ? WANTED : USELESS;
}

bool mongoset_judge(struct mongoset *s, const struct mongoreply_hello *hello)
{
	const char *why = unfit(s, hello);
	enum worth worth;

	if (why) {
		set_note(s, ERR_INVALID, why);
		return false;
	}
	if (s->endpoint->direct || hello->is_router || !hello->set)
		return true;
	if (!s->name)
		s->name = mem_dup(hello->set);
	worth = worth_of(s, hello);
	if (worth == WANTED || (worth == SECOND_BEST && s->settles))
		return true;
	s->hosts[s->current].second_best = worth == SECOND_BEST;
	set_note(s, ERR_TEMPORARY,
		hello->is_primary             ? "it is the primary"
			: hello->is_secondary ? "it is a secondary"
					      : "it is neither primary nor secondary");
	add_members(s, hello);
	return false;
}

/* ---- Explaining ---- */

static const char *wanted_member(const struct mongoset *s)
{
	switch (s->endpoint->reads) {
	case MONGOENDPOINT_PRIMARY: return "no primary";
	case MONGOENDPOINT_SECONDARY: return "no secondary";
	default: return "no member that may be asked";
	}
}

/* If only one host was given, its error is shown alone, as there was no choice. */
void mongoset_explain(const struct mongoset *s, struct err *err)
{
	struct buf text = BUF_INIT(4 * (NOTE_MAX + MONGOREPLY_NAME_MAX));
	enum err_kind kind = s->count > 0 ? s->hosts[0].kind : ERR_TEMPORARY;
	size_t shown = 0, at;

	if (s->count == 1 && s->hosts[0].note && !s->endpoint->seed) {
		err_set(err, kind, "%s", s->hosts[0].note);
		return;
	}
	for (at = 0; at < s->count && shown < SHOWN_MAX; at++) {
		const struct host *h = &s->hosts[at];
		MEM_AUTO char *name = hostport_join(h->at.name, h->at.port);

		if (!h->note)
			continue;
		buf_printf(&text, "%s%s: %.*s", shown++ > 0 ? "; " : "", name, NOTE_MAX, h->note);
		kind = h->kind == ERR_TEMPORARY ? ERR_TEMPORARY : kind;
	}
	err_set(err, kind, "%s found: %s%s", wanted_member(s), shown > 0 ? buf_text(&text) : "no host answered",
		at < s->count ? "; ..." : "");
	buf_done(&text);
}
