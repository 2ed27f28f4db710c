/* SPDX-License-Identifier: Apache-2.0 */

/*
 * An answer of an external scaler, which is somebody's server. The first byte chooses how the bytes
 * come in pieces; the rest is a body, and each message in it is read as each of the answers there
 * are; it is also a header. Whatever comes, it is a value or an error that can be told, and a
 * description is one that an HPA can have.
 */

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "net/grpc/grpcframe.h"
#include "net/grpc/grpcstatus.h"
#include "scalers/external/externalmessages.h"

static void check_text(const char *text)
{
	size_t len = strlen(text);

	must(strpbrk(text, "\r\n\t") == NULL);
	for (size_t i = 0, step; i < len; i += step) {
		step = utf8_step(text + i, len - i);
		must(step > 0);
	}
}

static void check_description(const struct buf *message)
{
	struct description d = { 0 };
	struct err err = { 0 };

	if (externalmessages_get_description(buf_text(message), message->len, &d, &err)) {
		must(err.kind == ERR_INVALID && d.count == 0);
		check_text(err.msg);
		return;
	}
	must(d.count > 0 && d.count <= EXTERNALMESSAGES_METRICS_MAX);
	for (size_t i = 0; i < d.count; i++) {
		must(d.metrics[i].target.milli > 0);
		must(*d.metrics[i].name != '\0' && strpbrk(d.metrics[i].name, "/%\n") == NULL);
	}
	must(description_equal(&d, &d));
	description_done(&d);
}

static void check_message(const struct buf *message)
{
	struct err err = { 0 };
	bool active;
	double value;

	must(message->len <= GRPCFRAME_MESSAGE_MAX);
	check_description(message);
	must(externalmessages_get_active(buf_text(message), message->len, &active, &err) == 0 ||
		err.kind == ERR_INVALID);
	must(externalmessages_get_value(buf_text(message), message->len, &value, &err) == 0 ? isfinite(value)
											    : err.kind == ERR_INVALID);
}

static void check_body(const char *bytes, size_t len, size_t step)
{
	struct grpcframe f;
	struct err err = { 0 };
	int taken = 0;

	grpcframe_init(&f);
	for (size_t at = 0; at < len && taken >= 0; at += step) {
		const char *piece = bytes + at;
		size_t left = len - at < step ? len - at : step;

		while (left > 0 && (taken = grpcframe_take(&f, &piece, &left, &err)) > 0)
			check_message(&f.message);
		must(taken < 0 || left == 0);
	}
	must(taken >= 0 || err.kind == ERR_INVALID);
	grpcframe_is_cut(&f);
	grpcframe_done(&f);
}

static void check_status(const char *bytes, size_t len)
{
	static const char *const names[] = { "grpc-status:", "grpc-message: ", "content-type:", "" };
	struct grpcstatus s = { 0 };
	struct err err = { 0 };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct buf line = BUF_INIT(1 << 20);

		buf_puts(&line, names[i]);
		buf_append(&line, bytes, len);
		grpcstatus_note(&s, buf_text(&line), line.len);
		buf_done(&line);
		must(grpcstatus_judge(&s, 200, &err) == 0 || err.kind != ERR_NONE);
		check_text(err.msg);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf message = BUF_INIT(GRPCFRAME_MESSAGE_MAX);
	const char *bytes = (const char *)data;

	if (size == 0)
		return 0;
	buf_append(&message, bytes, size);
	check_message(&message);
	buf_done(&message);
	check_body(bytes + 1, size - 1, data[0] ? data[0] : 1);
	check_status(bytes, size);
	return 0;
}
