/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls/tlsroots.h"

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/fingerprint.h"
#include "base/hash.h"
#include "base/mem.h"
#include "net/tls/computing.h"
#include "net/tls/x509.h"

#define NOWHERE "/dev/null/"

struct tlsroots {
	unsigned refs;
	unsigned account; /* the account that pays */
	size_t most;      /* limit of its certificates */
	char *place;      /* a path: the account, and the text's fingerprint at the end */
	char *ca_pem;
	X509_STORE *store; /* NULL: none at the moment */
	size_t count;      /* certificates in it */
	struct tlsroots *prev, *next;
	UT_hash_handle hh; /* by place */
};

static struct tlsroots *all;
/* Those with a store, most recently used first. */
static struct tlsroots *stores;
static size_t kept, idle;
static uint16_t kept_by[COMPUTING_ACCOUNTS];

size_t tlsroots_kept(void)
{
	return kept;
}

/* ---- Keeping ---- */

static void roots_free(struct tlsroots *r)
{
	HASH_DEL(all, r);
	free(r->place);
	free(r->ca_pem);
	free(r);
}

/* Files of this host are few, and are not evicted for a tenant's texts. */
static bool may_be_idle(const struct tlsroots *r)
{
	return r->account != COMPUTING_OWN;
}

/* Connections that use the store keep it alive. */
static void drop_store(struct tlsroots *r)
{
	DL_DELETE(stores, r);
	X509_STORE_free(r->store);
	r->store = NULL;
	kept -= r->count;
	kept_by[r->account] = (uint16_t)(kept_by[r->account] - r->count);
	if (r->refs > 0)
		return;
	if (may_be_idle(r))
		idle -= r->count;
	roots_free(r);
}

static unsigned largest_account(void)
{
	unsigned largest = 0;

	for (unsigned i = 1; i < COMPUTING_ACCOUNTS; i++)
		if (kept_by[i] > kept_by[largest])
			largest = i;
	return largest;
}

/* The least recently used one that fits. */
static struct tlsroots *oldest(bool (*fits)(const struct tlsroots *r, unsigned account), unsigned account)
{
	struct tlsroots *r = stores->prev;

	while (!fits(r, account))
		r = r->prev; /* exists */
	return r;
}

static bool is_idle(const struct tlsroots *r, unsigned account)
{
	(void)account;
	return r->refs == 0 && may_be_idle(r);
}

static bool is_of(const struct tlsroots *r, unsigned account)
{
	return r->account == account;
}

static void make_room(size_t count)
{
	while (kept + count > TLSROOTS_KEPT_MAX && stores)
		drop_store(oldest(is_of, largest_account()));
}

static void keep_store(struct tlsroots *r, X509_STORE *store, size_t count)
{
	r->store = store;
	r->count = count;
	DL_PREPEND(stores, r);
	kept += count;
	kept_by[r->account] = (uint16_t)(kept_by[r->account] + count);
}

/* ---- Reading ---- */

static int read_text(struct tlsroots *r, struct err *err)
{
	size_t count = x509_count_pem(r->ca_pem, r->most + 1);
	X509_STORE *store;

	if (computing_charge(r->account, count * COMPUTING_CERTIFICATE, err))
		return -1;
	store = X509_STORE_new();
	count = x509_add_pem(store, BIO_new_mem_buf(r->ca_pem, -1), r->most);
	if (count > 0 && count <= r->most) {
		make_room(count);
		keep_store(r, store, count);
		return 0;
	}
	X509_STORE_free(store);
	return count ? err_set(err, ERR_INVALID, "CA: it has more than %zu certificates", r->most)
		     : err_set(err, ERR_INVALID, "CA: no PEM certificate in it");
}

X509_STORE *tlsroots_store(struct tlsroots *r, struct err *err)
{
	if (!r->store && read_text(r, err))
		return NULL;
	DL_DELETE(stores, r);
	DL_PREPEND(stores, r);
	return r->store;
}

/* ---- References ---- */

static struct tlsroots *get(const char *ca_pem, unsigned account, size_t most)
{
	char fingerprint[FINGERPRINT_TEXT];
	MEM_AUTO char *place = NULL;
	struct tlsroots *r;

	if (!ca_pem || !*ca_pem)
		return NULL;
	place = mem_printf("%u " NOWHERE "%s", account, fingerprint_of(&ca_pem, 1, fingerprint));
	HASH_FIND_STR(all, place, r);
	if (r)
		return tlsroots_ref(r);
	r = mem_zalloc(sizeof(*r));
	r->refs = 1;
	r->account = account;
	r->most = most;
	r->place = mem_dup(place);
	r->ca_pem = mem_dup(ca_pem);
	HASH_ADD_KEYPTR(hh, all, r->place, strlen(r->place), r);
	return r;
}

struct tlsroots *tlsroots_get(const char *ca_pem)
{
	return get(ca_pem, computing_account(), TLSROOTS_TEXT_MAX);
}

struct tlsroots *tlsroots_get_of_file(const char *ca_pem)
{
	return get(ca_pem, COMPUTING_OWN, TLSROOTS_KEPT_MAX);
}

struct tlsroots *tlsroots_ref(struct tlsroots *r)
{
	if (r && r->refs++ == 0 && may_be_idle(r))
		idle -= r->count;
	return r;
}

void tlsroots_unref(struct tlsroots *r)
{
	if (!r || --r->refs > 0)
		return;
	if (!r->store) {
		roots_free(r);
		return;
	}
	if (may_be_idle(r))
		idle += r->count;
	while (idle > TLSROOTS_IDLE_MAX)
		drop_store(oldest(is_idle, 0));
}

const char *tlsroots_path(const struct tlsroots *r)
{
	return strchr(r->place, ' ') + 1;
}
