/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FUZZ_PEER_H
#define TESTS_FUZZ_PEER_H

/*
 * A server on a loopback port that says the fuzzer's bytes, for targets in which a whole client is
 * tried: sockets, libraries and all. The input is what it says, connection after connection, with
 * PEER_NEXT between them, each followed by the end of the stream. At PEER_HEAR it goes on when the
 * client has said something more, or says nothing for a while. What comes in is thrown away.
 *
 * A program has one, and with it a loop that never sleeps: time is counted in its turns.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/loop.h"

#define PEER_NEXT        "<~>"
#define PEER_HEAR        "<?>"
#define PEER_PATIENCE_MS 40 /* nobody needs so long */

enum peer_manners {
	PEER_SPEAKS_FIRST, /* as a MySQL server */
	PEER_LISTENS,      /* says nothing before it has heard something */
};

/*
 * Once; ends the program when there is no loopback. At PEER_PORT, which an input can so name, when
 * nobody else is there.
 */
#define PEER_PORT 5005
struct loop *peer_start(enum peer_manners manners);
uint16_t peer_port(void);

/*
 * What is said to the connections that come from now on, in pieces of `piece` bytes (0: all at
 * once), one in a turn of the loop. Borrowed until peer_end.
 */
void peer_script(const uint8_t *bytes, size_t len, size_t piece);

/*
 * Turns the loop until *done, or until all connections that came were left by who made them and no
 * new one comes, but not for longer than PEER_PATIENCE_MS.
 */
void peer_until(const bool *done);
/* No longer than so from now on, where clients wait before they try again. */
void peer_hurry(int64_t patience_ms);
void peer_end(void); /* of this input: closes what is open */

#endif
