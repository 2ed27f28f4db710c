/* SPDX-License-Identifier: Apache-2.0 */

/*
 * `kscaled join`: sets up this host to run kscaled for a cluster. With an administrator's
 * kubeconfig it applies the host manifests, requests a token of kscaled's ServiceAccount, writes
 * the daemon's kubeconfig (cli/host/hostfiles), starts the service, and keeps the first address
 * (join/reach) at which the API server reaches it. Each step is idempotent, so another run
 * completes one that failed.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/hostport.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/host/cluster.h"
#include "cli/host/hostfiles.h"
#include "cli/host/ownership.h"
#include "cli/host/pruning.h"
#include "cli/host/steps.h"
#include "cli/host/systemd.h"
#include "cli/join/environment.h"
#include "cli/join/reach.h"
#include "cli/join/reached.h"
#include "cli/join/replacement.h"
#include "cli/join/snapshot.h"
#include "cli/manifestobjects.h"
#include "control/certs/certs.h"
#include "control/certs/takennote.h"

#define NAME         "kscaled join"
#define USUAL_WAIT   60000
#define FORGET_NAPS  3
#define TOKEN_LIFE_S (30 * 86400) /* as for the daemon's renewals (control/access) */

#define APISERVICE "/apis/apiregistration.k8s.io/v1/apiservices/" CERTS_APISERVICE

struct join_arguments {
	struct steps_arguments host;
	struct manifests_params params; /* host: NULL: find it out */
	uint16_t port;                  /* that kscaled listens on; 0: not given */
	int64_t wait_ms;                /* -1: not given */
	bool no_start, take_apiservice;
};

/* One run. */
struct join {
	struct join_arguments a;
	struct cluster *cluster;
	unsigned port; /* that kscaled listens on */
	struct reach_addr addrs[REACH_MAX];
	size_t addr_count;
};

static const char *own_namespace(const struct join *j)
{
	return j->a.params.namespace_ ? j->a.params.namespace_ : "kscaled";
}

static const char *service_name(const struct join *j)
{
	return j->a.params.service_name ? j->a.params.service_name : "kscaled";
}

/* ---- Owner of the APIService ---- */

/* It points to another Service. */
static bool is_of_another(const struct join *j, const json_t *apiservice)
{
	const json_t *service = fields_at(apiservice, "spec.service");

	return json_is_object(service) &&
		(!json_str_is(service, "namespace", own_namespace(j)) ||
			!json_str_is(service, "name", service_name(j)));
}

/* ERR_DENIED: it is another's, and --take-apiservice is not given. */
static int check_owner(struct join *j, struct err *err)
{
	json_t *apiservice = cluster_get(j->cluster, APISERVICE, err);
	bool is_taken = is_of_another(j, apiservice);
	MEM_AUTO char *theirs = mem_printf("%s/%s", fields_text(apiservice, "spec.service.namespace"),
		fields_text(apiservice, "spec.service.name"));

	if (!apiservice)
		return err->kind == ERR_MISSING ? 0 : err_wrap(err, "APIService " CERTS_APISERVICE);
	json_decref(apiservice);
	if (!is_taken)
		return 0;
	if (j->a.take_apiservice) {
		steps_report("taking APIService " CERTS_APISERVICE " from Service %s", theirs);
		return 0;
	}
	return err_set(err, ERR_DENIED,
		"APIService " CERTS_APISERVICE " belongs to Service %s, which serves the external metrics: remove that "
		"installation first or give --take-apiservice",
		theirs);
}

/* ---- The address of this host ---- */

/*
 * The InternalIP of this host as a node. NULL: not a node, or no right to list nodes. The caller
 * owns it.
 */
static char *node_address(struct join *j)
{
	json_t *nodes = NULL;
	const json_t *node, *address;
	char *found = NULL;
	size_t i, k;

	if (cluster_call(j->cluster, KUBE_LIST, "/api/v1/nodes", NULL, &nodes, NULL) < 0)
		return NULL;
	json_array_foreach(json_object_get(nodes, "items"), i, node)
	{
		json_array_foreach(fields_at(node, "status.addresses"), k, address)
		{
			const char *text = json_str_or_empty(address, "address");

			if (!found && json_str_is(address, "type", "InternalIP") && reach_is_own_address(text))
				found = mem_dup(text);
		}
	}
	json_decref(nodes);
	return found;
}

