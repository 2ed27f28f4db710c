/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_admit.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "base/json.h"
#include "base/mem.h"

struct admit_wait {
	struct admit_wait *prev, *next;
	admit_fn fn;
	void *arg;
};

static struct {
	struct admit_wait *waiting;
	int ever, cancelled;
	struct fake_admit_question question;
} fake;

static void put_name(const json_t *object, char name[64])
{
	snprintf(name, 64, "%s", json_str_or_empty(json_object_get(object, "metadata"), "name"));
}

struct admit_wait *admit_ask(struct admit *a, const struct admit_request *request, admit_fn fn, void *arg)
{
	struct admit_wait *w = mem_zalloc(sizeof(*w));

	(void)a;
	w->fn = fn;
	w->arg = arg;
	DL_APPEND(fake.waiting, w);
	fake.ever++;
	snprintf(fake.question.kind, sizeof(fake.question.kind), "%s", request->kind);
	put_name(request->object, fake.question.name);
	put_name(request->old_object, fake.question.old_name);
	fake.question.dry_run = request->dry_run;
	fake.question.deadline_ms = request->deadline_ms;
	return w;
}

void admit_cancel(struct admit_wait *w)
{
	if (!w)
		return;
	fake.cancelled++;
	DL_DELETE(fake.waiting, w);
	free(w);
}

int fake_admit_waiting(void)
{
	struct admit_wait *w;
	int count = 0;

	DL_COUNT(fake.waiting, w, count);
	return count;
}

int fake_admit_ever(void)
{
	return fake.ever;
}

int fake_admit_cancelled(void)
{
	return fake.cancelled;
}

const struct fake_admit_question *fake_admit_question(void)
{
	return &fake.question;
}

void fake_admit_answer(const struct admit_verdict *verdict)
{
	struct admit_wait *w = fake.waiting;

	assert(w);
	DL_DELETE(fake.waiting, w);
	w->fn(w->arg, verdict);
	free(w);
}

void fake_admit_reset(void)
{
	assert(!fake.waiting);
	memset(&fake, 0, sizeof(fake));
}
