/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_CRD_GIVEN_H
#define TESTS_UNIT_CRD_GIVEN_H

/* Objects for tests, written with single quotes for double ones. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "crd/job.h"
#include "crd/scaledjob.h"
#include "crd/scaledobject.h"

static inline char *given_text(const char *quoted)
{
	char *text = mem_dup(quoted);

	for (char *c = text; *c != '\0'; c++)
		if (*c == '\'')
			*c = '"';
	return text;
}

static inline json_t *given_json(const char *quoted)
{
	struct err err = { 0 };
	char *text = given_text(quoted);
	json_t *value = json_parse(text, strlen(text), &err);

	if (value == NULL)
		fail_msg("%s: %s", text, err.msg);
	free(text);
	return value;
}

static inline struct scaledobject *given_scaledobject(const char *quoted)
{
	struct err err = { 0 };
	json_t *value = given_json(quoted);
	struct scaledobject *so = scaledobject_decode(value, &err);

	json_decref(value);
	if (so == NULL)
		fail_msg("%s: %s", quoted, err.msg);
	return so;
}

static inline struct scaledjob *given_scaledjob(const char *quoted)
{
	struct err err = { 0 };
	json_t *value = given_json(quoted);
	struct scaledjob *sj = scaledjob_decode(value, &err);

	json_decref(value);
	if (sj == NULL)
		fail_msg("%s: %s", quoted, err.msg);
	return sj;
}

static inline struct job *given_job(const char *quoted)
{
	struct err err = { 0 };
	json_t *value = given_json(quoted);
	struct job *job = job_decode(value, &err);

	json_decref(value);
	if (job == NULL)
		fail_msg("%s: %s", quoted, err.msg);
	return job;
}

/*
 * The object `web` in namespace `shop` with these fields of spec, besides a target and one redis
 * trigger.
 */
#define GIVEN_TARGET         "'scaleTargetRef':{'name':'web'}"
#define GIVEN_TRIGGERS       "'triggers':[{'type':'redis','metadata':{'listName':'jobs'}}]"
#define GIVEN_SO(meta, spec) "{'metadata':{'name':'web','namespace':'shop','uid':'u-1'" meta "},'spec':{" spec "}}"

/* The ScaledJob `work` in namespace `shop` with these fields of metadata and spec. */
#define GIVEN_TEMPLATE       "'jobTargetRef':{'template':{'spec':{'containers':[{'name':'main','image':'w:1'}]}}}"
#define GIVEN_SJ(meta, spec) "{'metadata':{'name':'work','namespace':'shop','uid':'u-2'" meta "},'spec':{" spec "}}"

static inline void assert_has(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		fail_msg("\"%s\" does not have \"%s\"", text, part);
}

#endif
