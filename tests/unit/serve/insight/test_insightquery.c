/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/insight/insightquery.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../fake_httpd.h"
#include "base/mem.h"

static int read_query(const char *query, struct insightquery *q, struct err *err)
{
	MEM_AUTO char *uri = mem_printf("/x?%s", query);
	struct fake_connection connection = { 0 };
	struct httpd_request r = { .connection = &connection, .method = "GET", .uri = uri };
	int rc;

	*q = (struct insightquery){ 0 };
	rc = insightquery_read(&r, q, err);
	fake_httpd_done(&r);
	return rc;
}

static void good_ones(void **state)
{
	static const struct {
		const char *query;
		enum insightquery_include include;
		bool watch, fits; /* shop/web with app=web */
	} cases[] = {
		{ "", INSIGHTQUERY_METADATA, false, true },
		{ "limit=500&resourceVersion=0", INSIGHTQUERY_METADATA, false, true },
		{ "labelSelector=&fieldSelector=&includeObject=", INSIGHTQUERY_METADATA, false, true },
		{ "includeObject=None", INSIGHTQUERY_NOTHING, false, true },
		{ "includeObject=Metadata", INSIGHTQUERY_METADATA, false, true },
		{ "includeObject=Object", INSIGHTQUERY_OBJECT, false, true },
		{ "watch", INSIGHTQUERY_METADATA, true, true },
		{ "watch=true", INSIGHTQUERY_METADATA, true, true },
		{ "watch=yes", INSIGHTQUERY_METADATA, true, true },
		{ "watch=False", INSIGHTQUERY_METADATA, false, true },
		{ "watch=0", INSIGHTQUERY_METADATA, false, true },
		{ "labelSelector=app%3Dweb", INSIGHTQUERY_METADATA, false, true },
		{ "labelSelector=app", INSIGHTQUERY_METADATA, false, true },
		{ "labelSelector=app+notin+(web)", INSIGHTQUERY_METADATA, false, false },
		{ "fieldSelector=metadata.name%3Dweb", INSIGHTQUERY_METADATA, false, true },
		{ "fieldSelector=metadata.name==web", INSIGHTQUERY_METADATA, false, true },
		{ "fieldSelector=metadata.name!=web", INSIGHTQUERY_METADATA, false, false },
		{ "fieldSelector=metadata.namespace!=bank,metadata.name=web", INSIGHTQUERY_METADATA, false, true },
		{ "fieldSelector=metadata.namespace=bank,metadata.name=web", INSIGHTQUERY_METADATA, false, false },
		{ "fieldSelector=metadata.name=", INSIGHTQUERY_METADATA, false, false },
		/* both must fit */
		{ "fieldSelector=metadata.name=web&labelSelector=app=api", INSIGHTQUERY_METADATA, false, false },
	};
	char shop[] = "shop", web[] = "web";
	struct meta meta = { .namespace_ = shop, .name = web };

	(void)state;
	strmap_set(&meta.labels, "app", "web");
	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		struct insightquery q;
		struct err err = { 0 };

		if (read_query(cases[i].query, &q, &err))
			fail_msg("%s: %s", cases[i].query, err.msg);
		if (q.include != cases[i].include || q.watch != cases[i].watch ||
			insightquery_matches(&q, &meta) != cases[i].fits)
			fail_msg("%s", cases[i].query);
		insightquery_done(&q);
	}
	strmap_done(&meta.labels);
}

static void bad_ones(void **state)
{
	static const struct {
		const char *query, *message;
	} cases[] = {
		{ "includeObject=all", "includeObject: \"all\" is neither None, Metadata nor Object" },
		{ "includeObject=%zz", "includeObject: it is badly encoded" },
		{ "labelSelector=%zz", "labelSelector: it is badly encoded" },
		{ "labelSelector=a%3D%3D%3Db", "labelSelector: " },
		{ "fieldSelector=%zz", "fieldSelector: it is badly encoded" },
		{ "fieldSelector=metadata.name", "fieldSelector: \"metadata.name\" is not FIELD=VALUE" },
		{ "fieldSelector=metadata.name!web", "fieldSelector: \"metadata.name!web\" is not FIELD=VALUE" },
		{ "fieldSelector=spec.x=1", "field label not supported: \"spec.x\"" },
		{ "fieldSelector=metadata.name=web,=b", "field label not supported: \"\"" },
		{ "fieldSelector=metadata.name!=1,metadata.name!=2,metadata.name!=3,metadata.name!=4,metadata.name!=5,"
		  "metadata.name!=6,metadata.name!=7,metadata.name!=8,metadata.name!=9",
			"fieldSelector: more than 8 terms" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		struct insightquery q;
		struct err err = { 0 };

		assert_int_equal(read_query(cases[i].query, &q, &err), -1);
		assert_int_equal(err.kind, ERR_INVALID);
		if (!strstr(err.msg, cases[i].message))
			fail_msg("%s: %s", cases[i].query, err.msg);
		insightquery_done(&q);
	}
}

static void many_labels(void **state)
{
	char query[512] = "labelSelector=app+in+(a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z,1,2,3,4,5,6,7,8)";
	size_t len = strlen(query);

	(void)state;
	for (int terms = 1; terms <= INSIGHTQUERY_LABELS_MAX + 1; terms++) {
		bool good = terms <= INSIGHTQUERY_LABELS_MAX;
		struct insightquery q;
		struct err err = { 0 };

		assert_int_equal(read_query(query, &q, &err), good ? 0 : -1);
		if (!good)
			assert_string_equal(err.msg, "labelSelector: more than 32 terms");
		insightquery_done(&q);
		len += (size_t)snprintf(query + len, sizeof(query) - len, ",!l%d", terms);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_ones),
		cmocka_unit_test(bad_ones),
		cmocka_unit_test(many_labels),
	};

	return cmocka_run_group_tests_name("serve/insight/insightquery", tests, NULL, NULL);
}
