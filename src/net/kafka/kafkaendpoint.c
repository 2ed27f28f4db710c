/* SPDX-License-Identifier: Apache-2.0 */
#include "net/kafka/kafkaendpoint.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hostport.h"
#include "base/mem.h"
#include "net/identity/identity.h"

#define NAME_MAX_LEN 120 /* of the servers in a message */

/* ---- Addresses ---- */

static bool is_printable(const char *text)
{
	while ((unsigned char)*text > ' ' && *text != 0x7f)
		text++;
	return !*text;
}

static int take_server(struct kafkaendpoint *e, const char *address, uint16_t port, struct err *err)
{
	struct hostport at;

	if (strstr(address, "://"))
		return err_set(err, ERR_INVALID, "address \"%s\": must be host:port, not a URL", address);
	if (hostport_parse(address, &at) != HOSTPORT_GOOD || !*at.host || !is_printable(address) ||
		strpbrk(at.host, "[]/") || (at.has_port ? at.port : port) == 0)
		return err_set(err, ERR_INVALID, "address \"%s\": must be host:port", address);
	if (!at.has_port)
		at.port = port;
	e->servers[e->count++] = (struct kafkaserver){ mem_dup(at.host), at.port };
	return 0;
}

static int take_servers(struct kafkaendpoint *e, const struct kafkaendpoint_config *config, struct err *err)
{
	struct buf all = BUF_INIT(1u << 20), name = BUF_INIT(2 * NAME_MAX_LEN);
	int rc = 0;

	if (config->count <= KAFKAENDPOINT_SERVERS_MAX)
		e->servers = mem_array(config->count, sizeof(*e->servers));
	for (size_t i = 0; e->servers && i < config->count && !rc; i++)
		if (*config->servers[i])
			rc = take_server(e, config->servers[i], config->port, err);
	if (!rc && e->count == 0)
		rc = err_set(err, ERR_INVALID, "there must be 1 to %d servers", KAFKAENDPOINT_SERVERS_MAX);
	for (size_t i = 0; i < e->count; i++) {
		MEM_AUTO char *address = hostport_join(e->servers[i].host, e->servers[i].port);

		buf_printf(&all, "%s%s", i > 0 ? "," : "", address);
	}
	buf_printf(&name, "%.*s%s", NAME_MAX_LEN, buf_text(&all), all.len > NAME_MAX_LEN ? "..." : "");
	e->base.name = buf_take(&name);
	e->base.key = buf_take(&all); /* the rest follows */
	return rc;
}

/* ---- Making ---- */

static void on_done(struct endpoint *base)
{
	struct kafkaendpoint *e = (struct kafkaendpoint *)base;

	for (size_t i = 0; i < e->count; i++)
		free(e->servers[i].host);
	free(e->servers);
	mem_free_secret(e->username);
	mem_free_secret(e->password);
	scram_forget(&e->memory);
	identity_unref(e->identity);
	free(e->region);
	strmap_done_secret(&e->extensions);
}

static void make_key(struct kafkaendpoint *e)
{
	const char **secrets = mem_array(2 + 2 * e->extensions.count, sizeof(*secrets));
	char fingerprint[FINGERPRINT_TEXT], *servers = e->base.key;
	size_t count = 0;

	secrets[count++] = e->username;
	secrets[count++] = e->password;
	for (size_t i = 0; i < e->extensions.count; i++) {
		secrets[count++] = e->extensions.pairs[i].key;
		secrets[count++] = e->extensions.pairs[i].value;
	}
	endpoint_fingerprint(&e->base, secrets, count, fingerprint);
	e->base.key = mem_printf("kafka %s%s %s %s%s%s%s%s", servers,
		!e->tls                        ? ""
			: e->base.tls.insecure ? " tls-insecure"
					       : " tls",
		kafkasasl_name(e->mechanism), fingerprint, e->identity ? " by " : "",
		e->identity ? identity_key(e->identity) : "", e->region ? " in " : "", e->region ? e->region : "");
	free(servers);
	free(secrets);
}

struct kafkaendpoint *kafkaendpoint_new(const struct kafkaendpoint_config *config, struct err *err)
{
	const struct tls_client_config tls = {
		.ca_pem = config->tls_ca_pem,
		.cert_pem = config->tls_cert_pem,
		.key_pem = config->tls_key_pem,
		.key_password = config->tls_key_password,
		.insecure = config->tls_insecure,
	};
	struct kafkaendpoint *e = endpoint_new(sizeof(*e), on_done);

	endpoint_set_namespace(&e->base, config->namespace_);
	e->tls = config->tls;
	if (e->tls)
		endpoint_take_tls(&e->base, &tls);
	e->mechanism = config->mechanism;
	e->username = endpoint_dup_given(config->username);
	e->password = endpoint_dup_given(config->password);
	e->identity = identity_ref(config->identity);
	e->region = endpoint_dup_given(config->region);
	if (config->extensions)
		strmap_copy(&e->extensions, config->extensions);
	if (take_servers(e, config, err) || endpoint_check_tls(&e->base, err)) {
		kafkaendpoint_unref(e);
		return NULL;
	}
	make_key(e);
	return (struct kafkaendpoint *)endpoint_unique(&e->base);
}

const char *kafkaendpoint_shown(const struct kafkaendpoint *e, const char *text)
{
	return e->password && strstr(text, e->password) ? "(not shown: it repeats the password)" : text;
}

struct kafkaendpoint *kafkaendpoint_ref(struct kafkaendpoint *e)
{
	endpoint_ref(&e->base);
	return e;
}

void kafkaendpoint_unref(struct kafkaendpoint *e)
{
	endpoint_unref(e ? &e->base : NULL);
}
