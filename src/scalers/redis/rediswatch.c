/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/redis/rediswatch.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/redis/redisendpoint.h"
#include "net/redis/redisreply.h"
#include "net/redis/redissub.h"

#define ASK_MS 3000
/*
 * When the server is asked again. An ACL user that may not is asked about rarely: each time stands
 * in the server's ACL LOG.
 */
#define AGAIN_OFF_MS    10000
#define AGAIN_ON_MS     60000
#define AGAIN_UNTOLD_MS 600000
#define AGAIN_FAILED_MS 5000
/* A reconnect makes it ask at once, but not for each of a thousand channels. */
#define AGAIN_SOON_MS 1000

#define SETTING "notify-keyspace-events"

enum answer_state {
	ANSWER_NONE,   /* the server has not been asked, or did not answer yet: why says what failed */
	ANSWER_GIVEN,  /* flags */
	ANSWER_UNTOLD, /* it does not tell: why */
};

struct server {
	struct rediswatch_pool *pool;
	struct redisendpoint *endpoint; /* one count; any of those on this server */
	UT_hash_handle hh;              /* by the endpoint's server_key */
	struct watched_key *spots;
	struct redis_call *call;
	struct loop_timer again;
	int64_t asked_ms;
	enum answer_state state;
	char flags[32];
	char why[200];
};

/* One key on one server. */
struct watched_key {
	struct rediswatch *watch;
	struct server *server;
	struct redisendpoint *endpoint;  /* one count */
	struct redissub *sub;            /* NULL: not subscribed to */
	bool heard;                      /* a notification came: it is on, whatever the server tells */
	struct watched_key *prev, *next; /* of the server */
};

struct rediswatch {
	struct rediswatch_pool *pool;
	char *key;
	size_t key_len;
	enum rediswatch_notify notify;
	enum rediswatch_classes classes;
	question_look_fn look;
	void *arg;
	struct watched_key **spots; /* owned; usually one */
	size_t count;
};

struct rediswatch_pool {
	struct loop *loop;
	struct redis_pool *redis;
	struct redissub_pool *subs;
	struct server *servers;
	char *text; /* of the last report, whichever watch it was about: thousands say the same */
};

/* ---- What the setting must have ---- */

static const struct {
	const char *needed; /* all of it is needed for everything that may lie under the key */
	const char *enough; /* one of it, beside K, tells of something */
} classes_of[] = {
	[REDISWATCH_LENGTHS] = { "Kglszh", "lszh" },
	[REDISWATCH_STREAM] = { "Kgt", "t" },
};

/* "A" stands for all classes. */
static bool has_flag(const char *flags, char flag)
{
	return strchr(flags, flag) || (flag != 'K' && strchr(flags, 'A'));
}

static bool is_on(const char *flags, enum rediswatch_classes classes)
{
	if (!has_flag(flags, 'K'))
		return false;
	for (const char *c = classes_of[classes].enough; *c; c++)
		if (has_flag(flags, *c))
			return true;
	return false;
}

/* What is set, and what is missing: "" when nothing is. */
static void wanted_flags(const char *flags, enum rediswatch_classes classes, char out[64])
{
	size_t len = 0;
	bool missing = false;

	for (const char *c = classes_of[classes].needed; *c; c++) {
		missing |= !has_flag(flags, *c);
		out[len++] = *c;
	}
	for (const char *c = flags; *c && len < 63; c++)
		if (!memchr(out, *c, len))
			out[len++] = *c;
	out[missing ? len : 0] = '\0';
}

/* Events that only take away, or only touch. */
static bool is_less(const char *event)
{
	static const char *const less[] = {
		"del",
		"expire",
		"expired",
		"evicted",
		"persist",
		"rename_from",
		"move_from",
		"lpop",
		"rpop",
		"lrem",
		"ltrim",
		"lset",
		"spop",
		"srem",
		"zrem",
		"zrembyscore",
		"zrembyrank",
		"zremrangebyscore",
		"zremrangebyrank",
		"zremrangebylex",
		"zpopmin",
		"zpopmax",
		"hdel",
		"hexpire",
		"hexpired",
		"hpersist",
		"xtrim",
		"xdel",
		"xgroup-createconsumer",
		NULL,
	};

	return text_is_one_of(event, less);
}

/* ---- Subscribing where it is on ---- */