static int find_addrs(struct join *j, struct err *err)
{
	struct reach_facts facts;

	if (j->a.params.host) {
		j->addrs[j->addr_count++] = (struct reach_addr){ .host = mem_dup(j->a.params.host),
			.why = "given by --host" };
		return 0;
	}
	reach_look(cluster_config(j->cluster)->server, &facts);
	facts.node_address = node_address(j);
	j->addr_count = reach_addrs(&facts, j->port, j->addrs);
	reach_facts_done(&facts);
	if (j->addr_count == 0)
		return err_set(err, ERR_INVALID,
			"found no address of this host for the API server: give --host HOST:PORT");
	return 0;
}

/* ---- Applying ---- */

static struct documents *objects_for(struct join *j, const struct reach_addr *addr, struct err *err)
{
	struct manifests_params params = j->a.params;

	params.host = addr->host;
	return manifestobjects_make(&params, err);
}

/* Whether the object contains this host's address. */
static bool has_addr(const json_t *object)
{
	static const char *const kinds[] = { "Service", "EndpointSlice", "Endpoints", "APIService",
		"ValidatingWebhookConfiguration", NULL };

	return text_is_one_of(json_str_or_empty(object, "kind"), kinds);
}

/* How to prepare the existing object. ERR_DENIED: it is another's. */
static int check_object(struct join *j, const json_t *object, enum replacement *out, struct err *err)
{
	static const char *const kinds[] = { "Service", "EndpointSlice", NULL };
	MEM_AUTO char *path = manifestobjects_path(object), *title = manifestobjects_title(object);
	json_t *there;
	bool is_ours;

	*out = REPLACEMENT_NONE;
	if (!text_is_one_of(json_str_or_empty(object, "kind"), kinds))
		return 0;
	there = cluster_get(j->cluster, path, err);
	if (!there)
		return err->kind == ERR_MISSING ? 0 : err_wrap(err, "%s", title);
	*out = replacement_for(there, object);
	is_ours = replacement_is_ours(there);
	json_decref(there);
	if (*out == REPLACEMENT_NONE || is_ours)
		return 0;
	return err_set(err, ERR_DENIED,
		"%s belongs to another installation (it has no label app.kubernetes.io/part-of=kscaled) and must be "
		"replaced to point here: delete it or give another --service-name",
		title);
}

/* Before any change. ERR_DENIED: one of the addresses would replace another's object. */
static int check_addrs(struct join *j, struct err *err)
{
	int failed = 0;

	for (size_t i = 0; !failed && i < j->addr_count; i++) {
		struct documents *objects = objects_for(j, &j->addrs[i], err);
		enum replacement needed;

		failed = objects ? 0 : -1;
		for (size_t k = 0; !failed && k < objects->count; k++)
			failed = check_object(j, objects->list[k].json, &needed, err);
		if (objects)
			documents_free(objects);
	}
	return failed;
}

static int replace(struct join *j, const json_t *object, enum replacement needed, struct err *err)
{
	MEM_AUTO char *path = manifestobjects_path(object);
	MEM_AUTO char *whole = mem_printf("%s?fieldManager=kscaled-join&force=true", path);
	json_t *tidy;

	if (needed == REPLACEMENT_CLEAR && cluster_patch(j->cluster, path, replacement_clear_patch(), err) < 0)
		return -1;
	if (needed == REPLACEMENT_DELETE && cluster_delete(j->cluster, path, err) < 0)
		return -1;
	if (cluster_call(j->cluster, KUBE_APPLY, whole, object, NULL, err) < 0)
		return -1;
	tidy = needed == REPLACEMENT_CLEAR ? replacement_tidy_patch(object) : NULL;
	return tidy ? cluster_patch(j->cluster, path, tidy, err) : 0;
}

