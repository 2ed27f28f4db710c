/* SPDX-License-Identifier: Apache-2.0 */
#include "net/pg/pgparameters.h"

#include <event2/util.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define NO_FILE "/dev/null/none" /* never exists; replaces files that libpq would search in a home directory */

/* The first value of a name counts: settings come before defaults. */
static void add(struct pgparameters *p, const char *name, const char *value)
{
	for (size_t i = 0; i < p->count; i++) {
		if (strcmp(p->names[i], name) == 0)
			return;
	}
	if (!value || !*value || p->count == PGPARAMETERS_MAX)
		return;
	p->names[p->count] = name;
	p->values[p->count++] = value;
}

static void add_options(struct pgparameters *p, const struct pgparameters_of *of)
{
	const char *own = of->endpoint->options;

	p->asked_timeout = of->statement_timeout_ms > 0 && !of->endpoint->own_timeout;
	if (p->asked_timeout)
		p->options = mem_printf("%s%s-c statement_timeout=%lld", own ? own : "", own ? " " : "",
			(long long)of->statement_timeout_ms);
	else
		p->options = mem_dup(own);
	add(p, "options", p->options);
}

static void add_place(struct pgparameters *p, const struct pgparameters_of *of)
{
	const struct pgendpoint_host *h = &of->endpoint->hosts[of->host];
	const struct dns_address *a = of->address;

	snprintf(p->port, sizeof(p->port), "%u", h->port);
	add(p, "host", h->host);
	add(p, "port", p->port);
	if (a &&
		evutil_inet_ntop(a->sa.ss_family,
			a->sa.ss_family == AF_INET ? (const void *)&((const struct sockaddr_in *)&a->sa)->sin_addr
						   : (const void *)&((const struct sockaddr_in6 *)&a->sa)->sin6_addr,
			p->address, sizeof(p->address)))
		add(p, "hostaddr", p->address);
}

void pgparameters_fill(struct pgparameters *p, const struct pgparameters_of *of)
{
	/* TLS settings, as libpq does not do TLS here */
	static const char *const tls[] = { "sslmode", "sslrootcert", "sslpassword", "sslsni", "sslnegotiation",
		"sslcompression", NULL };
	const char *const usual[][2] = {
		{ "application_name", "kscaled" },
		{ "client_encoding", "UTF8" },
		{ "sslmode", "disable" },
		/* as net/dial */
		{ "keepalives_idle", "7" },
		{ "keepalives_interval", "3" },
		{ "keepalives_count", "3" },
		{ "tcp_user_timeout", "15000" },
		{ "gssencmode", "disable" },
		{ "passfile", NO_FILE },
	};
	const char *target = of->endpoint->target;

	*p = (struct pgparameters){ .count = 0 };
	if (strcmp(target, "prefer-standby") == 0)
		target = of->second_round ? "any" : "standby";
	add_place(p, of);
	add_options(p, of);
	add(p, "password", of->token);
	add(p, "target_session_attrs", target);
	for (size_t i = 0; i < of->endpoint->settings.count; i++) {
		const struct strmap_pair *s = &of->endpoint->settings.pairs[i];

		if (!text_is_one_of(s->key, tls) &&
			!(of->endpoint->binds_channel && strcmp(s->key, "channel_binding") == 0))
			add(p, s->key, s->value);
	}
	for (size_t i = 0; i < MEM_COUNT(usual); i++)
		add(p, usual[i][0], usual[i][1]);
}

void pgparameters_done(struct pgparameters *p)
{
	mem_free_secret(p->options);
	p->options = NULL;
}
