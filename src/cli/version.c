/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/version.h"

#include <curl/curl.h>
#include <event2/event.h>
#include <hiredis/hiredis.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <stdio.h>

#include "config.h"

int cli_version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	puts(PACKAGE_NAME " " PACKAGE_VERSION);
	printf("libevent %s\n%s\n%s\njansson %s\nhiredis %d.%d.%d\n", event_get_version(),
		OpenSSL_version(OPENSSL_VERSION), curl_version(), JANSSON_VERSION, HIREDIS_MAJOR, HIREDIS_MINOR,
		HIREDIS_PATCH);
	return 0;
}
