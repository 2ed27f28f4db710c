/* SPDX-License-Identifier: Apache-2.0 */
#include "net/filewatch.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

/* A writer of several files, or of one in parts, has usually finished by then. */
#define SETTLE_MS 200

#define EVENTS (IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_ATTRIB | IN_ONLYDIR)

struct filewatch {
	int fd;
	struct event *readable;
	struct loop *loop; /* borrowed */
	struct loop_timer settled;
};

/*
 * The content of the events does not matter. One read per turn: a writer that never stops only
 * keeps resetting the timer.
 */
static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct filewatch *f = arg;
	char events[4096];

	(void)what;
	loop_enter(f->loop);
	if (read(fd, events, sizeof events) > 0 && !loop_timer_pending(&f->settled))
		loop_timer_set(&f->settled, SETTLE_MS);
	loop_end_turn(f->loop);
}

struct filewatch *filewatch_new(struct loop *loop, loop_fn on_change, void *arg)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct filewatch *f;

	if (fd < 0)
		return NULL;
	f = mem_zalloc(sizeof *f);
	f->fd = fd;
	f->loop = loop;
	loop_timer_init(&f->settled, loop, on_change, arg);
	f->readable = event_new(loop_base(loop), fd, EV_READ | EV_PERSIST, on_readable, f);
	event_add(f->readable, NULL);
	return f;
}

void filewatch_free(struct filewatch *f)
{
	if (!f)
		return;
	event_free(f->readable);
	loop_timer_done(&f->settled);
	close(f->fd);
	free(f);
}

static bool watch_folder_of(struct filewatch *f, const char *path)
{
	MEM_AUTO char *folder = file_folder(path);

	return inotify_add_watch(f->fd, folder, EVENTS) >= 0;
}

bool filewatch_add(struct filewatch *f, const char *path)
{
	bool watched = watch_folder_of(f, path);
	int saved = errno;
	MEM_AUTO char *target = realpath(path, NULL);

	if (target && strcmp(target, path) != 0)
		watched = watch_folder_of(f, target) || watched;
	errno = saved;
	return watched;
}
