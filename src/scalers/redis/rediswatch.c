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
 * Intervals of CONFIG GET. Users without the right ask rarely, as each refusal is logged in the
 * server's ACL LOG.
 */
#define AGAIN_OFF_MS     10000
#define AGAIN_ON_MS      60000
#define AGAIN_REFUSED_MS 600000
#define AGAIN_FAILED_MS  5000
/* A reconnect repeats CONFIG GET at once, but not for each of a thousand channels. */
#define AGAIN_SOON_MS 1000

#define SETTING "notify-keyspace-events"

enum answer_state {
	ANSWER_NONE,    /* no reply yet; why: the last failure */
	ANSWER_GIVEN,   /* the setting, in flags */
	ANSWER_REFUSED, /* refused; why: the reason */
};

struct server {
	struct rediswatch_pool *pool;
	struct redisendpoint *endpoint; /* one reference; any endpoint of this server */
	UT_hash_handle hh;              /* keyed by the endpoint's server_key */
	struct rediswatch *watches;
	struct pool_call *call;
	struct loop_timer again;
	int64_t asked_ms;
	enum answer_state state;
	char flags[32];
	char why[200];
};

/* One watched key. */
struct rediswatch {
	struct rediswatch_pool *pool;
	char *key;
	enum rediswatch_notify notify;
	enum rediswatch_classes classes;
	question_look_fn look;
	void *arg;
	struct redisendpoint *endpoint; /* one reference; NULL until known, like server and sub */
	struct server *server;
	struct redissub *sub;           /* NULL: not subscribed */
	bool heard;                     /* a notification has arrived, so they are enabled */
	struct rediswatch *prev, *next; /* other watches of the server */
};

struct rediswatch_pool {
	struct loop *loop;
	struct pool *redis;
	struct redissub_pool *subs;
	struct server *servers;
	char *text; /* text of the last report of any watch; shared, as there may be thousands of watches */
};

/* ---- The setting notify-keyspace-events ---- */

static const struct {
	const char *needed; /* for all events that matter */
	const char *enough; /* K and one of these: some of the events */
} classes_of[] = {
	[REDISWATCH_LENGTHS] = { "Kglszh", "lszh" },
	[REDISWATCH_STREAM] = { "Kgt", "t" },
};

/* "A" enables all classes. */
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

/* The flags to set: the needed and the present ones; "" if none is missing. */
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

/* Events that only remove elements, or do not change the length. */
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

/* ---- Subscribing ---- */

static void ask_server(struct server *s);

static void on_event(void *arg, const char *message, size_t len)
{
	struct rediswatch *w = arg;
	struct server *s = w->server;

	(void)len;
	if (message) {
		w->heard = true;
		if (is_less(message))
			return;
	} else if (!s->call && loop_now_ms(s->pool->loop) - s->asked_ms >= AGAIN_SOON_MS) {
		ask_server(s); /* it may have restarted with another configuration */
	}
	w->look(w->arg);
}

/* If the server does not reveal the setting, the key is subscribed to only with notify: "auto". */
static bool wants_subscription(const struct rediswatch *w)
{
	switch (w->server->state) {
	case ANSWER_NONE: return w->sub; /* unchanged, as only the query failed */
	case ANSWER_GIVEN: return is_on(w->server->flags, w->classes);
	case ANSWER_REFUSED: return w->notify == REDISWATCH_AUTO;
	}
	return false;
}

static void unsubscribe(struct rediswatch *w)
{
	redissub_stop(w->sub);
	w->sub = NULL;
	w->heard = false;
}

static void update_subscription(struct rediswatch *w)
{
	MEM_AUTO char *channel = NULL;

	if (wants_subscription(w) == (w->sub != NULL))
		return;
	if (w->sub) {
		unsubscribe(w);
		return;
	}
	channel = mem_printf("__keyspace@%d__:%s", w->endpoint->database, w->key);
	w->sub = redissub_start(w->pool->subs, w->endpoint, channel, strlen(channel), on_event, w);
}

