/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_HTTP_HTTPSOURCE_H
#define SCALERS_HTTP_HTTPSOURCE_H

/*
 * Asks a source over HTTP, for all types that do (scalers/login/httpauth logs in). A type makes the
 * next request and reads its response, both without I/O; the rest is common: sending requests one
 * after the other, authentication (net/web/exchange, net/web/webauth), pauses that a server asks
 * for, and errors that name the source.
 *
 * A type has .http = &its_http and .asker = &httpsource_asker in its struct scaler_type, and its
 * question's data begins with a struct httplogin.
 */

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strmap.h"
#include "net/web/webauth.h"
#include "scalers/httplogin.h"
#include "scalers/scaler.h"
#include "scalers/sources.h"

/* One ask. Read-only for types. */
struct httpsource {
	struct scaler_ask base; /* its question */
	void *data;             /* the question's, of the type */
	void *state;         /* owned: state_size bytes that the type keeps from request to request; zeroed at first */
	unsigned step;       /* requests answered so far */
	const char *project; /* of the identity, if needs_project; NULL: none */
	/* ---- Private to httpsource.c ---- */
	struct webauth auth;
	struct answer answer;
	/* the longest Retry-After of 2xx responses so far */
	int64_t rest_ms;
};

#define HTTPSOURCE_STEPS_MAX 200

struct httpsource_type {
	/*
	 * What the question is about, for errors of responses: a word and the offset of a text in
	 * the data ("queue jobs: ..."). NULL: nothing is prepended.
	 */
	const char *subject;
	size_t subject_at;
	unsigned steps_max; /* 0: HTTPSOURCE_STEPS_MAX */
	size_t state_size;
	void (*state_done)(void *state); /* frees what the state owns; NULL: nothing */
	/*
	 * Whether the requests contain the Google project of the login's identity, which comes with
	 * its token (net/identity, struct credential); NULL: never.
	 */
	bool (*needs_project)(const struct question *question);
	size_t max_body; /* of requests without their own; 0: 1 MiB */
	/* Makes the next request. 0, or -1 with err. NULL: a GET of the login's url. */
	int (*request)(const struct httpsource *ask, struct webrequest *out, struct err *err);
	/*
	 * Reads a response with any status. EXCHANGE_DONE: *out is the answer. EXCHANGE_NEXT:
	 * request makes another one, at most steps_max in all. EXCHANGE_FAILED: err says why,
	 * without the source's name, which is put before it; if it has a retry_after_ms, the server
	 * gets no requests from this login for that time.
	 */
	enum exchange_verdict (
		*read)(struct httpsource *ask, const struct webresponse *answer, struct answer *out, struct err *err);
	/*
	 * NULL, or receives the body of each 2xx response in pieces, as on_piece of
	 * webclient_options; read then gets no body. False with err ends the ask.
	 */
	bool (*piece)(struct httpsource *ask, const char *bytes, size_t len, size_t *kept, struct err *err);
	/*
	 * A request had no response, or was not sent because its server asked for a pause; err says
	 * which. EXCHANGE_NEXT if another request is to be made, else EXCHANGE_FAILED. NULL:
	 * always EXCHANGE_FAILED.
	 */
	enum exchange_verdict (*lost)(struct httpsource *ask, const struct err *err);
};

/*
 * A 2xx response with Retry-After, as Azure DevOps sends it under load, stays valid until then, up
 * to this limit, and the question is not asked meanwhile. Other questions with the login are asked,
 * each once in that time.
 */
#define HTTPSOURCE_REST_MAX_MS ((int64_t)300 * 1000)

extern const struct scaler_asker httpsource_asker;

/* The type's read; in an error it names the subject. Public for tests. */
enum exchange_verdict httpsource_read(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err);

/* ---- For the read functions ---- */

/*
 * The server that has just answered had too many requests: this login sends it no more for span_ms;
 * 0: no effect. Retry-After counts without this call.
 */
void httpsource_pause(const struct httpsource *ask, int64_t span_ms);

/*
 * 0 if the status is in this range; else -1 with an error of its kind (httpstatus_kind), with the
 * status and the beginning of the body.
 */
int httpsource_expect(const struct webresponse *answer, int least, int most, struct err *err);
/* The body as JSON, which the caller owns; NULL with ERR_INVALID, which does not quote the body. */
json_t *httpsource_json(const struct webresponse *answer, struct err *err);

#endif
