/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trigger type `cron` (doc/keda.md 8.16): a fixed number of replicas within a time window
 * (scalers/cron/cronwindow.h). It needs only the clock, and triggers a poll when a window opens or
 * closes. Unlike KEDA it checks time zone and expressions at build time, and refuses windows that
 * never open or never close.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "base/zonefile.h"
#include "scalers/cron/cronwindow.h"
#include "scalers/params.h"
#include "scalers/sources.h"
#include "scalers/types.h"

/*
 * Timers use the monotonic clock, windows the wall clock, which may be changed: the timer is
 * adjusted at this interval.
 */
#define COMPARE_MS 60000

struct cron {
	char *timezone, *start, *end;
	int64_t desired;
	struct cronwindow window; /* holds references to its zones */
};

#define AT(field) offsetof(struct cron, field)
static const struct param_row rows[] = {
	{ "timezone", PARAM_TEXT, "m", AT(timezone), .required = true, .help = "time zone of start and end" },
	{ "start", PARAM_TEXT, "m", AT(start), .required = true, .help = "cron expression of the window's start" },
	{ "end", PARAM_TEXT, "m", AT(end), .required = true, .help = "cron expression of the window's end" },
	{ "desiredReplicas", PARAM_INT64, "m", AT(desired), .required = true, .help = "replicas during the window" },
};
static const struct param_table table = PARAM_TABLE(rows);

/* ---- Building ---- */

static int read_boundary(const char *name, const char *text, const char *timezone, struct cronexpr *e,
	const struct zone **zone, struct err *err)
{
	if (cronexpr_parse(text, e, err))
		return params_wrap(err, name);
	if (!cronexpr_can_fire(e))
		return err_set(err, ERR_INVALID, "parameter \"%s\" value \"%s\": this date does not exist in any year",
			name, text);
	*zone = zonefile_get(*e->zone ? e->zone : timezone, err);
	return *zone ? 0 : params_wrap(err, *e->zone ? name : "timezone");
}

static int read_window(struct cron *q, struct err *err)
{
	struct cronwindow *w = &q->window;
	const struct zone *zone;

	if (q->desired <= 0)
		return params_wrong(err, "desiredReplicas",
			"value \"%lld\" must be greater than 0: outside its window a "
			"cron "
			"trigger asks for no replicas, so choose as the window the time in which replicas are needed",
			(long long)q->desired);
	zone = zonefile_get(q->timezone, err); /* it must be valid even if both expressions name their own */
	zonefile_put(zone);
	if (!zone)
		return params_wrap(err, "timezone");
	if (read_boundary("start", q->start, q->timezone, &w->start, &w->start_zone, err) ||
		read_boundary("end", q->end, q->timezone, &w->end, &w->end_zone, err))
		return -1;
	if (w->start_zone == w->end_zone && cronexpr_same(&w->start, &w->end))
		return err_set(err, ERR_INVALID,
			"parameters \"start\" and \"end\" can not have exactly same time input: \"%s\" and \"%s\" are "
			"the same times, so no window lies between them",
			q->start, q->end);
	return 0;
}

/* "0 6 * * 1,2" becomes "06xx1Cm2" in the metric's name. */
static void put_schedule(struct buf *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case ' ': break;
		case '*': buf_putc(out, 'x'); break;
		case '/': buf_puts(out, "Sl"); break;
		case '?': buf_puts(out, "Qm"); break;
		case ',': buf_puts(out, "Cm"); break;
		default: buf_putc(out, *text); break;
		}
	}
}

static void data_done(void *data)
{
	struct cron *q = data;

	zonefile_put(q->window.start_zone);
	zonefile_put(q->window.end_zone);
}

static int build(struct scaler_build *b, struct err *err)
{
	struct cron *q = b->data;
	struct buf name = BUF_INIT(4096);

	b->scaler->target = quantity_from_int(1);
	if (read_window(q, err))
		return -1;
	b->source = mem_printf("cron %s", q->timezone);
	buf_printf(&name, "cron-%s-", q->timezone);
	put_schedule(&name, q->start);
	buf_putc(&name, '-');
	put_schedule(&name, q->end);
	b->metric_name = buf_take(&name);
	return 0;
}

/* ---- Asking ---- */

struct cron_ask {
	struct scaler_ask base;
	struct loop_task task;
};

static void on_turn_end(void *arg)
{
	struct cron_ask *ask = arg;
	const struct cron *q = ask->base.question->data;

	scaler_ask_end(ask, cronwindow_is_open(&q->window, timestamp_now_ms()) ? (double)q->desired : 0, NULL);
}

static void ask(void *handle)
{
	struct cron_ask *a = handle;

	loop_task_init(&a->task, on_turn_end, a);
	loop_task_queue(a->base.sources->loop, &a->task);
}

static void cancel(void *handle)
{
	struct cron_ask *ask = handle;

	loop_task_cancel(ask->base.sources->loop, &ask->task);
}

static const struct scaler_asker asker = { sizeof(struct cron_ask), .ask = ask, .cancel = cancel };

/* ---- Watching ---- */

struct cron_watch {
	struct question *question;
	struct loop_timer timer; /* until the next boundary, or the next comparison of the clocks */
	bool open;               /* state last reported to look */
	question_look_fn look;
	void *arg;
};

static void wait_for_boundary(struct cron_watch *w, int64_t now_ms)
{
	const struct cron *q = w->question->data;
	int64_t next_ms = cronwindow_next_boundary(&q->window, now_ms);

	loop_timer_set(&w->timer, next_ms < now_ms + COMPARE_MS ? next_ms - now_ms : COMPARE_MS);
}

/* Calls look last, as it may end the watch. */
static void on_boundary(void *arg)
{
	struct cron_watch *w = arg;
	const struct cron *q = w->question->data;
	int64_t now_ms = timestamp_now_ms();
	bool open = cronwindow_is_open(&q->window, now_ms), changed = open != w->open;

	w->open = open;
	wait_for_boundary(w, now_ms);
	if (changed)
		w->look(w->arg);
}

static void *cron_watch(struct scaler_sources *sources, struct question *question, question_look_fn look, void *arg)
{
	const struct cron *q = question->data;
	struct cron_watch *w = mem_zalloc(sizeof(*w));
	int64_t now_ms = timestamp_now_ms();

	w->question = question_ref(question);
	w->look = look;
	w->arg = arg;
	w->open = cronwindow_is_open(&q->window, now_ms);
	loop_timer_init(&w->timer, sources->loop, on_boundary, w);
	wait_for_boundary(w, now_ms);
	return w;
}

static void cron_unwatch(void *watch)
{
	struct cron_watch *w = watch;

	loop_timer_done(&w->timer);
	question_unref(w->question);
	free(w);
}

static struct watch_report cron_watch_report(const void *watch)
{
	(void)watch;
	return (struct watch_report){ .state = WATCH_ON, .why = "" };
}

const struct scaler_type cron_scaler_type = {
	.name = "cron",
	.go_name = "cronScaler",
	.tables = { &table },
	.data_size = sizeof(struct cron),
	.build = build,
	.data_done = data_done,
	.asker = &asker,
	.watch = cron_watch,
	.unwatch = cron_unwatch,
	.watch_report = cron_watch_report,
};
