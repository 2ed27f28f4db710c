/* SPDX-License-Identifier: Apache-2.0 */
#include "control/certs/certsecret.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "kube/keeper.h"
#include "net/loop.h"

#define BRAKE_MAX_MS 2000          /* until it is repaired, a starting replica has no certificate to serve */
#define LOOK_MS      (3600 * 1000) /* the clock may be set, and timers do not last for years */

struct certsecret {
	struct keeper *keeper;
	void (*on_change)(void *arg);
	void *arg;
	struct certsecret_config config;
	char *title;

	bool present;         /* the Secret exists */
	struct certpack pack; /* its content */
	struct certpack_state state;
	struct certpack good; /* the newest usable content; empty before the first */

	bool leading;
	struct loop_timer timer;   /* when something may be due */
	char trouble[ERR_MSG_MAX]; /* why its content is unusable; "": it is usable */
};

static void set_trouble(struct certsecret *s, const char *text)
{
	if (strcmp(s->trouble, text) == 0)
		return;
	snprintf(s->trouble, sizeof s->trouble, "%s", text);
	if (text[0])
		log_warn(s->title, "%s", text);
}

const char *certsecret_trouble(const struct certsecret *s)
{
	const char *trouble = keeper_trouble(s->keeper);

	return !trouble && s->trouble[0] ? s->trouble : trouble;
}

/* ---- The Secret's content ---- */

const struct certpack *certsecret_pack(const struct certsecret *s)
{
	return s->good.serving.cert_pem ? &s->good : NULL;
}

static void judge_pack(struct certsecret *s)
{
	int64_t now_ms = timestamp_now_ms(), left_ms;
	char text[ERR_MSG_MAX];

	certpack_judge(&s->pack, s->config.dns_names, now_ms, &s->state);
	left_ms = s->state.need == CERTPACK_NOTHING ? s->state.due_unix_ms - now_ms : LOOK_MS;
	loop_timer_set(&s->timer, left_ms < 0 ? 0 : left_ms < LOOK_MS ? left_ms : LOOK_MS);
	if (s->state.usable) {
		certpack_done(&s->good);
		certpack_copy(&s->good, &s->pack);
		set_trouble(s, "");
		return;
	}
	snprintf(text, sizeof text, "%s cannot be used: %s", s->title, s->state.why);
	set_trouble(s, text);
}

static void on_timer(void *arg)
{
	struct certsecret *s = arg;

	if (!s->present)
		return;
	judge_pack(s);
	s->on_change(s->arg);
	keeper_look(s->keeper);
}

void certsecret_set_leading(struct certsecret *s, bool leading)
{
	if (s->leading == leading)
		return;
	s->leading = leading;
	if (leading)
		loop_timer_set(&s->timer, 0);
	else
		keeper_look(s->keeper);
}

/* ---- The keeper's policy ---- */

static void on_object(void *arg, const json_t *secret)
{
	struct certsecret *s = arg;

	if (!secret && s->present)
		log_info(s->title, "deleted; a new one is made");
	certpack_done(&s->pack);
	memset(&s->state, 0, sizeof s->state);
	s->present = secret != NULL;
	if (!secret)
		return;
	certpack_decode(secret, &s->pack);
	judge_pack(s);
}

/* Only the leader rewrites it; every replica creates a missing one. */
static bool lacks(void *arg)
{
	const struct certsecret *s = arg;

	return !s->present || (s->leading && s->state.need != CERTPACK_NOTHING);
}

static char *make(void *arg, const char *version, struct err *err)
{
	struct certsecret *s = arg;
	struct certpack_plan plan = {
		s->config.dns_names,
		timestamp_now_ms(),
		s->config.serving_valid_s,
		s->config.ca_valid_s,
		s->good.ca.cert_pem,
	};
	enum certpack_need need = s->present ? s->state.need : CERTPACK_CA;
	struct certpack next = { 0 };
	char *body = NULL;

	if (certpack_renew(&s->pack, need, &plan, &next, err) == 0) {
		if (s->present)
			log_info(s->title, "renewing the %s: %s",
				need == CERTPACK_CA ? "certificate authority" : "serving certificate", s->state.why);
		body = certpack_encode(&next, s->config.namespace_, s->config.name, version);
	}
	certpack_done(&next);
	return body;
}

static void on_written(void *arg, bool created)
{
	const struct certsecret *s = arg;

	log_info(s->title, "%s", created ? "created, with a certificate authority of our own" : "renewed");
}

static void on_change(void *arg)
{
	struct certsecret *s = arg;

	s->on_change(s->arg);
}

static const struct keeper_policy policy = { on_object, lacks, make, on_written, on_change };

/* ---- Life ---- */

struct certsecret *certsecret_new(struct kube *kube, const struct certsecret_config *config,
	void (*on_change_fn)(void *arg), void *arg)
{
	struct certsecret *s = mem_zalloc(sizeof *s);
	MEM_AUTO char *segment = buf_percent(config->namespace_);
	MEM_AUTO char *collection = mem_printf("/api/v1/namespaces/%s/secrets", segment);
	struct keeper_config kept = {
		.collection = collection,
		.name = config->name,
		.brake_max_ms = BRAKE_MAX_MS,
	};

	s->on_change = on_change_fn;
	s->arg = arg;
	s->config = *config;
	kept.title = s->title = mem_printf("Secret %s/%s", config->namespace_, config->name);
	loop_timer_init(&s->timer, kube_loop(kube), on_timer, s);
	s->keeper = keeper_new(kube, &kept, &policy, s);
	return s;
}

void certsecret_free(struct certsecret *s)
{
	if (!s)
		return;
	keeper_free(s->keeper);
	loop_timer_done(&s->timer);
	certpack_done(&s->pack);
	certpack_done(&s->good);
	free(s->title);
	free(s);
}
