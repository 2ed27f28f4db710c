/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/cron/cron.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "base/zonefile.h"
#include "scalers/cron/cronwindow.h"
#include "scalers/params.h"
#include "scalers/sources.h"

/*
 * Timers use the monotonic clock, windows the wall clock, which can be set: they are compared at
 * this interval.
 */
#define COMPARE_MS 60000

struct cron_question {
	struct cronwindow window; /* holds references to its zones */
	double desired;
};

/* The parameters as written. Owns its texts. */
struct texts {
	char *timezone, *start, *end;
	int64_t desired;
};

#define AT(field) offsetof(struct texts, field)
static const struct param_row rows[] = {
	{ "timezone", PARAM_TEXT, "m", AT(timezone), .required = true, .help = "of start and end" },
	{ "start", PARAM_TEXT, "m", AT(start), .required = true, .help = "cron expression: when a window opens" },
	{ "end", PARAM_TEXT, "m", AT(end), .required = true, .help = "cron expression: when it closes" },
	{ "desiredReplicas", PARAM_INT64, "m", AT(desired), .required = true, .help = "replicas while it is open" },
};
static const struct param_table table = PARAM_TABLE(rows);

/* ---- Building ---- */

static int read_boundary(const char *name, const char *text, const char *timezone, struct cronexpr *e,
	const struct zone **zone, struct err *err)
{
	if (cronexpr_parse(text, e, err))
		return err_wrap(err, "parameter \"%s\"", name);
	if (!cronexpr_can_fire(e))
		return err_set(err, ERR_INVALID, "parameter \"%s\" value \"%s\": there is no such day in any year",
			name, text);
	*zone = zonefile_get(*e->zone ? e->zone : timezone, err);
	return *zone ? 0 : err_wrap(err, "parameter \"%s\"", *e->zone ? name : "timezone");
}

static int read_window(const struct texts *t, struct cronwindow *w, struct err *err)
{
	const struct zone *zone;

	if (t->desired <= 0)
		return err_set(err, ERR_INVALID,
			"parameter \"desiredReplicas\" value \"%lld\" must be greater than 0: a cron trigger asks for "
			"replicas within its window and for none outside it, so to have none at some time, give as the "
			"window the time in which there are to be some",
			(long long)t->desired);
	zone = zonefile_get(t->timezone, err); /* it must be valid even if both expressions name their own */
	zonefile_put(zone);
	if (!zone)
		return err_wrap(err, "parameter \"timezone\"");
	if (read_boundary("start", t->start, t->timezone, &w->start, &w->start_zone, err) ||
		read_boundary("end", t->end, t->timezone, &w->end, &w->end_zone, err))
		return -1;
	if (w->start_zone == w->end_zone && cronexpr_same(&w->start, &w->end))
		return err_set(err, ERR_INVALID,
			"parameters \"start\" and \"end\" can not have exactly same time input: \"%s\" and \"%s\" are "
			"the same times, so no window lies between them",
			t->start, t->end);
	return 0;
}

/* "0 6 * * 1,2" is "06xx1Cm2" in the metric's name. */
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

static void cron_free_data(void *data)
{
	struct cron_question *q = data;

	zonefile_put(q->window.start_zone);
	zonefile_put(q->window.end_zone);
	free(q);
}

static int cron_build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err)
{
	struct cron_question *q = mem_zalloc(sizeof(*q));
	struct buf name = BUF_INIT(4096);
	struct texts t = { 0 };
	int rc = params_read(&table, params, &t, err) || read_window(&t, &q->window, err) ? -1 : 0;

	out->target = quantity_from_int(1);
	if (rc == 0) {
		q->desired = (double)t.desired;
		out->question = question_new(&cron_scaler_type,
			mem_printf("cron %s\n%s\n%s\n%.0f", t.timezone, t.start, t.end, q->desired),
			mem_printf("cron %s", t.timezone), q);
		buf_printf(&name, "cron-%s-", t.timezone);
		put_schedule(&name, t.start);
		buf_putc(&name, '-');
		put_schedule(&name, t.end);
		*metric_name = params_normalise(buf_take(&name));
	} else {
		cron_free_data(q);
	}
	params_done(&table, &t);
	return rc;
}

/* ---- Asking ---- */

struct cron_ask {
	struct scaler_ask base;
	struct loop *loop;
	struct loop_task task;
};

static void on_turn_end(void *arg)
{
	struct cron_ask *ask = arg;
	const struct cron_question *q = ask->base.question->data;

	scaler_ask_end(ask, cronwindow_is_open(&q->window, timestamp_now_ms()) ? q->desired : 0, NULL);
}

static void *cron_ask(struct scaler_sources *sources, struct question *question, int64_t deadline_ms, question_fn fn,
	void *arg)
{
	struct cron_ask *ask = scaler_ask_new(sizeof(*ask), question, fn, arg);

	(void)deadline_ms;
	ask->loop = sources->loop;
	loop_task_init(&ask->task, on_turn_end, ask);
	loop_task_queue(ask->loop, &ask->task);
	return ask;
}

static void cron_cancel(void *handle)
{
	struct cron_ask *ask = handle;

	loop_task_cancel(ask->loop, &ask->task);
	scaler_ask_free(ask);
}

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
	const struct cron_question *q = w->question->data;
	int64_t next_ms = cronwindow_next_boundary(&q->window, now_ms);

	loop_timer_set(&w->timer, next_ms < now_ms + COMPARE_MS ? next_ms - now_ms : COMPARE_MS);
}

/* Calls look last, as it may end the watch. */
static void on_boundary(void *arg)
{
	struct cron_watch *w = arg;
	const struct cron_question *q = w->question->data;
	int64_t now_ms = timestamp_now_ms();
	bool open = cronwindow_is_open(&q->window, now_ms), changed = open != w->open;

	w->open = open;
	wait_for_boundary(w, now_ms);
	if (changed)
		w->look(w->arg);
}

static void *cron_watch(struct scaler_sources *sources, struct question *question, question_look_fn look, void *arg)
{
	const struct cron_question *q = question->data;
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
	.build_whole = cron_build,
	.ask = cron_ask,
	.cancel = cron_cancel,
	.free_data = cron_free_data,
	.watch = cron_watch,
	.unwatch = cron_unwatch,
	.watch_report = cron_watch_report,
};
