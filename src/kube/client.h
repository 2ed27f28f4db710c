/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_CLIENT_H
#define KUBE_CLIENT_H

/*
 * The Kubernetes client: calls to one API server over two HTTP/2 connection pools, one for watches
 * and one for short calls, so that a Lease renewal never queues behind watches. Short calls are
 * queued by priority, with at most `max_in_flight` under way. Each has a deadline, within which
 * Retry-After of a 429 or 503 is honoured; after a 401 the credentials are read again, once. Knows
 * no policy: control decides which calls to make and what a failure means.
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
struct watchstreams;

struct kube *kube_new(struct loop *loop, struct kube_config *config /* borrowed, outlives */,
	struct counters *counters /* borrowed, may be NULL */, struct err *err);
void kube_free(struct kube *k); /* cancels all calls without callbacks; not from inside a watch's callback */

/*
 * Priority classes. A class whose calls have waited long behind others gets one slot, so that none
 * starves, except the last.
 */
enum kube_priority {
	KUBE_URGENT,     /* the Lease */
	KUBE_SCALE,      /* writes of /scale */
	KUBE_NORMAL,     /* everything else that scaling needs: HPAs, reads, reviews of metric requests */
	KUBE_STATUS,     /* status of objects, for users */
	KUBE_BACKGROUND, /* Events */
	KUBE_ASIDE,      /* requests caused by third parties: reads for the webhook's reviews */
	KUBE_PRIORITIES,
};

enum kube_verb {
	KUBE_GET,
	KUBE_LIST,
	KUBE_CREATE,
	KUBE_UPDATE,
	KUBE_MERGE_PATCH,
	/*
	 * server-side apply under the path's fieldManager: creates the object or changes the fields
	 * in the body; needs the right "patch", to create also "create", both of which may be
	 * limited by name
	 */
	KUBE_APPLY,
	KUBE_DELETE,
	/*
	 * a POST that changes nothing (TokenReview, SubjectAccessReview), so losing the Lease does
	 * not abort it
	 */
	KUBE_REVIEW,
};

/* What to do with a successful answer's body. */
enum kube_answer {
	KUBE_ANSWER_STRIPPED, /* parse it, without fields that hardly anyone reads (kube/objecttext.h) */
	KUBE_ANSWER_WHOLE,
	KUBE_ANSWER_IGNORED, /* do not parse it; the callback gets no object */
};

struct kube_request {
	enum kube_verb verb;
	const char
		*path; /* "/apis/autoscaling/v2/namespaces/x/horizontalpodautoscalers/y?fieldManager=kscaled"; copied */
	const char *body;    /* JSON text, copied; NULL for none */
	int64_t deadline_ms; /* relative, including the time in the queue; 0: 10,000 */
	enum kube_priority priority;
	enum kube_answer answer;
	/*
	 * Whether the answered version is known already because the watch was faster; called with
	 * the callback's arg. A known object is not parsed, and the callback gets none. NULL: never
	 * known.
	 */
	objecttext_known_fn is_known;
};

/*
 * Receives the outcome of a call.
 *
 * A write may be repeated automatically: after a 429, after a 5xx with Retry-After, and by libcurl
 * when a reused connection is cut before a byte of the answer. So a create may get a 409 caused by
 * itself, and neither that nor an error with a 5xx or without http_status means that the write had
 * no effect. The server is told the remaining time (`timeout`), so a write it has accepted also
 * ends with the deadline.
 *
 * On success object is the JSON of the answer (borrowed; NULL if the body is empty, ignored or
 * known) and err is NULL. A failing answer's Status becomes err: 404 missing, 409 conflict (also
 * AlreadyExists), 410 gone, 401/403 denied, 400/405/413/415/422 invalid, 429/5xx and transport
 * temporary; the message is the server's.
 */
typedef void (*kube_fn)(void *arg, const json_t *object, const struct err *err);

struct kube_call *kube_call(struct kube *k, const struct kube_request *request, kube_fn fn, void *arg);
/* cancels the callback; NULL is fine; no effect within the turn of the callback */
void kube_cancel(struct kube_call *call);

/*
 * Like kube_call, but the call owns arg: free_arg(arg) is called after the callback or on cancel.
 */
struct kube_call *kube_call_owning(struct kube *k, const struct kube_request *request, kube_fn fn, void *arg,
	void (*free_arg)(void *));

/*
 * Aborts all queued and running writes (not GET, LIST, watches) with ERR_TEMPORARY, after the Lease
 * was lost. Writes with priority KUBE_URGENT are exempt.
 */
void kube_abort_writes(struct kube *k);

/*
 * Limits the deadline of all later writes, here and at the server, to this instant (loop clock); 0
 * removes the limit. Keeps writes within the Lease. Writes with priority KUBE_URGENT, which renew
 * the Lease, are exempt.
 */
void kube_set_write_limit(struct kube *k, int64_t until_ms);

/*
 * Reads changed files of the configuration again, now. *changed: later requests use other
 * credentials, or another server. -1: a file's content is unusable, and the old one stays in use.
 * May be called from inside callbacks of calls, but not of watches.
 */
int kube_refresh(struct kube *k, bool *changed, struct err *err);

/*
 * Why contact to the API server counts as lost: for ten seconds no request got an answer; NULL: it
 * does not. An answer of any status ends that. Borrowed until the next call.
 */
const char *kube_trouble(struct kube *k);

struct loop *kube_loop(struct kube *k);
struct watchstreams *kube_watchstreams(struct kube *k); /* for kube/watch */

/* Percent-encodes a path segment into out; NULL if it does not fit. */
char *kube_escape(const char *text, char *out, size_t size);

#endif
