/* SPDX-License-Identifier: Apache-2.0 */
#include "net/beanstalk/tubestats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define HEAD_MAX 64 /* of an answer: a word and a number */
#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

static const char letters[] = CAPITALS "abcdefghijklmnopqrstuvwxyz0123456789-+/;.$_()";

const char *tubestats_name_flaw(const char *name)
{
	if (strlen(name) > TUBESTATS_NAME_MAX)
		return "must have at most 200 characters";
	if (name[0] == '-' || name[strspn(name, letters)] || !name[0])
		return "must have letters, digits and -+/;.$_() only, and not begin with -";
	return NULL;
}

char *tubestats_command(const char *tube)
{
	return mem_printf("stats-tube %s\r\n", tube);
}

/* Reads 1 to 19 digits, which fit. *end: what follows them; NULL: not such a number. */
static uint64_t read_number(const char *digits, const char **end)
{
	size_t len = strspn(digits, "0123456789");

	*end = len > 0 && len < 20 ? digits + len : NULL;
	return strtoull(digits, NULL, 10);
}

/* The number behind `key: `, on a line of its own. */
static int read_field(const char *yaml, const char *key, uint64_t *out, struct err *err)
{
	size_t len = strlen(key);
	const char *line = yaml, *end = NULL;

	while (line && (strncmp(line, key, len) != 0 || strncmp(line + len, ": ", 2) != 0)) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	if (line)
		*out = read_number(line + len + 2, &end);
	if (!end || *end != '\n')
		return err_set(err, ERR_INVALID, "the answer to stats-tube has no number %s", key);
	return 0;
}

static int read_body(const char *bytes, size_t len, struct tubestats *out, struct err *err)
{
	MEM_AUTO char *yaml = mem_dupn(bytes, len);

	return read_field(yaml, "current-jobs-ready", &out->ready, err) ||
			read_field(yaml, "current-jobs-reserved", &out->reserved, err) ||
			read_field(yaml, "current-jobs-delayed", &out->delayed, err)
		? -1
		: 0;
}

static int refuse(struct err *err)
{
	return err_set(err, ERR_INVALID, "the answer is not beanstalkd's");
}

/* OUT_OF_MEMORY, INTERNAL_ERROR, ...: shown, because only capitals can be in it. */
static int read_error(const char *line, struct err *err)
{
	if (!line[0] || line[strspn(line, CAPITALS "_")])
		return refuse(err);
	err_set(err, ERR_TEMPORARY, "the server answered %s", line);
	return 1;
}

int tubestats_read(const char *bytes, size_t len, size_t *used, struct tubestats *out, bool *failed, struct err *err)
{
	size_t seen = len < HEAD_MAX ? len : HEAD_MAX, head;
	const char *end = memmem(bytes, seen, "\r\n", 2), *size, *rest;
	char line[HEAD_MAX];
	uint64_t announced;
	size_t body;

	if (!end)
		return seen < HEAD_MAX ? 0 : refuse(err);
	head = (size_t)(end - bytes);
	memcpy(line, bytes, head);
	line[head] = '\0';
	if (strlen(line) != head)
		return refuse(err);
	head += 2;
	*used = head;
	*out = (struct tubestats){ 0 };
	*failed = false;
	if (strcmp(line, "NOT_FOUND") == 0)
		return 1;
	size = text_behind(line, "OK ");
	if (!size) {
		*failed = true;
		return read_error(line, err);
	}
	announced = read_number(size, &rest);
	if (!rest || *rest)
		return refuse(err);
	if (announced > TUBESTATS_ANSWER_MAX - HEAD_MAX)
		return err_set(err, ERR_INVALID, "the answer is larger than %d bytes", TUBESTATS_ANSWER_MAX);
	body = (size_t)announced;
	if (len < head + body + 2)
		return 0;
	if (memcmp(bytes + head + body, "\r\n", 2) != 0)
		return refuse(err);
	*used = head + body + 2;
	*failed = read_body(bytes + head, body, out, err);
	return 1;
}
