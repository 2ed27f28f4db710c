/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http/httpbody.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

void httpbody_take(struct httpbody *b, const void *bytes, size_t len)
{
	b->bytes = mem_dupn(bytes, len);
	b->len = len;
}

void httpbody_done(struct httpbody *b)
{
	if (b->bytes)
		mem_wipe(b->bytes, b->len);
	mem_free_ptr(&b->bytes);
}

static size_t on_curl_body(char *to, size_t size, size_t count, void *arg)
{
	struct httpbody *b = arg;
	size_t len = b->len - b->sent;

	if (!b->may_send(b->arg))
		return CURL_READFUNC_ABORT;
	if (len > size * count)
		len = size * count;
	memcpy(to, b->bytes + b->sent, len);
	b->sent += len;
	return len;
}

/* For libcurl's retry on another connection. */
static int on_curl_rewind(void *arg, curl_off_t offset, int origin)
{
	struct httpbody *b = arg;

	if (origin != SEEK_SET || offset < 0 || (size_t)offset > b->len)
		return CURL_SEEKFUNC_FAIL;
	b->sent = (size_t)offset;
	return CURL_SEEKFUNC_OK;
}

static void set_bytes(struct httpbody *b, CURL *easy)
{
	curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)b->len);
	if (!b->may_send) {
		curl_easy_setopt(easy, CURLOPT_POSTFIELDS, b->bytes);
		return;
	}
	curl_easy_setopt(easy, CURLOPT_POST, 1L);
	curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_curl_body);
	curl_easy_setopt(easy, CURLOPT_READDATA, b);
	curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, on_curl_rewind);
	curl_easy_setopt(easy, CURLOPT_SEEKDATA, b);
}

void httpbody_set(struct httpbody *b, CURL *easy, const char *method, bool (*may_send)(const void *arg),
	const void *arg)
{
	b->may_send = may_send;
	b->arg = arg;
	if (b->bytes) {
		set_bytes(b, easy);
	} else if (strcmp(method, "POST") == 0) {
		curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)0);
		curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "");
	} else if (strcmp(method, "HEAD") == 0) {
		curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
	}
	curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method); /* copied */
}
