/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_XMLREADER_H
#define BASE_XMLREADER_H

/*
 * Reads XML while it arrives, by expat, and calls a handler for each element; builds no tree. The
 * input is untrusted: a document type is refused, so that no entity can expand; depth, elements and
 * the length of a tag or comment are capped.
 *
 * A server chooses how its answer is split (HTTP chunks may have one byte each), and expat before
 * 2.6 rereads an unfinished tag or comment from its beginning with each piece: 128 KiB of them,
 * byte by byte, took 17 s. So expat gets pieces of one size. Pure.
 */

#include <expat.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

#define XMLREADER_PIECE        ((size_t)1 << 14) /* bytes; libcurl's are not larger */
#define XMLREADER_ELEMENTS_MAX 100000            /* the same as for JSON: each costs some hundred nanoseconds */
#define XMLREADER_TOKEN_MAX    ((size_t)1 << 18) /* bytes of a tag or a comment */

struct xmlreader_rules {     /* constant */
	const char *subject; /* for messages: "the answer" */
	size_t depth_max;
	/*
	 * depth: of this element; the root has 1. attributes: name, value, ..., NULL. Names and
	 * values are borrowed for the call.
	 */
	void (*on_start)(void *arg, const char *name, const char **attributes, size_t depth);
	void (*on_end)(void *arg, size_t depth);
};

struct xmlreader { /* must not move between init and done */
	const struct xmlreader_rules *rules;
	void *arg;
	XML_Parser parser;
	struct buf waiting; /* less than a piece */
	XML_Index given;    /* bytes given to expat */
	XML_Index read;     /* of these, read so far as known: a tag may be open behind them */
	size_t depth, elements;
	struct buf *into; /* receives text; NULL: text is skipped */
	size_t into_depth;
	const char *too_long;
	struct err err; /* the first; nothing is read after it */
};

void xmlreader_init(struct xmlreader *x, const struct xmlreader_rules *rules, void *arg);
void xmlreader_done(struct xmlreader *x); /* wipes buffered bytes */

/*
 * Takes the next bytes; last: they end the document. -1, at each call from the first error on:
 * ERR_INVALID, "the answer is not XML: line 3 column 1: ..." or which limit was exceeded, quoting
 * nothing; or the error given to xmlreader_stop.
 */
int xmlreader_feed(struct xmlreader *x, const char *bytes, size_t len, bool last, struct err *err);
size_t xmlreader_kept(const struct xmlreader *x); /* bytes that were fed but not read yet */

/* ---- For handlers ---- */

/*
 * In on_start: appends the text of this element, without that of its children, to `into`, until it
 * ends or another call replaces it. too_long: the error message when `into` is full; NULL: no
 * error, see buf_failed.
 */
void xmlreader_take(struct xmlreader *x, struct buf *into, const char *too_long);

/* No handler is called any more, and xmlreader_feed returns `why`. */
void xmlreader_stop(struct xmlreader *x, const struct err *why);

#endif
