/* SPDX-License-Identifier: Apache-2.0 */
#include "room.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "fake_serve.h"

struct room room;

/* ---- Asking ---- */

struct httpd_request *room_send(enum route_port port, const char *method, const char *uri, const char *token,
	const char *header, const char *value)
{
	int n = 0;

	fake_httpd_done(&room.last);
	room.last = (struct httpd_request){ .connection = &room.connection, .method = method, .uri = uri };
	if (token)
		room.last.headers[n++] = (struct fake_header){ "Authorization", token };
	room.last.headers[n++] = (struct fake_header){ "User-Agent", "test/1" };
	if (header)
		room.last.headers[n++] = (struct fake_header){ header, value };
	request_start(&room.serve, port, &room.last);
	return &room.last;
}

struct httpd_request *room_post(const char *uri, const char *content_type, const char *body)
{
	fake_httpd_done(&room.last);
	room.last = (struct httpd_request){ .connection = &room.connection,
		.method = "POST",
		.uri = uri,
		.sent = body,
		.headers = {
			{ content_type ? "Content-Type" : "User-Agent", content_type ? content_type : "test/1" } } };
	request_start(&room.serve, ROUTE_SECURE, &room.last);
	return &room.last;
}

/* As a known user who may do everything. */
struct httpd_request *room_get(const char *uri)
{
	return room_send(ROUTE_SECURE, "GET", uri, "Bearer root", NULL, NULL);
}

struct httpd_request *room_get_accepting(const char *uri, const char *accept)
{
	return room_send(ROUTE_SECURE, "GET", uri, "Bearer root", "Accept", accept);
}

void room_expect_status(const struct httpd_request *r, int code, const char *reason, const char *message)
{
	assert_int_equal(r->status, code);
	assert_string_equal(r->content_type, "application/json");
	assert_true(fake_httpd_says(r, "kind", "Status"));
	assert_true(fake_httpd_says(r, "reason", reason));
	assert_true(fake_httpd_says(r, "message", message));
}

json_t *room_body(const struct httpd_request *r)
{
	json_t *body = json_parse(r->body, r->body_len, NULL);

	assert_int_equal(r->status, 200);
	assert_non_null(body);
	return body;
}

/* ---- Life ---- */

static bool asks_for_reviews_at(const void *arg, const char *path, size_t len)
{
	(void)arg;
	for (int i = 0; i < ROOM_REVIEWS && room.reviews[i]; i++)
		if (strlen(room.reviews[i]) == len && memcmp(room.reviews[i], path, len) == 0)
			return true;
	return false;
}

int room_set_up(void **state)
{
	(void)state;
	room.loop = loop_new(NULL);
	room.kube = fake_kube_new(room.loop);
	room.cache = fake_cache_new(room.loop);
	memset(room.reviews, 0, sizeof(room.reviews));
	room.reviews[0] = ROOM_REVIEW;
	fake_serve_start(&room.serve, room.kube, &room.cache->cache, asks_for_reviews_at);
	/* "Bearer root" is known. */
	room_send(ROUTE_SECURE, "GET", "/version", "Bearer root", NULL, NULL);
	fake_kube_answer_token(room.kube, "root", "system:masters");
	assert_int_equal(room.last.status, 200);
	return 0;
}

int room_tear_down(void **state)
{
	(void)state;
	request_end_all(&room.serve);
	fake_httpd_done(&room.last);
	room.last = (struct httpd_request){ .connection = NULL };
	fake_httpd_close(&room.connection);
	fake_serve_end(&room.serve);
	fake_admit_reset();
	fake_cache_free(room.cache);
	fake_kube_free(room.kube);
	loop_free(room.loop);
	return 0;
}