static void annotate(json_t *object, const char *name, const char *value)
{
	json_t *metadata = json_object_get(object, "metadata");

	if (!json_object_get(metadata, "annotations"))
		json_object_set_new(metadata, "annotations", json_object());
	json_object_set_new(json_object_get(metadata, "annotations"), name, json_string(value));
}

/* Notes the previous Service for `kscaled leave`; keeps an earlier note. */
static void note_taken(struct join *j, json_t *object, const json_t *there)
{
	const char *before = json_str_or_empty(fields_at(there, "metadata.annotations"), TAKENNOTE);
	MEM_AUTO char *others = is_of_another(j, there) ? ownership_of_others(there) : NULL;
	MEM_AUTO char *note = others ? takennote_make(there) : *before ? mem_dup(before) : NULL;

	if (note)
		annotate(object, TAKENNOTE, note);
}

/* Keeps the labels that mark an object as another owner's. */
static int respect(struct join *j, json_t *object, struct err *err)
{
	MEM_AUTO char *path = manifestobjects_path(object), *title = manifestobjects_title(object);
	json_t *there = cluster_get(j->cluster, path, err);

	if (!there)
		return err->kind == ERR_MISSING ? 0 : err_wrap(err, "%s", title);
	ownership_respect(object, there);
	if (json_str_is(object, "kind", "APIService"))
		note_taken(j, object, there);
	json_decref(there);
	return 0;
}

static int apply(struct join *j, const json_t *wanted, struct err *err)
{
	MEM_AUTO char *title = manifestobjects_title(wanted);
	json_t *object = json_deep_copy(wanted);
	enum replacement needed;
	int failed = check_object(j, object, &needed, err) < 0 || respect(j, object, err) < 0;

	if (!failed && j->a.host.dry_run)
		steps_report("would %s %s", needed == REPLACEMENT_NONE ? "apply" : "replace", title);
	else if (!failed && replace(j, object, needed, err) < 0)
		failed = err_wrap(err, "applying %s", title);
	json_decref(object);
	return failed ? -1 : 0;
}

/*
 * Deletes the old endpoints if the address is a DNS name now: the API server might still use them.
 */
static int drop_endpoints(struct join *j, struct err *err)
{
	const char *ns = own_namespace(j), *name = service_name(j);
	MEM_AUTO char *endpoints = mem_printf("/api/v1/namespaces/%s/endpoints/%s", ns, name);
	MEM_AUTO char *slice = mem_printf("/apis/discovery.k8s.io/v1/namespaces/%s/endpointslices/%s-host", ns, name);
	const char *const paths[] = { slice, endpoints };
	int failed = 0;

	for (size_t i = 0; !failed && i < MEM_COUNT(paths); i++) {
		json_t *there = cluster_get(j->cluster, paths[i], err);
		bool is_ours = replacement_is_ours(there);

		failed = there || err->kind == ERR_MISSING ? 0 : -1;
		json_decref(there);
		if (is_ours && j->a.host.dry_run)
			steps_report("would delete %s", paths[i]);
		else if (is_ours)
			failed = cluster_delete(j->cluster, paths[i], err);
	}
	return failed ? err_wrap(err, "old endpoints") : 0;
}

static int apply_objects(struct join *j, const struct reach_addr *addr, bool only_addr, struct err *err)
{
	struct documents *objects = objects_for(j, addr, err);
	size_t applied = 0;
	bool has_endpoints = false;
	int failed = objects ? 0 : -1;

	for (size_t i = 0; !failed && i < objects->count; i++) {
		if (only_addr && !has_addr(objects->list[i].json))
			continue;
		failed = apply(j, objects->list[i].json, err);
		has_endpoints |= json_str_is(objects->list[i].json, "kind", "EndpointSlice");
		applied++;
	}
	if (!failed && !has_endpoints)
		failed = drop_endpoints(j, err);
	if (!failed && !only_addr)
		failed = pruning_run(j->cluster, objects, j->a.host.dry_run, err);
	if (!failed && !j->a.host.dry_run)
		steps_report("applied %zu objects with the address %s (%s)", applied, addr->host, addr->why);
	if (objects)
		documents_free(objects);
	return failed;
}

/* ---- This host's files ---- */

