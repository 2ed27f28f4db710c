/* SPDX-License-Identifier: Apache-2.0 */
#include "net/mysql/mysqlendpoint.h"

#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "base/fingerprint.h"
#include "base/hostport.h"
#include "base/mem.h"
#include "net/tls/tls.h"

static int check(const struct mysqlendpoint_config *c, struct err *err)
{
	size_t len = c->host ? strlen(c->host) : 0, path_max = sizeof(((struct sockaddr_un *)0)->sun_path);

	if (len == 0)
		return err_set(err, ERR_INVALID, "no host given");
	/* '%' precedes the scope of an IPv6 address */
	if (c->port &&
		(len > HOSTPORT_HOST_MAX ||
			strspn(c->host, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:%") != len))
		return err_set(err, ERR_INVALID, "the host must be the name or address of a host");
	if (!c->port && (c->host[0] != '/' || len >= path_max))
		return err_set(err, ERR_INVALID,
			"the path of the Unix socket must begin with / and be shorter than %zu bytes", path_max);
	if (!c->user || !*c->user)
		return err_set(err, ERR_INVALID, "no username given");
	if (!c->port && c->tls == MYSQLENDPOINT_TLS_VERIFY)
		return err_set(err, ERR_INVALID, "TLS: a Unix socket has no name to verify, and needs no TLS");
	if (c->clear_passwords && c->tls != MYSQLENDPOINT_TLS_VERIFY && c->tls != MYSQLENDPOINT_TLS_UNVERIFIED)
		return err_set(err, ERR_INVALID,
			"a password is sent in the clear (allowCleartextPasswords) only with TLS: set tls to true");
	return 0;
}

static int take_tls(struct mysqlendpoint *e, const struct mysqlendpoint_config *c, struct err *err)
{
	e->tls = c->tls;
	if (c->tls != MYSQLENDPOINT_TLS_OFF)
		endpoint_take_tls(&e->base, &c->tls_config);
	return endpoint_check_tls(&e->base, err);
}

static void on_done(struct endpoint *base)
{
	struct mysqlendpoint *e = (struct mysqlendpoint *)base;

	free(e->host);
	mem_free_secret(e->user);
	mem_free_secret(e->password);
	free(e->database);
	mem_free_secret(e->setup[0]);
	mem_free_secret(e->setup[1]);
}

struct mysqlendpoint *mysqlendpoint_new(const struct mysqlendpoint_config *c, struct err *err)
{
	static const char *const words[] = { "", " tls", " tls-unverified", " tls-preferred" };
	char fingerprint[FINGERPRINT_TEXT];
	struct mysqlendpoint *e;

	if (check(c, err))
		return NULL;
	e = endpoint_new(sizeof(*e), on_done);
	endpoint_set_namespace(&e->base, c->namespace_);
	if (take_tls(e, c, err)) {
		endpoint_unref(e);
		return NULL;
	}
	e->host = mem_dup(c->host);
	e->port = c->port;
	e->base.name = c->port ? hostport_join(c->host, c->port) : mem_dup(c->host);
	e->user = mem_dup(c->user);
	e->password = mem_dup(c->password ? c->password : "");
	e->database = mem_dup(c->database ? c->database : "");
	for (size_t i = 0; i < 2; i++)
		e->setup[i] = mem_dup(c->setup[i]);
	e->native_passwords = c->native_passwords;
	e->clear_passwords = c->clear_passwords;
	e->multi_statements = c->multi_statements;
	endpoint_fingerprint(&e->base, (const char *const[]){ e->user, e->password, e->setup[0], e->setup[1] }, 4,
		fingerprint);
	e->base.key = mem_printf("mysql %s/%s%s%s%s%s %s", e->base.name, e->database, words[e->tls],
		e->native_passwords ? "" : " no-native", e->clear_passwords ? " clear" : "",
		e->multi_statements ? " multi" : "", fingerprint);
	return endpoint_unique(e);
}
