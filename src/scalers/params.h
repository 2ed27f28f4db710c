/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_PARAMS_H
#define SCALERS_PARAMS_H

/*
 * The parameters of a trigger are declared in tables: each type has tables of rows (scaler_type,
 * tables), and no other code names a parameter. Reading, defaults, freeing, unknown keys, `kscaled
 * check` and the check of kscaled-triggers(5) all use the tables.
 *
 * A value is looked up as in KEDA (doc/keda.md 6.1): in the row's places in their order, in each
 * place under every spelling in its order. It is trimmed; an empty value counts as absent.
 * `<name>FromEnv` in the metadata names an environment variable of the target's container.
 *
 * A value may be unknown (struct scaler_params, unknown): it exists, but this process has not read
 * it. It is not checked, and checks over several values are made only when all of them are known.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/quantity.h"
#include "scalers/scaler.h"

enum param_kind {     /* and the type of its field */
	PARAM_TEXT,   /* char * */
	PARAM_INT64,  /* int64_t: a whole number as JSON writes it */
	PARAM_DOUBLE, /* double: a number as JSON writes it */
	PARAM_BOOL,   /* bool: Go's ParseBool */
	PARAM_SWITCH, /* enum param_switch: a bool that can be absent */
	/*
	 * int64_t, ms: a Go duration ("30s") or a whole number of milliseconds, not negative;
	 * limited to the row's `most`
	 */
	PARAM_DURATION,
	PARAM_CHOICE, /* unsigned (or an enum): the index of one of the words */
	PARAM_LIST,   /* struct param_list: comma-separated texts, each trimmed; empty ones are kept */
	PARAM_MAP,    /* struct strmap: "k=v,k=v", exactly one '=' each, a later key wins */
	/*
	 * The target and the activation threshold, which are written into the scaler (struct
	 * scalerbuild) and have no field. A target is a number of at least 0.001, a whole one above
	 * 0; for a formula source it may be absent, 0 or negative.
	 */
	PARAM_TARGET,
	PARAM_WHOLE_TARGET,
	PARAM_ACTIVATION,       /* as DOUBLE */
	PARAM_WHOLE_ACTIVATION, /* as INT64 */
	PARAM_IGNORED,          /* accepted and ignored */
	PARAM_REFUSED,          /* an error (why) when given */
	PARAM_DROPPED, /* an unknown key that older KEDA versions had; the warning says what replaced it (why) */
	PARAM_OTHERS,  /* "*": all other keys are allowed; the external scaler reads them */
};

enum param_switch { PARAM_UNSET, PARAM_OFF, PARAM_ON };

#define PARAM_VALUES_MAX 1000 /* of a LIST or MAP; more are an error */
struct param_list {
	char **items; /* owned */
	size_t count;
};

struct param_row {
	const char *names; /* spellings separated by '|'; messages use the first */
	enum param_kind kind;
	const char *where; /* where to look, in order: m metadata, a authentication, e environment */
	size_t at;         /* offset of the field */
	bool required;
	bool unkeyed;             /* triggers that differ in it ask the same question (params_put_key) */
	unsigned when;            /* read only by params_read_when with one of these bits; 0: always */
	const char *otherwise;    /* the default as text; NULL: the field keeps its value */
	const char *const *words; /* CHOICE; NULL-terminated */
	int64_t least, most;      /* range of INT64, both 0: any; most also limits DURATION (ms) */
	const char *why;          /* REFUSED, DROPPED */
	const char *help;         /* a short description for users */
};

/*
 * The fields of most tables are stored in the data of the type's question and are part of its key.
 * Those of a login exist during the build (params_login), which makes an endpoint or an access of
 * them, and adds its key to the question's.
 */
struct param_table {
	const struct param_row *rows;
	size_t count;
	bool login;
};
#define PARAM_TABLE(rows_)                                                                                             \
	{                                                                                                              \
		(rows_), sizeof(rows_) / sizeof((rows_)[0]), false                                                     \
	}
#define PARAM_LOGIN_TABLE(rows_)                                                                                       \
	{                                                                                                              \
		(rows_), sizeof(rows_) / sizeof((rows_)[0]), true                                                      \
	}

/*
 * Reads all rows without `when`, or the rows with one of the bits, into the fields of *out, which
 * the caller has initialised with the values for "absent". Returns 0; -1 with ERR_INVALID about the
 * first wrong row; 1 when some values are unknown: their fields are unchanged, the others are read.
 * The caller frees *out with params_done in all three cases.
 *
 * Errors name the parameter; they show the value only when it is in the metadata, as others may be
 * secrets.
 */
int params_read(const struct param_table *t, const struct scaler_params *params, void *out, struct err *err);
int params_read_when(const struct param_table *t, const struct scaler_params *params, unsigned when, void *out,
	struct err *err);

/*
 * The same for rows that have no effect in this trigger; why gives the reason. As KEDA does not
 * check them, a fault there is no error, only reported (scaler.h, ignored).
 */
void params_read_ignored(const struct param_table *t, const struct scaler_params *params, unsigned when, void *out,
	const char *why);
