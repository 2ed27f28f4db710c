/* SPDX-License-Identifier: Apache-2.0 */
#include "control/certs/certs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "control/certs/apiservice.h"
#include "control/certs/certfiles.h"
#include "control/certs/certsecret.h"
#include "control/certs/webhookconfig.h"
#include "net/loop.h"
#include "net/tls/x509.h"

#define DAY_S           86400
#define SERVING_VALID_S (365 * DAY_S)
#define CA_VALID_S      (3650LL * DAY_S)
#define SETTLE_MS       2000          /* until every API server has seen a new caBundle */
#define REVIEWS_WAIT_MS (3600 * 1000) /* for the webhooks' caBundle, which may not be writable */
#define LOOK_MS         (3600 * 1000)
#define NAMES           4

struct certs {
	struct kube *kube;      /* borrowed */
	struct loop *loop;      /* borrowed */
	struct tls_server *tls; /* borrowed */
	void (*on_foreign)(void *arg, const char *who);
	void *on_foreign_arg;

	char *names[NAMES + 1];  /* of the serving certificate; NULL-terminated */
	struct certfiles *files; /* one of these two */
	struct certsecret *secret;
	struct apiservice *apiservice, *insight;
	struct webhookconfig *webhookconfig; /* NULL: there is none */

	char *served_cert, *served_ca; /* served by the TLS server, from the Secret; NULL: nothing yet */
	int64_t served_until_unix_ms;
	char *next_cert; /* the Secret's, and when it was first seen there (loop clock) */
	int64_t next_since_ms;
	char swap_trouble[ERR_MSG_MAX];
	struct loop_timer timer; /* retries a swap */

	int releasing; /* APIServices whose release is under way */
	void (*on_released)(void *arg);
	void *released_arg;

	bool told_foreign; /* on_foreign was called */
	char foreign[544]; /* with which name; "" for NULL */
};

/* ---- Serving the certificate of the Secret ---- */

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Loop clock: when the API server will trust the new CA for metrics; 0: it does, or need not. */
static int64_t metrics_at_ms(const struct certs *c, const char *new_ca)
{
	bool known = apiservice_is_known(c->apiservice);

	if (known && apiservice_points(c->apiservice) != APISERVICE_TO_US)
		return 0;
	if (!known || !apiservice_trusts(c->apiservice, new_ca))
		return loop_now_ms(c->loop) + c->served_until_unix_ms - timestamp_now_ms();
	return apiservice_trusts(c->apiservice, c->served_ca) ? apiservice_since_ms(c->apiservice) + SETTLE_MS : 0;
}

/* The same for reviews; metrics wait at most an hour for them. */
static int64_t reviews_at_ms(const struct certs *c, const char *new_ca)
{
	if (!c->webhookconfig)
		return 0;
	if (!webhookconfig_is_known(c->webhookconfig))
		return c->next_since_ms + REVIEWS_WAIT_MS;
	if (!webhookconfig_trusts(c->webhookconfig, c->served_ca))
		return 0;
	if (!webhookconfig_trusts(c->webhookconfig, new_ca))
		return c->next_since_ms + REVIEWS_WAIT_MS;
	return webhookconfig_since_ms(c->webhookconfig) + SETTLE_MS;
}

/*
 * A certificate of a new CA is not served before the API server trusts that CA, or its requests
 * would fail: the old one is served until both caBundles contain the new CA. Returns milliseconds
 * to wait; 0: swap now.
 */
static int64_t swap_wait_ms(const struct certs *c, const struct certpack *pack)
{
	const char *new_ca = pack->ca.cert_pem;

	if (!c->served_cert || timestamp_now_ms() >= c->served_until_unix_ms || strcmp(c->served_ca, new_ca) == 0)
		return 0;
	return later(later(metrics_at_ms(c, new_ca), reviews_at_ms(c, new_ca)) - loop_now_ms(c->loop), 0);
}

