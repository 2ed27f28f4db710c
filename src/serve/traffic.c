/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "serve/exposition.h"

#define ARRAY(a) (sizeof(a) / sizeof((a)[0]))

static const char *const port_names[] = { "secure", "status" };
static const char *const methods[] = { "GET", "HEAD", "POST", "other" };
static const int codes[] = { 200, 304, 400, 401, 403, 404, 405, 406, 429, 499, 500, 503, 0 /* any other */ };
static const int64_t bounds_us[] = { 250, 1000, 5000, 25000, 100000, 500000, 1000000, 3000000 };

struct latency {
	uint64_t buckets[ARRAY(bounds_us) + 1];
	int64_t sum_us;
};

struct traffic {
	uint64_t requests[ARRAY(port_names)][ROUTE_KINDS][ARRAY(methods)][ARRAY(codes)];
	struct latency latency[ROUTE_KINDS];
};

struct traffic *traffic_new(void)
{
	return mem_zalloc(sizeof(struct traffic));
}

void traffic_free(struct traffic *t)
{
	free(t);
}

static size_t method_index(const char *method)
{
	size_t i = 0;

	while (i < ARRAY(methods) - 1 && strcmp(methods[i], method))
		i++;
	return i;
}

static size_t code_index(int code)
{
	size_t i = 0;

	while (i < ARRAY(codes) - 1 && codes[i] != code)
		i++;
	return i;
}

static size_t bucket_index(int64_t took_us)
{
	size_t i = 0;

	while (i < ARRAY(bounds_us) && took_us > bounds_us[i])
		i++;
	return i;
}

void traffic_count(struct traffic *t, enum route_port port, enum route_kind kind, const char *method, int status, int64_t took_us)
{
	t->requests[port == ROUTE_STATUS][kind][method_index(method)][code_index(status)]++;
	t->latency[kind].buckets[bucket_index(took_us)]++;
	t->latency[kind].sum_us += took_us;
}

static void write_requests(const struct traffic *t, struct buf *out)
{
	static const char *const labels[] = { "port", "path", "verb", "code", NULL };
	const size_t cells = ARRAY(port_names) * ROUTE_KINDS * ARRAY(methods) * ARRAY(codes);
	const uint64_t *counts = &t->requests[0][0][0][0];

	exposition_family(out, "kscaled_http_requests_total", "counter", "Requests answered, by port, kind of path, method and status code (499: the client left before).");
	for (size_t i = 0; i < cells; i++) {
		int code = codes[i % ARRAY(codes)];
		char text[12];

		if (!counts[i])
			continue;
		snprintf(text, sizeof(text), "%d", code);
		exposition_sample(out, "kscaled_http_requests_total", labels,
			(const char *const[]){ port_names[i / ARRAY(codes) / ARRAY(methods) / ROUTE_KINDS], route_kind_name(i / ARRAY(codes) / ARRAY(methods) % ROUTE_KINDS),
				methods[i / ARRAY(codes) % ARRAY(methods)], code ? text : "other" },
			(double)counts[i]);
	}
}

static void write_latency(const struct latency *l, const char *path, struct buf *out)
{
	static const char *const bucket_labels[] = { "path", "le", NULL };
	static const char *const path_label[] = { "path", NULL };
	uint64_t sum = 0;

	for (size_t i = 0; i <= ARRAY(bounds_us); i++) {
		char le[24] = "+Inf";

		if (i < ARRAY(bounds_us))
			snprintf(le, sizeof(le), "%g", (double)bounds_us[i] / 1e6);
		sum += l->buckets[i];
		exposition_sample(out, "kscaled_http_request_duration_seconds_bucket", bucket_labels, (const char *const[]){ path, le }, (double)sum);
	}
	exposition_sample(out, "kscaled_http_request_duration_seconds_sum", path_label, (const char *const[]){ path }, (double)l->sum_us / 1e6);
	exposition_sample(out, "kscaled_http_request_duration_seconds_count", path_label, (const char *const[]){ path }, (double)sum);
}

void traffic_write(const struct traffic *t, struct buf *out)
{
	write_requests(t, out);
	exposition_family(out, "kscaled_http_request_duration_seconds", "histogram", "From the whole request read to its answer handed over, by kind of path.");
	for (int kind = 0; kind < ROUTE_KINDS; kind++)
		write_latency(&t->latency[kind], route_kind_name((enum route_kind)kind), out);
}
