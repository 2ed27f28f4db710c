/* SPDX-License-Identifier: Apache-2.0 */
/* Where a trigger's server may be; dialling and requests that keep to it. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/dial.h"
#include "net/http/httpc.h"
#include "net/listen.h"
#include "net/loop.h"
#include "net/network.h"
#include "net/sourcerules.h"

static const struct sourcerules strict = { .judges = true }, local = { .judges = true, .allow_local = true };

static struct sockaddr_storage address_of(const char *text, uint16_t port, socklen_t *len)
{
	struct sockaddr_storage out = { 0 };
	struct sockaddr_in *in = (struct sockaddr_in *)&out;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&out;

	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		*len = sizeof(*in);
	} else {
		assert_int_equal(inet_pton(AF_INET6, text, &in6->sin6_addr), 1);
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		*len = sizeof(*in6);
	}
	return out;
}

static bool passes(const struct sourcerules *rules, const char *text, uint16_t port, struct err *err)
{
	socklen_t len;
	struct sockaddr_storage address = address_of(text, port, &len);

	return sourcerules_judge(rules, (const struct sockaddr *)&address, len, err) == 0;
}

enum verdict { ALWAYS, LOCALLY, NEVER };

static const struct {
	const char *address;
	enum verdict verdict;
	const char *what;
} table[] = {
	{ "10.1.2.3", ALWAYS, "" },
	{ "192.168.0.1", ALWAYS, "" },
	{ "8.8.8.8", ALWAYS, "" },
	{ "100.100.100.201", ALWAYS, "" },
	{ "169.253.255.255", ALWAYS, "" },
	{ "169.255.0.0", ALWAYS, "" },
	{ "126.255.255.255", ALWAYS, "" },
	{ "128.0.0.0", ALWAYS, "" },
	{ "1.0.0.0", ALWAYS, "" },
	{ "223.255.255.255", ALWAYS, "" },
	{ "240.0.0.1", ALWAYS, "" },
	{ "2001:db8::1", ALWAYS, "" },
	{ "fd12:3456::1", ALWAYS, "" },
	{ "::2", LOCALLY, "this host" },
	{ "fec0::1", ALWAYS, "" },
	{ "::ffff:10.0.0.1", ALWAYS, "" },
	{ "64:ff9b::10.0.0.1", ALWAYS, "" },
	{ "127.0.0.1", LOCALLY, "127.0.0.1 is a loopback address" },
	{ "127.255.255.255", LOCALLY, "a loopback address" },
	{ "0.0.0.0", LOCALLY, "this host" },
	{ "0.255.0.1", LOCALLY, "this host" },
	{ "::1", LOCALLY, "::1 is a loopback address" },
	{ "::", LOCALLY, "this host" },
	{ "::ffff:127.0.0.1", LOCALLY, "a loopback address" },
	{ "64:ff9b::127.0.0.1", LOCALLY, "a loopback address" },
	{ "64:ff9b:1::127.0.0.1", LOCALLY, "a loopback address" },
	{ "64:ff9b:1:7f00:0:100::", LOCALLY, "a loopback address" },
	{ "64:ff9b:1:a9fe:a9:fe00::", NEVER, "a link-local address" },      /* /48 */
	{ "64:ff9b:1:12a9:fe:a9fe::", NEVER, "a link-local address" },      /* /56 */
	{ "64:ff9b:1:1234:a9:fea9:fe00::", NEVER, "a link-local address" }, /* /64 */
	{ "64:ff9b:1:1::169.254.169.254", NEVER, "a link-local address" },  /* /96 */
	{ "64:ff9b:1:a9fe:a9:fe00:10.0.0.1", ALWAYS, "" },                  /* /96, to 10.0.0.1 */
	{ "64:ff9b:1:1::10.0.0.1", ALWAYS, "" },
	{ "64:ff9b:2::169.254.169.254", ALWAYS, "" },
	{ "2002:7f00:1::1", LOCALLY, "a loopback address" },
	{ "2002:a9fe:a9fe::1", NEVER, "a link-local address" },
	{ "2002:a00:1::1", ALWAYS, "" },
	{ "169.254.169.254", NEVER, "169.254.169.254 is a link-local address, where clouds have their metadata" },
	{ "169.254.0.0", NEVER, "a link-local address" },
	{ "169.254.255.255", NEVER, "a link-local address" },
	{ "::ffff:169.254.169.254", NEVER, "a link-local address" },
	{ "64:ff9b::169.254.169.254", NEVER, "a link-local address" },
	{ "fe80::1", NEVER, "a link-local address" },
	{ "febf::1", NEVER, "a link-local address" },
	{ "fd00:ec2::254", NEVER, "a metadata address of AWS" },
	{ "fd20:ce::254", NEVER, "a metadata address of Google Cloud" },
	{ "100.100.100.200", NEVER, "the metadata address of Alibaba Cloud" },
	{ "168.63.129.16", NEVER, "the metadata address of Azure" },
	{ "fd00:ec2::23", NEVER, "a metadata address of AWS" },
	{ "fd00:100::100:200", NEVER, "fd00:100::100:200 is the metadata address of Alibaba Cloud" },
	{ "fd00:100::100:201", ALWAYS, "" },
	{ "fd00:c1::a9fe:a9fe", NEVER, "the metadata address of Oracle Cloud" },
	{ "fd00:c1::a9fe:a9ff", ALWAYS, "" },
	{ "fd00:42::42", NEVER, "the metadata address of Scaleway" },
	{ "fd00:42::43", ALWAYS, "" },
	{ "fd00:a9fe:a9fe::1", NEVER, "the metadata address of Akamai (Linode)" },
	{ "fd00:a9fe:a9fe::2", ALWAYS, "" },
	{ "169.254.42.42", NEVER, "a link-local address" },
	{ "fe80::a9fe:a9fe", NEVER, "a link-local address" },
	{ "::169.254.169.254", NEVER, "a link-local address" },
	{ "::100.100.100.200", NEVER, "the metadata address of Alibaba Cloud" },
	{ "::ffff:0:169.254.169.254", NEVER, "a link-local address" },
	{ "::ffff:0:10.0.0.1", ALWAYS, "" },
	{ "64:ff9b::100.100.100.200", NEVER, "the metadata address of Alibaba Cloud" },
	{ "2002:6464:64c8::1", NEVER, "the metadata address of Alibaba Cloud" },
	{ "::ffff:168.63.129.16", NEVER, "the metadata address of Azure" },
	{ "192.0.0.192", NEVER, "the metadata address of Oracle Cloud" },
	{ "224.0.0.1", NEVER, "a multicast address" },
	{ "239.255.255.255", NEVER, "a multicast address" },
	{ "255.255.255.255", NEVER, "the broadcast address" },
	{ "ff02::1", NEVER, "a multicast address" },
};

