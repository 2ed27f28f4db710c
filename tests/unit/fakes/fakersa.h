/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_FAKES_FAKERSA_H
#define TESTS_UNIT_FAKES_FAKERSA_H

/* RSA keys, as who signs tokens has one, made for the test. Any failure fails it. */

/* PEM texts, which the caller owns: the private key and, unless NULL, its public half. */
char *fakersa_key(unsigned bits, char **public_pem);

#endif
