/* SPDX-License-Identifier: Apache-2.0 */
#include "fakebrokers.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

#include "../fixture.h"
#include "base/mem.h"
#include "net/kafka/kafkawire.h"

struct fakeconnection {
	struct fakebroker *broker;
	struct bufferevent *bev;
	struct fakeconnection *prev, *next;
};

static void put_versions(const struct fakebrokers *f, struct buf *out)
{
	static const int16_t apis[] = { 18, 3, 10, 9, 2, 17, 36 };

	kafkawire_put_i16(out, 0);
	kafkawire_put_i32(out, (int32_t)MEM_COUNT(apis));
	for (size_t i = 0; i < MEM_COUNT(apis); i++) {
		kafkawire_put_i16(out, apis[i]);
		kafkawire_put_i16(out, f->old ? 7 : 0);
		kafkawire_put_i16(out, 9);
	}
}

/* The scripted error, while its count lasts. */
static int16_t next_error(int16_t error, unsigned *left)
{
	if (*left == 0)
		return 0;
	--*left;
	return error;
}

static void put_place(const struct fakebrokers *f, int32_t id, struct buf *out)
{
	int32_t at = id <= FAKE_BROKERS ? id - 1 : 0;

	kafkawire_put_i32(out, id);
	kafkawire_put_text(out, "127.0.0.1");
	kafkawire_put_i32(out, f->advertised[at] ? f->advertised[at] : f->brokers[at].port);
}

static void put_metadata(struct fakebrokers *f, struct wire *body, struct buf *out)
{
	size_t count = kafkawire_count(body, 2);

	kafkawire_put_i32(out, 0);
	kafkawire_put_i32(out, FAKE_BROKERS + f->strangers);
	for (int32_t id = 1; id <= FAKE_BROKERS + f->strangers; id++) {
		put_place(f, id, out);
		kafkawire_put_i16(out, -1);
	}
	kafkawire_put_i16(out, -1);
	kafkawire_put_i32(out, 1);
	kafkawire_put_i32(out, (int32_t)count);
	for (size_t i = 0; i < count; i++) {
		MEM_AUTO char *name = kafkawire_dup(kafkawire_text(body));
		bool known = strcmp(name, "t") == 0;

		kafkawire_put_i16(out, known ? next_error(f->topic_error, &f->topic_errors) : 3);
		kafkawire_put_text(out, name);
		kafkawire_put_i8(out, 0);
		kafkawire_put_i32(out, known ? FAKE_PARTITIONS + f->crowd : 0);
		for (int32_t p = 0; known && p < FAKE_PARTITIONS + f->crowd; p++) {
			kafkawire_put_i16(out, 0);
			kafkawire_put_i32(out, p);
			kafkawire_put_i32(out, p < FAKE_PARTITIONS ? f->leaders[p] : 10 + p);
			kafkawire_put_i32(out, 0);
			kafkawire_put_i32(out, 0);
		}
	}
}

static void put_coordinator(struct fakebrokers *f, struct buf *out)
{
	kafkawire_put_i32(out, 0);
	kafkawire_put_i16(out, next_error(f->coordinator_error, &f->coordinator_errors));
	kafkawire_put_i16(out, -1);
	f->coordinators++;
	put_place(f, f->renames_coordinator ? 100000 + f->coordinators : f->coordinator, out);
}

static void put_committed_one(struct fakebrokers *f, int32_t p, struct buf *out)
{
	kafkawire_put_i32(out, p);
	kafkawire_put_i64(out, p < FAKE_PARTITIONS ? f->committed[p] : 0);
	kafkawire_put_i16(out, -1);
	kafkawire_put_i16(out, 0);
}

/* The partitions asked for, or all; the group "empty" has none. */
static void put_committed(struct fakebrokers *f, struct wire *body, struct buf *out)
{
	MEM_AUTO char *group = kafkawire_dup(kafkawire_text(body));
	bool all = body->left == 4, empty = strcmp(group, "empty") == 0;
	int32_t first = f->leaves_out_committed;

	kafkawire_put_i32(out, 0);
	kafkawire_put_i32(out, empty && all ? 0 : 1);
	if (!empty || !all) {
		kafkawire_put_text(out, "t");
		kafkawire_put_i32(out, FAKE_PARTITIONS + f->crowd - first);
		for (int32_t p = first; p < FAKE_PARTITIONS + f->crowd; p++)
			put_committed_one(f, p, out);
	}
	kafkawire_put_i16(out, next_error(f->group_error, &f->group_errors));
}

static void put_offsets(struct fakebroker *b, struct wire *body, struct buf *out)
{
	struct fakebrokers *f = b->all;
	size_t count;
	int16_t error = next_error(f->offset_error, &f->offset_errors);

	kafkawire_i32(body);
	kafkawire_i8(body);
	kafkawire_count(body, 2);
	kafkawire_text(body);
	count = kafkawire_count(body, 12);
	kafkawire_put_i32(out, 0);
	kafkawire_put_i32(out, 1);
	kafkawire_put_text(out, "t");
	kafkawire_put_i32(out, (int32_t)count - f->leaves_out_ends);
	for (size_t i = 0; i < count; i++) {
		int32_t p = kafkawire_i32(body);
		bool ends = kafkawire_i64(body) == -1, leads = f->leaders[p] == b->id;

		if (p == 0 && f->leaves_out_ends)
			continue;
		kafkawire_put_i32(out, p);
		kafkawire_put_i16(out, error ? error : leads ? 0 : 6);
		kafkawire_put_i64(out, -1);
		kafkawire_put_i64(out, ends ? f->ends[p] : f->starts[p]);
	}
}

