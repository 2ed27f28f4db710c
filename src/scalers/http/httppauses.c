/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/http/httppauses.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "net/http/httpurl.h"

/* Further pauses are ignored. */
#define ENTRIES_MAX 4096

struct pause {
	char *key; /* owned */
	int64_t until_ms;
	enum httppauses_why why;
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

static struct pause *find(const struct httppauses *p, const char *origin, const char *login)
{
	MEM_AUTO char *key = mem_printf("%s %s", origin, login);
	struct pause *one;

	HASH_FIND_STR(p->pauses, key, one);
	return one;
}

void httppauses_begin(struct httppauses *p, const char *origin, const char *login, int64_t span_ms,
	enum httppauses_why why)
{
	int64_t now_ms = loop_now_ms(p->loop);
	int64_t until_ms = now_ms + (span_ms < HTTPPAUSES_MAX_MS ? span_ms : HTTPPAUSES_MAX_MS);
	struct pause *one, *next;

	HASH_ITER (hh, p->pauses, one, next) {
		if (one->until_ms <= now_ms)
			drop(p, one);
	}
	one = find(p, origin, login);
	if (!one && HASH_COUNT(p->pauses) >= ENTRIES_MAX)
		return;
	if (!one) {
		one = mem_zalloc(sizeof(*one));
		one->key = mem_printf("%s %s", origin, login);
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
	bool refused = answer->status == 429 || answer->status == 503 || answer->status == 403;
	char origin[256];

	if (p && refused && answer->retry_after_ms > 0)
		httppauses_begin(p, httpurl_origin(url, origin, sizeof(origin)), webaccess_key(access),
			answer->retry_after_ms, HTTPPAUSES_RETRY_AFTER);
}

int httppauses_check(const struct httppauses *p, const char *url, const struct webaccess *access, struct err *err)
{
	char origin[256];
	struct pause *one = p ? find(p, httpurl_origin(url, origin, sizeof(origin)), webaccess_key(access)) : NULL;
	int64_t left_ms = one ? one->until_ms - loop_now_ms(p->loop) : 0;

	return left_ms <= 0 ? 0
			    : err_set(err, ERR_TEMPORARY, "%s asked to be left alone (%s): for another %lld s", origin,
				      one->why == HTTPPAUSES_RETRY_AFTER ? "Retry-After" : "too many requests",
				      (long long)(left_ms + 999) / 1000);
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