/* ---- Asking the server ---- */

/* The reply to CONFIG GET is name and value, or empty if the server lacks the setting. */
static void take_setting(struct server *s, const struct redis_reply *reply)
{
	bool good = reply->type == REDIS_ARRAY && reply->count == 2 && reply->elements[1]->type == REDIS_STRING &&
		reply->elements[1]->len < sizeof(s->flags);

	s->state = good ? ANSWER_GIVEN : ANSWER_REFUSED;
	if (good)
		snprintf(s->flags, sizeof(s->flags), "%s", reply->elements[1]->text);
	else if (reply->type == REDIS_ERROR) /* may end with our arguments in quotes */
		snprintf(s->why, sizeof(s->why), "%.*s", (int)strcspn(reply->text, "'`\""), reply->text);
	else
		snprintf(s->why, sizeof(s->why), "the reply does not contain it");
}

static void on_setting(void *arg, const struct redis_reply *reply, const struct err *err)
{
	struct server *s = arg;
	enum answer_state was = s->state;
	int64_t again_ms = reply ? AGAIN_ON_MS : AGAIN_FAILED_MS;
	struct rediswatch *w, *next;
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
	DL_FOREACH (s->watches, w)
		if (reply && !is_on(s->flags, w->classes))
			again_ms = AGAIN_OFF_MS;
	if (reply && s->state == ANSWER_REFUSED)
		again_ms = AGAIN_REFUSED_MS;
	loop_timer_set(&s->again, loop_backoff_ms(0, again_ms, AGAIN_REFUSED_MS * 2));
	/*
	 * Without a subscription, only this call makes triggers with notify: "auto" report the
	 * change.
	 */
	news = reply && (was != s->state || strcmp(flags, s->flags) != 0);
	DL_FOREACH_SAFE (s->watches, w, next) {
		update_subscription(w);
		if (news && !w->sub && w->notify == REDISWATCH_AUTO)
			w->look(w->arg);
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

/* ---- Servers ---- */

static struct server *server_get(struct rediswatch_pool *p, struct redisendpoint *e)
{
	const char *key = e->server_key;
	struct server *s;

	HASH_FIND_STR(p->servers, key, s);
	if (s)
		return s;
	s = mem_zalloc(sizeof(*s));
	s->pool = p;
	s->endpoint = endpoint_ref(e);
	loop_timer_init(&s->again, p->loop, on_again, s);
	loop_timer_set(&s->again, 0);
	key = s->endpoint->server_key;
	HASH_ADD_KEYPTR(hh, p->servers, key, strlen(key), s);
	return s;
}

/* The last watch of a server frees the server. */
static void leave_server(struct rediswatch *w)
{
	struct server *s = w->server;

	if (!s)
		return;
	unsubscribe(w);
	DL_DELETE(s->watches, w);
	endpoint_unref(w->endpoint);
	w->endpoint = NULL;
	w->server = NULL;
	if (s->watches)
		return;
	HASH_DEL(s->pool->servers, s);
	pool_cancel(s->call);
	loop_timer_done(&s->again);
	endpoint_unref(s->endpoint);
	free(s);
}

void rediswatch_set_endpoint(struct rediswatch *w, struct redisendpoint *endpoint)
{
	if (w->endpoint && strcmp(w->endpoint->base.key, endpoint->base.key) == 0)
		return;
	leave_server(w);
	w->endpoint = endpoint_ref(endpoint);
	w->server = server_get(w->pool, endpoint);
	DL_APPEND(w->server->watches, w);
	update_subscription(w);
}

/* ---- Reports ---- */

static char *explain_off(const struct rediswatch *w)
{
	const struct server *s = w->server;
	char flags[64];

	wanted_flags(s->flags, w->classes, flags);
	return mem_printf("redis %s sends no keyspace notifications for this kind of key (" SETTING
			  " is \"%s\"); enable them with: CONFIG SET " SETTING
			  " %s (and in its configuration file, to survive a restart)",
		w->endpoint->base.name, s->flags, flags);
}

static char *explain_unknown(const struct rediswatch *w)
{
	const char *address = w->endpoint->base.name, *needed = classes_of[w->classes].needed;

	if (!w->sub)
		return mem_printf("redis %s does not reveal " SETTING " (CONFIG GET: %s); if it has at least %s, set "
				  "notify: \"auto\" in the trigger",
			address, w->server->why, needed);
	return mem_printf("redis %s does not reveal " SETTING " (CONFIG GET: %s), and has sent no keyspace "
			  "notification yet; the setting must have at least %s",
		address, w->server->why, needed);
}

/* Enabled, but not for all events that matter. */
static char *explain_partly(const struct rediswatch *w)
{
	char flags[64];

	if (w->server->state != ANSWER_GIVEN)
		return mem_dup("");
	wanted_flags(w->server->flags, w->classes, flags);
	return *flags ? mem_printf("redis %s sends only some of the keyspace notifications needed (" SETTING
				   " is \"%s\"); all of them need %s",
				w->endpoint->base.name, w->server->flags, flags)
		      : mem_dup("");
}

static enum watch_state report_subscribed(const struct rediswatch *w, char **text)
{
	const char *why;

	switch (redissub_state(w->sub, &why)) {
	case REDISSUB_STARTING: return WATCH_STARTING;
	case REDISSUB_REFUSED:
		*text = mem_printf("redis %s does not let this user subscribe to keyspace notifications (%s); allow it "
				   "with: ACL SETUSER <user> "
				   "&__keyspace@%d__:*",
			w->endpoint->base.name, why, w->endpoint->database);
		return WATCH_OFF;
	case REDISSUB_FAILING: *text = mem_dup(why); return WATCH_FAILING;
	case REDISSUB_ON: break;
	}
	if (w->server->state == ANSWER_REFUSED && !w->heard) {
		*text = explain_unknown(w);
		return WATCH_OFF;
	}
	*text = explain_partly(w);
	return WATCH_ON;
}

struct watch_report rediswatch_report(const void *watch)
{
	const struct rediswatch *w = watch;
	const struct server *s = w->server;
	struct watch_report report = { .state = WATCH_OFF, .tell = w->notify == REDISWATCH_AUTO };
	char **text = &w->pool->text;

	mem_free_ptr(text);
	if (w->sub) {
		report.state = report_subscribed(w, text);
	} else if (!s || s->state == ANSWER_NONE) {
		report.state = s && *s->why ? WATCH_FAILING : WATCH_STARTING;
		*text = s ? mem_dup(s->why) : NULL;
	} else {
		*text = s->state == ANSWER_GIVEN ? explain_off(w) : explain_unknown(w);
	}
	report.why = *text ? *text : "";
	return report;
}

/* ---- For the Redis types ---- */

struct rediswatch *rediswatch_start(struct rediswatch_pool *p, const struct rediswatch_config *config,
	question_look_fn look, void *arg)
{
	struct rediswatch *w;

	if (config->notify == REDISWATCH_OFF || !p)
		return NULL;
	w = mem_zalloc(sizeof(*w));
	*w = (struct rediswatch){ .pool = p,
		.key = mem_dup(config->key),
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
	leave_server(w);
	free(w->key);
	free(w);
}

static void begin_part(struct scaler_sources *s)
{
	struct rediswatch_pool *p = mem_zalloc(sizeof(*p));

	p->loop = s->loop;
	p->redis = s->redis;
	p->subs = redissub_pool_new(s->loop);
	s->redis_watches = p;
}

static void end_part(struct scaler_sources *s)
{
	struct rediswatch_pool *p = s->redis_watches;

	redissub_pool_free(p->subs);
	free(p->text);
	free(p);
}

const struct sources_part rediswatch_part = { begin_part, end_part };
