/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/credentials.h"

#include <stdlib.h>

#include "base/mem.h"

struct credentials *credentials_new(const struct kube_config *config)
{
	struct credentials *c = mem_zalloc(sizeof *c);

	c->holders = 1;
	c->server = mem_dup(config->server);
	c->token = mem_dup(config->token);
	c->reach = (struct httpc_server){
		.ca_pem = mem_dup(config->ca_pem),
		.cert_pem = mem_dup(config->cert_pem),
		.key_pem = mem_dup(config->key_pem),
		.tls_server_name = mem_dup(config->tls_server_name),
		.proxy_url = mem_dup(config->proxy_url),
		.insecure = config->insecure,
		.dead_peer_ms = config->dead_peer_ms,
	};
	return c;
}

struct credentials *credentials_hold(struct credentials *c)
{
	c->holders++;
	return c;
}

/* httpc's structure borrows, so its strings are const; these are our own. */
static void free_own(const char *text)
{
	mem_free_secret((char *)(uintptr_t)text);
}

void credentials_release(struct credentials *c)
{
	if (!c || --c->holders > 0)
		return;
	free_own(c->reach.ca_pem);
	free_own(c->reach.cert_pem);
	free_own(c->reach.key_pem);
	free_own(c->reach.tls_server_name);
	free_own(c->reach.proxy_url);
	mem_free_secret(c->token);
	free(c->server);
	free(c);
}
