/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http/httpaddresses.h"

#include <arpa/inet.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "net/dns.h"

/* Addresses are refreshed at this age; a failed lookup is not repeated within it. */
#define KEEP_MS   30000
#define FAILED_MS 1000

struct httpaddresses {
	struct loop *loop;
	char *host;
	uint16_t port;
	loop_fn fn;
	void *arg;
	char *text;      /* NULL: not known */
	bool stale;      /* must be looked up before use */
	struct err *err; /* of the last lookup; NULL */
	int64_t looked_ms;
	struct dns_lookup *lookup;
};

static void put_address(struct buf *out, const struct dns_address *a)
{
	char text[INET6_ADDRSTRLEN] = "";

	if (a->sa.ss_family == AF_INET6) {
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)&a->sa)->sin6_addr, text, sizeof(text));
		buf_printf(out, "[%s]", text);
	} else {
		inet_ntop(AF_INET, &((const struct sockaddr_in *)&a->sa)->sin_addr, text, sizeof(text));
		buf_puts(out, text);
	}
}

static void on_found(void *arg, const struct dns_address *addresses, size_t count, const struct err *err)
{
	struct httpaddresses *a = arg;
	struct buf out = BUF_INIT(4096);

	a->lookup = NULL;
	a->looked_ms = loop_now_ms(a->loop);
	a->stale = false;
	err_keep(&a->err, err);
	if (!err) {
		/* The plus lets the entry of libcurl's cache expire like others. */
		buf_printf(&out, "+%s:%u:", a->host, a->port);
		for (size_t i = 0; i < count; i++) {
			buf_puts(&out, i > 0 ? "," : "");
			put_address(&out, &addresses[i]);
		}
		free(a->text);
		a->text = buf_take(&out);
	}
	a->fn(a->arg);
}

void httpaddresses_want(struct httpaddresses *a, const char *namespace_)
{
	int64_t age_ms;

	if (!a || a->lookup)
		return;
	age_ms = loop_now_ms(a->loop) - a->looked_ms;
	if (a->err && age_ms < FAILED_MS)
		return;
	if (!a->text || a->stale || age_ms > KEEP_MS)
		a->lookup = dns_lookup_start(a->loop, a->host, a->port, namespace_, on_found, a);
}

void httpaddresses_doubt(struct httpaddresses *a)
{
	if (a)
		a->stale = true;
}

bool httpaddresses_are_awaited(const struct httpaddresses *a)
{
	return a && a->lookup && (!a->text || a->stale);
}

const char *httpaddresses_trouble(const struct httpaddresses *a)
{
	if (!a || a->text)
		return NULL;
	return a->err ? a->err->msg : "the name cannot be looked up";
}

const char *httpaddresses_text(const struct httpaddresses *a)
{
	return a ? a->text : NULL;
}

bool httpaddresses_is_literal(const char *host)
{
	unsigned char address[16];

	return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

struct httpaddresses *httpaddresses_new(struct loop *loop, const char *host, uint16_t port, loop_fn fn, void *arg)
{
	struct httpaddresses *a = mem_zalloc(sizeof(*a));

	a->loop = loop;
	a->host = mem_dup(host);
	a->port = port;
	a->fn = fn;
	a->arg = arg;
	return a;
}

void httpaddresses_free(struct httpaddresses *a)
{
	if (!a)
		return;
	dns_lookup_cancel(a->lookup);
	err_keep(&a->err, NULL);
	free(a->text);
	free(a->host);
	free(a);
}
