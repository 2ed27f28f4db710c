/* SPDX-License-Identifier: Apache-2.0 */
#include "net/pg/pgscram.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/mem.h"

#define MECHANISM "SCRAM-SHA-256"

struct pgscram {
	struct pgscram_config config;
	const struct pgscram_handler *handler;
	void *arg;
	struct scram *scram;
	struct salter_turn turn;
};

bool pgscram_may_use(const char *password)
{
	size_t len = password ? strlen(password) : 0;

	for (size_t i = 0; i < len; i++) {
		if (password[i] < ' ' || password[i] > '~')
			return false;
	}
	return len > 0;
}

static void put_number(struct buf *out, size_t number)
{
	const unsigned char bytes[] = { (unsigned char)(number >> 24), (unsigned char)(number >> 16),
		(unsigned char)(number >> 8), (unsigned char)number };

	buf_append(out, bytes, sizeof(bytes));
}

/* Sends a SASLInitialResponse, which names the mechanism, or a SASLResponse. Takes the text. */
static void say(struct pgscram *s, bool first, char *text)
{
	struct buf message = BUF_INIT(2 * SCRAM_MESSAGE_MAX);
	size_t len = strlen(text);

	buf_putc(&message, 'p');
	put_number(&message, 4 + len + (first ? sizeof(MECHANISM) + 4 : 0));
	if (first) {
		buf_append(&message, MECHANISM, sizeof(MECHANISM));
		put_number(&message, len);
	}
	buf_append(&message, text, len);
	mem_free_secret(text);
	s->handler->say(s->arg, (const unsigned char *)message.data, message.len);
	buf_done_secret(&message);
}

static void on_salted(void *arg)
{
	struct pgscram *s = arg;
	struct err err;
	char *text = scram_final(s->scram, &err);

	if (text)
		say(s, false, text);
	else
		s->handler->failed(s->arg, &err);
}

struct pgscram *pgscram_new(const struct pgscram_config *config, const struct pgscram_handler *handler, void *arg)
{
	struct pgscram *s = mem_zalloc(sizeof(*s));
	char nonce[40];

	snprintf(nonce, sizeof(nonce), "%016llx%016llx", (unsigned long long)fingerprint_random(),
		(unsigned long long)fingerprint_random());
	s->config = *config;
	s->handler = handler;
	s->arg = arg;
	s->scram = scram_new(SCRAM_SHA256, "", config->password, nonce); /* the user is in the startup packet */
	scram_allow_few(s->scram);
	s->config.password = NULL;
	s->turn = (struct salter_turn){ .scram = s->scram, .memory = config->memory, .fn = on_salted, .arg = s };
	return s;
}

void pgscram_free(struct pgscram *s)
{
	if (!s)
		return;
	salter_leave(&s->turn);
	scram_free(s->scram);
	free(s);
}

int pgscram_take(struct pgscram *s, unsigned code, const char *data, size_t len, struct err *err)
{
	switch (code) {
	case PGSCRAM_BEGIN: say(s, true, scram_first(s->scram)); return 0;
	case PGSCRAM_CONTINUE:
		salter_leave(&s->turn);
		if (scram_take(s->scram, data, len, err))
			return -1;
		salter_ask(s->config.salter, &s->turn, s->config.namespace_);
		return 0;
	default: return scram_verify(s->scram, data, len, err);
	}
}
