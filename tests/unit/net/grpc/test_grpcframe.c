/* SPDX-License-Identifier: Apache-2.0 */
/* Framing and status of gRPC: pure parts of net/grpc. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/grpc/grpc.h"
#include "net/grpc/grpcendpoint.h"
#include "net/grpc/grpcframe.h"
#include "net/grpc/grpcstatus.h"

/* ---- Frames ---- */

/* Reads a body in pieces of `step` bytes: its messages as "a|bc|", then "cut" or the error. */
static void read_all(const struct buf *body, size_t step, struct buf *out)
{
	struct grpcframe f;
	struct err err = { 0 };
	int taken = 0;

	grpcframe_init(&f);
	for (size_t at = 0; at < body->len && taken >= 0; at += step) {
		const char *bytes = body->data + at;
		size_t len = body->len - at < step ? body->len - at : step;

		while (len > 0 && (taken = grpcframe_take(&f, &bytes, &len, &err)) > 0)
			buf_printf(out, "%s|", buf_text(&f.message));
	}
	if (taken < 0)
		buf_printf(out, "! %s", err.msg);
	else if (grpcframe_is_cut(&f))
		buf_puts(out, "cut");
	grpcframe_done(&f);
}

static void bodies_become_messages(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *said;
	} rows[] = {
		{ "", 0, "" },
		{ "\0\0\0\0\0", 5, "|" },
		{ "\0\0\0\0\3abc", 8, "abc|" },
		{ "\0\0\0\0\1a\0\0\0\0\0\0\0\0\0\2bc", 18, "a||bc|" },
		{ "\0\0\0", 3, "cut" },
		{ "\0\0\0\0\3ab", 7, "cut" },
		{ "\0\0\0\0\1a\0", 7, "a|cut" },
		{ "\1\0\0\0\1a", 6, "! a message is compressed, which was not offered" },
		{ "\2\0\0\0\1a", 6, "! the answer is not a gRPC message" },
		{ "\0\xff\xff\xff\xff", 5, "! a message of 4294967295 bytes is larger than 4194304" },
		{ "\0\0\x40\0\1", 5, "! a message of 4194305 bytes is larger than 4194304" },
		{ "HTTP/1.1 400", 12, "! the answer is not a gRPC message" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		for (size_t step = 1; step <= 20; step++) {
			struct buf body = BUF_INIT(64), out = BUF_INIT(256);

			buf_append(&body, rows[i].bytes, rows[i].len);
			read_all(&body, step, &out);
			if (strcmp(buf_text(&out), rows[i].said) != 0)
				fail_msg("row %zu in pieces of %zu: \"%s\", not \"%s\"", i, step, buf_text(&out),
					rows[i].said);
			buf_done(&body);
			buf_done(&out);
		}
	}
}

static void the_largest_message_passes(void **state)
{
	struct buf body = BUF_INIT(GRPCFRAME_MESSAGE_MAX + 5), out = BUF_INIT(GRPCFRAME_MESSAGE_MAX + 100);
	char *message = mem_zalloc(GRPCFRAME_MESSAGE_MAX);

	(void)state;
	memset(message, 'x', GRPCFRAME_MESSAGE_MAX);
	grpcframe_put(&body, message, GRPCFRAME_MESSAGE_MAX);
	read_all(&body, 16384, &out);
	assert_int_equal(out.len, GRPCFRAME_MESSAGE_MAX + 1);
	mem_free_ptr(&message);
	buf_done(&body);
	buf_done(&out);
}

/* ---- Status ---- */

