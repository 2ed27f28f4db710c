/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_TLS_COMPUTING_H
#define NET_TLS_COMPUTING_H

/*
 * Limits the CPU time for reading a namespace's keys (rounds of key derivation, net/tls/privatekey)
 * and certificates (net/tls/tls), which OpenSSL computes without a pause. A round is about 1 us. A
 * namespace may spend a second at once, and 3 % of a processor in the long run.
 */

#include <stdint.h>

#include "base/err.h"

/* Sets the namespace that pays from now on. */
void computing_for(const char *namespace_);

/*
 * Call it before reading. -1 with ERR_TEMPORARY: the namespace has used up its share and must wait.
 */
int computing_pay(uint64_t rounds, struct err *err);

#define COMPUTING_CERTIFICATE 1000 /* rounds charged for one certificate */

/*
 * For texts that are read again later: the account that pays now, and computing_pay for that
 * account.
 */
#define COMPUTING_ACCOUNTS 1025
#define COMPUTING_OWN      1024 /* kscaled's own */
unsigned computing_account(void);
int computing_charge(unsigned account, uint64_t rounds, struct err *err);

#endif
