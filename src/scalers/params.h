/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_PARAMS_H
#define SCALERS_PARAMS_H

/*
 * The parameters of a trigger are declared: each type has tables of rows (scaler_type, tables), the
 * only place where a parameter is named. Reading, defaults, freeing, unknown keys, `kscaled check`
 * and the check of kscaled-triggers(5) follow from them.
 *
 * A value is looked for as KEDA does (keda-scalers.md C.2): in the places of the row in their
 * order, in each by every spelling in its order. It is trimmed, and an empty one counts as absent.
 * `<name>FromEnv` in the metadata names a variable of the target's container.
 *
 * A value may be unknown (struct scaler_params, unknown): it is there, and nobody here has read it.
 * It is not judged, and what a type makes of several values is only judged when all are known.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/quantity.h"
#include "scalers/scaler.h"

enum param_kind {     /* and the field that it fills */
	PARAM_TEXT,   /* char * */
	PARAM_INT64,  /* int64_t: a whole number as JSON writes it */
	PARAM_DOUBLE, /* double: a number as JSON writes it */
	PARAM_BOOL,   /* bool: Go's ParseBool */
	PARAM_SWITCH, /* enum param_switch: a bool that may have been left out */
	/*
	 * int64_t, ms: a Go duration ("30s") or a whole number of milliseconds, not negative; what
	 * is more than the row's `most` counts as that
	 */
	PARAM_DURATION,
	PARAM_CHOICE, /* unsigned (or an enum): the index of one of the words */
	PARAM_LIST,   /* struct param_list: texts separated by commas, each trimmed; empty ones are kept */
	PARAM_MAP,    /* struct strmap: "k=v,k=v", exactly one '=' each, a later key wins */
	/*
	 * struct quantity: a threshold of 0.001 or more; 0 and less only for a formula, where it
	 * may be left out
	 */
	PARAM_TARGET,
	PARAM_IGNORED, /* known, and not looked at */
	PARAM_REFUSED, /* known, and an error (why) when it is given */
	PARAM_DROPPED, /* an unknown key that KEDA once had: what has become of it is said (why) */
	PARAM_OTHERS,  /* "*": all other keys belong to somebody else */
};

enum param_switch { PARAM_UNSAID, PARAM_OFF, PARAM_ON };

struct param_list {
	char **items; /* owned */
	size_t count;
};

struct param_row {
	const char *names; /* spellings separated by '|'; the first is the one in messages */
	enum param_kind kind;
	const char *where; /* the places in their order: m metadata, a authentication, e environment */
	size_t at;         /* of the field */
	bool required;
	unsigned when;            /* only read by params_read_when with one of these bits */
	const char *otherwise;    /* the default, as one would write it; NULL: the field stays as it is */
	const char *const *words; /* CHOICE; NULL-terminated */
	int64_t least, most;      /* INT64; both 0: any number. most: DURATION, ms, too */
	const char *why;          /* REFUSED, DROPPED */
	const char *help;         /* for people, in a few words */
};

struct param_table {
	const struct param_row *rows;
	size_t count;
};
#define PARAM_TABLE(rows_)                                                                                             \
	{                                                                                                              \
		(rows_), sizeof(rows_) / sizeof((rows_)[0])                                                            \
	}

/*
 * Reads all rows without `when`, or those with one of its bits, into the fields of *out, which the
 * caller has set to what stands for absent. 0, or -1 and ERR_INVALID about the first row that is
 * wrong. 1: some values are unknown; their fields stay as they are, the others are read. *out is to
 * be freed by params_done after each of these.
 *
 * Errors name the parameter, and the value when it stands in the metadata: others may be secrets.
 */
int params_read(const struct param_table *t, const struct scaler_params *params, void *out, struct err *err);
int params_read_when(const struct param_table *t, const struct scaler_params *params, unsigned when, void *out,
	struct err *err);

/* Whether the value of the row that fills the field at this offset is one of the unknown ones. */
bool params_is_unknown(const struct param_table *t, const struct scaler_params *params, size_t at);

/* Wipes and frees the texts, lists and maps, and sets their fields to nothing. */
void params_done(const struct param_table *t, void *out);

/*
 * For people, caller owns: keys of the metadata that no row names, with what may have been meant;
 * NULL when there are none.
 */
char *params_unknown(const struct scaler_params *params);
/*
 * For people, caller owns: durations of the metadata of which less is used than they say; NULL when
 * there are none.
 */
char *params_shortened(const struct scaler_params *params);

/* One spelling after the other from *names (row.names at first) into name; false at the end. */
#define PARAM_NAME_SIZE 64
bool params_next_name(const char **names, char name[PARAM_NAME_SIZE]);

/* ERR_INVALID when only one of two parameters is given that belong together. */
int params_check_pair(const char *name, const char *value, const char *other_name, const char *other, struct err *err);

/*
 * metricType: empty is AverageValue; Utilization and unknown words are refused for external metrics
 * (keda-scalers.md C.7).
 */
int params_metric_type(const struct scaler_params *params, enum metric_target_type *out, struct err *err);

/*
 * A copy without white space at its ends, which the caller owns; NULL for NULL and when nothing is
 * left: an empty value counts as absent.
 */
char *params_trimmed(const char *text);

/* KEDA's normalisation of metric names: each of / . : % ( ) becomes '-'. In place; returns text. */
char *params_normalise(char *text);

#endif
