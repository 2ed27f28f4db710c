/* SPDX-License-Identifier: Apache-2.0 */
#include "net/mongo/mongolookup.h"

#include <stdlib.h>

#include "base/mem.h"
#include "net/dns.h"

struct mongolookup {
	const struct mongoendpoint *endpoint;
	mongolookup_fn fn;
	void *arg;
	struct dns_lookup *srv_lookup, *txt_lookup; /* NULL: answered */
	struct dnsrecord_list srv, txt;
};

static void fail_lookup(struct mongolookup *l, const struct err *why)
{
	struct err err = *why;

	if (err.kind == ERR_MISSING) /* the record may appear later */
		err.kind = ERR_TEMPORARY;
	l->fn(l->arg, NULL, &err);
}

static void finish_lookup(struct mongolookup *l)
{
	struct mongoseeds seeds;
	struct err err;

	if (l->srv_lookup || l->txt_lookup)
		return;
	if (mongoseeds_read(l->endpoint, &l->srv, &l->txt, &seeds, &err)) {
		mongoseeds_done(&seeds);
		l->fn(l->arg, NULL, &err);
		return;
	}
	l->fn(l->arg, &seeds, NULL);
}

static void on_services(void *arg, const struct dnsrecord_list *records, const struct err *why)
{
	struct mongolookup *l = arg;
	struct err err;

	l->srv_lookup = NULL;
	if (records) {
		dnsrecord_copy(records, &l->srv);
		finish_lookup(l);
		return;
	}
	err = *why;
	if (err.kind == ERR_MISSING)
		err_set(&err, ERR_MISSING,
			"%s (with mongodb+srv it names the members: is the host right? else write mongodb:// with "
			"hosts "
			"and ports)",
			why->msg);
	fail_lookup(l, &err);
}

/*
 * A missing TXT record means no options. A failed lookup is an error: without its authSource we
 * might log in to the wrong database, which counts as a failed login there.
 */
static void on_texts(void *arg, const struct dnsrecord_list *records, const struct err *err)
{
	struct mongolookup *l = arg;

	l->txt_lookup = NULL;
	if (records) {
		dnsrecord_copy(records, &l->txt);
	} else if (err->kind != ERR_MISSING) {
		fail_lookup(l, err);
		return;
	}
	finish_lookup(l);
}

struct mongolookup *mongolookup_new(struct loop *loop, const struct mongoendpoint *e, mongolookup_fn fn, void *arg)
{
	MEM_AUTO char *name = mongoseeds_name(e);
	const char *namespace_ = endpoint_namespace(&e->base);
	struct mongolookup *l = mem_zalloc(sizeof(*l));

	l->endpoint = e;
	l->fn = fn;
	l->arg = arg;
	l->srv_lookup = dns_records_start(loop, name, DNSRECORD_SRV, namespace_, on_services, l);
	l->txt_lookup = dns_records_start(loop, e->seed, DNSRECORD_TXT, namespace_, on_texts, l);
	return l;
}

void mongolookup_free(struct mongolookup *l)
{
	if (!l)
		return;
	dns_lookup_cancel(l->srv_lookup);
	dns_lookup_cancel(l->txt_lookup);
	dnsrecord_done(&l->srv);
	dnsrecord_done(&l->txt);
	free(l);
}
