/* SPDX-License-Identifier: Apache-2.0 */
#include "control/certs/certfiles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "kube/files.h"
#include "net/tls/x509.h"

#define LOOK_MS        5000
#define SETTLE_MS      1000 /* the files of a pair are written one after the other */
#define FILE_MAX_BYTES (1u << 20)

struct certfiles {
	struct tls_server *tls; /* borrowed */
	char *paths[2];         /* certificate, key */
	uint64_t loaded[2];     /* files_stamp of what was read last, valid or not */
	uint64_t seen[2];       /* at the last check */
	int64_t until_unix_ms;  /* end of the certificate in use */
	bool told_expired;
	char trouble[ERR_MSG_MAX];
	struct loop_timer timer;
};

/* ---- Files ---- */

/* Whether they are unchanged since the last check. */
static bool are_unchanged(struct certfiles *f)
{
	uint64_t now[2] = { files_stamp(f->paths[0]), files_stamp(f->paths[1]) };
	bool same = memcmp(now, f->seen, sizeof now) == 0;

	memcpy(f->seen, now, sizeof now);
	return same;
}

/* The content, which may be a key; the caller must wipe it. NULL and *err on failure. */
static char *read_file(const char *path, struct err *err)
{
	struct buf text = BUF_INIT(FILE_MAX_BYTES);

	if (file_read(path, FILE_REGULAR, NULL, &text, err) == 0)
		return buf_take(&text);
	err_wrap(err, "%s", path);
	buf_done_secret(&text);
	return NULL;
}

/* ---- Loading ---- */

static int load(struct certfiles *f, struct err *err)
{
	struct x509_facts facts;
	char *cert, *key = NULL;
	int rc = -1;

	are_unchanged(f);
	memcpy(f->loaded, f->seen, sizeof f->loaded);
	cert = read_file(f->paths[0], err);
	if (cert)
		key = read_file(f->paths[1], err);
	if (key && x509_read(cert, &facts, err) != 0) {
		err_wrap(err, "%s", f->paths[0]);
	} else if (key && tls_server_set_certificate(f->tls, cert, key, err) != 0) {
		err_wrap(err, "%s and %s", f->paths[0], f->paths[1]);
	} else if (key) {
		f->until_unix_ms = facts.not_after_unix_ms;
		f->told_expired = false;
		rc = 0;
	}
	free(cert);
	mem_free_secret(key);
	return rc;
}

static void tell_expired_once(struct certfiles *f)
{
	char text[TIMESTAMP_TEXT_MAX];

	if (f->trouble[0] || timestamp_now_ms() < f->until_unix_ms)
		return;
	snprintf(f->trouble, sizeof f->trouble, "the certificate in %s expired at %s", f->paths[0],
		timestamp_format(f->until_unix_ms, text));
	if (!f->told_expired)
		log_warn("certificate", "%s", f->trouble);
	f->told_expired = true;
}

void certfiles_reload(struct certfiles *f)
{
	struct err err;

	if (load(f, &err) == 0) {
		f->trouble[0] = '\0';
		log_info("certificate", "read again from %s", f->paths[0]);
	} else {
		err_wrap(&err, "the old certificate stays in use");
		snprintf(f->trouble, sizeof f->trouble, "%s", err.msg);
		log_error("certificate", "%s", f->trouble);
	}
}

static void on_look(void *arg)
{
	struct certfiles *f = arg;
	bool settled = are_unchanged(f);

	if (settled && memcmp(f->seen, f->loaded, sizeof f->seen) != 0)
		certfiles_reload(f);
	tell_expired_once(f);
	loop_timer_set(&f->timer, settled ? LOOK_MS : SETTLE_MS);
}

int64_t certfiles_until_unix_ms(const struct certfiles *f)
{
	return f->until_unix_ms;
}

const char *certfiles_trouble(const struct certfiles *f)
{
	return f->trouble[0] ? f->trouble : NULL;
}

struct certfiles *certfiles_new(struct loop *loop, struct tls_server *tls, const char *cert_file, const char *key_file,
	struct err *err)
{
	struct certfiles *f = mem_zalloc(sizeof *f);

	f->tls = tls;
	f->paths[0] = mem_dup(cert_file);
	f->paths[1] = mem_dup(key_file);
	loop_timer_init(&f->timer, loop, on_look, f);
	if (load(f, err) != 0) {
		certfiles_free(f);
		return NULL;
	}
	tell_expired_once(f);
	loop_timer_set(&f->timer, LOOK_MS);
	return f;
}

void certfiles_free(struct certfiles *f)
{
	if (!f)
		return;
	loop_timer_done(&f->timer);
	free(f->paths[0]);
	free(f->paths[1]);
	free(f);
}