static void ask_server(struct server *s);

static void on_event(void *arg, const char *message, size_t len)
{
	struct watched_key *spot = arg;
	struct server *s = spot->server;

	(void)len;
	if (message) {
		spot->heard = true;
		if (is_less(message))
			return;
	} else if (!s->call && loop_now_ms(s->pool->loop) - s->asked_ms >= AGAIN_SOON_MS) {
		ask_server(s); /* it may have been restarted with another configuration */
	}
	spot->watch->look(spot->watch->arg);
}

/*
 * A server that does not tell is only bothered with a subscription when somebody asked for push by
 * name.
 */
static bool wants_subscription(const struct watched_key *spot)
{
	switch (spot->server->state) {
	case ANSWER_NONE: return spot->sub; /* it stays as it was: what failed is a question, not the subscription */
	case ANSWER_GIVEN: return is_on(spot->server->flags, spot->watch->classes);
	case ANSWER_UNTOLD: return spot->watch->notify == REDISWATCH_AUTO;
	}
	return false;
}

static void settle(struct watched_key *spot)
{
	MEM_AUTO char *channel = NULL;
	struct rediswatch *w = spot->watch;
	int prefix;

	if (wants_subscription(spot) == (spot->sub != NULL))
		return;
	if (spot->sub) {
		redissub_stop(spot->sub);
		spot->sub = NULL;
		spot->heard = false;
		return;
	}
	prefix = snprintf(NULL, 0, "__keyspace@%d__:", spot->endpoint->database);
	channel = mem_alloc((size_t)prefix + w->key_len + 1);
	snprintf(channel, (size_t)prefix + 1, "__keyspace@%d__:", spot->endpoint->database);
	memcpy(channel + prefix, w->key, w->key_len);
	spot->sub = redissub_start(w->pool->subs, spot->endpoint, channel, (size_t)prefix + w->key_len, on_event, spot);
}

/* ---- Asking the server ---- */

/* The reply to CONFIG GET: the name and the value. Servers without the setting send nothing. */
static void take_setting(struct server *s, const struct redis_reply *reply)
{
	bool good = reply->type == REDIS_ARRAY && reply->count == 2 && reply->elements[1]->type == REDIS_STRING &&
		reply->elements[1]->len < sizeof(s->flags);

	s->state = good ? ANSWER_GIVEN : ANSWER_UNTOLD;
	if (good)
		snprintf(s->flags, sizeof(s->flags), "%s", reply->elements[1]->text);
	else if (reply->type == REDIS_ERROR) /* perhaps with our arguments in quotes behind it */
		snprintf(s->why, sizeof(s->why), "%.*s", (int)strcspn(reply->text, "'`\""), reply->text);
	else
		snprintf(s->why, sizeof(s->why), "the answer has no such setting");
}

static void on_setting(void *arg, const struct redis_reply *reply, const struct err *err)
{
	struct server *s = arg;
	enum answer_state was = s->state;
	int64_t again_ms = reply ? AGAIN_ON_MS : AGAIN_FAILED_MS;
	struct watched_key *spot, *next;
	char flags[sizeof(s->flags)];
	bool news;

	memcpy(flags, s->flags, sizeof(flags));
	s->call = NULL;
	if (reply) {
		s->why[0] = s->flags[0] = '\0';
		take_setting(s, reply);
	} else if (s->state == ANSWER_NONE) {
		snprintf(s->why, sizeof(s->why), "%s", err->msg);
	}
	for (spot = s->spots; reply && spot; spot = spot->next)
		if (!is_on(s->flags, spot->watch->classes))
			again_ms = AGAIN_OFF_MS;
	if (reply && s->state == ANSWER_UNTOLD)
		again_ms = AGAIN_UNTOLD_MS;
	loop_timer_set(&s->again, loop_backoff_ms(0, again_ms, AGAIN_UNTOLD_MS * 2));
	/* Nobody else tells news to those who asked for push by name. */
	news = reply && (was != s->state || strcmp(flags, s->flags) != 0);
	DL_FOREACH_SAFE (s->spots, spot, next) {
		settle(spot);
		if (news && !spot->sub && spot->watch->notify == REDISWATCH_AUTO)
			spot->watch->look(spot->watch->arg);
	}
}

