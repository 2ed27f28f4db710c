/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_SCALER_H
#define SCALERS_SCALER_H

/*
 * The contract of a trigger type: every one is built, asked and judged; some can also be watched,
 * or describe themselves.
 *
 *   build     checks the trigger's parameters and states a *question*: what to ask which server
 *             with which credentials. No network.
 *   ask       puts a question to its source and brings one raw answer, or an error; never both,
 *             never a guess.
 *   judge     turns an answer into this trigger's reading: its value for the HPA, and whether it is
 *             active (strictly above the activation threshold, unless the source says it itself).
 *             The same for all types: scaler_judge.
 *   watch     optional: lets the source say "look now". The poll stays; a wake-up only makes the
 *             next look immediate, so that a lost or a forged one does no harm.
 *   describe  optional: the source itself says which metrics a trigger has, and their targets
 *             (external scalers). build then gives one scaler that stands for them, and narrow one
 *             for each.
 *
 * cpu and memory are built and nothing else: the HPA controller reads them, so their scalers have
 * no question.
 *
 * Questions are shared: two triggers with the same question key are answered by one query
 * (cache/readings), whatever their thresholds. A type is one file with one `const struct
 * scaler_type`, listed in scalers/registry.c. Scalers never see Kubernetes objects, the cache or
 * the loops above them.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/metric.h"
#include "base/strmap.h"
#include "net/loop.h"

struct param_table;    /* scalers/params.h */
struct scaler_sources; /* what scalers ask with: scalers/sources.h */

/* Everything a trigger says, borrowed for the build. */
struct scaler_params {
	const char *namespace_; /* of the object; may be NULL where it is not known */
	const char *object;     /* its name; may be NULL */
	const char *type;
	int index;               /* position in spec.triggers: the N of "sN-..." */
	const char *name;        /* NULL */
	const char *metric_type; /* NULL: AverageValue */
	/*
	 * the object has scalingModifiers: the metric is for the formula, never in the HPA, and
	 * needs no target
	 */
	bool formula_source;
	const struct strmap *metadata;   /* trigger.metadata */
	const struct strmap *auth;       /* from the TriggerAuthentication; may be NULL */
	const struct strmap *env;        /* environment of the target's container; may be NULL */
	const struct strmap *unresolved; /* variables that exist but could not be read, with the reason; may be NULL */
	/* Where not all values are at hand (`kscaled check`, admission); else nothing. */
	const char *unknown;      /* the text that stands in auth and env for what nobody here has read */
	bool auth_open, env_open; /* there may be more in auth, in env: nobody here has read which */
	char *about;              /* PARAM_NAME_SIZE bytes, or NULL: of an error about one parameter, its name */
	const struct param_table *const *tables; /* of the type, NULL-terminated: scaler_build sets it; may be NULL */
};

struct scaler_type;

#define QUESTION_TIMEOUT_HTTP (-1)

/* A question to a source: shared and counted, unchanging. */
struct question {
	int refs;
	/*
	 * owned; type, endpoint, fingerprint of the credentials, TLS, query: no thresholds, no
	 * secret
	 */
	char *key;
	char *source; /* owned; the server in messages: "redis 10.0.0.7:6379" */
	/* owned; of the objects that ask it; "": of several; NULL where it is not known */
	char *namespace_;
	const struct scaler_type *type;
	void *data; /* owned; of the type */
	/*
	 * how long one ask may take, whoever waits, where that is longer than for all sources;
	 * QUESTION_TIMEOUT_HTTP: the default of --http-timeout; 0: as for all. Set after
	 * question_new; belongs into the key
	 */
	int64_t timeout_ms;
	/* of cache/readings: the table that shares it, and what each module there keeps of it */
	struct questions *shared;           /* NULL: it is not shared */
	void (*on_end)(struct question *q); /* before it is freed; NULL */
	struct reading_entry *reading;
	struct watched *watched;
	struct described_question *described;
	UT_hash_handle hh;
};
struct question *question_new(const struct scaler_type *type, char *key /* takes */, char *source /* takes */,
	void *data /* takes */);
struct question *question_ref(struct question *q);
void question_unref(struct question *q); /* NULL is fine */

/* One built trigger. A value that owns its texts and one count of its question. */
struct scaler {
	const struct scaler_type *type;
	int index;
	char *trigger_name;    /* NULL */
	enum metric_kind kind; /* METRIC_EXTERNAL, but of cpu and memory */
	char *metric_name; /* "s0-redis-jobs"; "cpu" or "memory" of the other kinds; NULL: it depends on what is unknown
			    */
	char *container;   /* METRIC_CONTAINER_RESOURCE; else NULL */
	enum metric_target_type target_type;
	struct quantity target; /* more than 0; 0: a formula source without one */
	double activation;
	char *unknown;   /* keys of metadata that no parameter has, for people: `"listLenght" (did you mean
			    "listLength"?)`; NULL: none */
	char *shortened; /* for people: durations of which less is used than is said; NULL: none */
	/*
	 * stands for metrics that its source has not named yet: failing, and in no HPA (its target
	 * means nothing)
	 */
	bool undescribed;
	/* NULL unless METRIC_EXTERNAL, and where values are unknown: nobody is asked */
	struct question *question;
};

