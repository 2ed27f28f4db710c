/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parsing of connection strings, compared with libpq where it accepts them; and the handling of
 * keywords.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libpq-fe.h>

#include "base/buf.h"
#include "base/mem.h"
#include "net/pg/pgendpoint.h"
#include "net/pg/pgstring.h"

static char *written(const struct strmap *m)
{
	struct buf out = BUF_INIT(65536);

	for (size_t i = 0; i < m->count; i++)
		buf_printf(&out, "%s%s=[%s]", i > 0 ? " " : "", m->pairs[i].key, m->pairs[i].value);
	return buf_take(&out);
}

static const struct {
	const char *text, *parts;
	bool libpq; /* libpq parses it in the same way */
} readable[] = {
	{ "host=db port=5432 user=me dbname=shop", "dbname=[shop] host=[db] port=[5432] user=[me]", true },
	{ "  host = db\tuser= 'a b' \n password='it\\'s \\\\ me'", "host=[db] password=[it's \\ me] user=[a b]", true },
	{ "user=a\\ b password=", "password=[] user=[a b]", true },
	{ "user=me password='' host=''", "host=[] password=[] user=[me]", true },
	{ "user=one user=two", "user=[two]", true },
	{ "password=a=b=c", "password=[a=b=c]", true },
	{ "database=shop search_path=x,y", "dbname=[shop] search_path=[x,y]", false },
	{ "", "", true },
	{ "postgres://me:se%20cret@db:5432/shop?sslmode=require",
		"dbname=[shop] host=[db] password=[se cret] port=[5432] sslmode=[require] user=[me]", true },
	{ "postgresql://db", "host=[db]", true },
	{ "postgresql://", "", true },
	{ "postgresql:///shop", "dbname=[shop]", true },
	{ "postgresql://me@/shop?host=/run/pg", "dbname=[shop] host=[/run/pg] user=[me]", true },
	{ "postgresql://a:1,b:2,[::1]:3/shop?target_session_attrs=read-write",
		"dbname=[shop] host=[a,b,::1] port=[1,2,3] target_session_attrs=[read-write]", true },
	{ "postgresql://a,b:2/shop", "dbname=[shop] host=[a,b] port=[,2]", true },
	{ "postgresql://%2Frun%2Fpg/shop", "dbname=[shop] host=[/run/pg]", true },
	{ "postgresql://db/shop?ssl=true", "dbname=[shop] host=[db] sslmode=[require]", true },
	{ "postgresql://me:p@ss@db/shop", "dbname=[shop] host=[db] password=[p@ss] user=[me]", false },
	{ "postgresql://db/shop?options=-c+a%3Db", "dbname=[shop] host=[db] options=[-c a=b]", false },
	{ "postgresql://db/shop?default_query_exec_mode=exec&search_path=x",
		"dbname=[shop] default_query_exec_mode=[exec] host=[db] search_path=[x]", false },
};

static void compare_with_libpq(const char *text, const struct strmap *parts)
{
	char *message = NULL;
	PQconninfoOption *options = PQconninfoParse(text, &message);

	if (!options)
		fail_msg("%s: libpq says %s", text, message);
	for (const PQconninfoOption *o = options; o && o->keyword; o++) {
		const char *ours = strmap_get(parts, o->keyword);

		if (strcmp(o->val ? o->val : "", ours ? ours : "") != 0)
			fail_msg("%s: %s is \"%s\" for libpq, \"%s\" here", text, o->keyword, o->val ? o->val : "",
				ours ? ours : "");
	}
	PQconninfoFree(options);
}

static void read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(readable) / sizeof(readable[0]); i++) {
		struct strmap parts = { 0 };
		struct err err = { 0 };
		char *text;

		if (pgstring_parse(readable[i].text, &parts, &err))
			fail_msg("%s: %s", readable[i].text, err.msg);
		text = written(&parts);
		if (strcmp(text, readable[i].parts) != 0)
			fail_msg("%s: %s", readable[i].text, text);
		if (readable[i].libpq)
			compare_with_libpq(readable[i].text, &parts);
		free(text);
		strmap_done_secret(&parts);
	}
}

static const char *const unreadable[] = {
	"se-cret",
	"host db=se-cret",
	"=se-cret",
	"password='se-cret",
	"user=me se-cret",
	"password='se-cret\\'",
	"postgres://me:se-cret%2@db/",
	"postgres://me:se-cret%zz@db/",
	"postgres://me:se-cret%00@db/",
	"postgres://[::1/se-cret",
	"postgres://a:1:2/se-cret",
	"postgres://[::1]x:1/",
	"postgres://db/shop?se-cret",
	"postgres://db/shop?=se-cret",
	"postgres://db/shop?a=se-cret%",
};

