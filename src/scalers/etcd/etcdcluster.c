/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/etcd/etcdcluster.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/hostport.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/tls/tlsrules.h"
#include "scalers/params.h"

#define KEY_MAX      ((size_t)32 << 10)
#define HIDDEN_LEAST 4 /* shorter passwords occur in any text by chance */

struct etcdcluster *etcdcluster_ref(struct etcdcluster *p)
{
	p->refs++;
	return p;
}

void etcdcluster_unref(struct etcdcluster *p)
{
	if (!p || --p->refs > 0)
		return;
	for (size_t i = 0; i < p->count; i++)
		endpoint_unref(p->members[i]);
	free(p->key);
	free(p->name);
	free(p->username);
	mem_free_secret(p->password);
	free(p);
}

/* ---- Members ---- */

/* The scheme decides on TLS; a path is refused, as etcd has none. */
static int read_member(const char *text, bool tls_enabled, char **address, bool *tls, struct err *err)
{
	bool http = text_begins(text, "http://"), https = text_begins(text, "https://");
	const char *rest = text + (http ? strlen("http://") : https ? strlen("https://") : 0);
	struct hostport at;
	size_t len = strlen(rest);

	*tls = https || (tls_enabled && !http);
	if (http && tls_enabled)
		return err_set(err, ERR_INVALID, "must not be http:// when tls is enabled");
	if ((http || https) && len > 0 && rest[len - 1] == '/')
		len--;
	*address = mem_dupn(rest, len);
	if (hostport_parse(*address, &at) == HOSTPORT_GOOD && *at.host && at.has_port && at.port != 0)
		return 0;
	mem_free_ptr(address);
	return err_set(err, ERR_INVALID, "must be host:port, such as etcd.default.svc:2379, or a URL of it");
}

static int add_member(struct etcdcluster *p, const struct etcdcluster_config *c, const char *text, struct err *err)
{
	MEM_AUTO char *address = NULL;
	struct grpcendpoint_config endpoint = { .namespace_ = c->namespace_ };

	if (p->count == ETCDCLUSTER_MEMBERS_MAX)
		return err_set(err, ERR_INVALID, "more than %d endpoints", ETCDCLUSTER_MEMBERS_MAX);
	if (read_member(text, c->tls != NULL, &address, &endpoint.tls, err) ||
		tlsrules_demand(endpoint.tls, "set tls to \"enable\" in the TriggerAuthentication", err))
		return -1;
	endpoint.target = address;
	if (c->tls)
		endpoint.tls_config = *c->tls;
	p->members[p->count] = grpcendpoint_new(&endpoint, err);
	return p->members[p->count] ? (p->count++, 0) : -1;
}

static int add_members(struct etcdcluster *p, const struct etcdcluster_config *c, struct err *err)
{
	for (size_t i = 0; i < c->count; i++)
		if (*c->members[i] && add_member(p, c, c->members[i], err))
			return err_wrap(err, "parameter \"endpoints\", piece %zu", i + 1);
	return p->count > 0 ? 0 : params_wrong(err, "endpoints", "has no endpoint");
}

static char *make_key(const struct etcdcluster *p)
{
	const char *const who[] = { p->username, p->password };
	char print[FINGERPRINT_TEXT];
	struct buf key = BUF_INIT(KEY_MAX);

	for (size_t i = 0; i < p->count; i++)
		buf_printf(&key, "%s,", p->members[i]->base.key);
	buf_printf(&key, " %s", p->username ? fingerprint_of(who, 2, print) : "nobody");
	return buf_take(&key);
}

struct etcdcluster *etcdcluster_new(const struct etcdcluster_config *config, struct err *err)
{
	struct etcdcluster *p = mem_zalloc(sizeof(*p));

	p->refs = 1;
	p->username = mem_dup(config->username);
	p->password = mem_dup(config->password);
	if ((config->tls && tls_client_check(config->tls, err)) || add_members(p, config, err)) {
		etcdcluster_unref(p);
		return NULL;
	}
	p->key = make_key(p);
	p->name = mem_dup(p->members[0]->base.name);
	return p;
}

void etcdcluster_hide(const struct etcdcluster *p, struct err *err)
{
	if (p->password && strlen(p->password) >= HIDDEN_LEAST && strstr(err->msg, p->password))
		err_set(err, err->kind, "the server's message is not shown, as it contains the password");
}
