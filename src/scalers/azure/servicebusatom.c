/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/azure/servicebusatom.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/xmlreader.h"

/*
 * Limit of elements and attributes, as new names are expensive. A hundred queues with twelve access
 * rules each have some 18,000.
 */
#define THINGS_MAX   32768
#define TEXT_MAX     1024
#define COUNT_DIGITS 12 /* so that sums do not overflow */
#define BLANKS       " \t\r\n"

/* The position inside an entry. Depths count from 1, the root. */
enum place { NOWHERE, IN_CONTENT, IN_DESCRIPTION, IN_COUNTS };

struct reader {
	struct xmlreader xml;
	servicebusatom_fn fn; /* NULL: only an <Error> is read */
	void *arg;
	struct servicebusatom *out;
	size_t depth, things;
	bool is_error;      /* the root is <Error> */
	size_t entry_depth; /* of the open <entry>; 0: none */
	enum place place;   /* inside it */
	struct servicebusatom_entry entry;
	struct buf feed_title, title, status, count, detail;
};

static void stop(struct reader *r, const char *what)
{
	struct err why;

	err_set(&why, ERR_INVALID, "%s", what);
	xmlreader_stop(&r->xml, &why);
}

static const char *local_name(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon ? colon + 1 : name;
}

/* The first of several elements counts. */
static void take_text(struct reader *r, struct buf *into)
{
	if (into->len == 0)
		xmlreader_take(&r->xml, into, "a name, a status or a number of the answer is too long");
}

/* ---- Elements ---- */

static enum servicebusatom_kind kind_of(const char *name)
{
	static const struct {
		const char *name;
		enum servicebusatom_kind kind;
	} kinds[] = { { "QueueDescription", SERVICEBUSATOM_QUEUE }, { "TopicDescription", SERVICEBUSATOM_TOPIC },
		{ "SubscriptionDescription", SERVICEBUSATOM_SUBSCRIPTION } };

	for (size_t i = 0; i < MEM_COUNT(kinds); i++)
		if (strcmp(name, kinds[i].name) == 0)
			return kinds[i].kind;
	return SERVICEBUSATOM_OTHER;
}

static void begin_entry(struct reader *r)
{
	r->entry_depth = r->depth;
	r->place = NOWHERE;
	r->entry = (struct servicebusatom_entry){ .active = -1 };
	buf_reset(&r->title);
	buf_reset(&r->status);
	buf_reset(&r->count);
}

/* Follows entry/content/QueueDescription/CountDetails/ActiveMessageCount, with title and Status. */
static void enter(struct reader *r, const char *name)
{
	switch (r->depth - r->entry_depth) {
	case 1:
		if (strcmp(name, "title") == 0)
			take_text(r, &r->title);
		else if (strcmp(name, "content") == 0)
			r->place = IN_CONTENT;
		break;
	case 2:
		if (r->place == IN_CONTENT && r->entry.kind == SERVICEBUSATOM_OTHER) {
			r->entry.kind = kind_of(name);
			r->place = IN_DESCRIPTION;
		}
		break;
	case 3:
		if (r->place == IN_DESCRIPTION && strcmp(name, "Status") == 0)
			take_text(r, &r->status);
		else if (r->place == IN_DESCRIPTION && strcmp(name, "CountDetails") == 0)
			r->place = IN_COUNTS;
		break;
	case 4:
		if (r->place == IN_COUNTS && strcmp(name, "ActiveMessageCount") == 0)
			take_text(r, &r->count);
		break;
	default: break;
	}
}

static void enter_root(struct reader *r, const char *name)
{
	r->is_error = strcmp(name, "Error") == 0;
	r->out->is_feed = strcmp(name, "feed") == 0;
	if (strcmp(name, "entry") == 0)
		begin_entry(r);
	else if (!r->is_error && !r->out->is_feed)
		stop(r, "the answer is XML, but not an Atom entry or feed");
}