static void addresses(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct err err = { 0 };
		bool passed = passes(&strict, table[i].address, 5432, &err);
		bool tells_option = strstr(err.msg, "--allow-local-sources") != NULL;

		if (passed != (table[i].verdict == ALWAYS) || !strstr(err.msg, table[i].what) ||
			tells_option != (table[i].verdict == LOCALLY))
			fail_msg("%s: %s", table[i].address, err.msg);
		if (passes(&local, table[i].address, 5432, &err) != (table[i].verdict != NEVER))
			fail_msg("%s, locally: %s", table[i].address, err.msg);
		assert_true(passes(&(struct sourcerules){ 0 }, table[i].address, 5432, &err));
	}
}

static void paths_and_other_families(void **state)
{
	struct sockaddr_un path = { .sun_family = AF_UNIX, .sun_path = "/run/x" };
	struct sockaddr other = { .sa_family = AF_PACKET };
	struct err err;

	(void)state;
	assert_int_equal(sourcerules_judge_path(&strict, "/run/redis.sock", &err), -1);
	assert_string_equal(err.msg,
		"/run/redis.sock is a Unix socket, where no trigger's server may be "
		"(--allow-local-sources would allow it)");
	assert_int_equal(err.kind, ERR_TEMPORARY);
	assert_int_equal(sourcerules_judge_path(&local, "/run/redis.sock", &err), 0);
	assert_int_equal(sourcerules_judge_path(&(struct sourcerules){ 0 }, "/run/redis.sock", &err), 0);
	assert_int_equal(sourcerules_judge(&strict, (const struct sockaddr *)&path, sizeof(path), &err), -1);
	assert_non_null(strstr(err.msg, "/run/x is a Unix socket"));
	assert_int_equal(sourcerules_judge(&local, (const struct sockaddr *)&path, sizeof(path), &err), 0);
	assert_int_equal(sourcerules_judge(&local, &other, sizeof(other), &err), -1);
}

/* On any address that this host has, and on no other. */
static void own_listeners(void **state)
{
	struct sourcerules rules = { .judges = true, .allow_local = true, .own_ports = { 6443, 8080 } };
	struct err err = { 0 };

	(void)state;
	assert_false(passes(&rules, "127.0.0.1", 8080, &err));
	assert_string_equal(err.msg,
		"127.0.0.1 is this host, and the port one of kscaled's own, where no trigger's server "
		"may be");
	assert_false(passes(&rules, "127.1.2.3", 6443, &err));
	assert_false(passes(&rules, "::ffff:127.0.0.1", 6443, &err));
	assert_true(passes(&rules, "127.0.0.1", 8081, &err));
	assert_true(passes(&rules, "192.0.2.1", 8080, &err)); /* TEST-NET: not in use */
	assert_true(passes(&rules, "127.0.0.1", 0, &err));    /* an unused place of the table is no port */
}

/* ---- Users of the rules ---- */

struct ended {
	bool told, ok;
	struct err err;
};

static void on_dialled(void *arg, int fd, const struct err *err)
{
	struct ended *e = arg;

	e->told = true;
	e->ok = fd >= 0;
	if (err)
		e->err = *err;
	if (fd >= 0)
		close(fd);
}

static struct ended dialled(struct loop *loop, const char *host, uint16_t port)
{
	struct descriptors_hold hold = { 0 };
	struct ended e = { 0 };

