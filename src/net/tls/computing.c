/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls/computing.h"

#include <string.h>

#include "base/fingerprint.h"
#include "base/timestamp.h"

#define SPENT_MAX    1200000
#define ROUNDS_PER_S 30000

/* By hash of the namespace's name: two namespaces may share an account. */
static struct account {
	int64_t spent; /* in rounds; falls with time */
	int64_t as_of_ms;
} accounts[COMPUTING_ACCOUNTS];
static unsigned payer;

void computing_for(const char *namespace_)
{
	payer = (unsigned)(fingerprint_fast(namespace_, strlen(namespace_)) % COMPUTING_OWN);
}

unsigned computing_account(void)
{
	return payer;
}

int computing_charge(unsigned account, uint64_t rounds, struct err *err)
{
	struct account *a = &accounts[account];
	int64_t now_ms = timestamp_now_ms(), fell = (now_ms - a->as_of_ms) * ROUNDS_PER_S / 1000;

	a->spent = fell < 0 || fell > a->spent ? 0 : a->spent - fell;
	a->as_of_ms = now_ms;
	if (a->spent >= SPENT_MAX)
		return err_set(err, ERR_TEMPORARY,
			"the encrypted keys and the certificates of this namespace have used up its CPU share of %d "
			"rounds; the others are read a little later",
			SPENT_MAX);
	a->spent += (int64_t)rounds;
	return 0;
}

int computing_pay(uint64_t rounds, struct err *err)
{
	return computing_charge(payer, rounds, err);
}
