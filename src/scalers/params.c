/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/params.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/duration.h"
#include "base/mem.h"

enum { METADATA = 'm', AUTH = 'a', ENV = 'e' }; /* the letters of struct param_row, where */

#define DIGITS "0123456789"

/* The result of one lookup. */
struct found_value {
	char *text; /* owned; NULL: absent */
	char place; /* where it was found */
	bool unknown;
	bool stands_in; /* the text is a stand-in for a faulty value */
};

char *params_trimmed(const char *text)
{
	size_t len;

	if (!text)
		return NULL;
	while (isspace((unsigned char)*text))
		text++;
	len = strlen(text);
	while (len > 0 && isspace((unsigned char)text[len - 1]))
		len--;
	return len > 0 ? mem_dupn(text, len) : NULL;
}

static const char *place_name(char place)
{
	return place == METADATA ? "triggerMetadata" : place == AUTH ? "authParams" : "resolvedEnv";
}

static const char *first_name(const struct param_row *row, char name[PARAM_NAME_SIZE])
{
	const char *names = row->names;

	params_next_name(&names, name);
	return name;
}

/* ---- Looking up a value ---- */

/*
 * The trimmed value of a key, if present. Unknown also if only a part of it is, as variables may
 * refer to others.
 */
static void take(const struct scaler_params *params, const struct strmap *from, const char *key, char place,
	struct found_value *out)
{
	out->text = from ? params_trimmed(strmap_get(from, key)) : NULL;
	out->place = place;
	out->unknown = place != METADATA && out->text && params->unknown && strstr(out->text, params->unknown);
}

/*
 * `<name>FromEnv` names a variable. One that exists but cannot be read is an error. If it is
 * missing or empty, the following places are used, as in KEDA; when these have nothing either,
 * *absent is the error, so that no empty value is used silently.
 */
static int from_place(const struct scaler_params *params, char place, const char *name, struct found_value *out,
	struct err *absent, struct err *err)
{
	MEM_AUTO char *key = NULL, *variable = NULL;
	const char *why;

	if (place != ENV) {
		take(params, place == METADATA ? params->metadata : params->auth, name, place, out);
		out->unknown |= place == AUTH && !out->text && params->auth_open;
		return 0;
	}
	key = mem_printf("%sFromEnv", name);
	variable = params_trimmed(strmap_get(params->metadata, key));
	if (!variable)
		return 0;
	take(params, params->env, variable, ENV, out);
	out->unknown |= !out->text && params->env_open;
	if (out->text || out->unknown)
		return 0;
	why = params->unresolved ? strmap_get(params->unresolved, variable) : NULL;
	if (why)
		return err_set(err, ERR_INVALID,
			"parameter \"%s\": environment variable %s of the target's container %s", key, variable, why);
	if (params->no_containers)
		err_set(absent, ERR_INVALID, "parameter \"%s\": %s, so there is no environment variable %s", key,
			params->no_containers, variable);
	else
		err_set(absent, ERR_INVALID,
			"parameter \"%s\": the target's container has no environment variable %s with a value", key,
			variable);
	return 0;
}

static bool is_given_empty(const struct scaler_params *params, const struct param_row *row)
{
	const char *names = row->names;
	char name[PARAM_NAME_SIZE];

	while (params->auth && strchr(row->where, AUTH) && params_next_name(&names, name))
		if (strmap_get(params->auth, name))
			return true;
	return false;
}

static int missing(const struct scaler_params *params, const struct param_row *row, struct err *err)
{
	char name[PARAM_NAME_SIZE];
	struct buf text = BUF_INIT(512);

	for (const char *place = row->where; *place; place++)
		buf_printf(&text, "%s%s", place > row->where ? " " : "", place_name(*place));
	buf_puts(&text, "]");
	if (is_given_empty(params, row))
		buf_puts(&text, " (the authentication gives it, and it is empty)");
	err_set(err, ERR_INVALID, "missing required parameter \"%s\" in [%s", first_name(row, name), buf_text(&text));
	buf_done(&text);
	return -1;
}

/* Whether this fault is recorded already, and the build only looks for others. */
static bool is_at_fault(const struct scaler_params *params, const struct param_row *row)
{
	const struct param_faults *faults = params->faults;

	for (size_t i = 0; faults && i < faults->count; i++)
		if (params_is_among(row->names, faults->list[i].about, strlen(faults->list[i].about)))
			return true;
	return false;
}

