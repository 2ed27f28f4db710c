/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/azure/pipelinejobs.h"

#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/text.h"

/* Ignored: every agent has this demand, and updates itself to the version that a job demands. */
#define AGENT_VERSION "Agent.Version"

static const json_t *list_of(const json_t *answer, struct err *err)
{
	const json_t *list = json_object_get(answer, "value");

	if (json_is_array(list))
		return list;
	err_set(err, ERR_INVALID, "the answer has no array \"value\": does organizationURL lead to Azure DevOps?");
	return NULL;
}

/* ---- Pools ---- */

int pipelinejobs_pool(const json_t *answer, const char *name, int64_t *out, struct err *err)
{
	const json_t *list = list_of(answer, err), *id;

	if (!list)
		return -1;
	if (json_array_size(list) == 0)
		return err_set(err, ERR_MISSING, "agent pool with name `%s` not found", name);
	if (json_array_size(list) > 1)
		return err_set(err, ERR_INVALID, "found %zu agent pool with name `%s`", json_array_size(list), name);
	id = json_object_get(json_array_get(list, 0), "id");
	if (!json_is_integer(id))
		return err_set(err, ERR_INVALID, "agent pool with name `%s` has no id", name);
	*out = json_integer_value(id);
	return 0;
}

/* ---- Jobs ---- */

static bool has_ended(const json_t *job)
{
	const json_t *result = json_object_get(job, "result");

	return result && !json_is_null(result);
}

/* Received by an agent. Go's zero time counts as absent, as in KEDA. */
static bool is_received(const json_t *job)
{
	const char *received = json_str_or_empty(job, "receiveTime");

	return *received && !text_begins(received, "0001-01-01T00:00:00");
}

static bool has_agent(const json_t *job, const char *name)
{
	const json_t *agent;
	size_t i;

	json_array_foreach(json_object_get(job, "matchedAgents"), i, agent)
	{
		if (json_str_is(agent, "name", name))
			return true;
	}
	return false;
}

static bool is_version(const char *demand)
{
	return text_begins(demand, AGENT_VERSION);
}

/* Counts equal pairs, as KEDA does: duplicate demands count twice. */
static bool demands_fit(const json_t *job, const struct pipelinejobs_filter *f)
{
	const json_t *demands = json_object_get(job, "demands"), *one;
	size_t ours = 0, theirs = 0, pairs = 0, i;

	if (json_array_size(demands) > PIPELINEJOBS_DEMANDS_MAX)
		return false;
	for (size_t k = 0; k < f->count; k++)
		ours += !is_version(f->demands[k]);
	json_array_foreach(demands, i, one)
	{
		const char *demand = json_is_string(one) ? json_string_value(one) : "";

		if (is_version(demand))
			continue;
		theirs++;
		for (size_t k = 0; k < f->count; k++)
			pairs += !is_version(f->demands[k]) &&
				(f->any_case ? strcasecmp(demand, f->demands[k]) : strcmp(demand, f->demands[k])) == 0;
	}
	switch (f->rule) {
	case PIPELINEJOBS_SAME: return pairs == theirs && pairs == ours;
	case PIPELINEJOBS_ALL_OF_OURS: return pairs == ours;
	case PIPELINEJOBS_ALL_OF_JOB: return pairs == theirs;
	}
	return false;
}

int pipelinejobs_count(const json_t *answer, const struct pipelinejobs_filter *f, size_t *out, struct err *err)
{
	const json_t *list = list_of(answer, err), *job;
	size_t i;

	*out = 0;
	if (!list)
		return -1;
	json_array_foreach(list, i, job)
	{
		if (!json_is_object(job))
			return err_set(err, ERR_INVALID, "value[%zu] is not a job", i);
		*out += !has_ended(job) && (f->in_flight || !is_received(job)) &&
			(f->parent                   ? has_agent(job, f->parent)
					: f->demands ? demands_fit(job, f)
						     : true);
	}
	return 0;
}

bool pipelinejobs_is_cut(const json_t *answer, int64_t most)
{
	const json_t *list = json_object_get(answer, "value");
	size_t count = json_array_size(list);

	return most > 0 && (int64_t)count >= most && !has_ended(json_array_get(list, count - 1));
}
