/* SPDX-License-Identifier: Apache-2.0 */
#include "net/dial.h"

#include <errno.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/dns.h"
#include "net/network.h"
#include "net/sourcerules.h"

#define DEAD_PEER_MS       15000
#define DEAD_PEER_LEAST_MS 1000
#define PROBES             3 /* keepalive probes, after half of the time, a fifth of it apart */
/* For subscriptions. */
#define SUBSCRIBE_MAX_MS 5000
#define DENIED_FIRST_MS  5000
#define DENIED_MAX_MS    300000

struct dial {
	struct loop *loop;
	int64_t deadline_ms;
	struct descriptors_hold *hold;
	dial_fn fn;
	void *arg;
	struct dns_lookup *lookup;
	size_t count, next; /* number of addresses, and the index of the next one to try */
	struct dns_address *addresses;
	int fd; /* of the attempt under way, or connected but not handed over yet; -1: none */
	struct event *writable;
	struct loop_timer timer; /* ends the attempt, or the lookup */
	struct loop_task tell;
	struct err err; /* of the last attempt */
};

int64_t dial_subscribe_ms(unsigned failures, enum err_kind why)
{
	if (why == ERR_DENIED)
		return loop_backoff_ms(failures, DENIED_FIRST_MS, DENIED_MAX_MS);
	return loop_backoff_ms(failures, DIAL_AGAIN_FIRST_MS, SUBSCRIBE_MAX_MS);
}

static int seconds(int64_t ms)
{
	return ms < 1000 ? 1 : (int)(ms / 1000);
}

void dial_tune_socket(int fd, int64_t dead_peer_ms)
{
	int64_t least_ms = dead_peer_ms < DEAD_PEER_LEAST_MS ? DEAD_PEER_LEAST_MS : dead_peer_ms,
		dead_ms = dead_peer_ms && least_ms < DEAD_PEER_MS ? least_ms : DEAD_PEER_MS;
	int on = 1, idle_s = seconds(dead_ms / 2), interval_s = seconds(dead_ms / 5), count = PROBES;
	unsigned user_timeout_ms = (unsigned)dead_ms;

	/* They fail on sockets other than TCP, which is fine. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &user_timeout_ms, sizeof(user_timeout_ms));
}

static void stop_waiting(struct dial *d)
{
	loop_timer_cancel(&d->timer);
	if (d->writable)
		event_free(d->writable);
	d->writable = NULL;
}

static void end_attempt(struct dial *d)
{
	stop_waiting(d);
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}

static void dial_free(struct dial *d)
{
	dns_lookup_cancel(d->lookup);
	end_attempt(d);
	loop_task_cancel(d->loop, &d->tell);
	free(d->addresses);
	free(d);
}

static void on_tell(void *arg)
{
	struct dial *d = arg;
	dial_fn fn = d->fn;
	void *fn_arg = d->arg;
	struct err err = d->err;
	int fd = d->fd;

	d->fd = -1;
	if (fd < 0)
		descriptors_give(d->hold, 0);
	dial_free(d);
	fn(fn_arg, fd, fd >= 0 ? NULL : &err);
}

static void succeed(struct dial *d)
{
	stop_waiting(d);
	loop_task_queue(d->loop, &d->tell);
}

static void on_writable(evutil_socket_t fd, short what, void *arg);

/* 1: under way, 0: connected, -1: failed (d->err). */
static int attempt(struct dial *d, const struct dns_address *address)
{
	if (sourcerules_judge(&network_of(d->loop)->rules, (const struct sockaddr *)&address->sa, address->len,
		    &d->err))
		return -1;
	d->fd = socket(address->sa.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (d->fd < 0)
		return err_set(&d->err, ERR_TEMPORARY, "making a socket: %s", strerror(errno));
	dial_tune_socket(d->fd, 0);
	if (connect(d->fd, (const struct sockaddr *)&address->sa, address->len) == 0)
		return 0;
	if (errno != EINPROGRESS)
		return err_set(&d->err, ERR_TEMPORARY, "%s", strerror(errno));
	d->writable = event_new(loop_base(d->loop), d->fd, EV_WRITE, on_writable, d);
	event_add(d->writable, NULL);
	return 1;
}

static void try_next(struct dial *d)
{
	while (d->next < d->count) {
		int64_t left_ms = d->deadline_ms - loop_now_ms(d->loop);
		int64_t shares = (int64_t)(d->count - d->next);
		int state;

		if (left_ms <= 0) {
			err_set(&d->err, ERR_TEMPORARY, "timed out");
			break;
		}
		state = attempt(d, &d->addresses[d->next++]);
		if (state == 0) {
			succeed(d);
			return;
		}
		if (state > 0) {
			loop_timer_set(&d->timer, left_ms / shares);
			return;
		}
		end_attempt(d);
	}
	loop_task_queue(d->loop, &d->tell);
}

static void on_addresses(void *arg, const struct dns_address *addresses, size_t count, const struct err *err)
{
	struct dial *d = arg;

	d->lookup = NULL;
	loop_timer_cancel(&d->timer);
	if (err)
		d->err = *err;
	if (count) {
		d->addresses = mem_array(count, sizeof(*addresses));
		memcpy(d->addresses, addresses, count * sizeof(*addresses));
	}
	d->count = count;
	try_next(d);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct dial *d = arg;
	int error = 0;
	socklen_t len = sizeof(error);

	(void)what;
	loop_enter(d->loop);
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		error = errno;
	if (!error) {
		succeed(d);
		return;
	}
	err_set(&d->err, ERR_TEMPORARY, "%s", strerror(error));
	end_attempt(d);
	try_next(d);
}

static void on_timeout(void *arg)
{
	struct dial *d = arg;

	err_set(&d->err, ERR_TEMPORARY, "%stimed out", d->lookup ? "looking up the name: " : "");
	dns_lookup_cancel(d->lookup);
	d->lookup = NULL;
	end_attempt(d);
	try_next(d);
}

static void use_unix_path(struct dial *d, const char *path)
{
	struct sockaddr_un *sun;

	d->addresses = mem_array(1, sizeof(*d->addresses));
	sun = (struct sockaddr_un *)&d->addresses->sa;
	if (strlen(path) >= sizeof(sun->sun_path)) {
		err_set(&d->err, ERR_INVALID, "the path is longer than %zu bytes", sizeof(sun->sun_path) - 1);
	} else {
		sun->sun_family = AF_UNIX;
		strcpy(sun->sun_path, path);
		d->addresses->len = sizeof(*sun);
		d->count = 1;
	}
	try_next(d);
}

struct dial *dial_start(struct loop *loop, const char *host, uint16_t port, int64_t timeout_ms,
	struct descriptors_hold *hold, dial_fn fn, void *arg)
{
	struct dial *d = mem_zalloc(sizeof(*d));

	d->loop = loop;
	d->fd = -1;
	d->deadline_ms = loop_now_ms(loop) + timeout_ms;
	d->hold = hold;
	d->fn = fn;
	d->arg = arg;
	loop_task_init(&d->tell, on_tell, d);
	loop_timer_init(&d->timer, loop, on_timeout, d);
	if (descriptors_take(&network_of(loop)->descriptors, hold, &d->err)) {
		loop_task_queue(loop, &d->tell);
	} else if (port == 0) {
		use_unix_path(d, host);
	} else {
		d->lookup = dns_lookup_start(loop, host, port, hold->namespace_, on_addresses, d);
		loop_timer_set(&d->timer, timeout_ms);
	}
	return d;
}

void dial_cancel(struct dial *d)
{
	if (!d)
		return;
	descriptors_give(d->hold, 0);
	dial_free(d);
}
