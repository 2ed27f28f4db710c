/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_FAKES_FAKEPKI_H
#define TESTS_UNIT_FAKES_FAKEPKI_H

/*
 * Certificates that kscaled itself never makes: by authorities that may sign anything, and for
 * clients. Makes the other sides of tests, and what somebody could make with kscaled's key. Any
 * failure fails the test.
 */

#include <stdint.h>

#include "net/tls/x509.h"

/* As kscaled's own authority was before it had constraints. */
void fakepki_authority(const char *common_name, int64_t now_unix_ms, int64_t valid_s, struct x509_pair *out);

/* For servers and clients, as a server often has one for both; else as x509_make_serving. */
void fakepki_certificate(const struct x509_pair *ca, const char *const *dns_names, int64_t now_unix_ms, int64_t valid_s,
	struct x509_pair *out);

/* usage: "clientAuth", "serverAuth"; CA true: an authority below `ca`. */
void fakepki_certificate_for(const struct x509_pair *ca, const char *const *dns_names, const char *usage, int is_ca,
	int64_t now_unix_ms, int64_t valid_s, struct x509_pair *out);

#endif
