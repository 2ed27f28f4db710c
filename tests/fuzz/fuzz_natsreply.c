/* SPDX-License-Identifier: Apache-2.0 */

/* What a NATS server's monitoring port says: the same bytes as /jsz and as /varz. */

#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "scalers/nats/natsreply.h"

static void check_line(const struct err *err)
{
	must(err->kind == ERR_INVALID);
	must(err->msg[0] != '\0' && strpbrk(err->msg, "\r\n\t") == NULL);
}

static void check_name(const char *name)
{
	must(strlen(name) < NATSREPLY_NAME_SIZE && strpbrk(name, " \r\n\t") == NULL);
}

static void check_jsz(const char *body, size_t len)
{
	static const struct natsreply_wanted wanted = { "$G", "ID", "orders", "worker" };
	struct natsreply_jsz said;
	struct err err = { 0 };

	if (natsreply_jsz(body, len, &wanted, &said, &err)) {
		check_line(&err);
		return;
	}
	check_name(said.id);
	check_name(said.leader);
	must(*said.id && isfinite(said.lag) && said.lag >= 0);
	must(said.found == NATSREPLY_CONSUMER || said.lag == 0);
}

static void check_varz(const char *body, size_t len)
{
	struct natsreply_varz said;
	struct err err = { 0 };

	if (natsreply_varz(body, len, &said, &err)) {
		check_line(&err);
		must(said.count == 0);
		return;
	}
	check_name(said.id);
	check_name(said.name);
	must(*said.id && *said.name && said.count <= NATSREPLY_HOSTS_MAX);
	for (size_t i = 0; i < said.count; i++)
		must(*said.hosts[i] && strpbrk(said.hosts[i], "/?#@% \r\n[]") == NULL);
	natsreply_varz_done(&said);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *body = malloc(size + 1); /* the sanitizer sees what reads on */

	memcpy(body, data, size);
	body[size] = '\0';
	check_jsz(body, size);
	check_varz(body, size);
	free(body);
	return 0;
}
