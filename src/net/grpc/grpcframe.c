/* SPDX-License-Identifier: Apache-2.0 */
#include "net/grpc/grpcframe.h"

#include <string.h>

void grpcframe_init(struct grpcframe *f)
{
	memset(f, 0, sizeof(*f));
	buf_init(&f->message, GRPCFRAME_MESSAGE_MAX);
}

void grpcframe_done(struct grpcframe *f)
{
	buf_done(&f->message);
}

static int read_head(struct grpcframe *f, struct err *err)
{
	f->left = (size_t)f->head[1] << 24 | (size_t)f->head[2] << 16 | (size_t)f->head[3] << 8 | f->head[4];
	if (f->head[0] == 1)
		return err_set(err, ERR_INVALID, "a message is compressed, which was not offered");
	if (f->head[0] != 0)
		return err_set(err, ERR_INVALID, "the answer is not a gRPC message");
	if (f->left > GRPCFRAME_MESSAGE_MAX)
		return err_set(err, ERR_INVALID, "a message of %zu bytes is larger than %zu", f->left,
			GRPCFRAME_MESSAGE_MAX);
	return 0;
}

int grpcframe_take(struct grpcframe *f, const char **bytes, size_t *len, struct err *err)
{
	size_t taken;

	if (f->whole) {
		f->whole = false;
		f->head_len = 0;
		buf_reset(&f->message);
	}
	if (f->head_len < GRPCFRAME_HEAD) {
		taken = GRPCFRAME_HEAD - f->head_len < *len ? GRPCFRAME_HEAD - f->head_len : *len;
		memcpy(f->head + f->head_len, *bytes, taken);
		f->head_len += taken;
		*bytes += taken;
		*len -= taken;
		if (f->head_len < GRPCFRAME_HEAD)
			return 0;
		if (read_head(f, err))
			return -1;
	}
	taken = f->left < *len ? f->left : *len;
	buf_append(&f->message, *bytes, taken);
	*bytes += taken;
	*len -= taken;
	f->left -= taken;
	f->whole = f->left == 0;
	return f->whole;
}

bool grpcframe_is_cut(const struct grpcframe *f)
{
	return !f->whole && f->head_len > 0;
}

void grpcframe_put(struct buf *out, const void *message, size_t len)
{
	const unsigned char head[GRPCFRAME_HEAD] = { 0, (unsigned char)(len >> 24), (unsigned char)(len >> 16),
		(unsigned char)(len >> 8), (unsigned char)len };

	buf_append(out, head, sizeof(head));
	buf_append(out, message, len);
}
