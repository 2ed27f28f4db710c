/* SPDX-License-Identifier: Apache-2.0 */
#include "net/kafka/kafkaendpoint.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/hostport.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/identity/disclosure.h"
#include "net/identity/identity.h"

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
	for (size_t i = 0; i < e->count; i++)
		if (e->servers[i].port == at.port && strcasecmp(e->servers[i].host, at.host) == 0)
			return 0;
	e->servers[e->count++] = (struct kafkaserver){ mem_dup(at.host), at.port };
	return 0;
}

/* ---- Name and key ---- */

static int compare_addresses(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The same servers make the same key, in any case and order. */
static char *servers_key(const struct kafkaendpoint *e)
{
	char **addresses = mem_array(e->count, sizeof(*addresses));
	struct buf key = BUF_INIT(1u << 20);

	for (size_t i = 0; i < e->count; i++) {
		addresses[i] = hostport_join(e->servers[i].host, e->servers[i].port);
		for (char *c = addresses[i]; *c; c++)
			*c = (char)(*c >= 'A' && *c <= 'Z' ? *c + 'a' - 'A' : *c);
	}
	if (e->count > 1)
		qsort(addresses, e->count, sizeof(*addresses), compare_addresses);
	for (size_t i = 0; i < e->count; i++) {
		buf_printf(&key, "%s%s", i > 0 ? "," : "", addresses[i]);
		free(addresses[i]);
	}
	free(addresses);
	return buf_take(&key);
}

static void name_servers(struct kafkaendpoint *e)
{
	struct buf all = BUF_INIT(1u << 20);

	for (size_t i = 0; i < e->count; i++) {
		MEM_AUTO char *address = hostport_join(e->servers[i].host, e->servers[i].port);

		buf_printf(&all, "%s%s", i > 0 ? "," : "", address);
	}
	endpoint_set_name(&e->base, buf_text(&all));
	buf_done(&all);
}

static int take_servers(struct kafkaendpoint *e, const struct kafkaendpoint_config *config, struct err *err)
{
	int rc = 0;

	if (config->count <= KAFKAENDPOINT_SERVERS_MAX)
		e->servers = mem_array(config->count, sizeof(*e->servers));
	for (size_t i = 0; e->servers && i < config->count && !rc; i++)
		if (*config->servers[i])
			rc = take_server(e, config->servers[i], config->port, err);
	if (!rc && e->count == 0)
		rc = err_set(err, ERR_INVALID, "there must be 1 to %d servers", KAFKAENDPOINT_SERVERS_MAX);
	name_servers(e);
	e->base.key = servers_key(e); /* make_key adds the rest */
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
	free(e->trusted);
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
	e->base.key = mem_printf("kafka %s%s %s %s%s%s%s%s", servers, endpoint_tls_word(&e->base, e->tls),
		kafkasasl_name(e->mechanism), fingerprint, e->identity ? " by " : "",
		e->identity ? identity_key(e->identity) : "", e->region ? " in " : "", e->region ? e->region : "");
	free(servers);
	free(secrets);
}

int kafkaendpoint_may_disclose(const struct kafkaendpoint *e, const char *host, struct err *err)
{
	const struct disclosure to = { .cloud = DISCLOSURE_MSK,
		.region = e->region,
		.host = host,
		.clear = !e->tls,
		.insecure = e->base.tls.insecure,
		.own_ca = e->base.tls.ca_pem != NULL,
		.trusted = e->trusted };

	return e->region && e->identity && identity_is_own(e->identity) ? disclosure_check(&to, err) : 0;
}

static int check_servers(const struct kafkaendpoint *e, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < e->count && !rc; i++)
		rc = kafkaendpoint_may_disclose(e, e->servers[i].host, err);
	return rc;
}

struct kafkaendpoint *kafkaendpoint_new(const struct kafkaendpoint_config *config, struct err *err)
{
	struct kafkaendpoint *e = endpoint_new(sizeof(*e), on_done);

	endpoint_set_namespace(&e->base, config->namespace_);
	e->tls = config->tls;
	if (e->tls)
		endpoint_take_tls(&e->base, &config->tls_config);
	e->mechanism = config->mechanism;
	e->username = mem_dup(text_given(config->username));
	e->password = mem_dup(text_given(config->password));
	e->identity = identity_ref(config->identity);
	e->region = mem_dup(text_given(config->region));
	e->trusted = mem_dup(text_given(config->trusted));
	if (config->extensions)
		strmap_copy(&e->extensions, config->extensions);
	if (take_servers(e, config, err) || check_servers(e, err) || endpoint_check_tls(&e->base, err)) {
		endpoint_unref(e);
		return NULL;
	}
	make_key(e);
	return endpoint_unique(e);
}

const char *kafkaendpoint_redact(const struct kafkaendpoint *e, const char *text)
{
	return e->password && strstr(text, e->password) ? "(not shown: it repeats the password)" : text;
}

const char *kafkaendpoint_hint(const struct kafkaendpoint *e, bool open)
{
	if (open)
		return e->mechanism == KAFKASASL_NONE ? " (does this listener ask for a login? set sasl)" : "";
	if (!e->tls)
		return " (is TLS needed here? set tls to enable; or is it older than Kafka 1.0?)";
	/* in TLS 1.3 the alert about a missing certificate may be lost */
	return e->base.tls.cert_pem ? "" : " (does it ask for a client certificate? give cert and key)";
}
