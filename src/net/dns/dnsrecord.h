/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_DNS_DNSRECORD_H
#define NET_DNS_DNSRECORD_H

/*
 * The SRV records (host and port) and TXT records (a text) of a name, from the bytes of a name
 * server's answer. Pure.
 *
 * Input is untrusted: counts and sizes are capped, unprintable characters refused.
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
	char *text;    /* of SRV the host, without the final dot; of TXT the text, its pieces joined */
	uint16_t port; /* of SRV */
};

struct dnsrecord_list { /* owns the texts */
	size_t count;
	struct dnsrecord *at; /* in the server's order */
};

/*
 * Fills *out, and *ttl_s with the lowest TTL of the records taken; there may be none. Returns NULL,
 * or a constant text that says why the answer is unusable; then *out is empty.
 */
const char *dnsrecord_read(const uint8_t *answer, size_t len, enum dnsrecord_kind kind, struct dnsrecord_list *out,
	int64_t *ttl_s);

void dnsrecord_copy(const struct dnsrecord_list *list, struct dnsrecord_list *out);
void dnsrecord_done(struct dnsrecord_list *list);

#endif
