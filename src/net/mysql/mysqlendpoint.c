/* SPDX-License-Identifier: Apache-2.0 */
#include "net/mysql/mysqlendpoint.h"

#include <string.h>
#include <sys/un.h>

#include "base/fingerprint.h"
#include "base/hostport.h"
#include "base/mem.h"
#include "net/tls.h"

/* Letters that stand in names and addresses of hosts; a '%' for the scope of an IPv6 address. */
static bool is_host(const char *text)
{
	size_t len = strlen(text);

	return len > 0 && len <= HOSTPORT_HOST_MAX &&
		strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:%") == len;
}

static int check_address(const struct mysqlendpoint_config *c, struct err *err)
{
	if (!c->host || !*c->host)
		return err_set(err, ERR_INVALID, "no host given");
	if (c->port && !is_host(c->host))
		return err_set(err, ERR_INVALID, "the host is no name or address of a host");
	if (!c->port && (c->host[0] != '/' || strlen(c->host) >= sizeof(((struct sockaddr_un *)0)->sun_path)))
		return err_set(err, ERR_INVALID,
			"the path of the Unix socket must begin with / and be shorter than %zu bytes",
			sizeof(((struct sockaddr_un *)0)->sun_path));
	return 0;
}

static int check_credentials(const struct mysqlendpoint_config *c, struct err *err)
{
	if (!c->user || !*c->user)
		return err_set(err, ERR_INVALID, "no username given");
	if (!c->port && c->tls == MYSQLENDPOINT_TLS_VERIFY)
		return err_set(err, ERR_INVALID,
			"TLS: there is no name to verify behind a Unix socket, which needs no TLS either");
	if (c->clear_passwords && c->tls != MYSQLENDPOINT_TLS_VERIFY && c->tls != MYSQLENDPOINT_TLS_UNVERIFIED)
		return err_set(err, ERR_INVALID,
			"a password is sent in the clear (allowCleartextPasswords) only with TLS: set tls to true");
	return 0;
}

static void make_key(struct mysqlendpoint *e)
{
	static const char *const words[] = { "", " tls", " tls-unverified", " tls-preferred" };
	const char *const secrets[] = { e->user, e->password, e->setup[0], e->setup[1] };
	char fingerprint[FINGERPRINT_TEXT];

	endpoint_fingerprint(&e->base, secrets, sizeof(secrets) / sizeof(secrets[0]), fingerprint);
	e->base.key = mem_printf("mysql %s/%s%s%s%s%s %s", e->base.name, e->database, words[e->tls],
		e->native_passwords ? "" : " no-native", e->clear_passwords ? " clear" : "",
		e->multi_statements ? " multi" : "", fingerprint);
}

static int take_tls(struct mysqlendpoint *e, const struct mysqlendpoint_config *c, struct err *err)
{
	const struct tls_client_config tls = { .ca_pem = c->tls_ca_pem,
		.cert_pem = c->tls_cert_pem,
		.key_pem = c->tls_key_pem,
		.key_password = c->tls_key_password };

	e->tls = c->tls;
	if (c->tls != MYSQLENDPOINT_TLS_OFF)
		endpoint_take_tls(&e->base, &tls);
	return endpoint_check_tls(&e->base, err);
}

static void on_done(struct endpoint *base)
{
	struct mysqlendpoint *e = (struct mysqlendpoint *)base;

	mem_free_ptr(&e->host);
	mem_free_secret(e->user);
	mem_free_secret(e->password);
	mem_free_ptr(&e->database);
	mem_free_secret(e->setup[0]);
	mem_free_secret(e->setup[1]);
}

struct mysqlendpoint *mysqlendpoint_new(const struct mysqlendpoint_config *c, struct err *err)
{
	struct mysqlendpoint *e;

	if (check_address(c, err) || check_credentials(c, err))
		return NULL;
	e = endpoint_new(sizeof(*e), on_done);
	endpoint_set_namespace(&e->base, c->namespace_);
	if (take_tls(e, c, err)) {
		mysqlendpoint_unref(e);
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
	make_key(e);
	return (struct mysqlendpoint *)endpoint_unique(&e->base);
}

void mysqlendpoint_unref(struct mysqlendpoint *e)
{
	endpoint_unref(e ? &e->base : NULL);
}
