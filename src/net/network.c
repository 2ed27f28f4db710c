/* SPDX-License-Identifier: Apache-2.0 */
#include "net/network.h"

#include <stdlib.h>

#include "base/mem.h"
#include "net/dns/names.h"

static void network_free(void *ptr)
{
	struct network *n = ptr;

	names_free(n->names);
	free(n);
}

struct network *network_of(struct loop *loop)
{
	struct network *n = loop_kept(loop);

	if (!n) {
		n = mem_zalloc(sizeof(*n));
		loop_keep(loop, n, network_free);
	}
	return n;
}

static void on_names_work(void *arg)
{
	loop_enter(arg);
}

struct names *network_names(struct loop *loop)
{
	struct network *n = network_of(loop);

	if (!n->names)
		n->names = names_new(loop_base(loop), on_names_work, loop);
	return n->names;
}
