/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/auth/authfiles.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "cache/auth/holders.h"
#include "kube/files.h"

struct file {
	struct held held;   /* key: the path below the root */
	struct files stamp; /* its state when read */
	struct strmap values;
	struct err *err; /* why there are no values; NULL */
	bool good;       /* values are valid */
	/*
	 * the values are older than the file, which was invalid at the last check, as if partly
	 * written
	 */
	bool may_be_partial;
};

struct authfiles {
	struct loop *loop;
	char *root; /* NULL */
	struct holders holders;
	struct loop_timer check;
};

/* ---- Reading ---- */

/* A JSON object of strings only. */
static int parse(const char *text, size_t len, struct strmap *out, struct err *err)
{
	json_t *object = json_parse(text, len, NULL); /* no error text, which might quote the file */
	const char *key;
	json_t *value;
	int failed = 0;

	if (!json_is_object(object)) {
		json_decref(object);
		return err_set(err, ERR_INVALID, "is not a JSON object");
	}
	json_object_foreach(object, key, value)
	{
		if (json_is_string(value) && strlen(json_string_value(value)) == json_string_length(value))
			strmap_set(out, key, json_string_value(value));
		else
			failed = err_set(err, ERR_INVALID, "\"%.64s\" is not a string", key);
	}
	json_decref(object);
	return failed;
}

static int read_values(struct authfiles *f, struct file *file, struct strmap *values, struct err *err)
{
	MEM_AUTO char *path = mem_printf("%s/%s", f->root, file->held.key);
	char *text = NULL;
	size_t len = 0;
	int failed;

	files_done(&file->stamp);
	failed = files_read_beneath(&file->stamp, f->root, file->held.key, AUTHFILES_BYTES_MAX, &text, &len, err);
	if (!failed && parse(text, len, values, err))
		failed = err_wrap(err, "%s", path);
	if (text)
		mem_wipe(text, len);
	free(text);
	return failed;
}

/* False when nothing changed for its holders. An invalid file is reported at the next check. */
static bool file_reread(struct authfiles *f, struct file *file)
{
	struct strmap values = { 0 };
	struct err err = { 0 }, shown = { 0 };
	bool failed = read_values(f, file, &values, &err) != 0, waits = failed && file->good && !file->may_be_partial;

	file->may_be_partial = waits;
	if (failed)
		log_warn("auth files", "%s%s", err.msg,
			waits ? "; its previous values are used until the next check" : "");
	if (waits) {
		strmap_done_secret(&values);
		return false;
	}
	strmap_done_secret(&file->values);
	if (failed)
		strmap_done_secret(&values);
	else
		file->values = values;
	file->good = !failed;
	/* Any user may see this error, so it reveals nothing about kscaled's machine. */
	err_set(&shown, ERR_INVALID, "\"%.200s\" below --filepath-auth-root-path cannot be used: see kscaled's log",
		file->held.key);
	err_keep(&file->err, failed ? &shown : NULL);
	return true;
}

static void on_check(void *arg)
{
	struct authfiles *f = arg;
	struct held *held, *next;

	HASH_ITER (hh, f->holders.things, held, next) {
		struct file *file = (struct file *)held;

		if (!files_changed(&file->stamp) && !file->may_be_partial)
			continue;
		if (file_reread(f, file))
			holders_notify(held);
	}
	if (f->holders.things)
		loop_timer_set(&f->check, AUTHFILES_CHECK_MS);
}

/* ---- Keeping ---- */

static void on_unheld(void *arg, struct held *held)
{
	struct file *file = (struct file *)held;

	(void)arg;
	files_done(&file->stamp);
	strmap_done_secret(&file->values);
	free(file->err);
	free(file);
}

static bool has_dot_dot(const char *path)
{
	MEM_AUTO char *closed = mem_printf("/%s/", path);

	return strstr(closed, "/../") != NULL;
}

enum reference_state authfiles_get(struct authfiles *f, struct object *owner, const char *path,
	const struct strmap **values, struct err *err)
{
	struct file *file;

	if (!f->root) {
		err_set(err, ERR_DENIED, AUTHFILES_NONE);
		return REFERENCE_DENIED;
	}
	if (!*path || *path == '/' || has_dot_dot(path)) {
		err_set(err, ERR_INVALID, "\"%.200s\" must be a path below --filepath-auth-root-path, without \"..\"",
			path);
		return REFERENCE_DENIED;
	}
	file = (struct file *)holders_find(&f->holders, path);
	if (!file) {
		file = mem_zalloc(sizeof(*file));
		holders_add(&f->holders, &file->held, path);
		file_reread(f, file);
		if (!loop_timer_pending(&f->check))
			loop_timer_set(&f->check, AUTHFILES_CHECK_MS);
	}
	holdings_take(owner, &file->held);
	*values = &file->values;
	if (!file->err)
		return REFERENCE_FOUND;
	if (err)
		*err = *file->err;
	return REFERENCE_MISSING;
}

struct authfiles *authfiles_new(struct loop *loop, const char *root)
{
	struct authfiles *f = mem_zalloc(sizeof(*f));

	f->loop = loop;
	f->root = root && *root ? mem_dup(root) : NULL;
	holders_init(&f->holders, on_unheld, f);
	loop_timer_init(&f->check, loop, on_check, f);
	return f;
}

void authfiles_free(struct authfiles *f)
{
	if (!f)
		return;
	holders_done(&f->holders);
	loop_timer_done(&f->check);
	free(f->root);
	free(f);
}

void authfiles_listen(struct authfiles *f, object_fn fn, void *arg)
{
	holders_listen(&f->holders, fn, arg);
}
