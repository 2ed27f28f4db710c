/* SPDX-License-Identifier: Apache-2.0 */
#include "net/grpc/grpcendpoint.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostport.h"
#include "base/mem.h"
#include "base/text.h"

#define DEFAULT_PORT 443 /* as in grpc-go */

/* ---- Targets ---- */

/* Prefixes of host:port; gRPC's other name resolvers are not supported. */
static const char *const plain_prefixes[] = { "dns:///", "passthrough:///" };
static const char *const other_schemes[] = { "unix", "unix-abstract", "xds", "ipv4", "ipv6", "vsock", "passthrough",
	"dns", "http", "https", "grpc", "google-c2p", NULL };

static bool is_host(const char *host, bool bracketed)
{
	for (const char *c = host; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr(bracketed ? ":.%" : "-._", *c))
			return false;
	return *host;
}

/* Normalises the target to "host:port", which the caller owns. */
static int read_target(const char *target, char **out, struct err *err)
{
	const char *rest = target;
	struct hostport at;
	const char *colon = strchr(target, ':');
	MEM_AUTO char *scheme = mem_dupn(target, colon ? (size_t)(colon - target) : 0);

	for (size_t i = 0; i < MEM_COUNT(plain_prefixes); i++)
		if (text_begins(target, plain_prefixes[i]))
			rest = target + strlen(plain_prefixes[i]);
	if (text_begins(target, "dns:") && target[4] != '/' &&
		hostport_port(target + 4) < 1) /* in "dns:50051" the host is called dns */
		rest = target + 4;
	/* "unix:/run/x.sock", "xds://a/b": names a scheme; "host:50051" does not. */
	if (rest == target && colon &&
		(text_begins(colon, "://") ||
			(text_is_one_of(scheme, other_schemes) && !isdigit((unsigned char)colon[1]))))
		return err_set(err, ERR_INVALID,
			"address \"%s\": \"%s\" is not supported here: write host:port, or dns:///host:port", target,
			scheme);
	if (hostport_parse(rest, &at) != HOSTPORT_GOOD || !is_host(at.host, at.bracketed) ||
		(at.has_port && at.port == 0))
		return err_set(err, ERR_INVALID, "address \"%s\" must be host:port", target);
	*out = hostport_join(at.host, at.has_port ? at.port : DEFAULT_PORT);
	return 0;
}

/* ---- Endpoints ---- */

static void on_done(struct endpoint *base)
{
	free(((struct grpcendpoint *)base)->url);
}

struct grpcendpoint *grpcendpoint_new(const struct grpcendpoint_config *config, struct err *err)
{
	struct grpcendpoint *e;
	const struct tls_client_config *tls;
	char *address = NULL, fingerprint[FINGERPRINT_TEXT];

	if (read_target(config->target, &address, err))
		return NULL;
	e = endpoint_new(sizeof(*e), on_done);
	endpoint_set_namespace(&e->base, config->namespace_);
	tls = &e->base.tls;
	e->base.name = address;
	e->url = mem_printf("%s://%s", config->tls ? "https" : "http", address);
	if (config->tls)
		endpoint_take_tls(&e->base, &config->tls_config);
	if (endpoint_check_tls(&e->base, err)) {
		endpoint_unref(e);
		return NULL;
	}
	if (config->tls)
		e->base.key = mem_printf("%s tls%s %s", address, tls->insecure ? " insecure" : "",
			endpoint_fingerprint(&e->base, NULL, 0, fingerprint));
	else
		e->base.key = mem_printf("%s plain", address);
	e->server = (struct httpc_server){ .roots = tls->roots,
		.cert_pem = tls->cert_pem,
		.key_pem = tls->key_pem,
		.insecure = tls->insecure,
		.system_too = true };
	return endpoint_unique(e);
}
