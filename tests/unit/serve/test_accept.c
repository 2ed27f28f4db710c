/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "serve/accept.h"

#define V2      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
#define V2BETA1 "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"

static void the_first_known_form_is_chosen(void **state)
{
	static const char *const offers[] = { "application/json", V2, V2BETA1, NULL };
	static const struct {
		const char *header;
		int chosen;
	} cases[] = {
		{ NULL, 0 },
		{ "", 0 },
		{ "*/*", 0 },
		{ "application/*", 0 },
		{ "application/json", 0 },
		{ "application/json;charset=utf-8", 0 },
		{ "Application/JSON", 0 },
		/* what the aggregator sends, and what kubectl sends */
		{ V2 "," V2BETA1, 1 },
		{ V2BETA1 "," V2, 2 },
		{ V2 "," V2BETA1 ",application/json", 1 },
		{ "application/json; g=apidiscovery.k8s.io; v=v2; as=APIGroupDiscoveryList", 1 },
		{ "application/json;as=APIGroupDiscoveryList;v=v2beta1;g=apidiscovery.k8s.io", 2 },
		{ "application/json;g=apidiscovery.k8s.io;v=v2", -1 },
		{ "application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList," V2BETA1, 2 },
		{ "application/json;as=Table;v=v1;g=meta.k8s.io,application/"
		  "json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
			0 },
		{ "application/vnd.kubernetes.protobuf, application/json", 0 },
		{ "application/vnd.kubernetes.protobuf, */*", 0 },
		{ "application/json;q=0.5", 0 },
		{ "application/json;q=0, */*;q=0", -1 },
		{ "application/json;q=0," V2 ";q=0.1", 1 },
		{ "application/com.github.proto-openapi.spec.v2@v1.0+protobuf", -1 },
		{ "text/html", -1 },
		{ ",,;,", -1 },
		{ ";q=1", -1 },
		{ "application/"
		  "json;"
		  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
			-1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (accept_choose(cases[i].header, offers) != cases[i].chosen)
			fail_msg("%s: %d instead of %d", cases[i].header, accept_choose(cases[i].header, offers),
				cases[i].chosen);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_first_known_form_is_chosen) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
