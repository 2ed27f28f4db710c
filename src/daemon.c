/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>

#include "base/counters.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cache/cache.h"
#include "config.h"
#include "control/access/accesskeeper.h"
#include "control/auth/authkeeper.h"
#include "control/certs/certs.h"
#include "control/control.h"
#include "control/leader/leader.h"
#include "kube/config.h"
#include "kube/events.h"
#include "net/answers.h"
#include "net/descriptors.h"
#include "net/network.h"
#include "net/notify.h"
#include "net/sourcerules.h"
#include "net/tls/tlsrules.h"
#include "net/vault/vault.h"
#include "sandbox.h"
#include "scalers/sources.h"
#include "serve/serve.h"

/* How long a stopping process waits for its last writes. */
#define RELEASE_MS 3000
/* How often free memory is returned to the system, which takes a third of a millisecond. */
#define SETTLE_MS 10000
/* Cap on waiters for readings, over all sources. */
#define WAITERS_MAX 40000

/* Everything that lives as long as the process, in the order of its start. */
struct daemon {
	struct options *options;
	int argc; /* as options_load takes them */
	char **argv;
	struct loop *loop;
	struct counters *counters;
	struct kube_config kube_config;
	struct descriptors_plan descriptors;
	char *namespace_;
	char *identity;
	char *watched_names;  /* owns the texts of the next one */
	const char **watched; /* namespaces; none: all */
	size_t watched_count;
	struct kube *kube;
	struct scaler_sources sources;
	struct vault_pool *vault;
	struct cache *cache;
	struct events *events;
	struct control *control;
	struct authkeeper *authkeeper;
	struct tls_server *tls;
	struct certs *certs;
	struct accesskeeper *accesskeeper;
	struct serve *serve;
	struct leader *leader;
	struct loop_timer settle;
	struct loop_timer watchdog;
	int64_t watchdog_ms;
	bool stopping;
	bool ready;
};

/* ---- Identity and namespaces ---- */

static char *own_namespace(const struct daemon *d)
{
	const char *name = d->options->namespace_;

	/* A kubeconfig's namespace is the user's default, not kscaled's. */
	if (!name && !d->kube_config.kubeconfig_path)
		name = d->kube_config.namespace_;
	return mem_dup(name ? name : "kscaled");
}

static void split_namespaces(struct daemon *d)
{
	char *rest, *name;

	if (!d->options->watch_namespaces)
		return;
	rest = d->watched_names = mem_dup(d->options->watch_namespaces);
	d->watched = mem_array(strlen(rest) + 1, sizeof(*d->watched));
	while ((name = strsep(&rest, ",")) != NULL)
		d->watched[d->watched_count++] = name;
}

static void make_identity(struct daemon *d)
{
	MEM_AUTO char *warning = NULL;

	d->identity = leader_identity(d->options->identity, d->options->pod_name, d->options->state_dir, &warning);
	if (warning)
		log_warn("identity", "%s", warning);
}

/* ---- Glue between modules that do not know each other ---- */

static void on_leading(void *arg, bool leading)
{
	struct daemon *d = arg;

	events_hold(d->events, !leading);
	certs_set_leading(d->certs, leading);
	control_set_leading(d->control, leading);
	authkeeper_set_leading(d->authkeeper, leading);
}

static void on_foreign_apiservice(void *arg, const char *who)
{
	struct daemon *d = arg;
	MEM_AUTO char *why = who
		? mem_printf("APIService " CERTS_APISERVICE
			     " points to Service %s; remove that installation, or run kscaled with --take-over",
			  who)
		: NULL;

	leader_set_blocked(d->leader, why);
}

static bool asks_for_reviews_at(const void *arg, const char *path, size_t len)
{
	const struct daemon *d = arg;

	return certs_asks_for_reviews_at(d->certs, path, len);
}

static void on_synced(void *arg)
{
	struct daemon *d = arg;

	if (d->ready)
		return;
	d->ready = true;
	log_info("kscaled", "ready: %zu ScaledObjects and %zu ScaledJobs known so far",
		store_count(d->cache->store, SCALED_OBJECT), store_count(d->cache->store, SCALED_JOB));
	notify_send("STATUS=The cluster's objects have been read.");
}

static void on_settle(void *arg)
{
	struct daemon *d = arg;

	mem_settle();
	loop_timer_set(&d->settle, SETTLE_MS);
}

