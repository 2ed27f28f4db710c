/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A Vault server, which a tenant may name, from its first byte: what it says to a login, to a
 * renewal and to a read of each engine. The first byte chooses what it is asked, the second is the
 * size of the pieces. What we sent is in no error.
 */

#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "net/vault/vault.h"
#include "peer.h"

#define SECRET "t0ken-of-ours"

static void on_answer(void *arg, const json_t *answer, int64_t good_for_ms, const struct err *err)
{
	bool *done = arg;

	must(!*done && !answer == !!err && good_for_ms >= 0);
	*done = true;
	if (!err)
		return;
	must(err->kind != ERR_NONE && err->kind != ERR_BUG && err->msg[0] != '\0');
	must(!strpbrk(err->msg, "\r\n") && !strstr(err->msg, SECRET));
}

static void read_one(struct vault_pool *pool, struct loop *loop, unsigned role)
{
	static const struct vault_login logins[] = {
		{ .token = SECRET },
		{ .jwt = SECRET, .role = "web", .mount = "kubernetes" },
	};
	MEM_AUTO char *address = mem_printf("http://127.0.0.1:%u", peer_port());
	const struct vault_server server = { .address = address, .namespace_ = role & 8 ? "team" : NULL };
	const struct vault_secret secret = { .engine = (enum vault_engine)(role >> 1 & 3),
		.path = "secret/data/web",
		.common_name = "web.shop",
		.ttl = "1h" };
	bool done = false;
	struct vault_call *call = vault_read(pool, &server, &logins[role & 1], &secret,
		loop_now_ms(loop) + PEER_PATIENCE_MS / 2, on_answer, &done);

	must(!done);
	peer_until(&done);
	if (!done)
		vault_cancel(call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct loop *loop;
	struct vault_pool *pool;

	if (!loop)
		loop = peer_start(PEER_LISTENS);
	if (size < 2)
		return 0;
	pool = vault_pool_new(loop, NULL, false);
	peer_script(data + 2, size - 2, data[1]);
	read_one(pool, loop, data[0]);
	read_one(pool, loop, data[0]); /* by the same login */
	vault_pool_free(pool);
	peer_end();
	return 0;
}
