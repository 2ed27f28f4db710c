/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_SCALER_H
#define SCALERS_SCALER_H

/*
 * The interface of a trigger type. Every type has build, ask and judge; watch and describe are
 * optional.
 *
 *   build     checks the trigger's parameters; scalers/scalerbuild makes a *question* of them: the
 *             query, the server and the credentials. No network.
 *   ask       sends a question to its source and returns one raw answer, or an error; never both,
 *             never an estimate.
 *   judge     converts an answer into the trigger's reading: the value for the HPA and whether the
 *             trigger is active (strictly above the activation threshold, unless the source reports
 *             activity itself). The same for all types: scaler_judge.
 *   watch     lets the source notify us of changes. Polling continues; a notification only makes
 *             the next poll immediate, so a lost or forged one does no harm.
 *   describe  for sources that report which metrics a trigger has and their targets (external
 *             scalers). build then makes one undescribed scaler, and narrow one per metric.
 *
 * cpu and memory have build only: the HPA controller reads these metrics, so their scalers have no
 * question.
 *
 * Questions are shared: triggers with the same question key are answered by one query
 * (cache/readings), whatever their thresholds. A type is one file with one `const struct
 * scaler_type`, listed in scalers/registry.c. Scalers know nothing of Kubernetes objects, the cache
 * and the rooms above.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/metric.h"
#include "base/strmap.h"
#include "net/loop.h"
#include "net/pool.h"

struct httpsource_type; /* scalers/http/httpsource.h */
struct param_table;     /* scalers/params.h */
struct param_faults;    /* the same */
struct scaler_sources;  /* connection pools: scalers/sources.h */
struct sources_part;
struct scaler_build; /* scalers/params.h */

/*
 * The cloud identity of a trigger: podIdentity of its TriggerAuthentication. Borrowed; texts are
 * NULL when absent.
 */
struct pod_identity {
	const char *provider;                                                   /* "aws"; NULL: none */
	const char *identity_id, *identity_tenant_id, *identity_authority_host; /* of Azure */
	const char *role_arn, *external_id;                                     /* of AWS */
	/* default region, from kscaled's environment whatever the provider; NULL: none */
	const char *aws_region;
	/* option cloud-identity allows this trigger to use kscaled's own identity */
	bool may_be_kscaled;
	/* "a,b", "*": further hosts that may get its tokens (options azure-trusted-hosts, ...) */
	const char *azure_trusted, *aws_trusted;
};

/* The content of a trigger, borrowed for the build. */
struct scaler_params {
	const char *namespace_; /* of the object; NULL when unknown */
	const char *object;     /* of the object; NULL when unknown */
	const char *type;
	int index;               /* position in spec.triggers; the N of "sN-..." */
	int64_t polling_ms;      /* how often the object asks; 0: unknown */
	const char *name;        /* NULL */
	const char *metric_type; /* NULL: AverageValue */
	/*
	 * the object has scalingModifiers: the metric is an input of the formula, not in the HPA,
	 * and needs no target
	 */
	bool formula_source;
	const struct strmap *metadata;       /* trigger.metadata */
	const struct strmap *auth;           /* from the TriggerAuthentication; may be NULL */
	const struct pod_identity *identity; /* the same; may be NULL */
	const struct strmap *env;            /* environment variables of the target's container; may be NULL */
	const char *no_containers;           /* why there is no environment at all; NULL: there may be one */
	const struct strmap *unresolved;     /* variables that exist but could not be read -> reason; may be NULL */
	/*
	 * why Secrets of the namespace are not read in this installation; NULL: they are. For types
	 * that read a Secret as their source
	 */
	const char *secrets_denied;
	/* For `kscaled check` and admission, where not all values can be read; else zero. */
	const char *unknown;      /* the placeholder in auth and env for values that were not read */
	bool auth_open, env_open; /* auth, env may be incomplete */
	/* of scaler_try: PARAM_NAME_SIZE bytes for the name of the parameter that is wrong; NULL */
	char *about;
	const struct param_faults *faults;       /* found by earlier builds; their values are replaced; NULL */
	const struct param_table *const *tables; /* of the type, NULL-terminated; set by scaler_build; may be NULL */
	/* the build in progress; set by scaler_build; NULL: no row is a target */
	struct scaler_build *build;
};

