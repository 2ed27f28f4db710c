/* SPDX-License-Identifier: Apache-2.0 */

/* Answers of a Kafka broker behind their correlation id. The first byte chooses which. */

#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "net/kafka/kafkamessages.h"
#include "net/kafka/kafkasasl.h"
#include "net/sign/scram.h"

#define SECRET "t0ken-of-ours"

static void check_metadata(struct wire *r)
{
	struct kafkamessages_metadata m;
	struct err err = { 0 };

	if (kafkamessages_read_metadata(r, &m, &err))
		must(err.kind == ERR_INVALID);
	for (size_t i = 0; i < m.broker_count; i++)
		must(m.brokers[i].host && *m.brokers[i].host && m.brokers[i].port > 0);
	for (size_t i = 0; !err.kind && i < m.topic_count; i++)
		for (size_t p = 0; p < m.topics[i].count; p++)
			must(p == 0 || m.topics[i].partitions[p - 1].id < m.topics[i].partitions[p].id);
	kafkamessages_metadata_done(&m);
}

static void check_offsets(struct wire *r, bool committed)
{
	struct kafkamessages_offsets o;
	struct err err = { 0 };

	if (committed ? kafkamessages_read_committed(r, &o, &err) : kafkamessages_read_offsets(r, &o, &err))
		must(err.kind == ERR_INVALID);
	for (size_t i = 0; !err.kind && i < o.count; i++) {
		const struct kafkamessages_offset *found = kafkamessages_find(&o, o.list[i].topic, o.list[i].partition);

		must(found && found->partition == o.list[i].partition && strcmp(found->topic, o.list[i].topic) == 0);
	}
	kafkamessages_offsets_done(&o);
}

/*
 * A login with whatever the broker says at each step, the input over and over; no error has the
 * secret.
 */
static void check_login(struct wire *r, enum kafkasasl_mechanism mechanism)
{
	struct kafkasasl *s = kafkasasl_new(&(struct kafkasasl_login){ .mechanism = mechanism,
		.username = "u",
		.password = SECRET,
		.nonce = "abc",
		.token = SECRET });
	struct kafkamessages_authenticate answer;
	struct buf out = BUF_INIT(KAFKASASL_MESSAGE_MAX);
	struct err err = { 0 };
	struct scram_memory memory = { .of = "" };
	int more = 1;

	must(kafkasasl_start(s, &out, &err) == 0);
	for (int i = 0; i < 3 && more > 0; i++) {
		buf_reset(&out);
		more = kafkamessages_read_authenticate(r, &answer, &err) ? -1 : kafkasasl_step(s, &answer, &out, &err);
		if (more == KAFKASASL_SALT && scram_salt(kafkasasl_scram(s), &memory, SCRAM_ITERATIONS_MAX))
			more = kafkasasl_prove(s, &out, &err);
	}
	must(more >= 0 || (err.kind && !strstr(err.msg, SECRET)));
	buf_done_secret(&out);
	kafkasasl_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	MEM_AUTO char *exact = size > 0 ? mem_alloc(size) : NULL; /* no byte behind it may be read */
	struct wire r = { (const unsigned char *)exact, size > 0 ? size - 1 : 0, false };
	struct kafkamessages_versions versions;
	struct kafkamessages_coordinator coordinator;
	struct kafkamessages_handshake handshake;
	struct err err = { 0 };

	if (size == 0)
		return 0;
	memcpy(exact, data + 1, size - 1);
	switch (data[0] % 8) {
	case 0: check_metadata(&r); break;
	case 1: check_offsets(&r, true); break;
	case 2: check_offsets(&r, false); break;
	case 3:
		if (kafkamessages_read_versions(&r, &versions, &err) == 0)
			kafkamessages_check_versions(&versions, true, &err);
		break;
	case 4:
		kafkamessages_read_coordinator(&r, &coordinator, &err);
		kafkamessages_coordinator_done(&coordinator);
		break;
	case 5:
		if (kafkamessages_read_handshake(&r, &handshake, &err) == 0)
			must(strlen(handshake.mechanisms) < sizeof(handshake.mechanisms));
		break;
	case 6: check_login(&r, data[size - 1] & 1 ? KAFKASASL_PLAIN : KAFKASASL_OAUTHBEARER); break;
	case 7: check_login(&r, KAFKASASL_SCRAM_SHA256); break;
	}
	return 0;
}
