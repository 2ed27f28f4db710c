/* SPDX-License-Identifier: Apache-2.0 */
/* The names of parameters: which keys metadata may have, and suggestions for unknown ones. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/editdist.h"
#include "scalers/params.h"

enum { METADATA = 'm', ENV = 'e' }; /* letters of struct param_row, where */

/* Rows of all types. */
static const struct param_row all_types_rows[] = {
	{ "metricName", PARAM_DROPPED, "m",
		.why = "KEDA dropped it in 2.12: the metric is named by the trigger's place" },
	{ "cortexOrgID|cortexOrgId", PARAM_DROPPED, "m",
		.why = "KEDA dropped it in 2.12: use customHeaders: X-Scope-OrgID=..." },
};
static const struct param_table all_types = PARAM_TABLE(all_types_rows);

bool params_next_name(const char **names, char name[PARAM_NAME_SIZE])
{
	size_t len = strcspn(*names, "|"), kept = len < PARAM_NAME_SIZE ? len : PARAM_NAME_SIZE - 1;

	if (!**names)
		return false;
	memcpy(name, *names, kept); /* without printf: thousands are compared for one object */
	name[kept] = '\0';
	*names += len + ((*names)[len] == '|');
	return true;
}

/* Iterates over the metadata keys that the tables define. */
struct keys {
	const struct scaler_params *params;
	size_t table, row;
	const char *names; /* remaining names of the row; NULL: at its beginning */
	char name[PARAM_NAME_SIZE];
	char key[PARAM_NAME_SIZE + 8];
	bool variable; /* the name was returned; next is its ...FromEnv key */
};

static const struct param_table *table_at(const struct scaler_params *params, size_t i)
{
	return params->tables ? params->tables[i] : NULL;
}

static const char *next_key(struct keys *k)
{
	const struct param_table *t;

	for (; (t = table_at(k->params, k->table)) != NULL; k->table++, k->row = 0) {
		for (; k->row < t->count; k->row++, k->names = NULL, k->variable = false) {
			const struct param_row *row = &t->rows[k->row];

			if (row->kind == PARAM_DROPPED || row->kind == PARAM_OTHERS)
				continue;
			if (!k->names)
				k->names = row->names;
			while (k->variable || params_next_name(&k->names, k->name)) {
				bool variable = k->variable;

				k->variable = !variable && strchr(row->where, ENV);
				if (!variable && !strchr(row->where, METADATA))
					continue;
				stpcpy(stpcpy(k->key, k->name), variable ? "FromEnv" : "");
				return k->key;
			}
		}
	}
	return NULL;
}

bool params_is_among(const char *names, const char *text, size_t len)
{
	for (; *names; names += *names == '|') {
		size_t one = strcspn(names, "|");

		if (one == len && memcmp(names, text, len) == 0)
			return true;
		names += one;
	}
	return false;
}

/* The table's row with this name, kind and place; NULL. */
static const struct param_row *row_named(const struct param_table *t, const char *wanted, enum param_kind kind,
	const char *place)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->rows[i].kind == kind && strcmp(t->rows[i].where, place) == 0 &&
			params_is_among(t->rows[i].names, wanted, strlen(wanted)))
			return &t->rows[i];
	return NULL;
}

/* Whether the row has this key in the metadata: by its name, or as the name of a variable. */
static bool row_has(const struct param_row *row, const char *key, size_t len)
{
	static const char end[] = "FromEnv";
	const size_t tail = sizeof(end) - 1;

	if (row->kind == PARAM_DROPPED || row->kind == PARAM_OTHERS)
		return false;
	if (strchr(row->where, METADATA) && params_is_among(row->names, key, len))
		return true;
	return len > tail && memcmp(key + len - tail, end, tail) == 0 && strchr(row->where, ENV) &&
		params_is_among(row->names, key, len - tail);
}

/* For each key of each trigger, known or not, so without making a list of names. */
static bool is_known(const struct scaler_params *params, const char *key)
{
	bool others = false, misplaced = false;
	const struct param_table *t;
	size_t len = strlen(key);

	for (size_t i = 0; (t = table_at(params, i)) != NULL; i++) {
		for (size_t k = 0; k < t->count; k++)
			if (row_has(&t->rows[k], key, len))
				return true;
		others |= row_named(t, "*", PARAM_OTHERS, "m") != NULL;
		misplaced |= row_named(t, key, PARAM_TEXT, "a") != NULL;
	}
	/* All other keys are for a server, except one that may only come from an authentication. */
	return others && !(misplaced && !params->auth_open && (!params->auth || !strmap_get(params->auth, key)));
}

static void put_meant(const struct scaler_params *params, const char *key, struct buf *out)
{
	struct editdist_best best = editdist_best_of(key);
	struct keys keys = { .params = params };
	char found[sizeof(keys.key)];
	const char *name;

	while ((name = next_key(&keys)) != NULL)
		if (editdist_offer(&best, name))
			snprintf(found, sizeof(found), "%s", name);
	if (best.name)
		buf_printf(out, " (did you mean \"%s\"?)", found);
}

/* So many are named: for each all names are compared, and a trigger may have a thousand. */
#define UNKNOWN_TOLD 8

char *params_unknown(const struct scaler_params *params)
{
	struct buf out = BUF_INIT(UNKNOWN_TOLD * 512);
	size_t count = 0;

	for (size_t i = 0; params->tables && i < params->metadata->count; i++) {
		const char *key = params->metadata->pairs[i].key;
		const struct param_row *row;
		const struct param_table *t;

		if (is_known(params, key) || count++ >= UNKNOWN_TOLD)
			continue;
		row = row_named(&all_types, key, PARAM_DROPPED, "m");
		for (size_t k = 0; !row && (t = table_at(params, k)) != NULL; k++)
			row = row_named(t, key, PARAM_DROPPED, "m");
		buf_printf(&out, "%s\"%.128s\"", out.len > 0 ? ", " : "", key);
		if (row)
			buf_printf(&out, " (%s)", row->why);
		else
			put_meant(params, key, &out);
	}
	if (count > UNKNOWN_TOLD)
		buf_printf(&out, ", and %zu more", count - UNKNOWN_TOLD);
	return out.len > 0 ? buf_take(&out) : NULL;
}

bool params_may_be_in_metadata(const struct param_table *const *tables, const char *name)
{
	for (; *tables; tables++)
		for (size_t i = 0; i < (*tables)->count; i++)
			if (strchr((*tables)->rows[i].where, METADATA) &&
				params_is_among((*tables)->rows[i].names, name, strlen(name)))
				return true;
	return false;
}