static void swap(struct certs *c, const struct certpack *pack)
{
	struct x509_facts facts;
	struct err err;
	char until[TIMESTAMP_TEXT_MAX];

	if (x509_read(pack->serving.cert_pem, &facts, &err) != 0 ||
		tls_server_set_certificate(c->tls, pack->serving.cert_pem, pack->serving.key_pem, &err) != 0) {
		if (strcmp(c->swap_trouble, err.msg) != 0)
			log_error("certificate", "%s", err.msg);
		snprintf(c->swap_trouble, sizeof c->swap_trouble, "%s", err.msg);
		return;
	}
	c->swap_trouble[0] = '\0';
	free(c->served_cert);
	free(c->served_ca);
	c->served_cert = mem_dup(pack->serving.cert_pem);
	c->served_ca = mem_dup(pack->ca.cert_pem);
	c->served_until_unix_ms = facts.not_after_unix_ms;
	log_info("certificate", "serving for %s until %s", c->names[NAMES - 2],
		timestamp_format(facts.not_after_unix_ms, until));
}

static void note_next(struct certs *c, const struct certpack *pack)
{
	if (text_equal(c->next_cert, pack->serving.cert_pem))
		return;
	free(c->next_cert);
	c->next_cert = mem_dup(pack->serving.cert_pem);
	c->next_since_ms = loop_now_ms(c->loop);
}

/*
 * Also called when a waiting certificate may be swapped: by the timer, the APIService, the
 * webhooks.
 */
static void serve_newest(void *arg)
{
	struct certs *c = arg;
	const struct certpack *pack = c->secret ? certsecret_pack(c->secret) : NULL;
	int64_t wait;

	loop_timer_cancel(&c->timer);
	if (!pack || text_equal(c->served_cert, pack->serving.cert_pem))
		return;
	note_next(c, pack);
	wait = swap_wait_ms(c, pack);
	if (wait > 0)
		loop_timer_set(&c->timer, wait < LOOK_MS ? wait : LOOK_MS);
	else
		swap(c, pack);
}

static void pass_on_bundle(struct certs *c)
{
	const struct certpack *pack = certsecret_pack(c->secret);
	MEM_AUTO char *bundle = pack ? certpack_bundle(pack, timestamp_now_ms()) : NULL;

	if (!bundle)
		return;
	apiservice_set_bundle(c->apiservice, bundle);
	apiservice_set_bundle(c->insight, bundle);
	if (c->webhookconfig)
		webhookconfig_set_bundle(c->webhookconfig, bundle);
}

static void on_secret(void *arg)
{
	struct certs *c = arg;

	serve_newest(c);
	pass_on_bundle(c);
}

/* ---- The Service of the APIService ---- */

static void tell_foreign(struct certs *c)
{
	const char *who = apiservice_foreign(c->apiservice);

	if (!apiservice_is_known(c->apiservice) || (c->told_foreign && strcmp(c->foreign, who ? who : "") == 0))
		return;
	c->told_foreign = true;
	snprintf(c->foreign, sizeof c->foreign, "%s", who ? who : "");
	if (c->on_foreign)
		c->on_foreign(c->on_foreign_arg, who);
}

static void on_apiservice(void *arg)
{
	struct certs *c = arg;

	serve_newest(c);
	tell_foreign(c);
}

/* ---- The interface ---- */

void certs_set_leading(struct certs *c, bool leading)
{
	if (c->secret)
		certsecret_set_leading(c->secret, leading);
	apiservice_set_leading(c->apiservice, leading);
	apiservice_set_leading(c->insight, leading);
	if (c->webhookconfig)
		webhookconfig_set_leading(c->webhookconfig, leading);
}

void certs_reload(struct certs *c)
{
	if (c->files)
		certfiles_reload(c->files);
}

static void on_one_released(void *arg)
{
	struct certs *c = arg;

	if (--c->releasing == 0)
		c->on_released(c->released_arg);
}

bool certs_release(struct certs *c, int64_t deadline_ms, void (*done)(void *arg), void *arg)
{
	c->on_released = done;
	c->released_arg = arg;
	c->releasing += apiservice_release(c->apiservice, deadline_ms, on_one_released, c);
	c->releasing += apiservice_release(c->insight, deadline_ms, on_one_released, c);
	return c->releasing > 0;
}

int64_t certs_until_unix_ms(const struct certs *c)
{
	return c->files ? certfiles_until_unix_ms(c->files) : c->served_until_unix_ms;
}

