/* SPDX-License-Identifier: Apache-2.0 */
#include "httpcworld.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/shares.h"
#include "net/network.h"

/* The world's client asks strangers. */
static int setup(void **state)
{
	struct httpc_config config = { .foreign = true };
	struct world *w;
	struct err err;

	if (world_setup(state) < 0)
		return -1;
	w = *state;
	httpc_free(w->c);
	w->c = httpc_new(w->f->loop, &config, &err);
	return w->c ? 0 : -1;
}

static size_t taken(const struct world *w)
{
	return network_of(w->f->loop)->descriptors.taken;
}

static void a_kept_connection_has_its_descriptor(void **state)
{
	struct world *w = *state;

	for (int n = 0; n < 2; n++) { /* the second on the first one's connection */
		RESULT(r, w);
		start(r, "/", false);
		UNTIL(w->f, r->done);
		assert_int_equal(200, r->response.status);
		assert_int_equal(1, taken(w));
		mem_free_ptr(&r);
	}
	httpc_free(w->c);
	w->c = NULL;
	assert_int_equal(0, taken(w));
}

/* Nobody accepts, and as many connections as the kernel makes by itself are made. */
struct deaf {
	int listener;
	int clients[4];
	char url[64];
};

static void deaf_open(struct deaf *d)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(sin);

	d->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(0, bind(d->listener, (struct sockaddr *)&sin, sizeof(sin)));
	assert_int_equal(0, listen(d->listener, 0));
	assert_int_equal(0, getsockname(d->listener, (struct sockaddr *)&sin, &len));
	for (size_t i = 0; i < 4; i++) {
		d->clients[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		(void)connect(d->clients[i], (struct sockaddr *)&sin, sizeof(sin));
	}
	snprintf(d->url, sizeof(d->url), "http://127.0.0.1:%u", ntohs(sin.sin_port));
}

static void deaf_close(struct deaf *d)
{
	for (size_t i = 0; i < 4; i++)
		close(d->clients[i]);
	close(d->listener);
}

static void a_failed_connection_gives_its_descriptor_back(void **state)
{
	struct world *w = *state;
	struct httpc_request request = { .deadline_ms = 100, .namespace_ = "a" };
	struct deaf d;

	deaf_open(&d);
	for (int cancelled = 0; cancelled < 2; cancelled++) {
		RESULT(r, w);
		start_request(r, d.url, "/", request, false);
		UNTIL(w->f, taken(w) == 1);
		if (cancelled)
			httpc_cancel(r->call);
		UNTIL(w->f, cancelled || r->done);
		UNTIL(w->f, taken(w) == 0);
		assert_int_equal(cancelled ? ERR_NONE : ERR_TEMPORARY, r->err.kind);
		mem_free_ptr(&r);
	}
	deaf_close(&d);
}

/* A server goes and comes back: descriptors are not given back twice. */
static void numbers_are_used_again(void **state)
{
	struct world *w = *state;
	struct httpc_request request = { .deadline_ms = 50, .namespace_ = "a" };
	struct deaf d;
	RESULT(kept, w);

	deaf_open(&d);
	for (int n = 0; n < 5; n++) {
		RESULT(r, w);
		start_request(r, d.url, "/", request, false);
		UNTIL(w->f, r->done);
		mem_free_ptr(&r);
	}
	start(kept, "/", false);
	UNTIL(w->f, kept->done);
	assert_int_equal(1, taken(w));
	httpc_drop_connections(w->c);
	UNTIL(w->f, taken(w) == 0);
	mem_free_ptr(&kept);
	deaf_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_kept_connection_has_its_descriptor, setup, world_teardown),
		cmocka_unit_test_setup_teardown(a_failed_connection_gives_its_descriptor_back, setup, world_teardown),
		cmocka_unit_test_setup_teardown(numbers_are_used_again, setup, world_teardown),
	};

	world_without_proxies();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