static bool is_target(const struct param_row *row)
{
	return row->kind == PARAM_TARGET || row->kind == PARAM_WHOLE_TARGET;
}

static bool is_given(const struct scaler_params *params, const struct param_row *row)
{
	const char *names = row->names;
	char name[PARAM_NAME_SIZE];

	while (params_next_name(&names, name)) {
		MEM_AUTO char *text = params_trimmed(strmap_get(params->metadata, name));

		if (text)
			return true;
	}
	return false;
}

/*
 * Replaces a faulty value: by unknown where the row allows that; for rows of the metadata alone,
 * which is always known, by absent if that is allowed, else by put_stand_in. The same for a missing
 * value that a rule of the type requires.
 */
static void forgive(const struct scaler_params *params, const struct param_row *row, struct found_value *out)
{
	out->unknown = strchr(row->where, AUTH) || strchr(row->where, ENV);
	out->stands_in = !out->unknown && (row->required || is_target(row) || !is_given(params, row));
}

static int find(const struct scaler_params *params, const struct param_row *row, struct found_value *out,
	struct err *err)
{
	struct err absent = { 0 };

	*out = (struct found_value){ .place = METADATA };
	if (is_at_fault(params, row)) {
		forgive(params, row, out);
		return 0;
	}
	for (const char *place = row->where; *place; place++) {
		const char *names = row->names;
		char name[PARAM_NAME_SIZE];

		while (params_next_name(&names, name)) {
			if (from_place(params, *place, name, out, &absent, err))
				return -1;
			if (out->text || out->unknown)
				return 0;
		}
	}
	if (absent.kind != ERR_NONE)
		return err_set(err, absent.kind, "%s", absent.msg);
	return row->required ? missing(params, row, err) : 0;
}

/* ---- Parsing ---- */

/* Shows the value only when it comes from the metadata: others may be misplaced secrets. */
static int wrong(const struct param_row *row, char place, const char *text, const char *must, struct err *err)
{
	char name[PARAM_NAME_SIZE];

	first_name(row, name);
	if (place == METADATA)
		return err_set(err, ERR_INVALID, "unable to set param \"%s\" value \"%s\": must be %s", name, text,
			must);
	return err_set(err, ERR_INVALID, "unable to set param \"%s\" value from %s (not shown): must be %s", name,
		place_name(place), must);
}

/* Whole numbers in JSON syntax: no plus sign, leading zeros or fraction (doc/keda.md 6.1). */
static bool json_integer(const char *text)
{
	if (*text == '-')
		text++;
	if (text[0] == '0')
		return !text[1];
	return *text && !text[strspn(text, DIGITS)];
}

/* Numbers in JSON syntax: digits on both sides of a point, an exponent; only finite ones. */
static bool json_number(const char *text)
{
	const char *c = text + (*text == '-');

	if (*c == '0')
		c++;
	else if (isdigit((unsigned char)*c))
		c += strspn(c, DIGITS);
	else
		return false;
	if (*c == '.') {
		size_t digits = strspn(c + 1, DIGITS);

		if (digits == 0)
			return false;
		c += 1 + digits;
	}
	if (*c == 'e' || *c == 'E') {
		size_t sign = c[1] == '+' || c[1] == '-', digits = strspn(c + 1 + sign, DIGITS);

		if (digits == 0)
			return false;
		c += 1 + sign + digits;
	}
	return !*c;
}

/* False also when out of range. */
static bool read_whole(const char *text, long long *out)
{
	errno = 0;
	*out = strtoll(text, NULL, 10);
	return json_integer(text) && errno != ERANGE;
}

static int read_int64(const struct param_row *row, const struct found_value *f, int64_t *out, struct err *err)
{
	char name[PARAM_NAME_SIZE];
	long long value;

	if (!read_whole(f->text, &value))
		return wrong(row, f->place, f->text, "a whole number", err);
	*out = value;
	if ((row->least == 0 && row->most == 0) || (value >= row->least && value <= row->most))
		return 0;
	return err_set(err, ERR_INVALID, "parameter \"%s\" value \"%lld\" must be between %" PRId64 " and %" PRId64,
		first_name(row, name), value, row->least, row->most);
}

