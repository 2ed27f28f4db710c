/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/join/reach.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

/* "10.0.0.7:8443 localhost:8443 " */
static char *listed(const struct reach_facts *facts, unsigned port)
{
	struct reach_addr addrs[REACH_MAX];
	size_t count = reach_addrs(facts, port, addrs);
	char *text = mem_dup(""), *more;

	for (size_t i = 0; i < count; i++) {
		assert_true(*addrs[i].why != '\0');
		more = mem_printf("%s%s ", text, addrs[i].host);
		mem_free_ptr(&text);
		text = more;
	}
	reach_addrs_done(addrs, count);
	return text;
}

static void likeliest_address_first(void **state)
{
	static const struct {
		const char *node, *route, *name;
		bool here;
		const char *addrs;
	} rows[] = {
		{ NULL, NULL, NULL, false, "" },
		{ NULL, "10.0.0.7", NULL, false, "10.0.0.7:8443 " },
		{ "10.0.0.7", "10.0.0.7", NULL, true, "10.0.0.7:8443 localhost:8443 " },
		{ "10.0.0.7", "192.168.1.2", "edge.example.com", false,
			"10.0.0.7:8443 192.168.1.2:8443 edge.example.com:8443 " },
		{ NULL, "fd00::7", NULL, true, "[fd00::7]:8443 localhost:8443 " },
		/* not allowed for an endpoint */
		{ NULL, "127.0.0.1", NULL, true, "localhost:8443 " },
		{ NULL, "169.254.1.1", "EDGE.example.com", false, "" },
		{ NULL, "fe80::1", NULL, false, "" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		MEM_AUTO char *node = mem_dup(rows[i].node), *route = mem_dup(rows[i].route),
			      *name = mem_dup(rows[i].name);
		struct reach_facts facts = { node, route, name, rows[i].here };
		MEM_AUTO char *text = listed(&facts, 8443);

		assert_string_equal(text, rows[i].addrs);
	}
}

static void own_addresses(void **state)
{
	struct reach_facts facts;

	(void)state;
	assert_true(reach_is_own_address("127.0.0.1"));
	assert_false(reach_is_own_address("203.0.113.77"));
	assert_false(reach_is_own_address(""));
	reach_look("https://127.0.0.1:6443", &facts);
	assert_true(facts.server_is_here);
	assert_true(!facts.route_address || strcmp(facts.route_address, "127.0.0.1") != 0);
	reach_facts_done(&facts);
	reach_look("https://[::1", &facts);
	assert_false(facts.server_is_here);
	assert_null(facts.route_address);
	reach_facts_done(&facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(likeliest_address_first),
		cmocka_unit_test(own_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
