/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/http/httppauses.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "net/http/httpurl.h"

/* Further pauses are ignored. */
#define ENTRIES_MAX 4096

struct pause {
	char *key; /* owned */
	int64_t until_ms;
	const char *why; /* a literal */
	UT_hash_handle hh;
};

struct httppauses {
	struct loop *loop;
	struct pause *pauses;
};

static void drop(struct httppauses *p, struct pause *one)
{
	HASH_DEL(p->pauses, one);
	free(one->key);
	free(one);
}

/* "https://a:443 key"; the caller owns it. */
static char *key_of(const char *url, const struct webaccess *access)
{
	char origin[256];

	return mem_printf("%s %s", httpurl_origin(url, origin, sizeof(origin)), webaccess_key(access));
}

void httppauses_begin(struct httppauses *p, const char *url, const struct webaccess *access, int64_t span_ms,
	const char *why)
{
	int64_t now_ms = p ? loop_now_ms(p->loop) : 0,
		until_ms = now_ms + (span_ms < HTTPPAUSES_MAX_MS ? span_ms : HTTPPAUSES_MAX_MS);
	MEM_AUTO char *key = NULL;
	struct pause *one, *next;

	if (!p || span_ms <= 0)
		return;
	HASH_ITER (hh, p->pauses, one, next) {
		if (one->until_ms <= now_ms)
			drop(p, one);
	}
	key = key_of(url, access);
	HASH_FIND_STR(p->pauses, key, one);
	if (!one && HASH_COUNT(p->pauses) >= ENTRIES_MAX)
		return;
	if (!one) {
		one = mem_zalloc(sizeof(*one));
		one->key = mem_dup(key);
		HASH_ADD_KEYPTR(hh, p->pauses, one->key, strlen(one->key), one);
	}
	if (until_ms <= one->until_ms)
		return;
	one->until_ms = until_ms;
	one->why = why;
}

void httppauses_heed(struct httppauses *p, const char *url, const struct webaccess *access,
	const struct webresponse *answer)
{
	if (answer->status == 429 || answer->status == 503 || answer->status == 403)
		httppauses_begin(p, url, access, answer->retry_after_ms, HTTPPAUSES_RETRY_AFTER);
}

int httppauses_check(const struct httppauses *p, const char *url, const struct webaccess *access, struct err *err)
{
	MEM_AUTO char *key = p && p->pauses ? key_of(url, access) : NULL;
	struct pause *one = NULL;
	int64_t left_ms;

	if (key)
		HASH_FIND_STR(p->pauses, key, one);
	left_ms = one ? one->until_ms - loop_now_ms(p->loop) : 0;
	return left_ms <= 0 ? 0
			    : err_set(err, ERR_TEMPORARY, "%.*s asked to be left alone (%s): for another %lld s",
				      (int)strcspn(key, " "), key, one->why, (long long)(left_ms + 999) / 1000);
}

static void begin_part(struct scaler_sources *s)
{
	s->pauses = mem_zalloc(sizeof(*s->pauses));
	s->pauses->loop = s->loop;
}

static void end_part(struct scaler_sources *s)
{
	struct pause *one, *next;

	HASH_ITER (hh, s->pauses->pauses, one, next) {
		drop(s->pauses, one);
	}
	free(s->pauses);
}

const struct sources_part httppauses_part = { begin_part, end_part };
