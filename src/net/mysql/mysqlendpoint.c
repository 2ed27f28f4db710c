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

	return len > 0 && len <= HOSTPORT_HOST_MAX && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:%") == len;
}

static int check_address(const struct mysqlendpoint_config *c, struct err *err)
{
	if (!c->host || !*c->host)
		return err_set(err, ERR_INVALID, "no host given");
	if (c->port && !is_host(c->host))
		return err_set(err, ERR_INVALID, "the host is no name or address of a host");
	if (!c->port && (c->host[0] != '/' || strlen(c->host) >= sizeof(((struct sockaddr_un *)0)->sun_path)))
		return err_set(err, ERR_INVALID, "the path of the Unix socket must begin with / and be shorter than %zu bytes", sizeof(((struct sockaddr_un *)0)->sun_path));
	return 0;
}

static int check_credentials(const struct mysqlendpoint_config *c, struct err *err)
{
	if (!c->user || !*c->user)
		return err_set(err, ERR_INVALID, "no username given");
	if (!c->port && c->tls == MYSQLENDPOINT_TLS_VERIFY)
		return err_set(err, ERR_INVALID, "TLS: there is no name to verify behind a Unix socket, which needs no TLS either");
	if (c->clear_passwords && c->tls != MYSQLENDPOINT_TLS_VERIFY && c->tls != MYSQLENDPOINT_TLS_UNVERIFIED)
		return err_set(err, ERR_INVALID, "a password is sent in the clear (allowCleartextPasswords) only with TLS: set tls to true");
	return 0;
}

static int check_tls(const struct mysqlendpoint_config *c, struct err *err)
{
	struct tls_client_config config = { .ca_pem = c->tls_ca_pem, .cert_pem = c->tls_cert_pem, .key_pem = c->tls_key_pem, .key_password = c->tls_key_password };

	if (c->tls == MYSQLENDPOINT_TLS_OFF)
		return 0;
	return tls_client_check(&config, err) ? err_wrap(err, "TLS") : 0;
}

static void make_key(struct mysqlendpoint *e)
{
	static const char *const words[] = { "", " tls", " tls-unverified", " tls-preferred" };
	const char *const secrets[] = { e->user, e->password, e->tls_ca_pem, e->tls_cert_pem, e->tls_key_pem, e->tls_key_password, e->setup[0], e->setup[1] };
	char fingerprint[FINGERPRINT_TEXT];

	fingerprint_of(secrets, sizeof(secrets) / sizeof(secrets[0]), fingerprint);
	e->key = mem_printf("mysql %s/%s%s%s%s%s %s", e->address, e->database, words[e->tls], e->native_passwords ? "" : " no-native", e->clear_passwords ? " clear" : "", e->multi_statements ? " multi" : "",
			    fingerprint);
}

static void take_tls(struct mysqlendpoint *e, const struct mysqlendpoint_config *c)
{
	e->tls = c->tls;
	if (c->tls == MYSQLENDPOINT_TLS_OFF)
		return;
	e->tls_ca_pem = mem_dup(c->tls_ca_pem);
	e->tls_cert_pem = mem_dup(c->tls_cert_pem);
	e->tls_key_pem = mem_dup(c->tls_key_pem);
	e->tls_key_password = mem_dup(c->tls_key_password);
}

struct mysqlendpoint *mysqlendpoint_new(const struct mysqlendpoint_config *c, struct err *err)
{
	struct mysqlendpoint *e;

	if (check_address(c, err) || check_credentials(c, err) || check_tls(c, err))
		return NULL;
	e = mem_zalloc(sizeof(*e));
	e->count = 1;
	e->host = mem_dup(c->host);
	e->port = c->port;
	e->address = c->port ? hostport_join(c->host, c->port) : mem_dup(c->host);
	e->user = mem_dup(c->user);
	e->password = mem_dup(c->password ? c->password : "");
	e->database = mem_dup(c->database ? c->database : "");
	take_tls(e, c);
	for (size_t i = 0; i < 2; i++)
		e->setup[i] = mem_dup(c->setup[i]);
	e->native_passwords = c->native_passwords;
	e->clear_passwords = c->clear_passwords;
	e->multi_statements = c->multi_statements;
	make_key(e);
	return e;
}

struct mysqlendpoint *mysqlendpoint_ref(struct mysqlendpoint *e)
{
	e->count++;
	return e;
}

void mysqlendpoint_unref(struct mysqlendpoint *e)
{
	if (!e || --e->count > 0)
		return;
	mem_free_ptr(&e->key);
	mem_free_ptr(&e->address);
	mem_free_ptr(&e->host);
	mem_free_secret(e->user);
	mem_free_secret(e->password);
	mem_free_ptr(&e->database);
	mem_free_secret(e->tls_ca_pem);
	mem_free_secret(e->tls_cert_pem);
	mem_free_secret(e->tls_key_pem);
	mem_free_secret(e->tls_key_password);
	mem_free_secret(e->setup[0]);
	mem_free_secret(e->setup[1]);
	mem_free_ptr(&e);
}