struct scaler_type;

#define QUESTION_TIMEOUT_HTTP (-1)

/* A question to a source. Reference-counted and immutable. */
struct question {
	int refs;
	/* owned; identifies the query: scalers/scalerbuild.h; holds no secret */
	char *key;
	char *source; /* owned; the server, for messages: "redis 10.0.0.7:6379" */
	/* owned; namespace of the objects that use it; "": several; NULL: unknown */
	char *namespace_;
	const struct scaler_type *type;
	void *data; /* owned; private to the type */
	/*
	 * how long one ask may take when that is longer than the common limit:
	 * QUESTION_TIMEOUT_HTTP is the default of --http-timeout, 0 the common limit. Set after
	 * question_new
	 */
	int64_t timeout_ms;
	/* for cache/readings: the table that shares the question, and the entries of its modules */
	struct questions *shared;           /* NULL: not shared */
	void (*on_end)(struct question *q); /* called before it is freed; NULL */
	struct reading_entry *reading;
	struct watched *watched;
	struct described_question *described;
	UT_hash_handle hh;
};
struct question *question_new(const struct scaler_type *type, char *key /* takes */, char *source /* takes */,
	void *data /* takes */);
/* Frees data of the type: what its tables read and its build added. NULL is fine. */
void question_data_free(const struct scaler_type *type, void *data);
struct question *question_ref(struct question *q);
void question_unref(struct question *q); /* NULL is fine */

/* One built trigger. A value that owns its texts and one reference to its question. */
struct scaler {
	const struct scaler_type *type;
	int index;
	char *trigger_name;    /* NULL */
	enum metric_kind kind; /* METRIC_EXTERNAL, except for cpu and memory */
	char *metric_name;     /* "s0-redis-jobs"; "cpu" or "memory" for resources; NULL: depends on unknown values */
	bool whole_name;       /* of build: its metric_name is all of the name, without "sN-" */
	char *container;       /* METRIC_CONTAINER_RESOURCE; else NULL */
	enum metric_target_type target_type;
	struct quantity target; /* above 0; 0 only for a formula source without a target */
	double activation;
	char *unknown;   /* unknown metadata keys, for users: `"listLenght" (did you mean "listLength"?)`; NULL: none */
	char *shortened; /* durations that were limited, for users; NULL: none */
	char *ignored;   /* faults in parameters without effect, for users; NULL: none */
	/*
	 * a placeholder until the source has described its metrics: fails, is in no HPA, and its
	 * target has no meaning
	 */
	bool undescribed;
	/* NULL for resource metrics, and when values are unknown */
	struct question *question;
};

/* What a source reports about a trigger's metrics. */
struct described {
	char *name; /* owned; without the prefix "sN-" */
	struct quantity target;
};
struct description {               /* a value; empty when zeroed */
	struct described *metrics; /* owned */
	size_t count;
};
void description_add(struct description *d, const char *name, struct quantity target);
bool description_equal(const struct description *a, const struct description *b);
void description_done(struct description *d);

/*
 * Receives the answer of one ask (value and activity), or err. Called exactly once, never after
 * cancel, never before ask has returned.
 */
typedef void (*question_fn)(void *arg, const struct answer *answer, const struct err *err);

/*
 * Receives the description (borrowed, never empty), or err. Called under the same rules as
 * question_fn.
 */
typedef void (*describe_fn)(void *arg, const struct description *description, const struct err *err);

/* Push: a watched source notifies us of changes. */
enum watch_state {
	WATCH_STARTING,
	WATCH_ON,
	WATCH_OFF,     /* not supported or not configured; `why` says how to enable it */
	WATCH_FAILING, /* the connection is lost; reconnecting with back-off */
};
struct watch_report {
	enum watch_state state;
	const char *why; /* borrowed until the next report; "" */
	/*
	 * the trigger requests push explicitly, so its absence is reported in an Event, not only by
	 * `kscaled explain`
	 */
	bool tell;
};
typedef void (*question_look_fn)(void *arg); /* only queues a poll; it must not watch or unwatch */