static int read_bool(const struct param_row *row, const struct found_value *f, bool *out, struct err *err)
{
	static const char *const yes[] = { "1", "t", "T", "TRUE", "true", "True" };
	static const char *const no[] = { "0", "f", "F", "FALSE", "false", "False" };

	for (size_t i = 0; i < MEM_COUNT(yes); i++) {
		if (strcmp(f->text, yes[i]) == 0 || strcmp(f->text, no[i]) == 0) {
			*out = strcmp(f->text, yes[i]) == 0;
			return 0;
		}
	}
	return wrong(row, f->place, f->text, "true or false", err);
}

static int read_double(const struct param_row *row, const struct found_value *f, double *out, struct err *err)
{
	double value = json_number(f->text) ? strtod(f->text, NULL) : HUGE_VAL;

	if (!isfinite(value))
		return wrong(row, f->place, f->text, "a number", err);
	*out = value;
	return 0;
}

static int read_duration(const struct param_row *row, const struct found_value *f, int64_t *out_ms, struct err *err)
{
	long long number;

	if (read_whole(f->text, &number) && number >= 0)
		*out_ms = number;
	else if (json_integer(f->text) || duration_parse(f->text, out_ms, NULL))
		return wrong(row, f->place, f->text,
			"a duration such as 30s, or a whole number of milliseconds, not negative", err);
	if (row->most > 0 && *out_ms > row->most)
		*out_ms = row->most;
	return 0;
}

static int read_choice(const struct param_row *row, const struct found_value *f, unsigned *out, struct err *err)
{
	struct buf must = BUF_INIT(512);

	buf_puts(&must, "one of");
	for (unsigned i = 0; row->words[i]; i++) {
		if (strcmp(f->text, row->words[i]) == 0) {
			*out = i;
			buf_done(&must);
			return 0;
		}
		buf_printf(&must, "%s %s", i > 0 ? "," : "", row->words[i]);
	}
	wrong(row, f->place, f->text, buf_text(&must), err);
	buf_done(&must);
	return -1;
}

/* Caps lists, as types search them in loops. */
static int check_count(const struct param_row *row, const char *text, struct err *err)
{
	char name[PARAM_NAME_SIZE];
	size_t count = 1;

	while ((text = strchr(text, ',')) != NULL) {
		text++;
		count++;
	}
	return count <= PARAM_VALUES_MAX
		? 0
		: err_set(err, ERR_INVALID, "parameter \"%s\": %zu values are given, at most %d are allowed",
			  first_name(row, name), count, PARAM_VALUES_MAX);
}

static int read_list(const struct param_row *row, struct found_value *f, struct param_list *out, struct err *err)
{
	char *rest = f->text, *piece;

	if (check_count(row, f->text, err))
		return -1;
	while ((piece = strsep(&rest, ",")) != NULL) {
		out->items = mem_resize(out->items, out->count + 1, sizeof(*out->items));
		piece = params_trimmed(piece);
		out->items[out->count++] = piece ? piece : mem_dup("");
	}
	return 0;
}

static int read_map(const struct param_row *row, struct found_value *f, struct strmap *out, struct err *err)
{
	char *rest = f->text, *piece;

	if (check_count(row, f->text, err))
		return -1;
	while ((piece = strsep(&rest, ",")) != NULL) {
		char *equals = strchr(piece, '=');
		MEM_AUTO char *key = equals ? mem_dupn(piece, (size_t)(equals - piece)) : NULL,
			      *name = params_trimmed(key), *value = equals ? params_trimmed(equals + 1) : NULL;

		if (!name || strchr(equals + 1, '='))
			return wrong(row, f->place, piece,
				"name=value pieces with exactly one '=' each, separated by commas", err);
		strmap_set(out, name, value ? value : "");
	}
	return 0;
}

/*
 * The target of a metric. Values not above 0, also after rounding, are refused here: KEDA accepts
 * some of them, and the API server then refuses the whole HPA.
 */
static int read_target(const struct scaler_params *params, const struct param_row *row, const struct found_value *f,
	struct err *err)
{
	struct quantity *out = &params->build->scaler->target;
	char name[PARAM_NAME_SIZE];
	double value = 0;

	first_name(row, name);
	if (f->text ? read_double(row, f, &value, err)
		    : !params->formula_source && err_set(err, ERR_INVALID, "no %s given", name))
		return -1;
	*out = quantity_from_double(value);
	if (out->milli > 0 || params->formula_source)
		return 0;
	if (f->place != METADATA)
		return err_set(err, ERR_INVALID,
			"parameter \"%s\" value from %s (not shown) must be greater than 0 (at least 0.001)", name,
			place_name(f->place));
	return err_set(err, ERR_INVALID, "parameter \"%s\" value \"%s\" must be greater than 0 (at least 0.001)", name,
		f->text);
}

