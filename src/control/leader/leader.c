/* SPDX-License-Identifier: Apache-2.0 */
#include "control/leader/leader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "control/leader/leaderkeda.h"
#include "control/leader/leaderlease.h"
#include "net/loop.h"

#define RETRY_JITTER 1.2   /* client-go: leaderelection.JitterFactor */
#define KEDA_LOOK_MS 10000 /* while leading */
/* others changed the Lease (for example, a label): a retry, but not in a tight loop */
#define AFTER_CONFLICT_MS 100
#define LIMIT_MARGIN_MS   1000 /* other writes end this long before the Lease expires */

enum leader_state {
	LEADER_STARTING,  /* nothing was read yet */
	LEADER_CANDIDATE, /* another holds the Lease, or it cannot be acquired now */
	LEADER_KEDA,      /* KEDA's operator is active */
	LEADER_BLOCKED,   /* leader_set_blocked */
	LEADER_TWIN,      /* another process renews the Lease under our identity */
	LEADER_LEADING,
	LEADER_RELEASING,
	LEADER_RELEASED,
};

static const char *const state_names[] = { "starting", "candidate", "waiting for KEDA", "blocked", "twin", "leading",
	"releasing", "released" };

struct leader {
	struct kube *kube;      /* borrowed */
	struct loop *loop;      /* borrowed */
	struct leadership *out; /* borrowed */
	leader_fn on_change;
	void *arg;

	bool elect;
	char *collection, *path, *subject;
	int64_t lease_duration_ms, renew_deadline_ms, retry_period_ms;

	enum leader_state state;
	char key[256];           /* of the last log line: the same state with the same key is not logged again */
	char *blocked;           /* NULL: not blocked */
	struct leaderkeda *keda; /* NULL: not checked */
	enum leaderkeda_verdict keda_verdict;
	struct err keda_err; /* why KEDA's state is unknown */

	struct leaderlease lease;
	struct kube_call *call; /* one at a time */
	int64_t call_started_ms;
	struct err bad;     /* what is wrong with an answer */
	int64_t renewed_ms; /* loop clock: start of the last successful renewal */
	char renew_trouble[ERR_MSG_MAX];

	struct loop_timer round; /* the next attempt to acquire or renew the Lease */
	struct loop_timer deadline;
	struct loop_timer keda_look;
	struct loop_timer release;
	int64_t release_until_ms;
	void (*on_released)(void *arg);
	void *released_arg;
};

/* ---- The transition function ---- */

static void cancel_calls(struct leader *l)
{
	if (l->keda)
		leaderkeda_cancel(l->keda);
	kube_cancel(l->call);
	l->call = NULL;
}

/*
 * The only place where the state changes. on_change may call the functions of leader.h, so nothing
 * may be assumed about the leader afterwards.
 */
static void __attribute__((format(printf, 5, 6)))
move(struct leader *l, enum leader_state to, enum log_level level, const char *key, const char *fmt, ...)
{
	bool was_leading = l->state == LEADER_LEADING, leads = to == LEADER_LEADING, was_told = l->out->leading,
	     same = l->state == to && strncmp(l->key, key, sizeof l->key - 1) == 0;
	char *why;
	va_list ap;

	va_start(ap, fmt);
	why = mem_vprintf(fmt, ap);
	va_end(ap);
	log_debug(l->subject, "%s -> %s: %s", state_names[l->state], state_names[to], why);
	snprintf(l->key, sizeof l->key, "%s", key);
	if (!same && to != LEADER_RELEASED)
		log_line(level, l->subject, "%s: %s",
			leads                 ? "leading"
				: was_leading ? "stopped leading"
					      : "not leading",
			why);
	l->state = to;
	if (was_leading && !leads) {
		loop_timer_cancel(&l->deadline);
		loop_timer_cancel(&l->keda_look);
		loop_timer_cancel(&l->round);
		cancel_calls(l);
		kube_set_write_limit(l->kube, 0);
		kube_abort_writes(l->kube);
	}
	l->out->leading = leads;
	snprintf(l->out->why_not, sizeof l->out->why_not, "%s", leads ? "" : why);
	free(why);
	if (was_told != leads)
		l->on_change(l->arg, leads);
}

static bool is_released(const struct leader *l)
{
	return l->state == LEADER_RELEASING || l->state == LEADER_RELEASED;
}