/* Adds a remark about a parameter without effect (scaler.h, ignored). */
void params_ignore(const struct scaler_params *params, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Whether the metadata may have a parameter by this name. tables: as in struct scaler_type. */
bool params_may_be_in_metadata(const struct param_table *const *tables, const char *name);

/* Whether the value of the field at this offset is unknown. */
bool params_is_unknown(const struct param_table *t, const struct scaler_params *params, size_t at);

/* Wipes and frees texts, lists and maps, and empties their fields. */
void params_done(const struct param_table *t, void *out);

/*
 * A text for users, which the caller owns: metadata keys that no row names, with suggestions; NULL
 * when there are none.
 */
char *params_unknown(const struct scaler_params *params);
/*
 * A text for users, which the caller owns: durations in the metadata that exceed the row's `most`;
 * NULL when there are none.
 */
char *params_shortened(const struct scaler_params *params);

/*
 * Copies the next spelling from *names (row.names at first) to name and advances; false at the end.
 */
#define PARAM_NAME_SIZE 64
bool params_next_name(const char **names, char name[PARAM_NAME_SIZE]);

/* Whether the text is one of the names. */
bool params_is_among(const char *names, const char *text, size_t len);

/*
 * All faults of a trigger, in the order in which repeated builds would report them if the user
 * corrected one at a time.
 */
#define PARAM_FAULTS_MAX 8
#define PARAM_STAND_IN   "kscaled-stand-in" /* replaces a faulty required text; never shown in messages */
struct param_faults {
	struct param_fault {
		char about[PARAM_NAME_SIZE]; /* the parameter; "": none */
		struct err err;              /* without the trigger's name */
	} list[PARAM_FAULTS_MAX];
	size_t count;
	char *unknown; /* owned; as struct scaler has it */
};
void param_faults_done(struct param_faults *faults);

/*
 * A build in progress (scalers/scalerbuild): the type's tables are read into the future question's
 * data, which the type's build completes.
 */
struct scaler_build {
	const struct scaler_params *params;
	struct scaler *scaler; /* rows write target and activation; build kind, container, whole_name */
	void *data;            /* of the type; the fields of its tables are read */
	bool open;             /* some values are unknown: no question is made */
	/* ---- what build sets ---- */
	/* owned: the part behind "sN-", to be normalised; NULL: depends on unknown values */
	char *metric_name;
	char *source;       /* owned; the question's; over HTTP NULL is the URL's origin */
	int64_t timeout_ms; /* the question's; over HTTP 0 is the login's */
	struct buf key;     /* params_add_key */
	/* ---- private: the fields of logins, freed after the build ---- */
	struct param_login *logins;
};

/*
 * Zeroed fields of `size` bytes for the rows of login tables. The build owns them, and frees with
 * them what params_read_rows has read into them.
 */
void *params_login(struct scaler_build *b, size_t size);
void params_logins_done(struct scaler_build *b);

/*
 * Reads another table, or the rows with one of the bits, as params_read_when (0: the rows without
 * any). 0 or -1; sets b->open when some values are unknown.
 */
int params_read_rows(struct scaler_build *b, const struct param_table *t, unsigned when, void *fields, struct err *err);
/* The same for the rows without bits of a login's first table: its fields, or NULL. */
void *params_read_login(struct scaler_build *b, const struct param_table *t, size_t size, struct err *err);

/*
 * Adds to the question's key a part that is no field of a row: the key of an endpoint or access,
 * which includes the fingerprint of its credentials, or a value from elsewhere, such as the
 * namespace. NULL differs from "".
 */
void params_add_key(struct scaler_build *b, const char *text);

/*
 * Appends the fields of all rows that belong to the question: all but targets, activation
 * thresholds and `unkeyed` rows. Binary with length prefixes; equal values give equal bytes,
 * however they were written. May contain secrets.
 */
void params_put_key(const struct param_table *t, const void *fields, struct buf *out);

/*
 * ERR_INVALID about a parameter, a literal: `parameter "name" ` and the text, or without the blank
 * if that begins with a colon. -1.
 */
int params_wrong(struct err *err, const char *name, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Prepends `parameter "name": `, a literal, to the message; -1. */
int params_wrap(struct err *err, const char *name);

/* ERR_INVALID when only one of two parameters that belong together is given. */
int params_check_pair(const char *name, const char *value, const char *other_name, const char *other, struct err *err);
/* The same for cert and key; without TLS it only adds a remark (params_ignore) and returns 0. */
int params_check_cert(const struct scaler_params *params, bool tls, const char *cert, const char *key, struct err *err);

/*
 * Checks that a whole-number target is above 0: KEDA accepts others, and the API server then
 * refuses the HPA. For a formula source it becomes 0 instead. For types that choose between
 * several targets.
 */
int params_check_target(const struct scaler_params *params, const char *name, int64_t *value, struct err *err);

/*
 * Reads metricType: empty is AverageValue; Utilization and unknown words are refused for external
 * metrics (doc/keda.md 6.6).
 */
int params_metric_type(const struct scaler_params *params, enum metric_target_type *out, struct err *err);

/*
 * A copy without leading and trailing white space, which the caller owns. NULL for NULL and when
 * nothing is left: an empty value counts as absent.
 */
char *params_trimmed(const char *text);

/*
 * KEDA's normalisation of metric names: replaces each of / . : % ( ) by '-'. In place; returns
 * text.
 */
char *params_normalise(char *text);

#endif
