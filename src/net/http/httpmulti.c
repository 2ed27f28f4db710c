/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http/httpmulti.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <utlist.h>

#include "base/mem.h"

/*
 * Works around a defect of libcurl 7.88: while it reads for one HTTP/2 stream it may buffer frames
 * of another, and not deliver them until the socket is readable again. So the rest of a large watch
 * event came with the next event, and the end of a response with the next response. libcurl does
 * not tell which streams are affected. Therefore, a moment after a read, every transfer that may be
 * HTTP/2 is made to read, whether its socket is readable or not, and again as long as data comes.
 * The only way to do that is to unpause a transfer, which must have been paused before; no frame is
 * sent for it.
 *
 * As that costs more than a watch event itself, it is skipped where nothing can be left behind:
 * when what came through TLS is one DATA frame (RFC 9113 4.1), all of which was handed on.
 */
#define LOOK_AFTER_MS 20
#define FRAME_HEAD    9
#define TLS13_EXTRA   17 /* per record: the type and the tag of all ciphers in use (RFC 8446 5.2) */

struct socket_watch {
	struct httpmulti *m;
	struct event *event;
	curl_socket_t fd;
	struct socket_watch *prev, *next;
};

struct httpmulti {
	struct loop *loop;
	CURLM *multi;
	loop_fn on_returned;
	httpmulti_each_fn each;
	void *arg;
	struct loop_timer timer; /* the time-out that libcurl requests, often many times before it returns */
	long timeout_ms;         /* negative: none */
	bool timeout_is_new;
	struct loop_timer look_after;
	struct socket_watch *watches;
	bool inside;
	bool heard;       /* libcurl has handed on data */
	bool maybe_http2; /* some transfer was HTTP/2, or may have been */
	bool uncounted;   /* one of those whose reads are not counted */
	/* since look_after was set: bytes out of TLS; bytes and pieces of bodies handed on */
	size_t read, taken, pieces;
};

static void follow_timeout(struct httpmulti *m)
{
	if (!m->timeout_is_new)
		return;
	m->timeout_is_new = false;
	if (m->timeout_ms < 0)
		loop_timer_cancel(&m->timer);
	else
		loop_timer_set(&m->timer, m->timeout_ms);
}

static void leave(struct httpmulti *m)
{
	m->inside = false;
	follow_timeout(m);
	m->on_returned(m->arg);
}

static void drive(struct httpmulti *m, curl_socket_t fd, int what)
{
	int running;

	m->inside = true;
	curl_multi_socket_action(m->multi, fd, what, &running);
	leave(m);
}

static void on_tls_message(int sent, int version, int type, const void *bytes, size_t len, SSL *ssl, void *arg)
{
	struct httpmulti *m = arg;
	const unsigned char *head = bytes;

	(void)version;
	if (sent || type != SSL3_RT_HEADER || len != SSL3_RT_HEADER_LENGTH)
		return;
	m->read += (size_t)head[3] << 8 | head[4];
	if (SSL_version(ssl) == TLS1_3_VERSION) /* otherwise the sum never fits, which is fine */
		m->read -= TLS13_EXTRA;
}

static CURLcode on_curl_tls(CURL *easy, void *ctx, void *arg)
{
	(void)easy;
	SSL_CTX_set_msg_callback(ctx, on_tls_message);
	SSL_CTX_set_msg_callback_arg(ctx, arg);
	return CURLE_OK;
}

static bool nothing_is_left(const struct httpmulti *m)
{
	return !m->uncounted && m->pieces == 1 && m->read == FRAME_HEAD + m->taken;
}

static void on_socket_ready(evutil_socket_t fd, short what, void *arg)
{
	struct httpmulti *m = ((struct socket_watch *)arg)->m;

	loop_enter(m->loop);
	if ((what & EV_READ) && m->maybe_http2 && !loop_timer_pending(&m->look_after)) {
		m->read = m->taken = m->pieces = 0;
		loop_timer_set(&m->look_after, LOOK_AFTER_MS);
	}
	drive(m, fd, (what & EV_READ ? CURL_CSELECT_IN : 0) | (what & EV_WRITE ? CURL_CSELECT_OUT : 0));
}

static void on_timer(void *arg)
{
	drive(arg, CURL_SOCKET_TIMEOUT, 0);
}

static void go_on(struct httpmulti *m, CURL *easy)
{
	int running;

	curl_easy_pause(easy, CURLPAUSE_CONT);
	curl_multi_socket_action(m->multi, CURL_SOCKET_TIMEOUT, 0, &running);
}

static void make_it_read(struct httpmulti *m, CURL *easy)
{
	curl_easy_pause(easy, CURLPAUSE_RECV);
	go_on(m, easy);
}

