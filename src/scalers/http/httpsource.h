/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_HTTP_HTTPSOURCE_H
#define SCALERS_HTTP_HTTPSOURCE_H

/*
 * Asking a source over HTTP, for all types that do (how they log in is scalers/login/httpauth). A
 * type says which request is next and what its response means, both without I/O; everything else is
 * the same for all: sending it, one request after the other, as whom it may be (net/web/exchange,
 * net/web/webauth), pauses that a server asks for, and errors that name the source.
 *
 * A type has .http = &its_http, .ask = httpsource_ask and .cancel = httpsource_cancel in its
 * struct scaler_type, and its question's data begins with a struct httplogin.
 */

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strmap.h"
#include "net/web/webauth.h"
#include "scalers/httplogin.h"
#include "scalers/scaler.h"
#include "scalers/sources.h"

/* One ask. For types to read. */
struct httpsource {
	struct scaler_ask base; /* its question, whose data is the type's */
	struct scaler_sources *sources;
	void *note;          /* owned: note_size bytes that the type keeps from request to request; zeroed at first */
	unsigned step;       /* requests answered so far */
	const char *project; /* of the identity, for who needs_project; NULL: it has none */
	int64_t deadline_ms; /* of all its requests; loop clock; 0: none */
	/* ---- of httpsource.c alone ---- */
	struct webauth auth;
	struct answer answer;
	/* the most that good answers said so far by Retry-After */
	int64_t rest_ms;
};

enum httpsource_verdict {
	HTTPSOURCE_ANSWERED = EXCHANGE_DONE, /* *out is the answer */
	/*
	 * err says why; the source's name is put before it. With a retry_after_ms the server is
	 * left alone for so long, by this login
	 */
	HTTPSOURCE_FAILED = EXCHANGE_FAILED,
	HTTPSOURCE_NEXT = EXCHANGE_NEXT, /* request() makes another one; at most steps_max in all */
};
#define HTTPSOURCE_STEPS_MAX 200

struct httpsource_type {
	unsigned steps_max; /* 0: HTTPSOURCE_STEPS_MAX */
	size_t note_size;
	void (*note_done)(void *note); /* frees what the note owns; NULL: nothing */
	/*
	 * Whether the requests name the project of Google's that the login's identity is of, which
	 * is known with its token (net/identity, struct credential); NULL: never.
	 */
	bool (*needs_project)(const struct question *question);
	size_t max_body; /* of requests that say none; 0: 1 MiB */
	/* Makes the next request. 0, or -1 with err. NULL: a GET of the login's url. */
	int (*request)(const struct httpsource *ask, struct webrequest *out, struct err *err);
	/* Judges a response with any status. */
	enum httpsource_verdict (
		*read)(struct httpsource *ask, const struct webresponse *answer, struct answer *out, struct err *err);
	/*
	 * NULL; else takes the body of each response with 2xx in pieces, as on_piece of
	 * webclient_options, and read is given no body then. False with err ends the ask.
	 */
	bool (*piece)(struct httpsource *ask, const char *bytes, size_t len, size_t *kept, struct err *err);
	/*
	 * A request had no response, or was not sent, as its server asked to be left alone, and err
	 * says why: HTTPSOURCE_NEXT when there is another to make all the same, else
	 * HTTPSOURCE_FAILED. NULL: always that.
	 */
	enum httpsource_verdict (*lost)(struct httpsource *ask, const struct err *err);
};

/*
 * A good answer with Retry-After, as Azure DevOps has it for who asks much, stands until then, but
 * for so long at most, and this question rests; others with the login are asked. So all are, each
 * once in that time.
 */
#define HTTPSOURCE_REST_MAX_MS ((int64_t)300 * 1000)

/* For struct scaler_type. */
void *httpsource_ask(struct scaler_sources *sources, struct question *question, int64_t deadline_ms, question_fn fn,
	void *arg);
void httpsource_cancel(void *handle);

/* ---- For the read functions ---- */

/*
 * The server that has just answered had too many requests, and is not asked for so long by anybody
 * with this login; 0: nothing is done. What Retry-After says is heeded without it.
 */
void httpsource_pause(const struct httpsource *ask, int64_t span_ms);

/*
 * 0 when the status is in this range; else -1 with an error of its kind (httpstatus_kind) that
 * has the status and the beginning of what the server says.
 */
int httpsource_expect(const struct webresponse *answer, int least, int most, struct err *err);
/* Prepends `query <its beginning>: `. */
void httpsource_wrap_query(struct err *err, const char *query);
/* The body as JSON, which the caller owns; NULL with ERR_INVALID, which does not quote it. */
json_t *httpsource_json(const struct webresponse *answer, struct err *err);

#endif
