/* SPDX-License-Identifier: Apache-2.0 */
#include "control/objects/recorder.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "control/objects/work.h"

#define PUSH_TEXT_MAX 4096
/* A server seldom changes whether it pushes; a rebuild of the scalers leads to a check at once. */
#define PUSH_AGAIN_MS 30000

static void send_event(struct work *work, const struct meta *meta, const char *type, const char *reason,
	const char *text)
{
	struct events_object about = {
		.api_version = "keda.sh/v1alpha1",
		.kind = scaled_kind_name(work->object->kind),
		.namespace_ = meta->namespace_,
		.name = meta->name,
		.uid = meta->uid,
		.resource_version = meta->resource_version,
	};

	/* The action is the reason: KEDA's message may exceed the 128 characters of an action. */
	events_send(work->control->events, &about, type, reason, reason, text);
}

void recorder_event(struct work *work, const char *type, const char *reason, const char *note, ...)
{
	MEM_AUTO char *text = NULL;
	va_list ap;

	va_start(ap, note);
	text = mem_vprintf(note, ap);
	va_end(ap);
	send_event(work, work->object->of.meta, type, reason, text);
}

void recorder_kind_event(struct work *work, const char *type, const char *what, const char *text)
{
	MEM_AUTO char *reason = mem_printf("%s%s", scaled_kind_name(work->object->kind), what);

	send_event(work, work->object->of.meta, type, reason, text);
}

void recorder_fallback(struct work *work, bool was)
{
	bool is = work_says(work, "Fallback");

	if (is && !was) {
		recorder_event(work, "Normal", "ScaledObjectFallbackActivated", "ScaledObject fallback is active");
		log_warn(work->subject, "fallback is active");
	}
	if (was && !is) {
		recorder_event(work, "Normal", "ScaledObjectFallbackDeactivated",
			"ScaledObject fallback is no longer active");
		log_info(work->subject, "fallback is no longer active");
	}
}

bool recorder_turn(struct work *work, bool was_ready, bool was_paused)
{
	bool job = work->object->kind == SCALED_JOB, is_paused = work_says(work, "Paused");
	bool became_ready = !was_ready && work_says(work, "Ready");

	if (is_paused && !was_paused)
		recorder_kind_event(work, "Normal", "Paused", job ? "ScaledJob is paused" : "ScaledObject is paused");
	if (was_paused && !is_paused)
		recorder_kind_event(work, "Normal", "Unpaused",
			job ? "ScaledJob is unpaused" : "pause annotation removed for ScaledObject");
	if (became_ready)
		recorder_kind_event(work, "Normal", "Ready",
			job ? "ScaledJob is ready for scaling" : "ScaledObject is ready for scaling");
	return became_ready;
}

/* KEDA's words, from its optional check (doc/keda.md 6.1); the suggestion is ours. */
void recorder_unknown(struct work *work)
{
	struct built built;

	if (scalers_get(work->control->cache->scalers, work->object, &built, NULL))
		return;
	for (size_t i = 0; i < built.count; i++)
		if (built.list[i].unknown)
			recorder_event(work, "Warning", "KEDAScalerInfo",
				"Unmatched input property %s in scaler %s (trigger %d)", built.list[i].unknown,
				built.list[i].type->name, built.list[i].index);
}

static void put_info(struct buf *text, const struct scaler *s, const char *what, const char *why)
{
	buf_printf(text, "%strigger %d (%s): %s%s", text->len > 0 ? "; " : "", s->index, s->type->name, what, why);
}

/*
 * The text of an Event about push, and about ignored settings: owned; NULL: none. *settled: no
 * watch is changing.
 */
