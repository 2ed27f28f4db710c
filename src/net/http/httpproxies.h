/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPPROXIES_H
#define NET_HTTP_HTTPPROXIES_H

/*
 * The proxies that kscaled's environment names, by address or as localhost. They are whoever runs
 * kscaled's, who may well have one on loopback, so they may be where no trigger's server may be
 * (net/sourcerules), and only for requests over HTTP, which libcurl sends there.
 */

#include <stdbool.h>
#include <sys/socket.h>

bool httpproxies_have(const struct sockaddr *address);

#endif