/* The caller wipes it; NULL and err. */
static char *mint_token(struct join *j, struct err *err)
{
	MEM_AUTO char *path = mem_printf("/api/v1/namespaces/%s/serviceaccounts/kscaled/token", own_namespace(j));
	json_t *request = json_pack("{s:s, s:s, s:{s:i}}", "apiVersion", "authentication.k8s.io/v1", "kind",
		"TokenRequest", "spec", "expirationSeconds", TOKEN_LIFE_S);
	json_t *answer = cluster_post(j->cluster, KUBE_REVIEW, path, request, err);
	const char *token = fields_text(answer, "status.token");
	char *copy = *token ? mem_dup(token) : NULL;

	if (answer && !copy)
		err_set(err, ERR_TEMPORARY, "the API server returned no token");
	if (!copy)
		err_wrap(err, "token of ServiceAccount %s/kscaled", own_namespace(j));
	json_decref(answer);
	return copy;
}

static int write_files(struct join *j, struct err *err)
{
	const struct hostfiles *f = &j->a.host.files;
	char *token, *kubeconfig;
	const struct environment env = { .kubeconfig = j->a.host.kubeconfig,
		.params = &j->a.params,
		.files = &j->a.host.files,
		.given_port = j->a.port,
		.port = j->port };
	MEM_AUTO char *environment = environment_text(&env);
	int failed;

	if (j->a.host.dry_run) {
		steps_report("would write %s/token, %s/join.env and %s/kubeconfig", f->state_dir, f->config_dir,
			f->config_dir);
		return 0;
	}
	token = mint_token(j, err);
	if (!token)
		return -1;
	kubeconfig = hostfiles_kubeconfig(f, cluster_config(j->cluster), own_namespace(j));
	failed = hostfiles_write(f, kubeconfig, token, environment, err);
	if (!failed)
		steps_report("wrote %s/kubeconfig and the token of ServiceAccount %s/kscaled to %s/token; kscaled "
			     "renews "
			     "it",
			f->config_dir, own_namespace(j), f->state_dir);
	mem_free_secret(kubeconfig); /* a proxy's password may be in it */
	mem_free_secret(token);
	return failed;
}

/* ---- The service ---- */

static void find_port(struct join *j)
{
	unsigned joined = hostfiles_joined_port(&j->a.host.files),
		 configured = hostfiles_configured_port(&j->a.host.files);

	j->port = j->a.port ? j->a.port : configured ? configured : joined ? joined : ENVIRONMENT_USUAL_PORT;
}

/* The port in the address may differ, if something forwards it. */
static void report_port(const struct join *j, const struct reach_addr *addr)
{
	const char *colon = strrchr(addr->host, ':');
	MEM_AUTO char *here = mem_printf("%u", j->port);

	if (strcmp(colon + 1, here) == 0)
		steps_report("kscaled %s on port %u here", j->a.host.dry_run ? "would listen" : "listens", j->port);
	else
		steps_report("kscaled %s on port %u here (change it with --port): port %s of %.*s must be forwarded to "
			     "it",
			j->a.host.dry_run ? "would listen" : "listens", j->port, colon + 1, (int)(colon - addr->host),
			addr->host);
}

/* For a service that does not start or is not reached. */
static void print_last_words(void)
{
	MEM_AUTO char *words = systemd_is_running() ? systemd_last_words() : NULL;
	char *rest = words, *line;

	if (words)
		fputs(NAME ": last log lines of kscaled (journalctl -u kscaled):\n", stderr);
	while (rest && (line = strsep(&rest, "\n")) != NULL)
		fprintf(stderr, "  %s\n", line);
}

/*
 * The unit runs as its own user, who must own the files, too. The package creates it, `make
 * install` does not.
 */
static int check_user(const struct join *j, struct err *err)
{
	static const char none[] = "user " HOSTFILES_USER ", which " SYSTEMD_UNIT " runs as, does not exist";

	if (!systemd_is_running() || hostfiles_has_user())
		return 0;
	if (!j->a.no_start && !j->a.host.dry_run)
		return err_set(err, ERR_MISSING,
			"%s: create it with \"systemd-sysusers kscaled.conf\" and run this again (nothing was changed)",
			none);
	fprintf(stderr,
		NAME ": warning: %s: the service will not start. Create the user with \"systemd-sysusers "
		     "kscaled.conf\", then run this again to give it the files\n",
		none);
	return 0;
}

