/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FUZZ_CALLER_H
#define TESTS_FUZZ_CALLER_H

/*
 * A client that says the fuzzer's bytes to a server of ours, for targets in which a whole server is
 * tried. At CALLER_HEAR it goes on when the server has said something more, or says nothing for a
 * while; when all is said it says that no more comes, reads what is told, and leaves.
 *
 * The loop never sleeps, as with tests/fuzz/peer.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "net/loop.h"

#define CALLER_HEAR "<?>"

struct loop *caller_start(void);

struct caller_words {
	const uint8_t *bytes;
	size_t len;
	size_t piece;      /* so many bytes in a turn; 0: all at once */
	bool is_hurried;   /* it does not wait for an answer before it says that no more comes */
	struct buf *heard; /* what the server said, up to its cap; NULL: nobody looks */
};

/* each_turn is called behind each turn of the loop. */
void caller_say(uint16_t port, const struct caller_words *words, void (*each_turn)(void *arg), void *arg);

#endif