/* The next round, with client-go's jitter, so that candidates do not try at the same time. */
static void retry(struct leader *l)
{
	double jitter = 1.0 + RETRY_JITTER * fingerprint_random_unit();

	if (!is_released(l) && l->state != LEADER_LEADING)
		loop_timer_set(&l->round, (int64_t)((double)l->retry_period_ms * jitter));
}

static void trouble(struct leader *l, const char *doing, const struct err *err)
{
	char key[64];

	snprintf(key, sizeof key, "%s %s %d", doing, err_kind_name(err->kind), err->http_status);
	move(l, LEADER_CANDIDATE, LOG_LEVEL_WARN, key, "%s failed: %s", doing, err->msg);
	retry(l);
}

/* ---- Reading and writing the Lease ---- */

/* Takes an answer. NULL, or why it is unusable: borrowed until the next one. */
static const struct err *see(struct leader *l, const json_t *object, const struct err *err)
{
	l->call = NULL;
	if (err)
		return err;
	if (leaderlease_see(&l->lease, object, loop_now_ms(l->loop), &l->bad) != 0)
		return &l->bad;
	snprintf(l->out->holder, sizeof l->out->holder, "%s", leaderlease_holder(&l->lease));
	return NULL;
}

static void see_nothing(struct leader *l)
{
	leaderlease_see_nothing(&l->lease, loop_now_ms(l->loop));
	l->out->holder[0] = '\0';
}

