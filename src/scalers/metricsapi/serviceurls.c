/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/metricsapi/serviceurls.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostport.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "net/http/httpurl.h"

#define LABEL_MAX 63

/* ---- The Service ---- */

/* A DNS label that ends at a dot or the end; NULL when it cannot be an object's name. */
static char *read_label(const char *host)
{
	size_t len = strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789-");

	return len > 0 && len <= LABEL_MAX && (host[len] == '.' || !host[len]) ? mem_dupn(host, len) : NULL;
}

static bool is_address(const char *host)
{
	unsigned char address[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

int serviceurls_read(const char *url, struct serviceurls *out, struct err *err)
{
	struct httpurl_place place;
	const char *dot, *rest;

	*out = (struct serviceurls){ 0 };
	if (strlen(url) > SERVICEURLS_LENGTH_MAX)
		return err_set(err, ERR_INVALID, "longer than %d characters, with aggregateFromKubeServiceEndpoints",
			SERVICEURLS_LENGTH_MAX);
	if (httpurl_place(url, &place, err))
		return -1;
	dot = strchr(place.host, '.');
	if (!is_address(place.host) && dot) {
		out->service = read_label(place.host);
		out->namespace_ = read_label(dot + 1);
	}
	rest = strstr(url, "://");
	rest = rest ? rest + 3 + strcspn(rest + 3, "/?#") : "";
	out->scheme = mem_dup(place.scheme);
	out->port = place.port;
	out->rest = mem_dupn(rest, strcspn(rest, "#"));
	httpurl_place_done(&place);
	if (out->service && out->namespace_)
		return 0;
	serviceurls_done(out);
	return err_set(err, ERR_INVALID,
		"the host must be that of a Service, <service>.<namespace> or <service>.<namespace>.svc, for "
		"aggregateFromKubeServiceEndpoints");
}

void serviceurls_done(struct serviceurls *s)
{
	free(s->scheme);
	free(s->service);
	free(s->namespace_);
	free(s->rest);
	*s = (struct serviceurls){ 0 };
}

char *serviceurls_request(const struct serviceurls *s)
{
	return mem_printf("/apis/discovery.k8s.io/v1/namespaces/%s/"
			  "endpointslices?labelSelector=kubernetes.io%%2Fservice-name%%3D%s&resourceVersion=0",
		s->namespace_, s->service);
}

/* ---- Its endpoints ---- */

struct found_endpoints {
	const struct serviceurls *service;
	struct strmap seen; /* pods and URLs */
	char **urls;
	size_t count;
	struct err *err;
};

static bool is_tcp(const json_t *port)
{
	const char *protocol = json_str_or_empty(port, "protocol");

	return !*protocol || strcmp(protocol, "TCP") == 0;
}

/* 0: ambiguous. A slice without ports, or with a port without number, has all ports. */
static uint16_t choose_port(const json_t *ports, uint16_t wanted)
{
	const json_t *port;
	json_int_t other = 0;
	size_t i, count = 0;

	json_array_foreach(ports, i, port)
	{
		const json_t *number = json_object_get(port, "port");

		if (!is_tcp(port))
			continue;
		if (!json_is_integer(number) || json_integer_value(number) == wanted)
			return wanted;
		other = json_integer_value(number);
		count++;
	}
	if (count == 0)
		return wanted;
	return count == 1 && other > 0 && other <= UINT16_MAX ? (uint16_t)other : 0;
}

/* Remembers a text; whether it is new. */
static bool note(struct found_endpoints *f, const char *what)
{
	if (strmap_get(&f->seen, what))
		return false;
	strmap_set(&f->seen, what, "");
	return true;
}

static int add_endpoint(struct found_endpoints *f, const json_t *endpoint, uint16_t port)
{
	const char *address = json_string_value(json_array_get(json_object_get(endpoint, "addresses"), 0));
	const char *pod = json_str_or_empty(json_object_get(endpoint, "targetRef"), "uid");
	MEM_AUTO char *place = NULL, *url = NULL;
	bool is_new;

	/* The addresses of one endpoint are interchangeable (EndpointSlice's documentation). */
	if (!address || json_is_false(json_object_get(json_object_get(endpoint, "conditions"), "ready")))
		return 0;
	if (strspn(address, "0123456789abcdefABCDEF.:ghijklmnopqrstuvwxyz-") != strlen(address))
		return err_set(f->err, ERR_INVALID, "an EndpointSlice of Service %s/%s has an invalid address",
			f->service->namespace_, f->service->service);
	place = hostport_join(address, port);
	url = mem_printf("%s://%s%s", f->service->scheme, place, f->service->rest);
	if (*pod && !note(f, pod))
		return 0;
	is_new = note(f, url);
	if (f->count + is_new > SERVICEURLS_MAX || f->seen.count > (size_t)2 * SERVICEURLS_MAX)
		return err_set(f->err, ERR_INVALID, "Service %s/%s has more than %d endpoints", f->service->namespace_,
			f->service->service, SERVICEURLS_MAX);
	if (!is_new)
		return 0;
	f->urls = mem_resize(f->urls, f->count + 1, sizeof(*f->urls));
	f->urls[f->count++] = url;
	url = NULL;
	return 0;
}

static int add_slice(struct found_endpoints *f, const json_t *slice)
{
	const json_t *endpoints = json_object_get(slice, "endpoints"), *endpoint;
	uint16_t port = choose_port(json_object_get(slice, "ports"), f->service->port);
	size_t i;

	if (port == 0 && json_array_size(endpoints) > 0)
		return err_set(f->err, ERR_INVALID,
			"the pods of Service %s/%s have several ports, but not %u: the URL must have a port of the "
			"pods",
			f->service->namespace_, f->service->service, f->service->port);
	json_array_foreach(endpoints, i, endpoint) if (add_endpoint(f, endpoint, port)) return -1;
	return 0;
}

int serviceurls_of(const struct serviceurls *s, const json_t *list, char ***urls, size_t *count, struct err *err)
{
	struct found_endpoints f = { .service = s, .err = err };
	const json_t *slice;
	int rc = 0;
	size_t i;

	json_array_foreach(json_object_get(list, "items"), i, slice) rc = rc ? rc : add_slice(&f, slice);
	if (rc == 0 && f.count == 0)
		rc = err_set(err, ERR_TEMPORARY,
			"no endpoints URLs were given for the service name %s in namespace %s: it has no ready "
			"endpoint, or does not exist",
			s->service, s->namespace_);
	strmap_done(&f.seen);
	for (i = 0; rc && i < f.count; i++)
		free(f.urls[i]);
	if (rc) {
		free(f.urls);
		return -1;
	}
	*urls = f.urls;
	*count = f.count;
	return 0;
}
