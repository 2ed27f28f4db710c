/* SPDX-License-Identifier: Apache-2.0 */
/* Trigger type `beanstalkd`: the jobs of a tube (doc/keda.md 8.29). */
#include "base/buf.h"
#include "base/mem.h"
#include "net/beanstalk/beanstalk.h"
#include "net/tls/tlsrules.h"
#include "scalers/params.h"
#include "scalers/sources.h"
#include "scalers/types.h"

#define TIMEOUT_MAX_MS 120000

struct beanstalkd {
	char *server, *tube;
	bool include_delayed;
	int64_t timeout_ms;
	struct endpoint *endpoint;
};

#define AT(field) offsetof(struct beanstalkd, field)
static const struct param_row rows[] = {
	{ "server", PARAM_TEXT, "m", AT(server), .required = true, .help = "host:port of the server" },
	{ "tube", PARAM_TEXT, "m", AT(tube), .required = true, .help = "name of the tube" },
	{ "value", PARAM_TARGET, "m", .required = true, .help = "target: jobs per replica" },
	{ "activationValue", PARAM_ACTIVATION, "m", .help = "active above this number of jobs" },
	{ "includeDelayed", PARAM_BOOL, "m", AT(include_delayed), .help = "true: count delayed jobs, too" },
	{ "timeout", PARAM_DURATION, "m", AT(timeout_ms), .most = TIMEOUT_MAX_MS,
		.help = "longest wait for an answer, if longer than --metrics-deadline" },
};
static const struct param_table table = PARAM_TABLE(rows);

/* With "%2F" for a slash, of which the frame makes "-2F". */
static char *make_metric_name(const char *tube)
{
	struct buf name = BUF_INIT(1024);

	buf_puts(&name, "beanstalkd-");
	buf_put_percent(&name, tube, "");
	return buf_take(&name);
}

static int build(struct scaler_build *b, struct err *err)
{
	struct beanstalkd *q = b->data;
	const char *flaw = tubestats_name_flaw(q->tube);

	if (flaw)
		return params_wrong(err, "tube", "%s, but is \"%s\"", flaw, q->tube);
	q->endpoint = beanstalk_endpoint(b->params->namespace_, q->server, err);
	if (!q->endpoint)
		return params_wrap(err, "server");
	if (tlsrules_demand(false, "beanstalkd has no TLS, so this trigger cannot be used", err))
		return -1;
	b->metric_name = make_metric_name(q->tube);
	b->source = mem_printf("beanstalkd %s", q->endpoint->name);
	b->timeout_ms = q->timeout_ms;
	return 0;
}

static void data_done(void *data)
{
	endpoint_unref(((struct beanstalkd *)data)->endpoint);
}

static void on_stats(void *arg, const struct tubestats *stats, const struct err *failed)
{
	const struct scaler_ask *ask = arg;
	const struct beanstalkd *q = ask->question->data;
	double jobs = 0;

	if (stats)
		jobs = (double)stats->ready + (double)stats->reserved +
			(q->include_delayed ? (double)stats->delayed : 0);
	scaler_ask_end(arg, jobs, failed);
}

static void ask(void *handle)
{
	struct scaler_ask *ask = handle;
	const struct beanstalkd *q = ask->question->data;

	ask->call = beanstalk_ask(ask->sources->beanstalk, q->endpoint, q->tube, ask->deadline_ms, on_stats, ask);
}

static const struct scaler_asker asker = { .ask = ask, .cancel = scaler_ask_cancel_call };

const struct scaler_type beanstalkd_scaler_type = {
	.name = "beanstalkd",
	.go_name = "BeanstalkdScaler",
	.tables = { &table },
	.data_size = sizeof(struct beanstalkd),
	.build = build,
	.data_done = data_done,
	.asker = &asker,
};