static void ask_server(struct server *s)
{
	static const char *const argv[] = { "CONFIG", "GET", SETTING };
	static const size_t lens[] = { 6, 3, sizeof(SETTING) - 1 };

	s->asked_ms = loop_now_ms(s->pool->loop);
	s->call = redis_command(s->pool->redis, s->endpoint, 3, argv, lens, s->asked_ms + ASK_MS, on_setting, s);
}

static void on_again(void *arg)
{
	struct server *s = arg;

	if (!s->call)
		ask_server(s);
}

/* ---- Servers and spots ---- */

static struct server *server_get(struct rediswatch_pool *p, struct redisendpoint *e)
{
	const char *key = e->server_key;
	struct server *s;

	HASH_FIND_STR(p->servers, key, s);
	if (s)
		return s;
	s = mem_zalloc(sizeof(*s));
	s->pool = p;
	s->endpoint = redisendpoint_ref(e);
	loop_timer_init(&s->again, p->loop, on_again, s);
	loop_timer_set(&s->again, 0);
	key = s->endpoint->server_key;
	HASH_ADD_KEYPTR(hh, p->servers, key, strlen(key), s);
	return s;
}

static void spot_free(struct watched_key *spot)
{
	struct server *s = spot->server;

	redissub_stop(spot->sub);
	DL_DELETE(s->spots, spot);
	if (!s->spots) {
		HASH_DEL(s->pool->servers, s);
		redis_cancel(s->call);
		loop_timer_done(&s->again);
		redisendpoint_unref(s->endpoint);
		free(s);
	}
	redisendpoint_unref(spot->endpoint);
	free(spot);
}

/* ---- What there is to say ---- */

static char *say_off(const struct watched_key *spot)
{
	const struct server *s = spot->server;
	char flags[64];

	wanted_flags(s->flags, spot->watch->classes, flags);
	return mem_printf("redis %s does not announce changes of this kind (" SETTING
			  " is \"%s\"); turn it on with: CONFIG SET " SETTING
			  " %s (and the same in its configuration file, so that it stays)",
		spot->endpoint->base.name, s->flags, flags);
}

static char *say_untold(const struct watched_key *spot)
{
	const char *address = spot->endpoint->base.name, *needed = classes_of[spot->watch->classes].needed;

	if (!spot->sub)
		return mem_printf("redis %s does not tell whether it announces changes (CONFIG GET: %s); if it is set "
				  "to, with at least " SETTING " %s, say notify: \"auto\" in the trigger",
			address, spot->server->why, needed);
	return mem_printf("redis %s does not tell whether it announces changes (CONFIG GET: %s), and has announced "
			  "none yet; it must be set to, with at least " SETTING " %s",
		address, spot->server->why, needed);
}

/* On, though some kinds of things are not announced. */
static char *say_partly(const struct watched_key *spot)
{
	char flags[64];

	if (spot->server->state != ANSWER_GIVEN)
		return mem_dup("");
	wanted_flags(spot->server->flags, spot->watch->classes, flags);
	return *flags
		? mem_printf("redis %s announces only some kinds (" SETTING " is \"%s\"); all that matter are with %s",
			  spot->endpoint->base.name, spot->server->flags, flags)
		: mem_dup("");
}

static enum watch_state report_subscribed(const struct watched_key *spot, char **text)
{
	const char *why;

	switch (redissub_state(spot->sub, &why)) {
	case REDISSUB_STARTING: return WATCH_STARTING;
	case REDISSUB_REFUSED:
		*text = mem_printf("redis %s does not let this user subscribe (%s); allow it with: ACL SETUSER <user> "
				   "&__keyspace@%d__:*",
			spot->endpoint->base.name, why, spot->endpoint->database);
		return WATCH_OFF;
	case REDISSUB_FAILING: *text = mem_dup(why); return WATCH_FAILING;
	case REDISSUB_ON: break;
	}
	if (spot->server->state == ANSWER_UNTOLD && !spot->heard) {
		*text = say_untold(spot);
		return WATCH_OFF;
	}
	*text = say_partly(spot);
	return WATCH_ON;
}

/* The caller owns *text; NULL for none. */
static enum watch_state report_spot(const struct watched_key *spot, char **text)
{
	const struct server *s = spot->server;

