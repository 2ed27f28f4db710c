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
	struct err *err; /* why there are none; NULL */
	bool good;       /* there are values */
	/*
	 * the values are older than the file, which was unreadable at the last check: it may be
	 * half written
	 */
	bool doubtful;
};

struct authfiles {
	struct loop *loop;
	char *root; /* NULL */
	struct holders holders;
	struct loop_timer look;
};

/* ---- Reading ---- */

/* A JSON object of texts, and nothing else. */
static int parse(const char *text, size_t len, struct strmap *out, struct err *err)
{
	json_t *object = json_parse(text, len, NULL); /* no error text, which might quote the file */
	const char *key;
	json_t *value;
	int failed = 0;

	if (!json_is_object(object)) {
		json_decref(object);
		return err_set(err, ERR_INVALID, "is no JSON object");
	}
	json_object_foreach(object, key, value)
	{
		if (json_is_string(value) && strlen(json_string_value(value)) == json_string_length(value))
			strmap_set(out, key, json_string_value(value));
		else
			failed = err_set(err, ERR_INVALID, "\"%.64s\" is no text", key);
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

/*
 * False when nothing changed for its holders. A file that becomes invalid is reported at the next
 * check.
 */
static bool file_reread(struct authfiles *f, struct file *file)
{
	struct strmap values = { 0 };
	struct err err = { 0 }, told = { 0 };
	bool failed = read_values(f, file, &values, &err) != 0, waits = failed && file->good && !file->doubtful;

	file->doubtful = waits;
	if (failed)
		log_warn("auth files", "%s%s", err.msg,
			waits ? "; what it said before is used until the next look" : "");
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
	/* Any user may see this error, so it contains nothing about kscaled's machine. */
	err_set(&told, ERR_INVALID,
		"\"%.200s\" is no usable file below --filepath-auth-root-path: kscaled's log says why", file->held.key);
	err_keep(&file->err, failed ? &told : NULL);
	return true;
}

static void on_look(void *arg)
{
	struct authfiles *f = arg;
	struct held *held, *next;

	HASH_ITER (hh, f->holders.things, held, next) {
		struct file *file = (struct file *)held;

		if (!files_changed(&file->stamp) && !file->doubtful)
			continue;
		if (file_reread(f, file))
			holders_tell(held);
	}
	if (f->holders.things)
		loop_timer_set(&f->look, AUTHFILES_LOOK_MS);
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

static bool goes_up(const char *path)
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
	if (!*path || *path == '/' || goes_up(path)) {
		err_set(err, ERR_INVALID, "\"%.200s\" must be a path below --filepath-auth-root-path, without \"..\"",
			path);
		return REFERENCE_DENIED;
	}
	file = (struct file *)holders_find(&f->holders, path);
	if (!file) {
		file = mem_zalloc(sizeof(*file));
		holders_add(&f->holders, &file->held, path);
		file_reread(f, file);
		if (!loop_timer_pending(&f->look))
			loop_timer_set(&f->look, AUTHFILES_LOOK_MS);
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
	loop_timer_init(&f->look, loop, on_look, f);
	return f;
}

void authfiles_free(struct authfiles *f)
{
	if (!f)
		return;
	holders_done(&f->holders);
	loop_timer_done(&f->look);
	free(f->root);
	free(f);
}

void authfiles_listen(struct authfiles *f, object_fn fn, void *arg)
{
	holders_listen(&f->holders, fn, arg);
}
