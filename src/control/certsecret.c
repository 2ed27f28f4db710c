/* SPDX-License-Identifier: Apache-2.0 */
#include "control/certsecret.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "kube/watch.h"
#include "net/loop.h"

#define LOOK_MS (3600 * 1000)   /* at most so long until the next look at the clock: it may be set, and timers are not for years */
#define BACKOFF_FIRST_MS 1000
#define BACKOFF_MAX_MS 60000

struct certsecret {
	struct kube *kube;  /* borrowed */
	struct loop *loop;  /* borrowed */
	void (*on_change)(void *arg);
	void *arg;
	char *namespace_, *name;
	char *collection, *path, *subject;
	const char *const *dns_names; /* borrowed */
	int64_t serving_valid_s, ca_valid_s;

	struct watch *watch;
	bool listed;             /* since the list began */
	bool known, present;     /* the Secret was looked at; it exists */
	char *version;           /* its resourceVersion */
	struct certpack pack;    /* as it stands there */
	struct certpack_state state;
	struct certpack good;    /* the newest that could be served; empty before the first */

	bool leading;
	struct kube_call *call;  /* the write under way */
	bool creating;           /* is what it does */
	struct loop_timer timer; /* the next look */
	unsigned failures;
	char trouble[ERR_MSG_MAX];      /* of reading and judging; "" */
	char write_trouble[ERR_MSG_MAX];/* of writing; "" */
	char told[96];                  /* which trouble in writing was logged last */
};

static void consider(struct certsecret *s);

/* ---- Troubles: told when they are new ---- */

static void set_trouble(struct certsecret *s, const char *text)
{
	if (strcmp(s->trouble, text) == 0)
		return;
	snprintf(s->trouble, sizeof s->trouble, "%s", text);
	if (text[0])
		log_warn(s->subject, "%s", text);
}

static void set_write_trouble(struct certsecret *s, const struct err *err)
{
	char told[sizeof s->told] = "";

	if (err) {
		snprintf(s->write_trouble, sizeof s->write_trouble, "%s", err->msg);
		snprintf(told, sizeof told, "%s %d", err_kind_name(err->kind), err->http_status);
	} else {
		s->write_trouble[0] = '\0';
	}
	if (told[0] && strcmp(told, s->told) != 0)
		log_warn(s->subject, "%s", err->msg);
	memcpy(s->told, told, sizeof told);
}

/* What we could not write is not wanted any more. */
static void end_write_trouble(struct certsecret *s)
{
	s->failures = 0;
	set_write_trouble(s, NULL);
}

const char *certsecret_trouble(const struct certsecret *s)
{
	if (s->write_trouble[0])
		return s->write_trouble;
	return s->trouble[0] ? s->trouble : NULL;
}

/* ---- What the Secret holds ---- */

static bool has_good(const struct certsecret *s)
{
	return s->good.serving.cert_pem != NULL;
}

const struct certpack *certsecret_pack(const struct certsecret *s)
{
	return has_good(s) ? &s->good : NULL;
}

static void keep_good(struct certsecret *s)
{
	certpack_done(&s->good);
	certpack_copy(&s->good, &s->pack);
}

static void judge(struct certsecret *s)
{
	char text[ERR_MSG_MAX];

	certpack_judge(&s->pack, s->dns_names, timestamp_now_ms(), &s->state);
	if (s->state.need == CERTPACK_NOTHING)
		end_write_trouble(s);
	if (s->state.usable) {
		keep_good(s);
		set_trouble(s, "");
		return;
	}
	snprintf(text, sizeof text, "Secret %s/%s cannot be used: %s", s->namespace_, s->name, s->state.why);
	set_trouble(s, text);
}

static void forget(struct certsecret *s)
{
	certpack_done(&s->pack);
	memset(&s->state, 0, sizeof s->state);
	free(s->version);
	s->version = NULL;
	s->present = false;
}

static void take_in(struct certsecret *s, const json_t *secret)
{
	const char *version = json_str_or_empty(json_object_get(secret, "metadata"), "resourceVersion");

	if (s->present && s->version && strcmp(version, s->version) == 0)
		return;
	forget(s);
	s->present = true;
	s->version = mem_dup(version);
	certpack_decode(secret, &s->pack);
	judge(s);
	s->on_change(s->arg);
}

/* ---- Writing ---- */

static void look_again_in(struct certsecret *s, int64_t ms)
{
	if (ms < 0)
		ms = 0;
	loop_timer_set(&s->timer, ms < LOOK_MS ? ms : LOOK_MS);
}

static void on_written(void *arg, const json_t *object, const struct err *err)
{
	struct certsecret *s = arg;
	struct err wrapped;

	s->call = NULL;
	if (err) {
		wrapped = *err;
		err_wrap(&wrapped, "writing Secret %s/%s", s->namespace_, s->name);
		/* On a conflict somebody was faster: the watch brings what he wrote. */
		if (err->kind != ERR_CONFLICT)
			set_write_trouble(s, &wrapped);
		s->on_change(s->arg);
		look_again_in(s, loop_backoff_ms(s->failures++, BACKOFF_FIRST_MS, BACKOFF_MAX_MS));
		return;
	}
	log_info(s->subject, "%s", s->creating ? "created, with a certificate authority of our own" : "renewed");
	end_write_trouble(s);
	take_in(s, object);
	consider(s);
}

