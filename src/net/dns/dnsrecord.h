/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_DNS_DNSRECORD_H
#define NET_DNS_DNSRECORD_H

/*
 * What a name has besides addresses: SRV records, a host and a port each, and TXT records, a text
 * each. Reads them from the bytes of a name server's answer. Pure.
 *
 * Whoever answers chooses those bytes: as many records and characters as anybody has use for, and
 * nothing in a host or a text that a log could not show.
 */

#include <stddef.h>
#include <stdint.h>

#define DNSRECORD_MAX       64   /* of one name; further SRV records are ignored */
#define DNSRECORD_BYTES_MAX 8192 /* of all their texts together */

enum dnsrecord_kind { /* as in DNS */
	DNSRECORD_ADDRESS = 1,
	DNSRECORD_TXT = 16,
	DNSRECORD_SRV = 33,
};

struct dnsrecord {
	char *text;    /* a host without the last dot; of TXT the text, whose pieces are put together */
	uint16_t port; /* of SRV */
};

struct dnsrecord_list { /* owns the texts */
	size_t count;
	struct dnsrecord *at; /* in the server's order */
};

/*
 * Fills *out and *ttl_s, the lowest of those taken; the answer may have none. Returns NULL, or why
 * the answer is of no use, a constant text; then *out is empty.
 */
const char *dnsrecord_read(const uint8_t *answer, size_t len, enum dnsrecord_kind kind, struct dnsrecord_list *out,
	int64_t *ttl_s);

void dnsrecord_copy(const struct dnsrecord_list *list, struct dnsrecord_list *out);
void dnsrecord_done(struct dnsrecord_list *list);

#endif
