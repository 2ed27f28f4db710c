/* SPDX-License-Identifier: Apache-2.0 */
#include "net/mongo/mongoendpoint.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hostport.h"
#include "base/mem.h"
#include "base/text.h"

#define NAME_CHARACTERS                                                                                                \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:%" /* '%' precedes an address's scope */

const char *const mongoendpoint_reads_words[] = { "primary", "primaryPreferred", "secondary", "secondaryPreferred",
	"nearest", NULL };

int mongoendpoint_parse_host(const char *text, struct mongoendpoint_host *out)
{
	struct hostport at;

	if (hostport_parse(text, &at) != HOSTPORT_GOOD || !*at.host || at.host[strspn(at.host, NAME_CHARACTERS)] ||
		(at.has_port && at.port == 0))
		return -1;
	*out = (struct mongoendpoint_host){ mem_dup(at.host), at.has_port ? at.port : MONGOENDPOINT_PORT };
	return 0;
}

char *mongoendpoint_parse_seed(const char *text, bool *has_port)
{
	struct hostport at;

	*has_port = false;
	if (hostport_parse(text, &at) != HOSTPORT_GOOD || !*at.host || at.host[strspn(at.host, NAME_CHARACTERS)] ||
		strpbrk(at.host, ":%"))
		return NULL;
	*has_port = at.has_port;
	return at.has_port ? NULL : mem_dup(at.host);
}

static int check_seed(const struct mongoendpoint_config *c, struct err *err)
{
	if (c->direct)
		return err_set(err, ERR_INVALID, "a direct connection cannot be made if an SRV URI is used");
	if (c->max_hosts > 0 && c->set && *c->set)
		return err_set(err, ERR_INVALID,
			"srvMaxHosts cannot be a positive value if a replica set name is specified");
	return 0;
}

static int check_config(const struct mongoendpoint_config *c, struct err *err)
{
	if (c->seed && check_seed(c, err))
		return -1;
	if (!c->seed && (c->count == 0 || c->count > MONGOENDPOINT_HOSTS_MAX))
		return err_set(err, ERR_INVALID, "there must be 1 to %d hosts", MONGOENDPOINT_HOSTS_MAX);
	if (c->direct && c->count > 1)
		return err_set(err, ERR_INVALID, "a direct connection cannot be made if multiple hosts are specified");
	if (c->mechanism == MONGOENDPOINT_X509 && (!c->tls || !c->tls_config.cert_pem))
		return err_set(err, ERR_INVALID,
			"authMechanism MONGODB-X509 needs TLS with a client certificate: give cert and key");
	return 0;
}

static void take_hosts(struct mongoendpoint *e, const struct mongoendpoint_config *c)
{
	struct buf all = BUF_INIT(1u << 16);

	e->hosts = mem_array(c->count, sizeof(*e->hosts));
	for (; e->count < c->count; e->count++) {
		const struct mongoendpoint_host *host = &c->hosts[e->count];
		MEM_AUTO char *text = hostport_join(host->name, host->port);

		e->hosts[e->count] = (struct mongoendpoint_host){ mem_dup(host->name), host->port };
		buf_printf(&all, "%s%s", e->count > 0 ? "," : "", text);
	}
	endpoint_set_name(&e->base, buf_text(&all));
	e->base.key = buf_take(&all); /* the rest follows */
}

static void take_seed(struct mongoendpoint *e, const struct mongoendpoint_config *c)
{
	e->seed = mem_dup(c->seed);
	e->service = mem_dup(c->service && *c->service ? c->service : "mongodb");
	e->max_hosts = c->max_hosts;
	e->unbalanced = c->unbalanced;
	e->base.name = mem_dup(c->seed);
	e->base.key = mem_printf("_%s._tcp.%s %zu%s%s", e->service, e->seed, e->max_hosts,
		e->unbalanced ? " unbalanced" : "", c->source_given ? " source" : ""); /* the rest follows */
}

static void on_done(struct endpoint *base)
{
	struct mongoendpoint *e = (struct mongoendpoint *)base;

	for (size_t i = 0; i < e->count; i++)
		free(e->hosts[i].name);
	free(e->hosts);
	free(e->seed);
	free(e->service);
	free(e->set);
	mem_free_secret(e->username);
	mem_free_secret(e->password);
	scram_forget(&e->memory);
	free(e->source);
	free(e->app_name);
}

static void make_key(struct mongoendpoint *e)
{
	static const char *const mechanisms[] = { "", " scram", " scram-sha-1", " scram-sha-256", " x509" };
	const char *const secrets[] = { e->username, e->password, e->source, e->set, e->app_name };
	char fingerprint[FINGERPRINT_TEXT], *hosts = e->base.key;

	endpoint_fingerprint(&e->base, secrets, MEM_COUNT(secrets), fingerprint);
	e->base.key = mem_printf("mongodb %s%s%s %s%s %" PRId64 " %s", hosts, endpoint_tls_word(&e->base, e->tls),
		e->direct ? " direct" : "", mongoendpoint_reads_words[e->reads], mechanisms[e->mechanism],
		e->connect_ms, fingerprint);
	free(hosts);
}

struct mongoendpoint *mongoendpoint_new(const struct mongoendpoint_config *c, struct err *err)
{
	struct mongoendpoint *e;

	if (check_config(c, err))
		return NULL;
	e = endpoint_new(sizeof(*e), on_done);
	endpoint_set_namespace(&e->base, c->namespace_);
	e->tls = c->tls;
	if (c->tls)
		endpoint_take_tls(&e->base, &c->tls_config);
	if (endpoint_check_tls(&e->base, err)) {
		endpoint_unref(e);
		return NULL;
	}
	if (c->seed)
		take_seed(e, c);
	else
		take_hosts(e, c);
	e->set = mem_dup(text_given(c->set));
	e->direct = c->direct;
	e->reads = c->reads;
	e->mechanism = c->mechanism;
	e->username = mem_dup(text_given(c->username));
	e->password = mem_dup(text_given(c->password));
	e->source = mem_dup(c->source && *c->source ? c->source : "admin");
	e->source_given = c->source_given;
	e->app_name = mem_dup(text_given(c->app_name));
	e->connect_ms = c->connect_ms;
	make_key(e);
	return endpoint_unique(e);
}