static void statuses(void **state)
{
	static const struct {
		const char *lines[4];
		int http;
		enum err_kind kind;
		const char *said;
	} rows[] = {
		{ { "HTTP/2 200 ", "Content-Type: application/grpc", "grpc-status: 0" }, 200, ERR_NONE, "" },
		{ { "content-type: application/grpc+proto", "GRPC-Status:0" }, 200, ERR_NONE, "" },
		{ { "grpc-status: 14", "grpc-message: no%20workers" }, 200, ERR_TEMPORARY, "UNAVAILABLE: no workers" },
		{ { "grpc-message: first", "grpc-status: 7" }, 200, ERR_DENIED, "PERMISSION_DENIED: first" },
		{ { "grpc-status: 16" }, 200, ERR_DENIED, "UNAUTHENTICATED" },
		{ { "grpc-status: 12" }, 200, ERR_INVALID, "UNIMPLEMENTED" },
		{ { "grpc-status: 3", "grpc-message: a%0Ab%00c%zz%" }, 200, ERR_INVALID,
			"INVALID_ARGUMENT: a b?c%zz%" },
		{ { "grpc-status: 2", "grpc-message: %E2%82%AC %FF" }, 200, ERR_TEMPORARY, "UNKNOWN: \xE2\x82\xAC ?" },
		{ { "grpc-status: 17" }, 200, ERR_TEMPORARY, "an unknown grpc-status" },
		{ { "grpc-status: -1", "grpc-message: x" }, 200, ERR_TEMPORARY, "an unknown grpc-status: x" },
		{ { "grpc-status:" }, 200, ERR_TEMPORARY, "an unknown grpc-status" },
		{ { "grpc-status: 00000000000000000000014" }, 200, ERR_TEMPORARY, "UNAVAILABLE" },
		{ { "grpc-status: 99999999999999999999999" }, 200, ERR_TEMPORARY, "an unknown grpc-status" },
		{ { "content-type: application/grpc" }, 200, ERR_TEMPORARY, "the answer ended without a grpc-status" },
		{ { "content-type: text/html" }, 200, ERR_INVALID,
			"the answer is not gRPC: its content-type is \"text/html\"" },
		{ { "content-type: application/grpcweb", "grpc-status: 0" }, 200, ERR_INVALID,
			"the answer is not gRPC: its content-type is \"application/grpcweb\"" },
		{ { "content-type: text/plain" }, 503, ERR_TEMPORARY, "UNAVAILABLE: HTTP status 503" },
		{ { NULL }, 404, ERR_INVALID, "UNIMPLEMENTED: HTTP status 404" },
		{ { NULL }, 403, ERR_DENIED, "PERMISSION_DENIED: HTTP status 403" },
		{ { NULL }, 418, ERR_TEMPORARY, "UNKNOWN: HTTP status 418" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct grpcstatus s = { 0 };
		struct err err = { 0 };

		for (size_t j = 0; j < 4 && rows[i].lines[j]; j++)
			grpcstatus_note(&s, rows[i].lines[j], strlen(rows[i].lines[j]));
		grpcstatus_judge(&s, rows[i].http, &err);
		if (err.kind != rows[i].kind || strcmp(err.msg, rows[i].said) != 0)
			fail_msg("row %zu: %s \"%s\", not \"%s\"", i, err_kind_name(err.kind), err.msg, rows[i].said);
	}
}

static void long_messages_are_truncated(void **state)
{
	struct grpcstatus s = { 0 };
	struct buf line = BUF_INIT(4096);

	(void)state;
	buf_puts(&line, "grpc-message: ");
	for (int i = 0; i < 500; i++)
		buf_puts(&line, "%C3%A4");
	grpcstatus_note(&s, line.data, line.len);
	assert_int_equal(strlen(s.message), GRPCSTATUS_MESSAGE_MAX);
	buf_done(&line);
}

/* ---- Targets ---- */

static void targets(void **state)
{
	static const struct {
		const char *target, *address, *said;
	} rows[] = {
		{ "scaler:50051", "scaler:50051", NULL },
		{ "scaler.shop.svc.cluster.local", "scaler.shop.svc.cluster.local:443", NULL },
		{ "dns:///scaler:1", "scaler:1", NULL },
		{ "dns:scaler:1", "scaler:1", NULL },
		{ "dns:10.0.0.7", "10.0.0.7:443", NULL },
		{ "dns:1", "dns:1", NULL },
		{ "passthrough:///10.0.0.7:65535", "10.0.0.7:65535", NULL },
		{ "[::1]:50051", "[::1]:50051", NULL },
		{ "[fe80::1]", "[fe80::1]:443", NULL },
		{ "unix:/run/x.sock", NULL,
			"address \"unix:/run/x.sock\": \"unix\" is not supported here: write host:port, or "
			"dns:///host:port" },
		{ "unix:///run/x.sock", NULL,
			"address \"unix:///run/x.sock\": \"unix\" is not supported here: write host:port, or "
			"dns:///host:port" },
		{ "xds:///a", NULL,
			"address \"xds:///a\": \"xds\" is not supported here: write host:port, or dns:///host:port" },
		{ "http://a:1", NULL,
			"address \"http://a:1\": \"http\" is not supported here: write host:port, or "
			"dns:///host:port" },
		{ "dns://8.8.8.8/a:1", NULL,
			"address \"dns://8.8.8.8/a:1\": \"dns\" is not supported here: write host:port, or "
			"dns:///host:port" },
		{ "ipv4:10.0.0.1:1", "", "address \"ipv4:10.0.0.1:1\" must be host:port" },
		{ "a:0", NULL, "address \"a:0\" must be host:port" },
		{ "a:65536", NULL, "address \"a:65536\" must be host:port" },
		{ "a:b", NULL, "address \"a:b\" must be host:port" },
		{ "a:1/x", NULL, "address \"a:1/x\" must be host:port" },
		{ "a@b:1", NULL, "address \"a@b:1\" must be host:port" },
		{ ":1", NULL, "address \":1\" must be host:port" },
		{ "::1", NULL, "address \"::1\" must be host:port" },
		{ "[::1", NULL, "address \"[::1\" must be host:port" },
		{ "a b:1", NULL, "address \"a b:1\" must be host:port" },
		{ "", NULL, "address \"\" must be host:port" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err err = { 0 };
		struct grpcendpoint *e = grpcendpoint_new(&(struct grpcendpoint_config){ .target = rows[i].target },
			&err);

		if (rows[i].said ? e != NULL || strcmp(err.msg, rows[i].said) != 0
				 : e == NULL || strcmp(e->base.name, rows[i].address) != 0)
			fail_msg("%s: \"%s\"", rows[i].target, e ? e->base.name : err.msg);
		endpoint_unref(e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bodies_become_messages),
		cmocka_unit_test(the_largest_message_passes),
		cmocka_unit_test(statuses),
		cmocka_unit_test(long_messages_are_truncated),
		cmocka_unit_test(targets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
