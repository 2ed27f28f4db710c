/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_CERTS_CERTSECRET_H
#define CONTROL_CERTS_CERTSECRET_H

/*
 * Maintains Secret `kscaled-certs`, which all replicas share: watches it by name, creates it if
 * missing (every replica tries; the first one wins, and the others get its content by their watch),
 * and, on the leader only, rewrites what is wrong or due, under its resourceVersion. Reports each
 * new usable content to control/certs, which knows TLS and the APIService.
 */

#include <stdbool.h>
#include <stdint.h>

#include "control/certs/certpack.h"
#include "kube/client.h"

struct certsecret;

struct certsecret_config { /* copied; its texts outlive the certsecret */
	const char *namespace_, *name;
	const char *const *dns_names; /* NULL-terminated */
	int64_t serving_valid_s, ca_valid_s;
};

/* on_change: certsecret_pack or certsecret_trouble may have changed. */
struct certsecret *certsecret_new(struct kube *kube, const struct certsecret_config *config,
	void (*on_change)(void *arg), void *arg);
void certsecret_free(struct certsecret *s);

void certsecret_set_leading(struct certsecret *s, bool leading);
/* borrowed; the newest usable content; NULL: none yet */
const struct certpack *certsecret_pack(const struct certsecret *s);
const char *certsecret_trouble(const struct certsecret *s); /* borrowed; NULL: none */

#endif
