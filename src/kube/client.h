/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_CLIENT_H
#define KUBE_CLIENT_H

/*
 * The hands: calls to one API server over two HTTP/2 connection pools, one for watches, one for
 * short calls, so that a Lease renewal never queues behind watches. Short calls are queued by
 * priority and at most `max_in_flight` are under way; each has a deadline; 429 and 503 with
 * Retry-After are obeyed within it; 401 makes the credentials be read again, once. Knows no policy:
 * what to call and what a failure means is up to control.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/counters.h"
#include "base/err.h"
#include "kube/config.h"
#include "kube/objecttext.h"
#include "net/http/httpc.h"
#include "net/loop.h"

struct kube;
struct kube_call;
struct streams;

struct kube *kube_new(struct loop *loop, struct kube_config *config /* borrowed, outlives */,
	struct counters *counters /* borrowed, may be NULL */, struct err *err);
void kube_free(struct kube *k); /* cancels everything, without callbacks; not from inside a watch's callback */

/*
 * Who goes first. A class whose calls wait behind others for long still gets one place, so that
 * none starves; but for the last, which nobody waits for.
 */
enum kube_priority {
	KUBE_URGENT,     /* the Lease */
	KUBE_SCALE,      /* writes of /scale */
	KUBE_NORMAL,     /* what else scaling needs: HPAs, reads, reviews of who asks for metrics */
	KUBE_STATUS,     /* what people read of an object: .status */
	KUBE_BACKGROUND, /* Events */
	KUBE_ASIDE,      /* what strangers cause: reads for the webhook's reviews */
	KUBE_PRIORITIES,
};

enum kube_verb {
	KUBE_GET,
	KUBE_LIST,
	KUBE_CREATE,
	KUBE_UPDATE,
	KUBE_MERGE_PATCH,
	KUBE_DELETE,
	/*
	 * a POST that asks and changes nothing (TokenReview, SubjectAccessReview): no write, so a
	 * lost Lease does not touch it
	 */
	KUBE_REVIEW,
};

/* What becomes of a good answer's body. */
enum kube_answer {
	KUBE_ANSWER_STRIPPED, /* an object without what hardly anybody reads (kube/objecttext.h) */
	KUBE_ANSWER_WHOLE,
	KUBE_ANSWER_IGNORED, /* it is not parsed: the callback gets none */
};

struct kube_request {
	enum kube_verb verb;
	const char
		*path; /* "/apis/autoscaling/v2/namespaces/x/horizontalpodautoscalers/y?fieldManager=kscaled"; copied */
	const char *body;    /* JSON text, copied; NULL for none */
	int64_t deadline_ms; /* from now, queueing included; 0: 10,000 */
	enum kube_priority priority;
	enum kube_answer answer;
	/*
	 * Whether what was answered is known in this very version, as when the watch was quicker;
	 * its arg is the callback's. What is known is not parsed, and the callback gets none. NULL:
	 * nothing is.
	 */
	objecttext_known_fn is_known;
};

/*
 * A write may be sent a second time by itself: after a 429, or a 5xx that asks for it
 * (Retry-After), and by libcurl when the connection, which served before, is cut before a byte of
 * the answer came. So a create may meet the 409 of its own making, and neither that nor an error
 * without http_status or with a 5xx says that nothing was done. The server is told how long it has
 * (`timeout`), so what it has taken in ends with the deadline, too, whoever could cancel it.
 *
 * On success `object` is the JSON of the answer (borrowed; NULL when its body is empty, ignored or
 * known) and err NULL. A failing answer's Status becomes err: 404 missing, 409 conflict
 * (AlreadyExists too), 410 gone, 401/403 denied, 400/405/413/415/422 invalid, 429/5xx and transport
 * temporary; its message is the server's own.
 */
typedef void (*kube_fn)(void *arg, const json_t *object, const struct err *err);

struct kube_call *kube_call(struct kube *k, const struct kube_request *request, kube_fn fn, void *arg);
/*
 * no callback any more; NULL is fine; nothing happens until the end of the turn in which the
 * callback came
 */
void kube_cancel(struct kube_call *call);

/* The same, but the call owns arg: free_arg(arg) after the callback, or when it is cancelled. */
struct kube_call *kube_call_owning(struct kube *k, const struct kube_request *request, kube_fn fn, void *arg,
	void (*free_arg)(void *));

/*
 * Aborts every write (not GET, LIST, watches) that is queued or under way: their callbacks come
 * with ERR_TEMPORARY. For a lost Lease; writes with priority KUBE_URGENT are spared.
 */
void kube_abort_writes(struct kube *k);

/*
 * A ceiling on the deadline of every write given from now on: writes end before this instant (loop
 * clock), here and at the server; 0 lifts it. Keeps writes inside the Lease. Writes with priority
 * KUBE_URGENT, which win the Lease back, are spared here too.
 */
void kube_set_write_limit(struct kube *k, int64_t until_ms);

struct loop *kube_loop(struct kube *k);
struct streams *kube_streams(struct kube *k); /* for kube/watch */

/* A path segment, percent-encoded; into out (cut never: returns NULL when it does not fit). */
char *kube_escape(const char *text, char *out, size_t size);

/*
 * next watches dial anew (half-open links); a stream that went silent does so by itself
 * (kube/stream.h)
 */
void kube_watch_pool_reset(struct kube *k);

#endif