bool certs_asks_for_reviews_at(const struct certs *c, const char *path, size_t len)
{
	return c->webhookconfig && webhookconfig_asks_at(c->webhookconfig, path, len);
}

const char *certs_trouble(const struct certs *c)
{
	const char *trouble = c->files ? certfiles_trouble(c->files)
		: c->swap_trouble[0]   ? c->swap_trouble
				       : certsecret_trouble(c->secret);

	if (trouble)
		return trouble;
	if (!tls_server_has_certificate(c->tls))
		return "there is no serving certificate yet";
	return apiservice_trouble(c->apiservice);
}

/* ---- Life ---- */

static void make_names(struct certs *c, const struct certs_config *config)
{
	c->names[0] = mem_dup(config->service_name);
	c->names[1] = mem_printf("%s.%s", config->service_name, config->namespace_);
	/* the one that the API server asks for */
	c->names[2] = mem_printf("%s.%s.svc", config->service_name, config->namespace_);
	c->names[3] = mem_printf("%s.%s.svc.cluster.local", config->service_name, config->namespace_);
}

static bool has_files(const struct certs_config *config)
{
	return config->cert_file && config->cert_file[0];
}

static void start_apiservices(struct certs *c, const struct certs_config *config)
{
	struct apiservice_config own = {
		.name = CERTS_APISERVICE,
		.what = "the external metrics",
		.namespace_ = config->namespace_,
		.service_name = config->service_name,
		.service_port = config->service_port > 0 ? config->service_port : 443,
		.own_ca = !has_files(config),
		.recreate = config->recreate,
		.take_over = config->take_over,
	};

	c->apiservice = apiservice_new(c->kube, &own, on_apiservice, c);
	own.name = CERTS_INSIGHT;
	own.what = "the insight API (kubectl get scaledobjectinsights)";
	own.optional = true;
	c->insight = apiservice_new(c->kube, &own, NULL, NULL);
}

static void start_webhookconfig(struct certs *c, const struct certs_config *config)
{
	struct webhookconfig_config own = {
		.name = CERTS_WEBHOOKS,
		.namespace_ = config->namespace_,
		.service_name = config->service_name,
		.own_ca = !has_files(config),
	};

	c->webhookconfig = webhookconfig_new(c->kube, &own, serve_newest, c);
}

static void start_secret(struct certs *c, const struct certs_config *config)
{
	struct certsecret_config own = {
		.namespace_ = config->namespace_,
		.name = CERTS_SECRET,
		.dns_names = (const char *const *)c->names,
		.serving_valid_s = config->serving_valid_s > 0 ? config->serving_valid_s : SERVING_VALID_S,
		.ca_valid_s = config->ca_valid_s > 0 ? config->ca_valid_s : CA_VALID_S,
	};

	c->secret = certsecret_new(c->kube, &own, on_secret, c);
}

struct certs *certs_new(struct kube *kube, struct tls_server *tls, const struct certs_config *config, struct err *err)
{
	struct certs *c = mem_zalloc(sizeof *c);

	c->kube = kube;
	c->loop = kube_loop(kube);
	c->tls = tls;
	c->on_foreign = config->on_foreign;
	c->on_foreign_arg = config->on_foreign_arg;
	loop_timer_init(&c->timer, c->loop, serve_newest, c);
	make_names(c, config);
	if (has_files(config)) {
		c->files = certfiles_new(c->loop, tls, config->cert_file, config->key_file, err);
		if (!c->files) {
			certs_free(c);
			return NULL;
		}
	}
	if (config->webhook)
		start_webhookconfig(c, config);
	if (!c->files)
		start_secret(c, config);
	start_apiservices(c, config);
	return c;
}

void certs_free(struct certs *c)
{
	if (!c)
		return;
	certfiles_free(c->files);
	certsecret_free(c->secret);
	apiservice_free(c->apiservice);
	apiservice_free(c->insight);
	webhookconfig_free(c->webhookconfig);
	loop_timer_done(&c->timer);
	for (int i = 0; i < NAMES; i++)
		free(c->names[i]);
	free(c->served_cert);
	free(c->served_ca);
	free(c->next_cert);
	free(c);
}