static void on_watchdog(void *arg)
{
	struct daemon *d = arg;

	notify_send("WATCHDOG=1");
	loop_timer_set(&d->watchdog, d->watchdog_ms);
}

static void on_released(void *arg)
{
	struct daemon *d = arg;

	loop_stop(d->loop);
}

static void release_lease(void *arg)
{
	struct daemon *d = arg;

	leader_release(d->leader, RELEASE_MS, on_released, d);
}

static void on_term(void *arg)
{
	struct daemon *d = arg;

	if (d->stopping) {
		loop_stop(d->loop); /* the second signal: at once */
		return;
	}
	d->stopping = true;
	log_info("kscaled", "stopping: releasing the Lease");
	notify_send("STOPPING=1");
	/* While we hold the Lease: the next leader creates them again. */
	if (!certs_release(d->certs, RELEASE_MS, release_lease, d))
		release_lease(d);
}

/* ---- Reloading: options, the kubeconfig with its files, the serving certificate ---- */

static void on_changed_option(void *arg, const char *name)
{
	static const char *const at_once[] = { "log-level", "log-format", NULL };

	(void)arg;
	if (text_is_one_of(name, at_once))
		log_info("kscaled", "option %s: the new value is in force", name);
	else
		log_warn("kscaled", "option %s: the new value needs a restart", name);
}

static void reload_options(struct daemon *d)
{
	struct options fresh;
	struct err err = { 0 };

	if (options_load(d->argc, d->argv, &fresh, &err) < 0) {
		log_error("kscaled", "options: %s; the old ones stay in force", err.msg);
		return;
	}
	log_setup(fresh.log_level, fresh.log_format);
	options_compare(d->options, &fresh, on_changed_option, d);
	d->options->log_level = fresh.log_level;
	d->options->log_format = fresh.log_format;
	options_done(&fresh);
}

static void on_hup(void *arg)
{
	struct daemon *d = arg;

	if (d->stopping)
		return;
	notify_reloading();
	log_info("kscaled", "reloading options, credentials and certificates");
	reload_options(d);
	accesskeeper_reload(d->accesskeeper);
	certs_reload(d->certs);
	notify_send("READY=1");
}

/* ---- Starting ---- */