static int64_t min_ms(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/*
 * Timers are late after the process was stopped (SIGSTOP, a frozen machine): a Lease written or
 * renewed that long ago may be another's now.
 */
static bool is_too_late(const struct leader *l, int64_t since_ms)
{
	return loop_now_ms(l->loop) - since_ms >= l->renew_deadline_ms;
}

/* Half the renew deadline: a try that hangs on a dead connection leaves time for another. */
int64_t leader_dead_peer_ms(int64_t renew_deadline_ms)
{
	int64_t half = renew_deadline_ms / 2;

	return half > 0 ? half : 1;
}

static int64_t try_ms(const struct leader *l)
{
	return leader_dead_peer_ms(l->renew_deadline_ms);
}

static void call(struct leader *l, enum kube_verb verb, const char *path, const char *body, kube_fn fn)
{
	int64_t now = loop_now_ms(l->loop), left = try_ms(l);
	struct kube_request request = { .verb = verb, .path = path, .body = body, .priority = KUBE_URGENT };

	if (l->state == LEADER_LEADING)
		left = min_ms(left, l->renewed_ms + l->renew_deadline_ms - now);
	if (l->state == LEADER_RELEASING)
		left = min_ms(left, l->release_until_ms - now);
	request.deadline_ms = left > 0 ? left : 1;
	l->call_started_ms = now;
	l->call = kube_call(l->kube, &request, fn, l);
}

static void call_read(struct leader *l, kube_fn fn)
{
	call(l, KUBE_GET, l->path, NULL, fn);
}

/* Takes the text. */
static void call_write(struct leader *l, char *text, kube_fn fn)
{
	bool present = l->lease.record.present;
	MEM_AUTO char *body = text;
	MEM_AUTO char *path = mem_printf("%s?fieldManager=kscaled", present ? l->path : l->collection);

	call(l, present ? KUBE_UPDATE : KUBE_CREATE, path, body, fn);
}

static void write_claim(struct leader *l, kube_fn fn)
{
	call_write(l, leaderlease_claim(&l->lease, (l->lease_duration_ms + 999) / 1000, timestamp_now_ms()), fn);
}

/* ---- Releasing the Lease ---- */

static void finish_release(void *arg)
{
	struct leader *l = arg;

	loop_timer_cancel(&l->release);
	cancel_calls(l);
	move(l, LEADER_RELEASED, LOG_LEVEL_INFO, "", "released");
	l->on_released(l->released_arg);
}

static void end_giving_back(struct leader *l)
{
	if (l->state == LEADER_RELEASING)
		loop_timer_set(&l->release, 0);
	else
		retry(l);
}

static void write_empty(struct leader *l);

static void on_read_to_give_back(void *arg, const json_t *object, const struct err *err)
{
	struct leader *l = arg;

	if (!see(l, object, err) && leaderlease_is_ours(&l->lease)) {
		write_empty(l);
		return;
	}
	l->lease.hold = LEADERLEASE_NOT_HELD;
	end_giving_back(l);
}

static void on_given_back(void *arg, const json_t *object, const struct err *err)
{
	struct leader *l = arg;

	see(l, object, err);
	if (err && err->kind == ERR_CONFLICT) {
		call_read(l, on_read_to_give_back);
		return;
	}
	if (err)
		log_debug(l->subject, "releasing it failed; it will expire: %s", err->msg);
	end_giving_back(l);
}

static void write_empty(struct leader *l)
{
	call_write(l, leaderlease_disclaim(&l->lease, timestamp_now_ms()), on_given_back);
}

/* When no call is under way. */
static void give_back(struct leader *l)
{
	loop_timer_cancel(&l->round);
	if (!l->elect || l->lease.hold == LEADERLEASE_NOT_HELD)
		end_giving_back(l);
	else if (l->lease.hold == LEADERLEASE_HELD)
		write_empty(l);
	else
		call_read(l, on_read_to_give_back);
}

void leader_release(struct leader *l, int64_t deadline_ms, void (*done)(void *arg), void *arg)
{
	bool was_leading = l->state == LEADER_LEADING;

	l->on_released = done;
	l->released_arg = arg;
	l->release_until_ms = loop_now_ms(l->loop) + deadline_ms;
	cancel_calls(l);
	loop_timer_cancel(&l->round);
	loop_timer_set(&l->release, deadline_ms);
	move(l, LEADER_RELEASING, was_leading ? LOG_LEVEL_INFO : LOG_LEVEL_DEBUG, "", "this process ends");
	give_back(l);
}

/* ---- Becoming the leader ---- */

static void start_renewing(struct leader *l)
{
	int64_t margin = min_ms(LIMIT_MARGIN_MS, (l->lease_duration_ms - l->renew_deadline_ms) / 2),
		now = loop_now_ms(l->loop);

	l->renewed_ms = l->call_started_ms;
	l->renew_trouble[0] = '\0';
	kube_set_write_limit(l->kube, l->renewed_ms + l->lease_duration_ms - (margin > 0 ? margin : 0));
	loop_timer_set(&l->round, l->renewed_ms + l->retry_period_ms - now);
	loop_timer_set(&l->deadline, l->renewed_ms + l->renew_deadline_ms - now);
}

static void lead(struct leader *l)
{
	if (l->elect)
		start_renewing(l);
	if (l->keda)
		loop_timer_set(&l->keda_look, KEDA_LOOK_MS);
	move(l, LEADER_LEADING, LOG_LEVEL_INFO, "", l->elect ? "the Lease is held as %s" : "without election, as %s",
		l->lease.identity);
}

static void stand_by_for_twin(struct leader *l)
{
	move(l, LEADER_TWIN, LOG_LEVEL_ERROR, "twin",
		"another process renews the Lease under our identity %s; give each process its own --identity (or "
		"--state-dir). Waiting until the Lease has not been renewed for %lld s",
		l->lease.identity, (long long)l->lease.record.lease.duration_s);
	retry(l);
}

static void stand_by_for_keda(struct leader *l)
{
	move(l, LEADER_KEDA, LOG_LEVEL_INFO, leaderkeda_holder(l->keda),
		"KEDA's operator is active (it holds Lease " LEADERKEDA_LEASE
		" as %s); stop it, or run kscaled with --take-over",
		leaderkeda_holder(l->keda));
	retry(l);
}

static void on_taken(void *arg, const json_t *object, const struct err *err)
{
	struct leader *l = arg;
	const struct err *wrong = see(l, object, err);

	if (wrong && (wrong->kind == ERR_CONFLICT || wrong->kind == ERR_MISSING)) {
		retry(l); /* another process was faster: the next round reads which one */
		return;
	}
	if (wrong) {
		trouble(l, "taking the Lease", wrong);
		return;
	}
	l->lease.hold = LEADERLEASE_HELD;
	if (l->blocked) /* meanwhile */
		give_back(l);
	else if (is_too_late(l, l->call_started_ms))
		retry(l);
	else
		lead(l);
}

static void decide(struct leader *l)
{
	const struct leaderrecord *record = &l->lease.record;
	const char *holder = leaderlease_holder(&l->lease);

	if (l->blocked) {
		move(l, LEADER_BLOCKED, LOG_LEVEL_INFO, l->blocked, "%s", l->blocked);
		retry(l);
	} else if (l->keda && l->keda_verdict == LEADERKEDA_ACTIVE) {
		stand_by_for_keda(l);
	} else if (l->keda && l->keda_verdict == LEADERKEDA_UNKNOWN) {
		trouble(l, "looking for KEDA's Lease", &l->keda_err);
	} else if (!l->elect) {
		lead(l);
	} else if (!*holder || leaderrecord_expired(record, loop_now_ms(l->loop)) || leaderlease_is_ours(&l->lease)) {
		write_claim(l, on_taken);
	} else if (leaderlease_names_us(&l->lease)) {
		stand_by_for_twin(l);
	} else {
		move(l, LEADER_CANDIDATE, LOG_LEVEL_INFO, holder, "%s holds the Lease", holder);
		retry(l);
	}
}

static void on_read(void *arg, const json_t *object, const struct err *err)
{
	struct leader *l = arg;
	const struct err *wrong = see(l, object, err);

	if (wrong && wrong->kind == ERR_MISSING)
		see_nothing(l);
	else if (wrong) {
		trouble(l, "reading the Lease", wrong);
		return;
	}
	decide(l);
}

static void on_keda_answered(void *arg, enum leaderkeda_verdict verdict, const struct err *err)
{
	struct leader *l = arg;

	l->keda_verdict = verdict;
	if (err)
		l->keda_err = *err;
	if (l->elect && verdict != LEADERKEDA_UNKNOWN)
		call_read(l, on_read);
	else
		decide(l);
}

/* ---- Being the leader ---- */

static void lose_lease(void *arg)
{
	struct leader *l = arg;

	move(l, LEADER_CANDIDATE, LOG_LEVEL_WARN, "lost", "the Lease could not be renewed for %lld ms: %s",
		(long long)l->renew_deadline_ms, l->renew_trouble[0] ? l->renew_trouble : "no answer");
	retry(l);
}

static void renew_again(struct leader *l)
{
	int64_t wait = l->call_started_ms + l->retry_period_ms - loop_now_ms(l->loop);

	loop_timer_set(&l->round, wait < AFTER_CONFLICT_MS ? AFTER_CONFLICT_MS : wait);
}

static void note_renew_trouble(struct leader *l, const struct err *err)
{
	snprintf(l->renew_trouble, sizeof l->renew_trouble, "%s", err->msg);
	log_debug(l->subject, "renewing failed: %s", err->msg);
}

/*
 * After a conflict: something else changed (a label), or the answer to a write of ours was lost, or
 * there is another holder.
 */
static void on_looked_again(void *arg, const json_t *object, const struct err *err)
{
	struct leader *l = arg;
	const struct err *wrong = see(l, object, err);
	const char *holder = leaderlease_holder(&l->lease);

	if (wrong && wrong->kind == ERR_MISSING) {
		see_nothing(l); /* deleted by hand: recreated, as by client-go */
		loop_timer_set(&l->round, AFTER_CONFLICT_MS);
	} else if (wrong) {
		note_renew_trouble(l, wrong);
		renew_again(l);
	} else if (leaderlease_is_ours(&l->lease)) {
		loop_timer_set(&l->round, AFTER_CONFLICT_MS);
	} else if (leaderlease_names_us(&l->lease)) {
		stand_by_for_twin(l);
	} else {
		move(l, LEADER_CANDIDATE, LOG_LEVEL_WARN, holder, "%s %s the Lease", *holder ? holder : "somebody",
			*holder ? "took" : "emptied");
		retry(l);
	}
}

static void on_renewed(void *arg, const json_t *object, const struct err *err)
{
	struct leader *l = arg;
	const struct err *wrong = see(l, object, err);

	if (!wrong && !is_too_late(l, l->call_started_ms)) {
		l->lease.hold = LEADERLEASE_HELD;
		start_renewing(l);
		return;
	}
	if (wrong)
		note_renew_trouble(l, wrong);
	if (is_too_late(l, l->renewed_ms))
		lose_lease(l);
	else if (wrong && (wrong->kind == ERR_CONFLICT || wrong->kind == ERR_MISSING))
		call_read(l, on_looked_again);
	else
		renew_again(l);
}

static void on_keda_looked(void *arg, enum leaderkeda_verdict verdict, const struct err *err)
{
	struct leader *l = arg;

	(void)err; /* while KEDA's Lease cannot be read, we go on leading */
	if (verdict != LEADERKEDA_ACTIVE) {
		loop_timer_set(&l->keda_look, KEDA_LOOK_MS);
		return;
	}
	l->keda_verdict = verdict;
	stand_by_for_keda(l);
	if (l->state == LEADER_KEDA)
		give_back(l);
}

static void on_keda_look(void *arg)
{
	struct leader *l = arg;

	leaderkeda_ask(l->keda, try_ms(l), on_keda_looked, l);
}

/* ---- The interface ---- */

static void on_round(void *arg)
{
	struct leader *l = arg;

	if (l->state == LEADER_LEADING && is_too_late(l, l->renewed_ms))
		lose_lease(l);
	else if (l->state == LEADER_LEADING)
		write_claim(l, on_renewed);
	else if (l->keda)
		leaderkeda_ask(l->keda, try_ms(l), on_keda_answered, l);
	else if (l->elect)
		call_read(l, on_read);
	else
		decide(l);
}

void leader_set_blocked(struct leader *l, const char *why)
{
	bool was_leading = l->state == LEADER_LEADING;

	if (text_equal(why, l->blocked))
		return;
	free(l->blocked);
	l->blocked = mem_dup(why);
	if (is_released(l))
		return;
	if (why) {
		move(l, LEADER_BLOCKED, LOG_LEVEL_INFO, why, "%s", why);
		if (was_leading && l->state == LEADER_BLOCKED)
			give_back(l);
	} else if (!l->call && !(l->keda && leaderkeda_is_asking(l->keda))) {
		loop_timer_set(&l->round, 0); /* a round under way goes on: two would conflict */
	}
}

/* The path with the name as a further segment. */
static char *path_below(const char *path, const char *name)
{
	MEM_AUTO char *segment = buf_percent(name);

	return mem_printf("%s/%s", path, segment);
}

/* KEDA's Lease is checked unless that is off, or it is the one that we compete for. */
static bool minds_keda(const struct leader_config *config)
{
	if (config->take_over || !config->keda_namespace || !config->keda_namespace[0])
		return false;
	return !config->elect || strcmp(config->keda_namespace, config->namespace_) != 0 ||
		strcmp(config->lease_name, LEADERKEDA_LEASE) != 0;
}

struct leader *leader_new(struct kube *kube, const struct leader_config *config, struct leadership *state,
	leader_fn on_change, void *arg)
{
	struct leader *l = mem_zalloc(sizeof *l);
	MEM_AUTO char *place = path_below("/apis/coordination.k8s.io/v1/namespaces", config->namespace_);

	l->kube = kube;
	l->loop = kube_loop(kube);
	l->out = state;
	l->on_change = on_change;
	l->arg = arg;
	l->elect = config->elect;
	leaderlease_init(&l->lease, config->namespace_, config->lease_name, config->identity);
	l->collection = mem_printf("%s/leases", place);
	l->path = path_below(l->collection, config->lease_name);
	l->subject = mem_printf("lease %s/%s", config->namespace_, config->lease_name);
	l->lease_duration_ms = config->lease_duration_ms;
	l->renew_deadline_ms = config->renew_deadline_ms;
	l->retry_period_ms = config->retry_period_ms;
	if (minds_keda(config))
		l->keda = leaderkeda_new(kube, config->keda_namespace);
	loop_timer_init(&l->round, l->loop, on_round, l);
	loop_timer_init(&l->deadline, l->loop, lose_lease, l);
	loop_timer_init(&l->keda_look, l->loop, on_keda_look, l);
	loop_timer_init(&l->release, l->loop, finish_release, l);
	memset(state, 0, sizeof *state);
	snprintf(state->why_not, sizeof state->why_not, "the election has only just begun");
	loop_timer_set(&l->round, 0);
	return l;
}

void leader_free(struct leader *l)
{
	if (!l)
		return;
	kube_cancel(l->call);
	leaderkeda_free(l->keda);
	leaderlease_done(&l->lease);
	loop_timer_done(&l->round);
	loop_timer_done(&l->deadline);
	loop_timer_done(&l->keda_look);
	loop_timer_done(&l->release);
	free(l->collection);
	free(l->path);
	free(l->subject);
	free(l->blocked);
	free(l);
}