static void send(struct certsecret *s, const struct certpack *pack)
{
	char *body = certpack_encode(pack, s->namespace_, s->name, s->present ? s->version : NULL);
	MEM_AUTO char *path = mem_printf("%s?fieldManager=kscaled", s->present ? s->path : s->collection);
	struct kube_request request = { .verb = s->present ? KUBE_MERGE_PATCH : KUBE_CREATE, .path = path, .body = body };

	s->creating = !s->present;
	s->call = kube_call(s->kube, &request, on_written, s);
	mem_free_secret(body);
}

static void write_next(struct certsecret *s, enum certpack_need need)
{
	struct certpack_plan plan = { s->dns_names, timestamp_now_ms(), s->serving_valid_s, s->ca_valid_s, s->good.ca.cert_pem };
	struct certpack next = { 0 };
	struct err err;

	if (certpack_renew(&s->pack, need, &plan, &next, &err) == 0) {
		if (s->present)
			log_info(s->subject, "renewing the %s: %s", need == CERTPACK_CA ? "certificate authority" : "serving certificate", s->state.why);
		send(s, &next);
	} else {
		set_write_trouble(s, &err);
		look_again_in(s, loop_backoff_ms(s->failures++, BACKOFF_FIRST_MS, BACKOFF_MAX_MS));
	}
	certpack_done(&next);
}

/* Only the leader rewrites; what does not exist yet, anybody creates. */
static void consider(struct certsecret *s)
{
	int64_t now = timestamp_now_ms();

	if (!s->known || s->call || (s->write_trouble[0] && loop_timer_pending(&s->timer)))
		return;
	if (!s->present) {
		write_next(s, CERTPACK_CA);
		return;
	}
	if (s->state.need != CERTPACK_NOTHING && s->leading)
		write_next(s, s->state.need);
	else
		look_again_in(s, s->state.need == CERTPACK_NOTHING ? s->state.due_unix_ms - now : LOOK_MS);
}

static void on_timer(void *arg)
{
	struct certsecret *s = arg;

	if (s->present) {
		judge(s);
		s->on_change(s->arg);
	}
	consider(s);
}

void certsecret_set_leading(struct certsecret *s, bool leading)
{
	if (s->leading == leading)
		return;
	s->leading = leading;
	end_write_trouble(s);
	if (leading)
		loop_timer_set(&s->timer, 0);
}

/* ---- The watch ---- */

static void on_list(void *arg)
{
	struct certsecret *s = arg;

	s->listed = false;
}

/* Some servers' caches do not know the field selector: what is not ours is not looked at. */
static bool is_ours(const struct certsecret *s, const json_t *secret)
{
	return strcmp(json_str_or_empty(json_object_get(secret, "metadata"), "name"), s->name) == 0;
}

static void on_object(void *arg, const json_t *secret)
{
	struct certsecret *s = arg;

	if (!is_ours(s, secret))
		return;
	s->listed = true;
	s->known = true;
	take_in(s, secret);
	consider(s);
}

static void on_gone(struct certsecret *s)
{
	bool was_present = s->present;

	s->known = true;
	forget(s);
	if (was_present)
		log_info(s->subject, "deleted; a new one is made");
	consider(s);
}

static void on_deleted(void *arg, const json_t *secret)
{
	if (is_ours(arg, secret))
		on_gone(arg);
}

static void on_synced(void *arg)
{
	struct certsecret *s = arg;

	if (!s->listed)
		on_gone(s);
}

static void on_watch_trouble(void *arg, const struct err *err)
{
	struct certsecret *s = arg;
	struct err wrapped;

	if (err) {
		wrapped = *err;
		err_wrap(&wrapped, "Secret %s/%s cannot be watched", s->namespace_, s->name);
		set_trouble(s, wrapped.msg);
	} else {
		log_info(s->subject, "the watch works");
		set_trouble(s, "");
		if (s->present)
			judge(s);
	}
	s->on_change(s->arg);
}

static void start_watch(struct certsecret *s)
{
	static const struct watch_events events = { on_list, on_object, on_deleted, on_synced, on_watch_trouble };
	MEM_AUTO char *selector = mem_printf("metadata.name=%s", s->name);
	struct watch_config config = { .path = s->collection, .field_selector = selector, .subject = s->subject };

	s->watch = watch_start(s->kube, &config, &events, s);
}

struct certsecret *certsecret_new(struct kube *kube, const struct certsecret_config *config, void (*on_change)(void *arg), void *arg)
{
	struct certsecret *s = mem_zalloc(sizeof *s);
	size_t size = 3 * strlen(config->namespace_) + 1;
	MEM_AUTO char *segment = mem_alloc(size);

	s->kube = kube;
	s->loop = kube_loop(kube);
	s->on_change = on_change;
	s->arg = arg;
	s->namespace_ = mem_dup(config->namespace_);
	s->name = mem_dup(config->name);
	s->collection = mem_printf("/api/v1/namespaces/%s/secrets", kube_escape(config->namespace_, segment, size));
	s->path = mem_printf("%s/%s", s->collection, config->name);
	s->subject = mem_printf("secret %s/%s", config->namespace_, config->name);
	s->dns_names = config->dns_names;
	s->serving_valid_s = config->serving_valid_s;
	s->ca_valid_s = config->ca_valid_s;
	loop_timer_init(&s->timer, s->loop, on_timer, s);
	start_watch(s);
	return s;
}

void certsecret_free(struct certsecret *s)
{
	if (!s)
		return;
	watch_stop(s->watch);
	kube_cancel(s->call);
	loop_timer_done(&s->timer);
	certpack_done(&s->pack);
	certpack_done(&s->good);
	free(s->version);
	free(s->namespace_);
	free(s->name);
	free(s->collection);
	free(s->path);
	free(s->subject);
	free(s);
}