static int start_base(struct daemon *d, struct err *err)
{
	struct network *network;

	mem_tune();
	signal(SIGPIPE, SIG_IGN);
	/* The process has secrets in memory: no core dumps, no debuggers. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	d->counters = counters_new();
	d->loop = loop_new(err);
	if (!d->loop)
		return -1;
	network = network_of(d->loop);
	d->descriptors = descriptors_plan(descriptors_raise(), (size_t)d->options->max_source_connections);
	network->descriptors = (struct shares){ .total = d->descriptors.sources, .few = DESCRIPTORS_FEW };
	network->answers = (struct shares){ .total = ANSWERS_BYTES, .few = ANSWERS_FEW };
	return 0;
}

static int start_kube(struct daemon *d, struct err *err)
{
	if (kube_config_load(d->options->kubeconfig, KUBE_CONFIG_MOUNT, &d->kube_config, err))
		return -1;
	d->namespace_ = own_namespace(d);
	split_namespaces(d);
	make_identity(d);
	log_info("kscaled", "version %s, API server %s (%s), namespace %s, identity %s", PACKAGE_VERSION,
		d->kube_config.server, d->kube_config.source, d->namespace_, d->identity);
	d->kube_config.dead_peer_ms = leader_dead_peer_ms(d->options->renew_deadline_ms);
	d->kube = kube_new(d->loop, &d->kube_config, d->counters, err);
	return d->kube ? 0 : -1;
}

static struct vault_pool *make_vault_pool(const struct daemon *d)
{
	const char *skip = d->options->vault_skip_verify;

	return vault_pool_new(d->loop, d->options->vault_ca_file,
		skip && (strcmp(skip, "1") == 0 || strcasecmp(skip, "true") == 0 || strcasecmp(skip, "t") == 0));
}

static int set_tls_rules(const struct options *o, struct err *err)
{
	struct tlsrules_config config = { .min_version = o->http_min_tls_version,
		.ciphers = o->http_tls_cipher_list,
		.ca_dirs = o->ca_dir,
		.required = o->require_tls };

	return tlsrules_set(&config, err) ? err_wrap(err, "http-min-tls-version") : 0;
}

static struct lookups_config lookups_config(const struct daemon *d)
{
	const struct options *o = d->options;

	return (struct lookups_config){
		.cluster_namespace = o->cluster_object_namespace ? o->cluster_object_namespace : d->namespace_,
		.restrict_secrets = o->restrict_secret_access,
		.cloud = auth_cloud_of(o->cloud_identity),
		.azure_trusted = o->azure_trusted_hosts,
		.aws_trusted = o->aws_trusted_hosts,
		.file_root = o->filepath_auth_root_path,
		.token_life_ms = o->bound_service_account_token_expiry_ms,
		.vault_token = o->vault_token,
		.vault_trusted = o->vault_trusted_addresses,
		.own_namespace = d->namespace_,
		.vault_jwt_file = o->vault_jwt_file,
		.vault_jwt_audience = o->vault_jwt_audience,
		.vault_credential_dir = o->vault_credential_dir,
		.web = d->sources.web,
		.tokens = d->sources.tokens,
		.metered_ms = o->metered_interval_ms,
		.aws_region = o->aws_region,
		.aws_secrets_url = o->aws_secrets_url,
	};
}

static void start_cache(struct daemon *d)
{
	const struct options *o = d->options;
	struct sources_config sources = { .parts = scaler_parts,
		.deadline_ms = o->metrics_deadline_ms,
		.http_timeout_ms = o->http_timeout_ms };

	sources_init(&d->sources, d->loop, d->kube, d->counters, &sources);
	webtoken_allow_metadata(d->sources.tokens, o->cloud_metadata);
	d->vault = make_vault_pool(d);
	d->cache = cache_new(&(struct cache_config){ .kube = d->kube,
		.counters = d->counters,
		.sources = &d->sources,
		.vault = d->vault,
		.lookups = lookups_config(d),
		.readings = { .ask_timeout_ms = o->metrics_deadline_ms,
			.http_timeout_ms = o->http_timeout_ms,
			.metered_ms = o->metered_interval_ms,
			.max_waiters = WAITERS_MAX },
		.watches_max = PUSHES_WATCHES_MAX });
}

static void start_control(struct daemon *d)
{
	struct control_config config = { .query_deadline_ms = d->options->metrics_deadline_ms,
		.wake_interval_ms = d->options->wake_interval_ms,
		.version = PACKAGE_VERSION };

	d->events = events_new(d->kube, "keda-operator", d->identity, d->counters);
	events_hold(d->events, true);
	d->control = control_new(d->cache, d->kube, d->events, &config);
	d->authkeeper = authkeeper_new(d->cache, d->kube, d->events);
}

static int start_serve(struct daemon *d, struct err *err)
{
	const struct options *o = d->options;
	struct certs_config certs = {
		.namespace_ = d->namespace_,
		.service_name = o->service_name,
		.cert_file = o->tls_cert_file,
		.key_file = o->tls_private_key_file,
		.recreate = o->release_apiservice_on_stop,
		.take_over = o->take_over,
		.webhook = o->webhook,
		.on_foreign = on_foreign_apiservice,
		.on_foreign_arg = d,
	};
	struct serve_config serve = {
		.bind_address = o->bind_address,
		.secure_port = o->secure_port,
		.status_address = o->status_address,
		.insight_socket = o->insight_socket,
		.insight_socket_group = o->insight_socket_group,
		.metrics_max_age_ms = o->metrics_max_age_ms,
		.metrics_deadline_ms = o->metrics_deadline_ms,
		.max_connections = d->descriptors.accepted,
		.version = PACKAGE_VERSION,
		.asks_for_reviews_at = asks_for_reviews_at,
		.asks_arg = d,
	};

	d->tls = tls_server_new(err);
	if (!d->tls)
		return -1;
	d->certs = certs_new(d->kube, d->tls, &certs, err);
	if (!d->certs)
		return -1;
	d->serve = serve_new(d->cache, d->kube, d->tls, &serve, err);
	if (!d->serve)
		return -1;
	network_of(d->loop)->rules = (struct sourcerules){ .judges = true,
		.allow_local = o->allow_local_sources,
		.own_ports = { (uint16_t)serve_secure_port(d->serve), (uint16_t)serve_status_port(d->serve) } };
	log_info("kscaled", "serving external metrics on port %u, status on port %u", serve_secure_port(d->serve),
		serve_status_port(d->serve));
	if (o->insight_socket)
		log_info("kscaled", "serving insight on %s", o->insight_socket);
	return 0;
}

static int64_t serving_until(void *arg)
{
	struct daemon *d = arg;

	return certs_until_unix_ms(d->certs);
}

static void start_access(struct daemon *d)
{
	struct accesskeeper_config config = { .access = &d->kube_config,
		.state_dir = d->options->state_dir,
		.renew = d->options->renew_token,
		.serving_until = serving_until,
		.arg = d };

	d->accesskeeper = accesskeeper_new(d->kube, d->counters, &config);
}

static void start_leader(struct daemon *d)
{
	const struct options *o = d->options;
	struct leader_config config = {
		.elect = o->leader_elect,
		.namespace_ = d->namespace_,
		.lease_name = o->lease_name,
		.identity = d->identity,
		.lease_duration_ms = o->lease_duration_ms,
		.renew_deadline_ms = o->renew_deadline_ms,
		.retry_period_ms = o->retry_period_ms,
		.keda_namespace = o->keda_namespace,
		.take_over = o->take_over,
	};

	d->leader = leader_new(d->kube, &config, &d->cache->leadership, on_leading, d);
	/* Until the APIService has been read. */
	leader_set_blocked(d->leader, "the APIService has not been read yet");
}