static int read_whole_target(const struct scaler_params *params, const struct param_row *row,
	const struct found_value *f, struct err *err)
{
	char name[PARAM_NAME_SIZE];
	int64_t value = 0;

	if ((f->text && read_int64(row, f, &value, err)) ||
		params_check_target(params, first_name(row, name), &value, err))
		return -1;
	params->build->scaler->target = quantity_from_int(value);
	return 0;
}

static int read_whole_activation(const struct param_row *row, const struct found_value *f, double *out, struct err *err)
{
	int64_t value;

	if (read_int64(row, f, &value, err))
		return -1;
	*out = (double)value;
	return 0;
}

static void put_stand_in(const struct scaler_params *params, const struct param_row *row, void *field)
{
	struct param_list *list = field;

	switch (row->kind) {
	case PARAM_TEXT: *(char **)field = mem_dup(PARAM_STAND_IN); break;
	case PARAM_INT64: *(int64_t *)field = row->least > 1 ? row->least : 1; break;
	case PARAM_DOUBLE: *(double *)field = 1; break;
	case PARAM_CHOICE: *(unsigned *)field = 0; break;
	case PARAM_TARGET:
	case PARAM_WHOLE_TARGET: params->build->scaler->target = quantity_from_int(1); break;
	case PARAM_LIST:
		list->items = mem_array(1, sizeof(*list->items));
		list->items[list->count++] = mem_dup(PARAM_STAND_IN);
		break;
	default: break;
	}
}

static int store(const struct scaler_params *params, const struct param_row *row, struct found_value *f, void *field,
	struct err *err)
{
	char name[PARAM_NAME_SIZE];
	bool on;

	if (row->kind == PARAM_TARGET)
		return read_target(params, row, f, err);
	if (row->kind == PARAM_WHOLE_TARGET)
		return read_whole_target(params, row, f, err);
	if (!f->text)
		return 0;
	switch (row->kind) {
	case PARAM_TEXT:
		*(char **)field = f->text;
		f->text = NULL;
		return 0;
	case PARAM_INT64: return read_int64(row, f, field, err);
	case PARAM_DOUBLE: return read_double(row, f, field, err);
	case PARAM_ACTIVATION: return read_double(row, f, &params->build->scaler->activation, err);
	case PARAM_WHOLE_ACTIVATION: return read_whole_activation(row, f, &params->build->scaler->activation, err);
	case PARAM_BOOL: return read_bool(row, f, field, err);
	case PARAM_SWITCH:
		if (read_bool(row, f, &on, err))
			return -1;
		*(enum param_switch *)field = on ? PARAM_ON : PARAM_OFF;
		return 0;
	case PARAM_DURATION: return read_duration(row, f, field, err);
	case PARAM_CHOICE: return read_choice(row, f, field, err);
	case PARAM_LIST: return read_list(row, f, field, err);
	case PARAM_MAP: return read_map(row, f, field, err);
	case PARAM_REFUSED: return err_set(err, ERR_INVALID, "parameter \"%s\": %s", first_name(row, name), row->why);
	default: return 0;
	}
}

static int read_row(const struct scaler_params *params, const struct param_row *row, void *field, struct err *err)
{
	struct found_value f;
	int failed = find(params, row, &f, err);

	if (!failed && f.stands_in) {
		put_stand_in(params, row, field);
	} else if (!failed && (!f.unknown || (f.text && row->kind == PARAM_REFUSED))) {
		if (!f.text && row->otherwise)
			f.text = mem_dup(row->otherwise);
		failed = store(params, row, &f, field, err);
	}
	mem_free_secret(f.text);
	if (failed && params->about)
		first_name(row, params->about);
	return failed ? -1 : f.unknown;
}

static void put_shortened(const struct scaler_params *params, const struct param_row *row, struct buf *out)
{
	char name[PARAM_NAME_SIZE], most[DURATION_TEXT_MAX];
	struct param_row unlimited = *row;
	struct found_value f;
	int64_t ms = 0;

	unlimited.most = 0;
	if (find(params, row, &f, NULL) == 0 && f.text && f.place == METADATA && !f.unknown &&
		read_duration(&unlimited, &f, &ms, NULL) == 0 && ms > row->most)
		buf_printf(out, "%s%s %s is more than the maximum, %s, which is used", out->len > 0 ? "; " : "",
			first_name(row, name), f.text, duration_format(row->most, most));
	mem_free_secret(f.text);
}