static void unread(void **state)
{
	char *longer = mem_alloc(PGSTRING_MAX + 1);

	(void)state;
	for (size_t i = 0; i < sizeof(unreadable) / sizeof(unreadable[0]); i++) {
		struct strmap parts = { 0 };
		struct err err = { 0 };

		if (pgstring_parse(unreadable[i], &parts, &err) == 0)
			fail_msg("%s was read", unreadable[i]);
		assert_int_equal(err.kind, ERR_INVALID);
		assert_non_null(strstr(err.msg, "character "));
		assert_null(strstr(err.msg, "se-cret"));
		strmap_done_secret(&parts);
	}
	memset(longer, 'x', PGSTRING_MAX);
	longer[PGSTRING_MAX] = '\0';
	assert_int_equal(pgstring_parse(longer, &(struct strmap){ 0 }, &(struct err){ 0 }), -1);
	free(longer);
}

/* ---- Endpoints ---- */

static const struct {
	const char *text, *name, *settings, *options;
} endpoints[] = {
	{ "host=db user=me", "db:5432/me", "user=[me]", NULL },
	{ "host=a,b port=1,2 user=me dbname=x", "a:1,b:2/x", "dbname=[x] user=[me]", NULL },
	{ "host=a,b port=7 user=me", "a:7,b:7/me", "user=[me]", NULL },
	{ "hostaddr=10.0.0.1 user=me", "10.0.0.1:5432/me", "user=[me]", NULL },
	{ "host=::1 user=me", "[::1]:5432/me", "user=[me]", NULL },
	{ "host=/run/pg user=me", "/run/pg:5432/me", "user=[me]", NULL },
	{ "host=db user=me default_query_exec_mode=exec statement_cache_capacity=1 description_cache_capacity=2",
		"db:5432/me", "user=[me]", NULL },
	{ "host=db user=me search_path='a, b' statement_timeout=5s", "db:5432/me", "user=[me]",
		"-c search_path=a,\\ b -c statement_timeout=5s" },
	{ "host=db user=me options='-c x.y=1' work_mem=4MB", "db:5432/me", "user=[me]", "-c x.y=1 -c work_mem=4MB" },
	{ "host=db user=me sslmode=verify-full sslrootcert=/etc/ssl/certs/x.pem", "db:5432/me",
		"sslmode=[verify-full] sslrootcert=[/etc/ssl/certs/x.pem] user=[me]", NULL },
	{ "host=db user=me application_name=mine connect_timeout=3", "db:5432/me", "application_name=[mine] user=[me]",
		NULL },
	{ "host=db user=me gssencmode=prefer sslcert=''", "db:5432/me", "user=[me]", NULL },
};

static void sorted(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(endpoints) / sizeof(endpoints[0]); i++) {
		struct err err = { 0 };
		struct pgendpoint *e = pgendpoint_new(&(struct pgendpoint_config){ .connection = endpoints[i].text },
			&err);
		char *settings;

		if (!e)
			fail_msg("%s: %s", endpoints[i].text, err.msg);
		settings = written(&e->settings);
		assert_string_equal(e->base.name, endpoints[i].name);
		if (strcmp(settings, endpoints[i].settings) != 0)
			fail_msg("%s: %s", endpoints[i].text, settings);
		assert_string_equal(e->options ? e->options : "", endpoints[i].options ? endpoints[i].options : "");
		assert_int_equal(e->own_timeout, strstr(endpoints[i].text, "statement_timeout") != NULL);
		free(settings);
		endpoint_unref(e);
	}
}

static const struct {
	const char *text, *said;
} refused[] = {
	{ "user=me password=se-cret", "no host given" },
	{ "host=db password=se-cret", "no user given" },
	{ "host='d b' user=me", "\"host\" must be the name" },
	{ "host=db user=me port=0", "\"port\" must be" },
	{ "host=db user=me port=65536", "\"port\" must be" },
	{ "host=db user=me port=se-cret", "\"port\" must be" },
	{ "host=a,b user=me port=1,2,3", "2 hosts, but 3 ports" },
	{ "host=a,b user=me hostaddr=1.1.1.1", "2 hosts, but 1 hostaddrs" },
	{ "host=a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q user=me", "more than 16 hosts" },
	{ "host=db user=me sslmode=se-cret", "\"sslmode\" must be one of" },
	{ "host=db user=me sslmode=require sslrootcert=/root/se-cret",
		"\"sslrootcert\" names a file of kscaled's host" },
	{ "host=db user=me sslrootcert=/etc/ssl/../../root/se-cret", "\"sslrootcert\" names a file" },
	{ "host=db user=me sslrootcert=/etc/ssl/private/se-cret", "\"sslrootcert\" names a file" },
	{ "host=db user=me sslkey=/root/se-cret", "\"sslkey\" names a file of kscaled's host" },
	{ "host=db user=me sslcert=/root/se-cret", "\"sslcert\" names a file" },
	{ "host=db user=me passfile=/root/se-cret", "\"passfile\"" },
	{ "host=db user=me service=se-cret", "\"service\"" },
	{ "host=db user=me replication=database", "\"replication\"" },
	{ "host=db user=me target_session_attrs=se-cret", "\"target_session_attrs\" must be one of" },
	{ "host=db user=me connect_timeout=-1", "\"connect_timeout\" must be" },
	{ "host=db user=me se-cret=1", "not a valid name of a setting" },
	{ "se-cret", "cannot be read" },
};

