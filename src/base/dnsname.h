/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_DNSNAME_H
#define BASE_DNSNAME_H

/*
 * Checks names of Kubernetes objects (RFC 1123): lower-case letters, digits and "-", with a letter
 * or digit first and last; a subdomain is several of them joined by dots
 * (k8s.io/apimachinery/pkg/util/validation). Such a name needs no escaping in a URL. Also checks
 * whether a host is below a domain. Pure.
 */

#include <stdbool.h>
#include <stddef.h>

/* IsDNS1123Label: 1 to 63 characters. Names of namespaces and, nearly, of Services. */
bool dnsname_is_label(const char *text, size_t len);

/*
 * IsDNS1123Subdomain: 1 to 253 characters; the length of each part is not limited. Names of most
 * objects.
 */
bool dnsname_is_subdomain(const char *text, size_t len);

/* Whether the host ends with "." and the domain, ignoring case, with something before it. */
bool dnsname_is_below(const char *host, const char *domain);

#endif