struct scaler_type {
	const char *name;                    /* as in spec.triggers[].type */
	const char *go_name;                 /* its name in KEDA's metrics: "redisScaler" */
	const char *announced;               /* text of the Event that KEDA emits for each such trigger; NULL: none */
	const struct param_table *tables[6]; /* parameter tables (scalers/params.h), NULL-terminated */
	bool azure_workload;                 /* build reads podIdentity azure-workload (scalers/login/azurelogin) */
	/* of a question's data, which has the fields of all tables except logins; 0: no data */
	size_t data_size;
	const void *absent; /* data_size bytes: the initial data, kept where a value is absent; NULL: all 0 */
	/*
	 * Makes the checks that span several rows, and completes the data and the build. Keeps no
	 * pointer into params. 0, or -1 with ERR_INVALID that names the parameter. With b->open
	 * some values are unknown, and no question is made.
	 */
	int (*build)(struct scaler_build *b, struct err *err);
	/* frees what build added to the data, except a login over HTTP; NULL: nothing */
	void (*data_done)(void *data);
	const struct scaler_asker *asker; /* NULL for types without questions */
	/* of types over HTTP, whose data begins with a struct httplogin; else NULL */
	const struct httpsource_type *http;
	/*
	 * The source bills each request and updates its values slowly: answers are cached for
	 * option metered-interval (cache/readings).
	 */
	bool metered;
	/*
	 * Optional. Calls look whenever the answer may have changed, also once after a reconnect.
	 * Surplus calls are allowed; calls before watch has returned or after unwatch are not.
	 * Returns NULL when the question cannot be watched or its parameters disable it.
	 */
	void *(*watch)(struct scaler_sources *sources, struct question *question, question_look_fn look, void *arg);
	void (*unwatch)(void *watch);
	struct watch_report (*watch_report)(const void *watch);
	/*
	 * Optional, all three: for questions of undescribed scalers. narrow makes the question for
	 * one of the metrics; position counts from 0.
	 */
	void *(*describe)(struct scaler_sources *sources, struct question *question, int64_t deadline_ms,
		describe_fn fn, void *arg);
	void (*describe_cancel)(void *handle);
	struct question *(*narrow)(const struct question *question, const char *metric, size_t position);
};

/* One ask: the first member of a type's struct for it. */
struct scaler_ask {
	struct question *question; /* one reference */
	struct scaler_sources *sources;
	int64_t deadline_ms; /* loop clock */
	question_fn fn;
	void *arg;
	void *call; /* for the type: what it waits for; NULL at first */
};

/* The cancel of types that wait for a call of a pool. */
static inline void scaler_ask_cancel_call(void *ask)
{
	pool_cancel(((struct scaler_ask *)ask)->call);
}

/* How the questions of a type are asked. */
struct scaler_asker {
	size_t size;               /* of the struct for an ask, zeroed at first; 0: struct scaler_ask suffices */
	void (*ask)(void *ask);    /* sends the question, whose answer goes to scaler_ask_end */
	void (*cancel)(void *ask); /* stops what is under way and frees what it owns */
};

/*
 * Asks a question. Returns a handle for question_cancel, valid until fn is called. deadline_ms:
 * loop clock.
 */
void *question_ask(struct question *q, struct scaler_sources *sources, int64_t deadline_ms, question_fn fn, void *arg);
void question_cancel(void *ask);

/* ---- For the types ---- */

/* Calls fn with the value, or err, then frees ask. Infinity and NaN are errors. */
void scaler_ask_end(void *ask, double value, const struct err *err);
void scaler_ask_answer(void *ask, const struct answer *answer,
	const struct err *err); /* the same for sources that also report activity or load */
/* For other calls about a question; size of a struct that begins with a struct scaler_ask. */
void *scaler_ask_new(size_t size, const struct scaler_ask *ask);
void scaler_ask_free(void *ask);

void scaler_done(struct scaler *s);
/* Makes the scaler of one metric of an undescribed one. */
void scaler_narrow(const struct scaler *whole, const struct described *metric, size_t position, struct scaler *out);
struct metric_spec scaler_metric_spec(const struct scaler *s); /* borrows the texts */
struct reading scaler_judge(const struct scaler *s, const struct answer *answer);

const struct scaler_type *scaler_type_find(const char *name); /* NULL: unknown type */
/* Names of all types, comma-separated, for messages; static. */
const char *scaler_type_names(void);

/* State that the types need besides net's pools (scalers/sources.h); NULL-terminated. */
extern const struct sources_part *const scaler_parts[];

#endif
