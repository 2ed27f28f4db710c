/* SPDX-License-Identifier: Apache-2.0 */
#include "net/kerberos.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* krb5.conf(5). No realm is known, so no key server is either. */
static const char configuration[] = "[libdefaults]\n"
				    "dns_lookup_kdc = false\n"
				    "dns_lookup_realm = false\n"
				    "dns_uri_lookup = false\n"
				    "dns_canonicalize_hostname = false\n"
				    "rdns = false\n"
				    "ignore_acceptor_hostname = true\n";

/* Caches and key tables in memory, which are always empty. */
static const char *const nothing[][2] = {
	{ "KRB5CCNAME", "MEMORY:kscaled" },
	{ "KRB5_KTNAME", "MEMORY:kscaled" },
	{ "KRB5_CLIENT_KTNAME", "MEMORY:kscaled" },
	{ "GSS_MECH_CONFIG", "/dev/null" },
};

int kerberos_forbid(struct err *err)
{
	const size_t len = sizeof(configuration) - 1;
	int fd = memfd_create("krb5.conf", MFD_CLOEXEC);
	char path[32];

	if (fd < 0 || write(fd, configuration, len) != (ssize_t)len) {
		err_set(err, ERR_TEMPORARY, "keeping a configuration for the Kerberos library: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	setenv("KRB5_CONFIG", path, 1);
	for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++)
		setenv(nothing[i][0], nothing[i][1], 1);
	return fd;
}
