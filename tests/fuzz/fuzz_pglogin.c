/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a PostgreSQL server says until we are let in, read along before libpq sees it. The first
 * byte is the size of the pieces, the second what the client had said: libpq sees the same bytes
 * however they come, none of them twice, and none behind a question for Kerberos.
 */

#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "net/pg/pglogin.h"

static const unsigned char startup[] = { 0, 0, 0, 8, 0, 3, 0, 0 };
static const unsigned char tls[] = { 0, 0, 0, 8, 4, 210, 22, 47 };
static const unsigned char handshake[] = { 0x16 };

static const struct {
	const unsigned char *words;
	size_t len;
} clients[] = { { startup, sizeof(startup) }, { tls, sizeof(tls) }, { handshake, sizeof(handshake) }, { startup, 7 } };

/* How much libpq sees. */
static size_t listen_to(struct pglogin *l, size_t client, const unsigned char *bytes, size_t len, size_t piece)
{
	size_t at = 0;

	memset(l, 0, sizeof(*l));
	pglogin_client(l, clients[client].words, clients[client].len);
	while (at < len) {
		size_t step = len - at < piece ? len - at : piece, seen = pglogin_server(l, bytes + at, step);

		must(seen <= step);
		at += seen;
		if (seen < step) {
			must(l->asks || l->state == PGLOGIN_SILENT);
			must(pglogin_server(l, bytes + at, len - at) == 0);
			return at;
		}
	}
	return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pglogin whole, pieces;
	MEM_AUTO char *text = NULL;
	size_t client, seen;

	if (size < 2)
		return 0;
	client = data[1] % (sizeof(clients) / sizeof(clients[0]));
	seen = listen_to(&whole, client, data + 2, size - 2, size);
	must(seen == listen_to(&pieces, client, data + 2, size - 2, data[0] + (size_t)1));
	must(whole.asks == pieces.asks && whole.complained == pieces.complained);
	must(client != 3 || seen == 0);
	must(client != 2 || seen == size - 2);
	text = mem_dupn((const char *)data + 2, size - 2);
	pglogin_is_refusal(text);
	return 0;
}