	if (spot->sub)
		return report_subscribed(spot, text);
	switch (s->state) {
	case ANSWER_NONE: *text = mem_dup(s->why); return *s->why ? WATCH_FAILING : WATCH_STARTING;
	case ANSWER_GIVEN: *text = is_on(s->flags, spot->watch->classes) ? NULL : say_off(spot); break;
	case ANSWER_UNTOLD: *text = say_untold(spot); break;
	}
	return WATCH_OFF;
}

/* Of several servers the one that fares worst is told of. */
struct watch_report rediswatch_report(const void *watch)
{
	static const int badness[] = { [WATCH_ON] = 0, [WATCH_STARTING] = 1, [WATCH_OFF] = 2, [WATCH_FAILING] = 3 };
	const struct rediswatch *w = watch;
	struct rediswatch_pool *p = w->pool;
	struct watch_report report = { .state = w->count > 0 ? WATCH_ON : WATCH_STARTING,
		.why = "",
		.tell = w->notify == REDISWATCH_AUTO };

	free(p->text);
	p->text = NULL;
	for (size_t i = 0; i < w->count; i++) {
		char *text = NULL;
		enum watch_state state = report_spot(w->spots[i], &text);

		if (i > 0 && badness[state] <= badness[report.state]) {
			free(text);
			continue;
		}
		free(p->text);
		p->text = text;
		report.state = state;
	}
	report.why = p->text ? p->text : "";
	return report;
}

/* ---- For the Redis types ---- */

const char *rediswatch_notify_key(enum rediswatch_notify notify)
{
	return notify == REDISWATCH_AUTO ? " notify=auto" : notify == REDISWATCH_OFF ? " notify=off" : "";
}

struct rediswatch *rediswatch_start(struct rediswatch_pool *p, const struct rediswatch_config *config,
	question_look_fn look, void *arg)
{
	struct rediswatch *w;

	if (config->notify == REDISWATCH_OFF || !p)
		return NULL;
	w = mem_zalloc(sizeof(*w));
	*w = (struct rediswatch){ .pool = p,
		.key = mem_dupn(config->key, config->key_len),
		.key_len = config->key_len,
		.notify = config->notify,
		.classes = config->classes,
		.look = look,
		.arg = arg };
	return w;
}

void rediswatch_stop(struct rediswatch *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->count; i++)
		spot_free(w->spots[i]);
	free(w->spots);
	free(w->key);
	free(w);
}

static struct watched_key *find_spot(struct watched_key *const *spots, size_t count, const struct redisendpoint *e)
{
	for (size_t i = 0; i < count; i++)
		if (spots[i] && strcmp(spots[i]->endpoint->base.key, e->base.key) == 0)
			return spots[i];
	return NULL;
}

void rediswatch_set_endpoints(struct rediswatch *w, struct redisendpoint *const *endpoints, size_t count)
{
	struct watched_key **old = w->spots;
	size_t old_count = w->count;

	w->spots = mem_array(count + 1, sizeof(*w->spots));
	w->count = 0;
	for (size_t i = 0; i < count && i < REDISWATCH_ENDPOINTS_MAX; i++) {
		struct watched_key *spot;

		if (find_spot(w->spots, w->count, endpoints[i]))
			continue; /* given twice */
		spot = find_spot(old, old_count, endpoints[i]);
		for (size_t k = 0; spot && k < old_count; k++)
			if (old[k] == spot)
				old[k] = NULL;
		if (!spot) {
			spot = mem_zalloc(sizeof(*spot));
			spot->watch = w;
			spot->endpoint = redisendpoint_ref(endpoints[i]);
			spot->server = server_get(w->pool, endpoints[i]);
			DL_APPEND(spot->server->spots, spot);
			settle(spot);
		}
		w->spots[w->count++] = spot;
	}
	for (size_t i = 0; i < old_count; i++)
		if (old[i])
			spot_free(old[i]);
	free(old);
}

struct rediswatch_pool *rediswatch_pool_new(struct loop *loop, struct redis_pool *redis)
{
	struct rediswatch_pool *p = mem_zalloc(sizeof(*p));

	p->loop = loop;
	p->redis = redis;
	p->subs = redissub_pool_new(loop);
	return p;
}

void rediswatch_pool_free(struct rediswatch_pool *p)
{
	if (!p)
		return;
	redissub_pool_free(p->subs);
	free(p->text);
	free(p);
}

size_t rediswatch_pool_connections(const struct rediswatch_pool *p)
{
	return redissub_pool_connections(p->subs);
}
