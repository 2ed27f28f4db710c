/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Documents of a MongoDB server: a status, a greeting, a step of a login, a count; and the message
 * that one comes in. The same bytes are a filter and a connection string, whose errors have nothing
 * of it; and a name server's answer, whose records are the hosts and options of a name.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "fuzz.h"
#include "net/mongo/mongofilter.h"
#include "net/mongo/mongologin.h"
#include "net/mongo/mongoseeds.h"
#include "net/mongo/mongoset.h"
#include "net/mongo/mongowire.h"
#include "net/sign/scram.h"
#include "scalers/mongodb/mongouri.h"

#define SECRET "s3cret"

static struct mongoendpoint *endpoint(enum mongoendpoint_reads reads)
{
	struct mongoendpoint_host host = { (char *)(uintptr_t) "db", 1 };
	struct err err;
	struct mongoendpoint *e = mongoendpoint_new(
		&(struct mongoendpoint_config){
			.hosts = &host,
			.count = 1,
			.reads = reads,
			.mechanism = MONGOENDPOINT_SCRAM,
			.username = "user",
			.password = SECRET,
		},
		&err);

	must(e);
	return e;
}

/* What is named is tried once, never with the password in it, and the search ends. */
static void search(const struct mongoendpoint *e, const struct mongoreply_hello *hello)
{
	struct mongoset *s = mongoset_new(e, NULL);
	const struct mongoendpoint_host *host;
	struct err err = { 0 };
	size_t tried = 0;
	bool found = false;

	while (!found && (host = mongoset_next(s)) != NULL) {
		must(!strstr(host->name, SECRET) && ++tried <= MONGOSET_HOSTS_MAX + 1);
		found = mongoset_judge(s, hello);
	}
	if (!found) {
		mongoset_explain(s, &err);
		must(err.msg[0] && !strstr(err.msg, SECRET));
	}
	mongoset_free(s);
}

static void log_in(const struct mongoendpoint *e, const struct mongoreply_hello *hello, struct mongowire_document d)
{
	struct mongologin *l = mongologin_new(e, e->source, hello, "rOprNGfwEbeRWgbNEkqO");
	struct buf out = BUF_INIT(1 << 16);
	struct err err = { 0 };
	struct scram_memory memory = { .of = "" };
	int rc = 1;

	mongologin_start(l, 1, &out);
	for (int i = 0; i < 3 && rc > 0; i++) {
		rc = mongologin_step(l, d, 2, &out, &err);
		if (rc == MONGOLOGIN_SALT && scram_salt(mongologin_scram(l), &memory, SCRAM_ITERATIONS_MAX))
			rc = mongologin_prove(l, 2, &out, &err);
	}
	must(rc != 0); /* nobody can prove that he knows the password */
	must(rc > 0 || (err.msg[0] && !strstr(err.msg, SECRET)));
	buf_done_secret(&out);
	mongologin_free(l);
}

static void as_document(const struct mongoendpoint *e, struct mongowire_document d)
{
	struct mongoreply_status status;
	struct mongoreply_hello hello;
	struct err err = { 0 };
	double count;

	if (mongoreply_status(d, &status, &err) == 0 && !status.ok) {
		mongoreply_is_elsewhere(&status);
		must(mongoreply_refused(&status, "counting", SECRET, &err) == -1 && !strstr(err.msg, SECRET));
	}
	must(mongoreply_count(d, &count, &err) || (isfinite(count) && count >= 0));
	mongoreply_hello(d, &hello);
	must(hello.count <= MONGOREPLY_MEMBERS_MAX);
	search(e, &hello);
	log_in(e, &hello, d);
	mongoreply_hello_done(&hello);
}

static void as_message(const struct mongoendpoint *e, const uint8_t *data, size_t size)
{
	struct mongowire_document d;
	struct err err = { 0 };
	int64_t len = mongowire_length(data, size, &err);

	must(len >= -1 && len <= (int64_t)MONGOWIRE_REPLY_MAX);
	if (len <= 0 || (size_t)len > size)
		return;
	if (mongowire_read(data, (size_t)len, 1, &d, &err) == 0) {
		must(d.bytes > data && d.bytes + d.len <= data + len);
		as_document(e, d);
	}
}

/* Once as both kinds, so that what one finds goes with what the other does. */
static void as_records(const uint8_t *data, size_t size)
{
	static struct mongoendpoint *e;
	struct dnsrecord_list srv, txt;
	struct mongoseeds seeds = { 0 };
	struct err err = { 0 };
	int64_t ttl_s;

	if (!e)
		e = mongoendpoint_new(&(struct mongoendpoint_config){ .seed = "c.db.test" }, &err);
	dnsrecord_read(data, size, DNSRECORD_SRV, &srv, &ttl_s);
	dnsrecord_read(data, size, DNSRECORD_TXT, &txt, &ttl_s);
	must(srv.count <= DNSRECORD_MAX && txt.count <= DNSRECORD_MAX && ttl_s >= 0);
	if (srv.count > 0 && mongoseeds_read(e, &srv, &txt, &seeds, &err) == 0) {
		must(seeds.count > 0 && seeds.count <= MONGOENDPOINT_HOSTS_MAX && *seeds.source);
		for (size_t i = 0; i < seeds.count; i++) {
			size_t len = strlen(seeds.hosts[i].name);

			must(len > 8 && strcasecmp(seeds.hosts[i].name + len - 8, ".db.test") == 0);
		}
	} else if (srv.count > 0) {
		must(err.kind == ERR_INVALID && err.msg[0]);
	}
	mongoseeds_done(&seeds);
	dnsrecord_done(&srv);
	dnsrecord_done(&txt);
}

static void as_text(const char *text)
{
	struct mongofilter filter = { 0 };
	struct mongouri uri;
	struct err err = { 0 };

	if (mongofilter_parse(text, &filter, &err))
		must(err.msg[0] && !filter.bytes);
	else
		must(filter.len > 5);
	mongofilter_done(&filter);
	if (mongouri_parse(text, &uri, &err) == 0 && mongouri_settle_login(&uri, &err) == 0) {
		must((uri.count > 0) == !uri.srv && uri.count <= MONGOENDPOINT_HOSTS_MAX && uri.connect_ms >= 0);
		must(!uri.seed == !uri.srv && (!uri.seed || (*uri.seed && !strpbrk(uri.seed, "/@: ?"))));
		must(uri.mechanism == MONGOENDPOINT_NO_LOGIN || uri.mechanism == MONGOENDPOINT_X509 || *uri.password);
		for (size_t i = 0; i < uri.count; i++)
			must(*uri.hosts[i].name && uri.hosts[i].port && !strpbrk(uri.hosts[i].name, "/@ ?"));
	} else {
		must(err.kind == ERR_INVALID && err.msg[0]);
	}
	mongouri_done(&uri);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct mongoendpoint *endpoints[MONGOENDPOINT_NEAREST + 1];
	MEM_AUTO char *text = mem_dupn((const char *)data, size);
	uint8_t *exact = mem_alloc(size + 1); /* so that reading beyond is seen */
	size_t chosen = size > 0 ? data[size - 1] % MEM_COUNT(endpoints) : 0;

	for (size_t i = 0; i < MEM_COUNT(endpoints); i++)
		if (!endpoints[i])
			endpoints[i] = endpoint((enum mongoendpoint_reads)i);
	memcpy(exact, data, size);
	as_document(endpoints[chosen], (struct mongowire_document){ exact, size });
	as_message(endpoints[chosen], exact, size);
	as_records(exact, size);
	as_text(text);
	free(exact);
	return 0;
}
