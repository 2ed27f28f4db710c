/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/wire.h"

static void written_numbers_are_read(void **state)
{
	static const uint64_t values[] = { 0, 1, 0x7f, 0x80, 0xfffe, 0x12345678, UINT32_MAX, 0x123456789abcdef0,
		UINT64_MAX };
	struct buf b = BUF_INIT(SIZE_MAX);

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(values); i++)
		for (size_t bytes = 1; bytes <= 8; bytes++) {
			uint64_t kept = bytes < 8 ? values[i] & ((UINT64_C(1) << 8 * bytes) - 1) : values[i];
			struct wire w;

			buf_reset(&b);
			wire_put(&b, values[i], bytes);
			assert_int_equal(b.len, bytes);
			assert_int_equal((unsigned char)b.data[bytes - 1], values[i] & 0xff);
			w = (struct wire){ (const unsigned char *)b.data, b.len, false };
			assert_int_equal(wire_number(&w, bytes), kept);
			assert_int_equal(w.left, 0);
			assert_false(w.failed);
		}
	buf_done(&b);
}

/* Nor anything behind the missing bytes. */
static void missing_bytes_are_not_read(void **state)
{
	static const unsigned char bytes[] = { 1, 2, 3, 4, 5 };
	struct wire w = { bytes, sizeof(bytes), false };

	(void)state;
	assert_int_equal(wire_number(&w, 2), 0x0102);
	assert_ptr_equal(wire_take(&w, 3), bytes + 2);
	assert_non_null(wire_take(&w, 0));
	assert_false(w.failed);
	w = (struct wire){ bytes, sizeof(bytes), false };
	assert_int_equal(wire_number(&w, 8), 0);
	assert_true(w.failed);
	assert_int_equal(w.left, 0);
	assert_int_equal(wire_number(&w, 1), 0);
	assert_null(wire_take(&w, 0));
	w = (struct wire){ bytes, sizeof(bytes), false };
	assert_null(wire_take(&w, SIZE_MAX));
	assert_true(w.failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_numbers_are_read),
		cmocka_unit_test(missing_bytes_are_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