/* What a source says of a trigger's metrics. */
struct described {
	char *name; /* owned; without "sN-" */
	struct quantity target;
};
struct description {               /* a value; zero is empty */
	struct described *metrics; /* owned */
	size_t count;
};
void description_add(struct description *d, const char *name, struct quantity target);
bool description_equal(const struct description *a, const struct description *b);
void description_done(struct description *d);

/*
 * The answer of one ask (value and activity; the asker knows the times), or err and no answer.
 * Exactly once, never after cancel, never before ask has returned.
 */
typedef void (*question_fn)(void *arg, const struct answer *answer, const struct err *err);

/* The description (borrowed, never empty), or err. Rules as of question_fn. */
typedef void (*describe_fn)(void *arg, const struct description *description, const struct err *err);

/* Push: a watched source says "look now". */
enum watch_state {
	WATCH_STARTING,
	WATCH_ON,
	WATCH_OFF,     /* it cannot, or is not set up for it: `why` says what to do about it */
	WATCH_FAILING, /* the connection is lost and tried again with back-off */
};
struct watch_report {
	enum watch_state state;
	const char *why; /* borrowed until the next report; "" */
	/*
	 * push was asked for by name in the trigger: that it is off is worth an Event, not only a
	 * line of `kscaled explain`
	 */
	bool tell;
};
typedef void (*question_look_fn)(void *arg); /* takes note only: it neither watches nor unwatches */

struct scaler_type {
	const char *name;                    /* trigger type as users write it */
	const char *go_name;                 /* what KEDA's /metrics call it: "redisScaler" */
	const struct param_table *tables[5]; /* of its parameters, for scalers/params.h; NULL-terminated */
	/*
	 * Fills target, activation, question and *metric_name, the part of the name after "sN-",
	 * which the caller then owns; of resource metrics kind, container and target type instead
	 * of the question. Keeps nothing of params. 0; -1 and ERR_INVALID that names the parameter;
	 * 1: some values are unknown, so there is no question, and no metric_name if it depends on
	 * them.
	 */
	int (*build)(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err);
	/*
	 * Starts asking; returns a handle for cancel. deadline_ms: loop clock. This, cancel and
	 * free_data are NULL for types without questions.
	 */
	void *(*ask)(struct scaler_sources *sources, struct question *question, int64_t deadline_ms, question_fn fn,
		void *arg);
	void (*cancel)(void *handle);
	void (*free_data)(void *data);
	/*
	 * Optional. Calls look whenever the answer may be another than before, also once after a
	 * connection came back: too often or for nothing is allowed, before watch has returned or
	 * after unwatch is not. NULL: this question cannot be watched, or its parameters say not
	 * to.
	 */
	void *(*watch)(struct scaler_sources *sources, struct question *question, question_look_fn look, void *arg);
	void (*unwatch)(void *watch);
	struct watch_report (*watch_report)(const void *watch);
	/*
	 * Optional, all three: for questions of undescribed scalers. narrow: the question for one
	 * of the metrics, of which `position` is 0 for the first.
	 */
	void *(*describe)(struct scaler_sources *sources, struct question *question, int64_t deadline_ms,
		describe_fn fn, void *arg);
	void (*describe_cancel)(void *handle);
	struct question *(*narrow)(const struct question *question, const char *metric, size_t position);
};

/* What each type's ask begins with: who asks what. */
struct scaler_ask {
	struct question *question; /* one count */
	question_fn fn;
	void *arg;
};
void *scaler_ask_new(size_t size, struct question *question, question_fn fn, void *arg); /* size of the whole; zeroed */
void scaler_ask_end(void *ask, double value, const struct err *err); /* tells the value, or err, and frees */
void scaler_ask_free(void *ask);

void scaler_done(struct scaler *s);
/* The scaler of one of the metrics that an undescribed one stands for. */
void scaler_narrow(const struct scaler *whole, const struct described *metric, size_t position, struct scaler *out);
struct metric_spec scaler_metric_spec(const struct scaler *s); /* borrows name and container */
struct reading scaler_judge(const struct scaler *s, const struct answer *answer);

const struct scaler_type *scaler_type_find(const char *name); /* NULL when there is none */
/* Names of all types, comma-separated, for messages. */
const char *scaler_type_names(void);

#endif
