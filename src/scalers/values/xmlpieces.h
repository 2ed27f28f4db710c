/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_VALUES_XMLPIECES_H
#define SCALERS_VALUES_XMLPIECES_H

/*
 * Hands XML to expat while it arrives. A server chooses how its answer is cut up (HTTP's chunks may
 * have one byte each), and expat before 2.6 reads a tag or a comment that has not ended from its
 * beginning with each piece: 128 KiB of them, byte by byte, took 17 s. So expat gets pieces of one
 * size, and a tag or comment has a limit. Called by metricsapi/xmlvalue and azure/storagexml, which
 * set expat's handlers and say what the document means. Pure.
 */

#include <expat.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

#define XMLPIECES_SIZE      ((size_t)1 << 14) /* of a piece; libcurl's are not larger */
#define XMLPIECES_TOKEN_MAX ((size_t)1 << 18) /* bytes of a tag or a comment */

struct xmlpieces {
	XML_Parser parser;  /* for handlers, and for XML_StopParser */
	struct buf waiting; /* less than a piece */
	XML_Index given;    /* bytes that expat has got */
	XML_Index read;     /* of these, as far as is known: a tag may be open behind them */
};

void xmlpieces_init(struct xmlpieces *x, void *arg /* of the handlers */);
void xmlpieces_done(struct xmlpieces *x);

/*
 * Takes the next bytes; `last`: they end the document. -1, also after a handler has stopped the
 * parser: ERR_INVALID, "line 3 column 1: ..." or that a tag is too long. Then feed no more.
 */
int xmlpieces_feed(struct xmlpieces *x, const char *bytes, size_t len, bool last, struct err *err);
size_t xmlpieces_kept(const struct xmlpieces *x); /* bytes of what was fed that are not read yet */

#endif