static void on_look_after(void *arg)
{
	struct httpmulti *m = arg;

	if (nothing_is_left(m))
		return;
	m->heard = false;
	m->inside = true;
	m->each(m->arg, make_it_read);
	if (m->heard)
		loop_timer_set(&m->look_after, LOOK_AFTER_MS);
	leave(m);
}

void httpmulti_resume(struct httpmulti *m, httpmulti_each_fn each)
{
	m->inside = true;
	each(m->arg, go_on);
	leave(m);
}

void httpmulti_hear(struct httpmulti *m, size_t len)
{
	m->heard = true;
	m->taken += len;
	m->pieces++;
}

static int on_curl_timer(CURLM *multi, long timeout_ms, void *arg)
{
	struct httpmulti *m = arg;

	(void)multi;
	m->timeout_ms = timeout_ms;
	m->timeout_is_new = true;
	if (!m->inside)
		follow_timeout(m);
	return 0;
}

static void watch_free(struct socket_watch *w)
{
	DL_DELETE(w->m->watches, w);
	event_free(w->event);
	free(w);
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
		DL_APPEND(m->watches, w);
		curl_multi_assign(m->multi, fd, w);
	}
	w->event = event_new(loop_base(m->loop), fd, (short)(events | EV_PERSIST), on_socket_ready, w);
	event_add(w->event, NULL);
	return 0;
}

struct httpmulti *httpmulti_new(struct loop *loop, loop_fn on_returned, httpmulti_each_fn each, void *arg)
{
	struct httpmulti *m = mem_zalloc(sizeof(*m));

	m->loop = loop;
	m->on_returned = on_returned;
	m->each = each;
	m->arg = arg;
	m->multi = curl_multi_init();
	if (!m->multi)
		abort(); /* out of memory */
	loop_timer_init(&m->timer, loop, on_timer, m);
	loop_timer_init(&m->look_after, loop, on_look_after, m);
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
	DL_FOREACH_SAFE (m->watches, w, next)
		watch_free(w);
	loop_timer_done(&m->timer);
	loop_timer_done(&m->look_after);
	free(m);
}

CURLM *httpmulti_handle(struct httpmulti *m)
{
	return m->multi;
}

bool httpmulti_inside(const struct httpmulti *m)
{
	return m->inside;
}

void httpmulti_add(struct httpmulti *m, CURL *easy, bool maybe_http2, bool count_reads)
{
	m->maybe_http2 |= maybe_http2;
	m->uncounted |= maybe_http2 && !count_reads;
	if (count_reads) {
		curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, on_curl_tls);
		curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, m);
	}
	if (curl_multi_add_handle(m->multi, easy) != CURLM_OK)
		abort(); /* out of memory */
}

void httpmulti_remove(struct httpmulti *m, CURL *easy)
{
	curl_multi_remove_handle(m->multi, easy);
}

/* ---- What came on a connection ---- */

static bool is_at(const struct sockaddr_storage *address, const char *ip, long port)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
	bool is_v6 = address->ss_family == AF_INET6;
	char text[INET6_ADDRSTRLEN];

	if (ntohs(is_v6 ? v6->sin6_port : v4->sin_port) != port)
		return false;
	return inet_ntop(address->ss_family, is_v6 ? (const void *)&v6->sin6_addr : &v4->sin_addr, text,
		       sizeof(text)) &&
		strcmp(text, ip) == 0;
}

curl_socket_t httpmulti_socket(const struct httpmulti *m, CURL *easy)
{
	const struct socket_watch *w;
	char *own = NULL, *peer = NULL;
	long own_port = 0, peer_port = 0;

	curl_easy_getinfo(easy, CURLINFO_LOCAL_IP, &own);
	curl_easy_getinfo(easy, CURLINFO_LOCAL_PORT, &own_port);
	curl_easy_getinfo(easy, CURLINFO_PRIMARY_IP, &peer);
	curl_easy_getinfo(easy, CURLINFO_PRIMARY_PORT, &peer_port);
	if (!own || !peer || own_port <= 0)
		return CURL_SOCKET_BAD;
	DL_FOREACH (m->watches, w) {
		struct sockaddr_storage address = { 0 };
		socklen_t len = sizeof(address);

		if (getsockname(w->fd, (struct sockaddr *)&address, &len) || !is_at(&address, own, own_port))
			continue;
		len = sizeof(address);
		if (getpeername(w->fd, (struct sockaddr *)&address, &len) == 0 && is_at(&address, peer, peer_port))
			return w->fd;
	}
	return CURL_SOCKET_BAD;
}

int64_t httpmulti_silent_ms(curl_socket_t fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	if (fd == CURL_SOCKET_BAD || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		return 0;
	return info.tcpi_last_data_recv;
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
