/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPPROXIES_H
#define NET_HTTP_HTTPPROXIES_H

/*
 * The proxies in kscaled's environment that are given by address or as localhost. They belong to
 * kscaled's operator and may well be on loopback, so they are allowed where triggers' servers are
 * not (net/sourcerules), for requests over HTTP only, which libcurl sends through them.
 */

#include <stdbool.h>
#include <sys/socket.h>

bool httpproxies_have(const struct sockaddr *address);

#endif
