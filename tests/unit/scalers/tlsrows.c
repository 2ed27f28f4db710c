/* SPDX-License-Identifier: Apache-2.0 */
#include "tlsrows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/tls/tlsrules.h"

void tlsrows_check(const struct tlsrow *rows, size_t count, tlsrow_build build, const char *instead)
{
	MEM_AUTO char *words = mem_printf("it is not asked without TLS, because kscaled runs with --require-tls: %s",
		instead);

	for (size_t i = 0; i < count; i++) {
		struct scaler s;
		struct err err = { 0 };

		assert_int_equal(build(rows[i].metadata, rows[i].auth, &s, &err), 0);
		scaler_done(&s);
		assert_int_equal(tlsrules_set(&(struct tlsrules_config){ .required = true }, &err), 0);
		assert_int_equal(build(rows[i].metadata, rows[i].auth, &s, &err), rows[i].is_tls ? 0 : -1);
		tlsrules_done();
		if (rows[i].is_tls) {
			scaler_done(&s);
			continue;
		}
		assert_int_equal(err.kind, ERR_DENIED);
		assert_non_null(strstr(err.msg, words));
	}
}
