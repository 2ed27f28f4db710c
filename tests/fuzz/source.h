/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FUZZ_SOURCE_H
#define TESTS_FUZZ_SOURCE_H

/*
 * A trigger's server that says the fuzzer's bytes (tests/fuzz/peer), and the trigger type that asks
 * it, as the daemon has it: built from its parameters, asked, or watched.
 */

#include <stddef.h>
#include <stdint.h>

#include "scalers/scaler.h"
#include "scalers/sources.h"

/*
 * Builds the type's question once and keeps it. metadata and auth (NULL: none): "key=value|..."; in
 * a value @ stands for 127.0.0.1:port of the peer, and # for the port alone. Ends the program when
 * they are wrong.
 */
struct question *source_question(const char *type, const char *metadata, const char *auth);

/* In the auth of a question: in no error of that question. */
#define SOURCE_SECRET "t0ken-of-ours"

enum source_way { SOURCE_ASK, SOURCE_WATCH, SOURCE_DESCRIBE };

/*
 * Asks with connections of this input's own, while the peer says the bytes; what is answered is a
 * finite number or an error in words. The first byte is the size of its pieces.
 */
void source_try(struct loop *loop, struct question *q, enum source_way way, const uint8_t *data, size_t size);

#endif