static char *push_trouble(const struct work *work, bool *settled)
{
	struct buf text = BUF_INIT(PUSH_TEXT_MAX);
	struct built built = { 0 };

	*settled = !scalers_get(work->control->cache->scalers, work->object, &built, NULL);
	for (size_t i = 0; *settled && i < built.count; i++) {
		const struct scaler *s = &built.list[i];
		struct watch_report report;
		enum pushes_state state = pushes_report(s->question, &report);

		if (state == PUSHES_UNHELD ||
			(state == PUSHES_REPORTED && report.tell &&
				(report.state == WATCH_STARTING || report.state == WATCH_FAILING)))
			*settled = false;
		else if (state == PUSHES_REPORTED && report.tell && report.state == WATCH_OFF)
			put_info(&text, s, "push is off: ", report.why);
		if (s->ignored && (i == 0 || built.list[i - 1].index != s->index))
			put_info(&text, s, "without effect: ", s->ignored);
	}
	if (*settled)
		return text.len > 0 ? buf_take(&text) : NULL;
	buf_done(&text);
	return mem_dup(work->recorder.said_push);
}

void recorder_push(struct work *work)
{
	int64_t now_ms = loop_now_ms(work->control->cache->loop);
	bool settled;
	char *text;

	if (now_ms < work->recorder.push_settled_until_ms)
		return;
	text = push_trouble(work, &settled);
	work->recorder.push_settled_until_ms = settled && !text ? now_ms + PUSH_AGAIN_MS : 0;
	if (text && !text_equal(work->recorder.said_push, text))
		recorder_event(work, "Warning", "KEDAScalerInfo", "%s", text);
	free(work->recorder.said_push);
	work->recorder.said_push = text;
}

void recorder_push_anew(struct work *work)
{
	work->recorder.push_settled_until_ms = 0;
}

void recorder_forget_push(struct work *work)
{
	mem_free_ptr(&work->recorder.said_push);
	recorder_push_anew(work);
}

/* KEDA's own words about types that it will drop (doc/keda.md 6.1). */
static void tell_announced(struct work *work, const char *type_name)
{
	const struct scaler_type *type = scaler_type_find(type_name);

	if (type && type->announced)
		recorder_event(work, "Normal", "KEDAScalersInfo", "scaler %s info: %s", type_name, type->announced);
}

void recorder_started(struct work *work)
{
	const struct scaled *of = &work->object->of;

	for (size_t i = 0; i < of->trigger_count; i++)
		recorder_event(work, "Normal", "KEDAScalersStarted", "Scaler %s is built", of->triggers[i].type);
	for (size_t i = 0; i < of->trigger_count; i++)
		tell_announced(work, of->triggers[i].type);
	recorder_event(work, "Normal", "KEDAScalersStarted", "Started scalers watch");
}

void recorder_check_failed(struct work *work, const char *words, const char *text)
{
	struct recorder_part *r = &work->recorder;

	if (text_equal(r->said_error, text))
		return;
	free(r->said_error);
	r->said_error = mem_dup(text);
	log_warn(work->subject, "%s", text);
	if (words)
		recorder_kind_event(work, "Warning", "CheckFailed", words);
	recorder_kind_event(work, "Warning", "CheckFailed", text);
}

void recorder_check_passed(struct work *work)
{
	mem_free_ptr(&work->recorder.said_error);
}

void recorder_rival(struct work *work, const char *text)
{
	struct recorder_part *r = &work->recorder;

	if (text && !text_equal(r->said_rival, text)) {
		log_warn(work->subject, "%s", text);
		recorder_event(work, "Warning", "HPAConflict", "%s", text);
	}
	free(r->said_rival);
	r->said_rival = mem_dup(text);
}

/* Once, with the content of the key, as the object may be gone from the store. */
void recorder_gone(struct work *work)
{
	const char *kind = scaled_kind_name(work->object->kind);
	MEM_AUTO char *namespace_ = work_namespace(work);
	const struct meta meta = {
		.namespace_ = namespace_,
		.name = (char *)(uintptr_t)work_name(work),
		.uid = work->object->uid,
		.resource_version = (char[]){ "" },
	};
	MEM_AUTO char *reason = mem_printf("%sDeleted", kind);
	MEM_AUTO char *note = mem_printf("%s was deleted", kind);

	if (work->recorder.said_gone)
		return;
	work->recorder.said_gone = true;
	send_event(work, &meta, "Normal", "KEDAScalersStopped", "Stopped scalers watch");
	send_event(work, &meta, "Warning", reason, note);
}

void recorder_done(struct work *work)
{
	recorder_forget_push(work);
	free(work->recorder.said_error);
	free(work->recorder.said_rival);
}
