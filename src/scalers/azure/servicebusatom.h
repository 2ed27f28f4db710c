/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_AZURE_SERVICEBUSATOM_H
#define SCALERS_AZURE_SERVICEBUSATOM_H

/*
 * What the management API of Azure Service Bus answers: an Atom entry about a queue, a topic or a
 * subscription, a feed with up to a hundred of them, or an <Error>. Only local names are looked at,
 * as the elements of one description stand in two namespaces. Document types, and thus entities
 * that could make much of little, are refused. Pure; the bytes may be anybody's.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum servicebusatom_kind {
	SERVICEBUSATOM_OTHER,
	SERVICEBUSATOM_QUEUE,
	SERVICEBUSATOM_TOPIC,
	SERVICEBUSATOM_SUBSCRIPTION
};

/* One entry. Borrowed until servicebusatom_fn returns. */
struct servicebusatom_entry {
	enum servicebusatom_kind kind;
	const char *title;  /* the entity's name in a feed; "" */
	const char *status; /* "Active", "Disabled", "ReceiveDisabled", ...; "": it does not say */
	int64_t active;     /* messages that wait; -1: it does not say, or what it says is no number */
};
/* Is given each entry. -1 with err ends the reading. */
typedef int (*servicebusatom_fn)(void *arg, const struct servicebusatom_entry *entry, struct err *err);

struct servicebusatom {
	bool is_feed;
	bool is_nothing; /* the list of public services, which comes in place of what does not exist */
	size_t entries;
};

/* 0, or -1 with ERR_INVALID, which quotes nothing, or with what fn set. */
int servicebusatom_read(const char *body, size_t len, servicebusatom_fn fn, void *arg, struct servicebusatom *out,
	struct err *err);

/* <Detail> of an <Error>, in one line, which the caller owns; NULL: the body is none. */
char *servicebusatom_detail(const char *body, size_t len);

#endif
