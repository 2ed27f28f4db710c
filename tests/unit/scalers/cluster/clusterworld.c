/* SPDX-License-Identifier: Apache-2.0 */
#include "clusterworld.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakeloop.h"

#include "base/log.h"

struct clusterworld world;

const struct scaler_type *scaler_type_find(const char *name)
{
	return strcmp(name, clusterworld_type->name) == 0 ? clusterworld_type : NULL;
}

const char *scaler_type_names(void)
{
	return clusterworld_type->name;
}

static void drop_line(void *arg, enum log_level level, const char *line)
{
	(void)arg;
	(void)level;
	(void)line;
}

int clusterworld_setup(const struct sources_part *part)
{
	memset(&world, 0, sizeof(world));
	log_set_sink(drop_line, NULL);
	world.sources.loop = fakeloop_start();
	world.sources.kube = fakecluster_start(world.sources.loop);
	part->begin(&world.sources);
	return 0;
}

int clusterworld_teardown(const struct sources_part *part)
{
	part->end(&world.sources);
	fakeloop_advance(0);
	fakecluster_end();
	fakeloop_end();
	log_set_sink(NULL, NULL);
	return 0;
}

void clusterworld_on_answer(void *arg, const struct answer *answer, const struct err *err)
{
	(void)arg;
	world.answers++;
	world.value = answer ? answer->value : -1;
	assert_true(!answer == !!err);
	err_clear(&world.err);
	if (err)
		world.err = *err;
}

void clusterworld_on_look(void *arg)
{
	(void)arg;
	world.looks++;
}

void *clusterworld_ask(struct question *q)
{
	return question_ask(q, &world.sources, loop_now_ms(world.sources.loop) + CLUSTERWORLD_ASK_MS,
		clusterworld_on_answer, NULL);
}

double clusterworld_answer_of(struct question *q)
{
	int before = world.answers;

	clusterworld_ask(q);
	assert_int_equal(world.answers, before);
	fakeloop_advance(100);
	if (world.answers == before)
		fakeloop_advance(CLUSTERWORLD_ASK_MS);
	assert_int_equal(world.answers, before + 1);
	return world.value;
}