static void on_start(void *arg, const char *element, const char **attributes, size_t depth)
{
	struct reader *r = arg;
	const char *name = local_name(element);

	r->depth = depth;
	for (r->things++; *attributes; attributes += 2)
		r->things++;
	if (r->things > THINGS_MAX) {
		stop(r, "the answer has too many elements and attributes");
		return;
	}
	if (r->depth == 1)
		enter_root(r, name);
	else if (r->entry_depth)
		enter(r, name);
	else if (r->is_error && r->depth == 2 && strcmp(name, "Detail") == 0)
		take_text(r, &r->detail);
	else if (r->out->is_feed && r->depth == 2 && strcmp(name, "title") == 0)
		take_text(r, &r->feed_title);
	else if (r->out->is_feed && r->depth == 2 && strcmp(name, "entry") == 0)
		begin_entry(r);
}

static int64_t read_count(char *text)
{
	int64_t count = 0;
	size_t len = strlen(text = text_trim(text, BLANKS));

	if (len == 0 || len > COUNT_DIGITS || strspn(text, "0123456789") != len)
		return -1;
	for (; *text; text++)
		count = 10 * count + (*text - '0');
	return count;
}

static void end_entry(struct reader *r)
{
	struct err why;
	MEM_AUTO char *title = mem_dup(buf_text(&r->title)), *status = mem_dup(buf_text(&r->status)),
		      *count = mem_dup(buf_text(&r->count));

	r->entry_depth = 0;
	r->out->entries++;
	text_line(title, strlen(title), title, SIZE_MAX);
	r->entry.title = text_trim(title, BLANKS);
	r->entry.status = text_trim(status, BLANKS);
	r->entry.active = read_count(count);
	if (r->fn && r->fn(r->arg, &r->entry, &why))
		xmlreader_stop(&r->xml, &why);
}

static void on_end(void *arg, size_t depth)
{
	struct reader *r = arg;

	if (r->entry_depth && depth == r->entry_depth)
		end_entry(r);
	else if (r->entry_depth && r->place > NOWHERE && depth == r->entry_depth + (size_t)r->place)
		r->place--;
	r->depth = depth - 1;
}

static const struct xmlreader_rules rules = { "the answer", 64, on_start, on_end };

/* ---- Documents ---- */

static void init(struct reader *r)
{
	xmlreader_init(&r->xml, &rules, r);
	buf_init(&r->feed_title, TEXT_MAX);
	buf_init(&r->title, TEXT_MAX);
	buf_init(&r->status, TEXT_MAX);
	buf_init(&r->count, TEXT_MAX);
	buf_init(&r->detail, TEXT_MAX);
}

static void done(struct reader *r)
{
	xmlreader_done(&r->xml);
	buf_done(&r->feed_title);
	buf_done(&r->title);
	buf_done(&r->status);
	buf_done(&r->count);
	buf_done(&r->detail);
}

int servicebusatom_read(const char *body, size_t len, servicebusatom_fn fn, void *arg, struct servicebusatom *out,
	struct err *err)
{
	struct reader r = { .fn = fn, .arg = arg, .out = out };
	int rc;

	*out = (struct servicebusatom){ 0 };
	init(&r);
	rc = xmlreader_feed(&r.xml, body, len, true, err);
	out->is_nothing = out->is_feed && strcmp(buf_text(&r.feed_title), "Publicly Listed Services") == 0;
	if (rc == 0 && r.is_error)
		rc = err_set(err, ERR_INVALID, "the answer is an error with HTTP status 200");
	done(&r);
	return rc;
}

char *servicebusatom_detail(const char *body, size_t len)
{
	struct servicebusatom out = { 0 };
	struct reader r = { .out = &out };
	char *detail = NULL;

	init(&r);
	if (xmlreader_feed(&r.xml, body, len, true, NULL) == 0 && r.is_error && r.detail.len > 0)
		detail = mem_dup(buf_text(&r.detail));
	done(&r);
	return detail ? text_line(detail, strlen(detail), detail, SIZE_MAX) : NULL;
}
