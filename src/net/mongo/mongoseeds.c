/* SPDX-License-Identifier: Apache-2.0 */
#include "net/mongo/mongoseeds.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/dnsname.h"
#include "base/fingerprint.h"
#include "base/mem.h"
#include "base/text.h"

char *mongoseeds_name(const struct mongoendpoint *e)
{
	return mem_printf("_%s._tcp.%s", e->service, e->seed);
}

/* ---- SRV ---- */

/*
 * The domain that every host must be in: the name without its first label, or all of it if fewer
 * than two labels would remain. The caller owns it.
 */
static char *domain_of(const char *seed)
{
	size_t len = strlen(seed);
	MEM_AUTO char *name = mem_dupn(seed, len > 0 && seed[len - 1] == '.' ? len - 1 : len);
	const char *dot = strchr(name, '.');

	return mem_dup(dot && strchr(dot + 1, '.') ? dot + 1 : name);
}

static int check_hosts(const struct mongoendpoint *e, const struct dnsrecord_list *srv, struct err *err)
{
	MEM_AUTO char *domain = domain_of(e->seed), *name = mongoseeds_name(e);

	for (size_t i = 0; i < srv->count; i++)
		if (!dnsname_is_below(srv->at[i].text, domain))
			return err_set(err, ERR_INVALID,
				"the SRV record of %s names the host %.80s, which is not below %s and therefore not "
				"connected to: correct the record, or name the hosts in a mongodb:// connection string",
				name, srv->at[i].text, domain);
	return 0;
}

/* Takes as many hosts as allowed, chosen at random if there are more. */
static void take_hosts(const struct mongoendpoint *e, const struct dnsrecord_list *srv, struct mongoseeds *out)
{
	size_t order[DNSRECORD_MAX], most = e->max_hosts > 0 ? e->max_hosts : MONGOENDPOINT_HOSTS_MAX;

	for (size_t i = 0; i < srv->count; i++)
		order[i] = i;
	most = most < MONGOENDPOINT_HOSTS_MAX ? most : MONGOENDPOINT_HOSTS_MAX;
	out->count = srv->count < most ? srv->count : most;
	out->hosts = mem_array(out->count, sizeof(*out->hosts));
	for (size_t i = 0; i < out->count; i++) {
		size_t chosen = srv->count > most ? i + (size_t)(fingerprint_random() % (srv->count - i)) : i;
		const struct dnsrecord *one = &srv->at[order[chosen]];

		order[chosen] = order[i];
		out->hosts[i] = (struct mongoendpoint_host){ mem_dup(one->text), one->port };
	}
}

/* ---- TXT ---- */

/* The record's options; NULL if absent. They point into its text. */
struct options {
	const char *source, *set, *balanced;
};

/* Modifies pair; out then points into it. */
static int take_option(const struct mongoendpoint *e, char *pair, struct options *out, struct err *err)
{
	const struct {
		const char *name, **value;
	} known[] = { { "authSource", &out->source }, { "replicaSet", &out->set }, { "loadBalanced", &out->balanced } };
	char *value = strchr(pair, '=');

	if (!value || value == pair || text_unescape(value, true))
		return err_set(err, ERR_INVALID, "the TXT record of %s is not name=value&..., percent-encoded",
			e->seed);
	*value++ = '\0';
	for (size_t i = 0; i < MEM_COUNT(known); i++) {
		if (strcasecmp(pair, known[i].name) != 0)
			continue;
		*known[i].value = value;
		return 0;
	}
	return err_set(err, ERR_INVALID,
		"the TXT record of %s has an option \"%.40s\": only authSource, replicaSet and loadBalanced may be "
		"there; others belong in the connection string",
		e->seed, pair);
}

/* The connection string takes precedence. */
static int judge_options(const struct mongoendpoint *e, const struct options *o, struct err *err)
{
	if (o->source && !*o->source)
		return err_set(err, ERR_INVALID, "the TXT record of %s: authSource must not be empty", e->seed);
	if (e->unbalanced || !o->balanced || strcmp(o->balanced, "false") == 0)
		return 0;
	if (strcmp(o->balanced, "true") != 0)
		return err_set(err, ERR_INVALID, "the TXT record of %s: loadBalanced must be true or false", e->seed);
	return err_set(err, ERR_INVALID,
		"the TXT record of %s says loadBalanced=true, which is not supported: name the members, or a mongos, "
		"in a mongodb:// connection string",
		e->seed);
}

static int take_options(const struct mongoendpoint *e, char *text, struct mongoseeds *out, struct err *err)
{
	struct options options = { 0 };
	char *rest = text, *pair;

	while ((pair = strsep(&rest, "&;")) != NULL)
		if (*pair && take_option(e, pair, &options, err))
			return -1;
	if (judge_options(e, &options, err))
		return -1;
	if (options.source && !e->source_given) {
		free(out->source);
		out->source = mem_dup(options.source);
	}
	if (options.set && *options.set && !e->set)
		out->set = mem_dup(options.set);
	return 0;
}

static int read_text(const struct mongoendpoint *e, const struct dnsrecord_list *txt, struct mongoseeds *out,
	struct err *err)
{
	MEM_AUTO char *text = txt->count > 0 ? mem_dup(txt->at[0].text) : NULL;

	if (txt->count > 1)
		return err_set(err, ERR_INVALID,
			"%s has several TXT records, of which MongoDB allows one: delete the others", e->seed);
	if (text && take_options(e, text, out, err))
		return -1;
	if (e->max_hosts > 0 && out->set)
		return err_set(err, ERR_INVALID,
			"srvMaxHosts cannot be a positive value if a replica set name is specified, as the TXT record "
			"of %s does: leave it out",
			e->seed);
	return 0;
}

/* ---- Users ---- */

int mongoseeds_read(const struct mongoendpoint *e, const struct dnsrecord_list *srv, const struct dnsrecord_list *txt,
	struct mongoseeds *out, struct err *err)
{
	*out = (struct mongoseeds){ .set = mem_dup(e->set), .source = mem_dup(e->source) };
	if (check_hosts(e, srv, err) || read_text(e, txt, out, err))
		return -1;
	take_hosts(e, srv, out);
	return 0;
}

void mongoseeds_done(struct mongoseeds *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->hosts[i].name);
	free(s->hosts);
	free(s->set);
	free(s->source);
	*s = (struct mongoseeds){ 0 };
}