static void not_taken(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct err err = { 0 };

		if (pgendpoint_new(&(struct pgendpoint_config){ .connection = refused[i].text }, &err))
			fail_msg("%s was taken", refused[i].text);
		assert_int_equal(err.kind, ERR_INVALID);
		if (!strstr(err.msg, refused[i].said) || strstr(err.msg, "se-cret"))
			fail_msg("%s: said \"%s\"", refused[i].text, err.msg);
	}
	assert_null(pgendpoint_new(&(struct pgendpoint_config){ .connection = "host=a user=b", .ca_pem = "no PEM" },
		&(struct err){ 0 }));
	assert_null(pgendpoint_new(&(struct pgendpoint_config){ .connection = "host=a user=b", .cert_pem = "x" },
		&(struct err){ 0 }));
	assert_null(pgendpoint_new(&(struct pgendpoint_config){ .connection = "host=a user=b sslmode=disable",
					   .ca_pem = "x" },
		&(struct err){ 0 }));
}

static void keys(void **state)
{
	static const struct {
		const char *a, *b;
		bool same;
	} pairs[] = {
		{ "host=db user=me", "user=me host=db", true },
		{ "host=db user=me", "postgres://me@db", true },
		{ "host=db user=me password=a", "host=db user=me password=b", false },
		{ "host=db user=me", "host=db user=you", false },
		{ "host=db user=me", "host=db user=me port=1", false },
		{ "host=db user=me", "host=db user=me dbname=x", false },
		{ "host=db user=me", "host=db user=me sslmode=require", false },
		{ "host=db user=me", "host=db user=me search_path=x", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct pgendpoint *a = pgendpoint_new(&(struct pgendpoint_config){ .connection = pairs[i].a }, NULL),
				  *b = pgendpoint_new(&(struct pgendpoint_config){ .connection = pairs[i].b }, NULL);

		if ((strcmp(a->base.key, b->base.key) == 0) != pairs[i].same)
			fail_msg("%s and %s: \"%s\" and \"%s\"", pairs[i].a, pairs[i].b, a->base.key, b->base.key);
		endpoint_unref(a);
		endpoint_unref(b);
	}
}

static void cleaned(void **state)
{
	struct pgendpoint *e =
		pgendpoint_new(&(struct pgendpoint_config){ .connection = "host=db user=me password=open****" }, NULL);
	char text[] = "  FATAL:  no open**** here\n\tnor\topen****\n\n", crowded[] = "EOF detected\nconnection\n\nx";

	(void)state;
	pgendpoint_clean(e, NULL, text);
	assert_string_equal(text, "FATAL: no ******** here; nor ********");
	pgendpoint_clean(e, NULL, crowded);
	assert_string_equal(crowded, "EOF detected;connection;x");
	endpoint_unref(e);
}

/* libpq's error about a missing Unix socket. */
static void messages_do_not_reveal_files(void **state)
{
	struct pgendpoint *e = pgendpoint_new(&(struct pgendpoint_config){ .connection = "host=db user=me" }, NULL);
	char none[] = "connection to server on socket \"/x/.s.PGSQL.5432\" failed: No such file or directory\n\tIs the "
		      "server running locally and accepting connections on that socket?\n",
	     folder[] = "connection to server on socket \"/etc/shadow/.s.PGSQL.5432\" failed: Not a directory\n",
	     answered[] = "connection to server on socket \"/x/.s.PGSQL.5432\" failed: FATAL:  no such role\n";

	(void)state;
	pgendpoint_clean(e, NULL, none);
	assert_string_equal(none, "the Unix socket cannot be connected to");
	pgendpoint_clean(e, NULL, folder);
	assert_string_equal(folder, none);
	pgendpoint_clean(e, NULL, answered);
	assert_non_null(strstr(answered, "FATAL: no such role"));
	endpoint_unref(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read),
		cmocka_unit_test(unread),
		cmocka_unit_test(sorted),
		cmocka_unit_test(not_taken),
		cmocka_unit_test(keys),
		cmocka_unit_test(cleaned),
		cmocka_unit_test(messages_do_not_reveal_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
