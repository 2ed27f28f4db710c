/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/objects/targetshape.h"

#include "base/buf.h"
#include "base/fingerprint.h"

#define SHAPE_BYTES_MAX (4 << 20)

static void add_env(struct buf *b, const struct workload_container *c)
{
	buf_printf(b, "%s\n", c->name);
	for (size_t i = 0; i < c->env_count; i++)
		buf_printf(b, "%s=%d %s %s %s %d\n", c->env[i].name, (int)c->env[i].source,
			c->env[i].value ? c->env[i].value : "", c->env[i].ref_name ? c->env[i].ref_name : "",
			c->env[i].ref_key ? c->env[i].ref_key : "", c->env[i].optional);
	for (size_t i = 0; i < c->env_from_count; i++)
		buf_printf(b, "from %d %s %s %d\n", (int)c->env_from[i].kind, c->env_from[i].name,
			c->env_from[i].prefix ? c->env_from[i].prefix : "", c->env_from[i].optional);
}

uint64_t targetshape_of(const struct workload *w)
{
	struct buf b = BUF_INIT(SHAPE_BYTES_MAX);
	uint64_t shape;

	buf_printf(&b, "%s %d %s %s %s\n", w->uid, w->replicas, w->no_environment ? w->no_environment : "",
		w->service_account ? w->service_account : "", w->template_deployment ? w->template_deployment : "");
	for (size_t i = 0; i < w->container_count; i++)
		add_env(&b, &w->containers[i]);
	shape = fingerprint_fast(buf_text(&b), b.len);
	buf_done_secret(&b);
	return shape;
}