	dial_start(loop, host, port, 5000, &hold, on_dialled, &e);
	while (!e.told)
		loop_turn(loop);
	descriptors_give(&hold, 0);
	return e;
}

static void dialling(void **state)
{
	struct loop *loop = loop_new(NULL);
	int fd = listen_tcp("127.0.0.1", 0, NULL);
	uint16_t port = listen_port(fd);
	struct ended e;

	(void)state;
	assert_true(dialled(loop, "127.0.0.1", port).ok);
	network_of(loop)->rules = strict;
	e = dialled(loop, "127.0.0.1", port);
	assert_false(e.ok);
	assert_non_null(strstr(e.err.msg, "127.0.0.1 is a loopback address"));
	assert_non_null(strstr(dialled(loop, "localhost", port).err.msg, "a loopback address"));
	assert_non_null(strstr(dialled(loop, "/run/x", 0).err.msg, "/run/x is a Unix socket"));
	network_of(loop)->rules = local;
	assert_true(dialled(loop, "127.0.0.1", port).ok);
	assert_non_null(strstr(dialled(loop, "/run/x", 0).err.msg, strerror(ENOENT)));
	network_of(loop)->rules.own_ports[1] = port;
	assert_non_null(strstr(dialled(loop, "127.0.0.1", port).err.msg, "the port one of kscaled's own"));
	close(fd);
	loop_free(loop);
}

static void on_done(void *arg, const struct httpc_response *response, const struct err *err)
{
	struct ended *e = arg;

	(void)response;
	e->told = true;
	e->ok = !err;
	if (err)
		e->err = *err;
}

static struct err asked(struct loop *loop, bool foreign, const char *url)
{
	struct httpc *c = httpc_new(loop, &(struct httpc_config){ .foreign = foreign }, NULL);
	struct ended e = { 0 };

	httpc_start(c, &(struct httpc_request){ .method = "GET", .url = url, .deadline_ms = 5000 },
		&(struct httpc_events){ .on_done = on_done }, &e);
	while (!e.told)
		loop_turn(loop);
	httpc_free(c);
	assert_false(e.ok);
	return e.err;
}

/* Nobody listens there: a socket that was made is refused by the kernel. */
static void requests(void **state)
{
	struct loop *loop = loop_new(NULL);
	int fd = listen_tcp("127.0.0.1", 0, NULL);
	char url[64];
	struct err err;

	(void)state;
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/", listen_port(fd));
	close(fd);
	network_of(loop)->rules = strict;
	err = asked(loop, true, url);
	assert_non_null(strstr(err.msg, ": 127.0.0.1 is a loopback address"));
	assert_int_equal(err.kind, ERR_TEMPORARY);
	err = asked(loop, false, url); /* the API server's may be there */
	assert_non_null(strstr(err.msg, strerror(ECONNREFUSED)));
	network_of(loop)->rules = local;
	err = asked(loop, true, url);
	assert_non_null(strstr(err.msg, strerror(ECONNREFUSED)));
	err = asked(loop, true, "http://169.254.169.254/latest/meta-data/");
	assert_non_null(strstr(err.msg, "a link-local address"));
	loop_free(loop);
}

/* The environment's proxy may be where no trigger's server may be: over HTTP, and at its port. */
static void proxies(void **state)
{
	static const struct {
		const char *before, *behind; /* the port */
		const char *url;
		bool reached;
	} rows[] = {
		{ "http://127.0.0.1:", "", "http://shop.example/", true },
		{ "http://user:pass@127.0.0.1:", "/", "http://shop.example/", true },
		{ "127.0.0.1:", "", "http://shop.example/", true },
		{ "http://localhost:", "", "http://shop.example/", true },
		{ "http://127.0.0.1:", "", "http://127.0.0.1:1/", false }, /* by no_proxy */
		{ "http://127.0.0.2:", "", "http://127.0.0.1:1/", false },
	};
	struct loop *loop = loop_new(NULL);
	int fd = listen_tcp("127.0.0.1", 0, NULL);
	uint16_t port = listen_port(fd);
	char proxy[64];
	struct err err;

	(void)state;
	close(fd); /* so that a socket that was made is refused by the kernel */
	network_of(loop)->rules = strict;
	setenv("no_proxy", "127.0.0.1", 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(proxy, sizeof(proxy), "%s%u%s", rows[i].before, port, rows[i].behind);
		setenv("http_proxy", proxy, 1);
		err = asked(loop, true, rows[i].url);
		if (!strstr(err.msg, rows[i].reached ? strerror(ECONNREFUSED) : "a loopback address"))
			fail_msg("%s by %s: %s", rows[i].url, proxy, err.msg);
		assert_non_null(strstr(dialled(loop, "127.0.0.1", port).err.msg, "a loopback address"));
	}
	unsetenv("http_proxy");
	unsetenv("no_proxy");
	loop_free(loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test(paths_and_other_families),
		cmocka_unit_test(own_listeners),
		cmocka_unit_test(dialling),
		cmocka_unit_test(requests),
		cmocka_unit_test(proxies),
	};

	return cmocka_run_group_tests_name("sourcerules", tests, NULL, NULL);
}