static int start_service(struct join *j, struct err *err)
{
	if (j->a.no_start || !systemd_is_running()) {
		steps_report("start kscaled with: %s",
			systemd_is_running() || j->a.host.dry_run ? "systemctl enable --now kscaled"
								  : "kscaled run, see kscaled(8)");
		return 0;
	}
	if (j->a.host.dry_run) {
		steps_report("would enable and start " SYSTEMD_UNIT);
		return 0;
	}
	if (systemd_control("enable", err) < 0 || systemd_control("restart", err) < 0) {
		print_last_words();
		return err_wrap(err, SYSTEMD_UNIT " does not start");
	}
	steps_report("enabled and started " SYSTEMD_UNIT);
	return 0;
}

/* ---- Waiting until it is reached ---- */

static int wait_available(struct join *j, struct err *why)
{
	int64_t until = steps_now_ms() + j->a.wait_ms;

	while (reached_check(j->cluster, why) < 0) {
		if (steps_now_ms() >= until)
			return -1;
		steps_nap();
	}
	return 0;
}

/* Tries one address after the other. */
static int wait_reached(struct join *j, struct err *err)
{
	struct err why = { 0 };

	for (size_t i = 0; i < j->addr_count; i++) {
		if (i > 0 && apply_objects(j, &j->addrs[i], true, err) < 0)
			return -1;
		if (wait_available(j, &why) == 0) {
			steps_report("the API server reaches kscaled at %s", j->addrs[i].host);
			return 0;
		}
		steps_report("not reached at %s: %s", j->addrs[i].host, why.msg);
	}
	if (!j->a.no_start)
		print_last_words();
	return err_set(err, ERR_TEMPORARY,
		"the API server does not reach kscaled: check that it runs here (journalctl -u kscaled), listens on "
		"port %u, and that no firewall blocks the API server; then run this again, with --host HOST:PORT if it "
		"needs another address",
		j->port);
}

/* ---- All of it ---- */

static void show_dry(const struct join *j)
{
	for (size_t i = 0; i < j->addr_count; i++)
		steps_report("would %s %s (%s)", i == 0 ? "use address" : "try next", j->addrs[i].host,
			j->addrs[i].why);
}

static int change(struct join *j, bool worked, struct err *err)
{
	if (apply_objects(j, &j->addrs[0], false, err) < 0 || write_files(j, err) < 0)
		return -1;
	report_port(j, &j->addrs[0]);
	if (start_service(j, err) < 0)
		return -1;
	if (j->a.host.dry_run || j->a.wait_ms == 0)
		return 0;
	/* An immediate answer may still come by the previous address. */
	for (int i = 0; worked && i < FORGET_NAPS; i++)
		steps_nap();
	return wait_reached(j, err);
}

/* Prints its own errors: the caller's err has the reason for restoring. */
static void put_back(struct join *j, const struct snapshot *before)
{
	const char *host = snapshot_host(before);
	struct reach_addr addr = { .host = (char *)(uintptr_t)host, .why = "as before" };
	struct err err = { 0 };
	int failed = host ? apply_objects(j, &addr, true, &err) : 0;

	failed = snapshot_restore(before, failed ? NULL : &err) < 0 || failed;
	if (!failed && !j->a.no_start && systemd_is_running())
		failed = systemd_control("restart", &err);
	if (!failed && wait_available(j, &err) < 0)
		failed = -1;
	if (failed)
		fprintf(stderr, NAME ": could not restore the previous state completely: %s\n", err.msg);
	else
		steps_report("restored the previous state: the API server reaches kscaled at %s again",
			host ? host : "its other Service");
}

