/* SPDX-License-Identifier: Apache-2.0 */
#include "net/httpmulti.h"

#include <event2/event.h>
#include <stdlib.h>
#include <utlist.h>

#include "base/mem.h"

/*
 * libcurl 7.88 may take in bytes of one HTTP/2 stream while it works for another one of the connection, and hand them on only when the socket says something again: a large watch event lay there until the next event came. So a socket
 * that was read from is driven once more a moment later, and again as long as that brings something.
 */
#define ONCE_MORE_MS 10

struct socket_watch {
	struct httpmulti *m;
	struct event *event;
	curl_socket_t fd;
	struct loop_timer once_more;
	struct socket_watch *prev, *next;
};

struct httpmulti {
	struct loop *loop;
	CURLM *multi;
	loop_fn on_returned;
	void *arg;
	struct loop_timer timer; /* the one libcurl asks for */
	struct socket_watch *watches;
	struct socket_watch *driven; /* its socket is; NULL: no socket's, or it was closed */
	bool inside;
	bool heard;              /* bytes were handed on in this drive */
};

static void drive(struct httpmulti *m, curl_socket_t fd, int what)
{
	int running;

	m->inside = true;
	m->heard = false;
	curl_multi_socket_action(m->multi, fd, what, &running);
	m->inside = false;
}

/* may_hold: there may be more to hand on, whatever was. */
static void drive_socket(struct socket_watch *w, int what, bool may_hold)
{
	struct httpmulti *m = w->m;

	m->driven = w;
	drive(m, w->fd, what);
	if (m->driven && (may_hold || m->heard) && !loop_timer_pending(&w->once_more))
		loop_timer_set(&w->once_more, ONCE_MORE_MS);
	m->driven = NULL;
	m->on_returned(m->arg);
}

static void on_socket_ready(evutil_socket_t fd, short what, void *arg)
{
	struct socket_watch *w = arg;

	(void)fd;
	loop_enter(w->m->loop);
	drive_socket(w, (what & EV_READ ? CURL_CSELECT_IN : 0) | (what & EV_WRITE ? CURL_CSELECT_OUT : 0), what & EV_READ);
}

static void on_once_more(void *arg)
{
	drive_socket(arg, CURL_CSELECT_IN, false);
}

static void on_timer(void *arg)
{
	struct httpmulti *m = arg;

	drive(m, CURL_SOCKET_TIMEOUT, 0);
	m->on_returned(m->arg);
}

static int on_curl_timer(CURLM *multi, long timeout_ms, void *arg)
{
	struct httpmulti *m = arg;

	(void)multi;
	if (timeout_ms < 0)
		loop_timer_cancel(&m->timer);
	else
		loop_timer_set(&m->timer, timeout_ms);
	return 0;
}

static void watch_free(struct socket_watch *w)
{
	DL_DELETE(w->m->watches, w);
	if (w->m->driven == w)
		w->m->driven = NULL;
	loop_timer_done(&w->once_more);
	event_free(w->event);
	mem_free_ptr(&w);
}

static int on_curl_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *watch_arg)
{
	struct httpmulti *m = arg;
	struct socket_watch *w = watch_arg;
	short events = (short)((what & CURL_POLL_IN ? EV_READ : 0) | (what & CURL_POLL_OUT ? EV_WRITE : 0));

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (w)
			watch_free(w);
		return 0;
	}
	if (w) {
		event_free(w->event);
	} else {
		w = mem_zalloc(sizeof(*w));
		w->m = m;
		w->fd = fd;
		loop_timer_init(&w->once_more, m->loop, on_once_more, w);
		DL_APPEND(m->watches, w);
		curl_multi_assign(m->multi, fd, w);
	}
	w->event = event_new(loop_base(m->loop), fd, (short)(events | EV_PERSIST), on_socket_ready, w);
	event_add(w->event, NULL);
	return 0;
}

struct httpmulti *httpmulti_new(struct loop *loop, loop_fn on_returned, void *arg)
{
	struct httpmulti *m = mem_zalloc(sizeof(*m));

	m->loop = loop;
	m->on_returned = on_returned;
	m->arg = arg;
	m->multi = curl_multi_init();
	if (!m->multi)
		abort(); /* out of memory */
	loop_timer_init(&m->timer, loop, on_timer, m);
	curl_multi_setopt(m->multi, CURLMOPT_SOCKETFUNCTION, on_curl_socket);
	curl_multi_setopt(m->multi, CURLMOPT_SOCKETDATA, m);
	curl_multi_setopt(m->multi, CURLMOPT_TIMERFUNCTION, on_curl_timer);
	curl_multi_setopt(m->multi, CURLMOPT_TIMERDATA, m);
	return m;
}

void httpmulti_free(struct httpmulti *m)
{
	struct socket_watch *w, *next;

	if (!m)
		return;
	curl_multi_cleanup(m->multi);
	DL_FOREACH_SAFE(m->watches, w, next)
		watch_free(w);
	loop_timer_done(&m->timer);
	mem_free_ptr(&m);
}

CURLM *httpmulti_handle(struct httpmulti *m)
{
	return m->multi;
}

void httpmulti_hear(struct httpmulti *m)
{
	m->heard = true;
}

bool httpmulti_inside(const struct httpmulti *m)
{
	return m->inside;
}

void httpmulti_add(struct httpmulti *m, CURL *easy)
{
	if (curl_multi_add_handle(m->multi, easy) != CURLM_OK)
		abort(); /* out of memory */
}

void httpmulti_remove(struct httpmulti *m, CURL *easy)
{
	curl_multi_remove_handle(m->multi, easy);
}

CURL *httpmulti_next(struct httpmulti *m, CURLcode *result)
{
	CURLMsg *msg;
	int left;

	while ((msg = curl_multi_info_read(m->multi, &left)) != NULL) {
		if (msg->msg == CURLMSG_DONE) {
			*result = msg->data.result;
			return msg->easy_handle;
		}
	}
	return NULL;
}