static int start_signals(struct daemon *d, struct err *err)
{
	if (loop_on_signal(d->loop, SIGTERM, on_term, d, err) || loop_on_signal(d->loop, SIGINT, on_term, d, err) ||
		loop_on_signal(d->loop, SIGHUP, on_hup, d, err))
		return -1;
	loop_timer_init(&d->settle, d->loop, on_settle, d);
	loop_timer_set(&d->settle, SETTLE_MS);
	loop_timer_init(&d->watchdog, d->loop, on_watchdog, d);
	d->watchdog_ms = notify_watchdog_ms();
	if (d->watchdog_ms > 0)
		loop_timer_set(&d->watchdog, d->watchdog_ms);
	return 0;
}

static int start(struct daemon *d, struct err *err)
{
	if (start_base(d, err) || set_tls_rules(d->options, err) || start_kube(d, err))
		return -1;
	start_cache(d);
	start_control(d);
	if (start_serve(d, err))
		return -1;
	start_access(d);
	start_leader(d);
	if (start_signals(d, err))
		return -1;
	sandbox_enter(d->options, &d->kube_config.files, accesskeeper_token_file(d->accesskeeper));
	cache_listen(d->cache, &(struct store_events){ .on_synced = on_synced }, d);
	cache_start(d->cache, d->watched, d->watched_count);
	/*
	 * Boots and upgrades wait for this, so it does not wait for a cluster that may be down for
	 * days.
	 */
	notify_send("READY=1\nSTATUS=Waiting for the API server: the cluster's objects have not been read yet.");
	return 0;
}

/* ---- Stopping, in reverse order, also after a partial start ---- */

static void stop(struct daemon *d)
{
	loop_timer_done(&d->watchdog);
	loop_timer_done(&d->settle);
	leader_free(d->leader);
	accesskeeper_free(d->accesskeeper);
	serve_free(d->serve);
	certs_free(d->certs);
	tls_server_free(d->tls);
	authkeeper_free(d->authkeeper);
	control_free(d->control);
	events_free(d->events);
	cache_free(d->cache);
	vault_pool_free(d->vault);
	sources_done(&d->sources);
	kube_free(d->kube);
	free(d->identity);
	free(d->watched);
	free(d->watched_names);
	free(d->namespace_);
	kube_config_done(&d->kube_config);
	loop_free(d->loop);
	tlsrules_done();
	counters_free(d->counters);
}

int daemon_run(struct options *options, int argc, char **argv)
{
	struct daemon d = { .options = options, .argc = argc, .argv = argv };
	struct err err = { 0 };
	int failed;

	log_setup(options->log_level, options->log_format);
	failed = start(&d, &err);
	if (failed)
		log_error("kscaled", "cannot start: %s", err.msg);
	else
		loop_run(d.loop);
	stop(&d);
	if (!failed)
		log_info("kscaled", "stopped");
	return failed ? 1 : 0;
}
