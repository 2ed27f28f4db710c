/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_AZURE_SERVICEBUSATOM_H
#define SCALERS_AZURE_SERVICEBUSATOM_H

/*
 * Reads responses of Azure Service Bus' management API: an Atom entry about a queue, a topic or a
 * subscription, a feed of up to a hundred, or an <Error>. Only local names count, as the elements
 * of one description are in two namespaces. Document types, and thus entity expansion, are refused.
 * Pure; the input is untrusted.
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
	const char *status; /* "Active", "Disabled", "ReceiveDisabled", ...; "": absent */
	int64_t active;     /* waiting messages; -1: absent or not a number */
};
/* Called for each entry. -1 with err stops reading. */
typedef int (*servicebusatom_fn)(void *arg, const struct servicebusatom_entry *entry, struct err *err);

struct servicebusatom {
	bool is_feed;
	bool is_nothing; /* the list of public services, sent for a missing entity */
	size_t entries;
};

/* 0, or -1 with ERR_INVALID, which quotes nothing, or fn's error. */
int servicebusatom_read(const char *body, size_t len, servicebusatom_fn fn, void *arg, struct servicebusatom *out,
	struct err *err);

/* <Detail> of an <Error>, on one line, which the caller owns; NULL: not an <Error>. */
char *servicebusatom_detail(const char *body, size_t len);

#endif