static void put_lie(struct buf *out)
{
	for (int i = 0; i < 4; i++)
		kafkawire_put_i32(out, i == 0 ? 0 : INT32_MAX);
}

static void answer(struct fakeconnection *c, struct wire *r)
{
	struct fakebroker *b = c->broker;
	struct fakebrokers *f = b->all;
	struct buf out = BUF_INIT(4u << 20), frame = BUF_INIT(4u << 20);
	int16_t api = kafkawire_i16(r);
	int32_t correlation;

	kafkawire_i16(r);
	correlation = kafkawire_i32(r);
	kafkawire_text(r);
	assert_in_range(api, 0, FAKE_APIS - 1);
	b->asked[api]++;
	kafkawire_put_i32(&out, correlation);
	if (f->lies_about == api)
		put_lie(&out);
	else if (api == 18)
		put_versions(f, &out);
	else if (api == FAKE_METADATA)
		put_metadata(f, r, &out);
	else if (api == FAKE_COORDINATOR)
		put_coordinator(f, &out);
	else if (api == FAKE_COMMITTED)
		put_committed(f, r, &out);
	else if (api == FAKE_OFFSETS)
		put_offsets(b, r, &out);
	else
		fail_msg("request %d", api);
	assert_false(r->failed);
	if (f->says_nothing)
		buf_reset(&out);
	if (f->silent_about != api)
		kafkawire_put_bytes(&frame, out.data, out.len);
	evbuffer_add(bufferevent_get_output(c->bev), frame.data, frame.len);
	buf_done(&out);
	buf_done(&frame);
}

static void hang_up(struct fakeconnection *c)
{
	DL_DELETE(c->broker->connections, c);
	bufferevent_free(c->bev);
	mem_free_ptr(&c);
}

static void on_read(struct bufferevent *bev, void *arg)
{
	struct fakeconnection *c = arg;
	struct evbuffer *input = bufferevent_get_input(bev);
	unsigned char len[4];

	if (c->broker->cuts) {
		c->broker->cuts = false;
		fakebrokers_hang_up(c->broker);
		return;
	}
	if (c->broker->all->closes) {
		hang_up(c);
		return;
	}
	while (!c->broker->silent && evbuffer_copyout(input, len, 4) == 4) {
		size_t whole = (size_t)(len[0] << 24 | len[1] << 16 | len[2] << 8 | len[3]);
		struct wire r;

		if (evbuffer_get_length(input) < whole + 4)
			return;
		r = (struct wire){ evbuffer_pullup(input, (ev_ssize_t)whole + 4) + 4, whole, false };
		answer(c, &r);
		evbuffer_drain(input, whole + 4);
	}
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	(void)bev;
	(void)what;
	hang_up(arg);
}

static void on_accept(evutil_socket_t fd, short what, void *arg)
{
	struct fakebroker *b = arg;
	struct fakeconnection *c;
	int accepted = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)what;
	if (accepted < 0)
		return;
	c = mem_zalloc(sizeof(*c));
	c->broker = b;
	c->bev = bufferevent_socket_new(loop_base(b->all->loop), accepted, BEV_OPT_CLOSE_ON_FREE);
	bufferevent_setcb(c->bev, on_read, NULL, on_event, c);
	bufferevent_enable(c->bev, EV_READ | EV_WRITE);
	DL_APPEND(b->connections, c);
	b->accepted++;
}

void fakebrokers_hang_up(struct fakebroker *b)
{
	while (b->connections)
		hang_up(b->connections);
}

unsigned fakebrokers_asked(const struct fakebrokers *f, int api)
{
	unsigned count = 0;

	for (size_t i = 0; i < FAKE_BROKERS; i++)
		count += f->brokers[i].asked[api];
	return count;
}

void fakebrokers_start(struct fakebrokers *f, struct loop *loop)
{
	*f = (struct fakebrokers){ .loop = loop, .coordinator = 1 };
	for (int32_t i = 0; i < FAKE_BROKERS; i++) {
		struct fakebroker *b = &f->brokers[i];

		b->all = f;
		b->id = i + 1;
		b->listener = fixture_listen(&b->port);
		b->accepting = event_new(loop_base(loop), b->listener, EV_READ | EV_PERSIST, on_accept, b);
		event_add(b->accepting, NULL);
	}
	for (int32_t p = 0; p < FAKE_PARTITIONS; p++) {
		f->leaders[p] = p % FAKE_BROKERS + 1;
		f->ends[p] = 100;
		f->committed[p] = 90 + p;
	}
}

void fakebrokers_end(struct fakebrokers *f)
{
	for (size_t i = 0; i < FAKE_BROKERS; i++) {
		fakebrokers_hang_up(&f->brokers[i]);
		event_free(f->brokers[i].accepting);
		close(f->brokers[i].listener);
	}
}