/* Restores a working state if the new one does not work. */
static int run_and_see(struct join *j, struct err *err)
{
	struct documents *wanted = objects_for(j, &j->addrs[0], err);
	struct snapshot *before;
	int failed;

	if (!wanted)
		return -1;
	before = j->a.host.dry_run || j->a.wait_ms == 0 ? NULL : snapshot_take(j->cluster, wanted, &j->a.host.files);
	documents_free(wanted);
	failed = change(j, before != NULL, err);
	if (failed && before)
		put_back(j, before);
	snapshot_free(before);
	return failed;
}

static int run(struct join *j, struct err *err)
{
	find_port(j);
	if (check_user(j, err) < 0 || check_owner(j, err) < 0 || find_addrs(j, err) < 0 || check_addrs(j, err) < 0)
		return -1;
	if (cluster_config(j->cluster)->insecure)
		fputs(NAME ": warning: the kubeconfig does not verify the API server's certificate, so kscaled will "
			   "not either\n",
			stderr);
	if (j->a.host.dry_run)
		show_dry(j);
	if (run_and_see(j, err) < 0)
		return -1;
	if (!j->a.host.dry_run && j->a.wait_ms > 0)
		reached_fetch(j->cluster);
	return 0;
}

static const struct option options[] = {
#define AT(member) .offset = offsetof(struct join_arguments, member)
	{ "host", OPTION_TEXT, AT(params.host), "HOST:PORT",
		"where the API server reaches kscaled: a DNS name, an IPv4 address, or an IPv6 address in brackets "
		"(default: the first address of this host that works)" },
	{ "port", OPTION_PORT, AT(port), "PORT",
		"the port of kscaled on this host (default: the previous one, else 8443)", .least = 1 },
	{ "take-apiservice", OPTION_SWITCH, AT(take_apiservice), NULL,
		"take over the external metrics from KEDA or another server" },
	{ "no-start", OPTION_SWITCH, AT(no_start), NULL, "do not start the service" },
	{ "wait", OPTION_DURATION, AT(wait_ms), "DURATION",
		"how long to wait for each address until kscaled is reached; 0s: do not wait (default: 60s; with "
		"--no-start 0s)",
		.most = STEPS_WAIT_MAX },
	{ .name = NULL },
#undef AT
};

static int check_arguments(struct join_arguments *a, struct err *err)
{
	if (!a->host.kubeconfig)
		return err_set(err, ERR_INVALID, "--kubeconfig is missing: which cluster to join?");
	if (a->wait_ms < 0)
		a->wait_ms = a->no_start ? 0 : USUAL_WAIT;
	return 0;
}

/* Checks the manifests' options before any request or change. */
static int check_params(const struct join_arguments *a, struct err *err)
{
	struct documents *objects;
	struct manifests_params params = a->params;

	if (!params.host)
		params.host = "192.0.2.1:8443"; /* any valid one */
	objects = manifestobjects_make(&params, err);
	if (!objects)
		return -1;
	documents_free(objects);
	return 0;
}

static int run_join(void *arguments, char **operands, int count, struct err *err)
{
	struct join j = { .a = *(const struct join_arguments *)arguments };
	int failed;

	(void)operands;
	(void)count;
	if (check_arguments(&j.a, err) < 0 || check_params(&j.a, err) < 0)
		return COMMANDLINE_WRONG;
	j.cluster = cluster_new(j.a.host.kubeconfig, err);
	failed = j.cluster ? run(&j, err) : -1;
	reach_addrs_done(j.addrs, j.addr_count);
	cluster_free(j.cluster);
	return failed ? 1 : 0;
}

const struct commandline cli_join_line = {
	.name = "join",
	.summary = "sets up this host to run kscaled for a cluster",
	.usage = "--kubeconfig FILE [OPTION]...",
	.text = "Prepare a cluster for kscaled on this host, and this host for the cluster.",
	.tables = { { .options = steps_options, .base = offsetof(struct join_arguments, host) }, { .options = options },
		{ .options = manifests_name_options,
			.base = offsetof(struct join_arguments, params),
			.heading = "As for kscaled manifests:" },
		{ .options = manifests_rights_options, .base = offsetof(struct join_arguments, params) } },
	.size = sizeof(struct join_arguments),
	.begin = &(const struct join_arguments){ .wait_ms = -1 },
	.run = run_join,
};