char *params_shortened(const struct scaler_params *params)
{
	struct buf out = BUF_INIT(1024);

	for (size_t i = 0; params->tables && params->tables[i]; i++) {
		const struct param_table *t = params->tables[i];

		for (const struct param_row *row = t->rows; row < t->rows + t->count; row++)
			if (row->kind == PARAM_DURATION && row->most > 0)
				put_shortened(params, row, &out);
	}
	return out.len > 0 ? buf_take(&out) : NULL;
}

int params_read_when(const struct param_table *t, const struct scaler_params *params, unsigned when, void *out,
	struct err *err)
{
	bool unknown = false;

	for (size_t i = 0; i < t->count; i++) {
		const struct param_row *row = &t->rows[i];
		bool wanted = when ? (row->when & when) != 0 : !row->when;
		int rc = wanted && row->kind != PARAM_IGNORED && row->kind != PARAM_DROPPED && row->kind != PARAM_OTHERS
			? read_row(params, row, out ? (char *)out + row->at : NULL, err)
			: 0;

		if (rc < 0)
			return -1;
		unknown |= rc == 1;
	}
	return unknown;
}

/* Fields to be freed after the build, or a table that was read into such. */
struct param_login {
	struct param_login *next;
	const struct param_table *table; /* NULL: the fields themselves */
	void *fields;
};

static void *note_login(struct scaler_build *b, const struct param_table *table, void *fields)
{
	struct param_login *login = mem_zalloc(sizeof(*login));

	*login = (struct param_login){ b->logins, table, fields };
	b->logins = login;
	return fields;
}

void *params_login(struct scaler_build *b, size_t size)
{
	return note_login(b, NULL, mem_zalloc(size));
}

/* The newest first: the tables before their fields. */
void params_logins_done(struct scaler_build *b)
{
	struct param_login *login;

	while ((login = b->logins)) {
		b->logins = login->next;
		if (login->table)
			params_done(login->table, login->fields);
		else
			free(login->fields);
		free(login);
	}
}

void *params_read_login(struct scaler_build *b, const struct param_table *t, size_t size, struct err *err)
{
	void *fields = params_login(b, size);

	return params_read_rows(b, t, 0, fields, err) ? NULL : fields;
}

int params_read_rows(struct scaler_build *b, const struct param_table *t, unsigned when, void *fields, struct err *err)
{
	int rc = params_read_when(t, b->params, when, fields, err);

	if (t->login)
		note_login(b, t, fields);
	b->open |= rc == 1;
	return rc < 0 ? -1 : 0;
}

bool params_is_unknown(const struct param_table *t, const struct scaler_params *params, size_t at)
{
	struct found_value f = { 0 };

	for (size_t i = 0; i < t->count && !f.unknown; i++) {
		if (t->rows[i].at != at || t->rows[i].kind >= PARAM_TARGET)
			continue;
		find(params, &t->rows[i], &f, NULL);
		mem_free_secret(f.text);
	}
	return f.unknown;
}

int params_read(const struct param_table *t, const struct scaler_params *params, void *out, struct err *err)
{
	return params_read_when(t, params, 0, out, err);
}

void params_done(const struct param_table *t, void *out)
{
	for (size_t i = 0; i < t->count; i++) {
		void *field = (char *)out + t->rows[i].at;

		if (t->rows[i].kind == PARAM_TEXT) {
			mem_free_secret(*(char **)field);
			*(char **)field = NULL;
		} else if (t->rows[i].kind == PARAM_LIST) {
			struct param_list *list = field;

			while (list->count > 0)
				mem_free_secret(list->items[--list->count]);
			mem_free_ptr(&list->items);
		} else if (t->rows[i].kind == PARAM_MAP) {
			strmap_done_secret(field);
		}
	}
}

void param_faults_done(struct param_faults *faults)
{
	mem_free_ptr(&faults->unknown);
}

int params_check_target(const struct scaler_params *params, const char *name, int64_t *value, struct err *err)
{
	if (*value <= 0 && params->formula_source)
		*value = 0;
	else if (*value <= 0)
		return err_set(err, ERR_INVALID, "parameter \"%s\" value \"%lld\" must be greater than 0", name,
			(long long)*value);
	return 0;
}

char *params_normalise(char *text)
{
	for (char *c = text; *c; c++)
		if (strchr("/.:%()", *c))
			*c = '-';
	return text;
}
