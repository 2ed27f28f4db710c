/* SPDX-License-Identifier: Apache-2.0 */
#include "net/sourcerules.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"

/* An address of 16 bytes (IPv4 is mapped); the first `bits` bits are compared. */
struct address_block {
	uint8_t prefix[16];
	uint8_t bits;
	bool local; /* allowed by --allow-local-sources */
	const char *what;
};

#define MAPPED(a, b, c, d)                                                                                             \
	{                                                                                                              \
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d                                                   \
	}

/*
 * Metadata addresses, from the clouds' manuals and from cloud-init, which asks them: AWS (EC2's
 * instance metadata fd00:ec2::254, EKS' Pod Identity fd00:ec2::23, all below fd00:ec2::/32), Google
 * Cloud (fd20:ce::254), Alibaba Cloud (ECS), Azure (WireServer), Oracle Cloud (OCI's
 * fd00:c1::a9fe:a9fe, Classic's 192.0.0.192), Scaleway (169.254.42.42 is the other), Akamai,
 * formerly Linode. All other known ones are link-local: OpenStack's fe80::a9fe:a9fe, Tencent
 * Cloud's 169.254.0.23, DigitalOcean's, Hetzner's and IBM's 169.254.169.254.
 */
static const struct address_block blocks[] = {
	{ MAPPED(127, 0, 0, 0), 96 + 8, true, "a loopback address" },
	{ MAPPED(0, 0, 0, 0), 96 + 8, true, "this host (RFC 1122)" },
	{ { [15] = 1 }, 128, true, "a loopback address" },
	{ { 0 }, 128, true, "this host (RFC 4291)" },
	{ MAPPED(169, 254, 0, 0), 96 + 16, false, "a link-local address, where clouds have their metadata" },
	{ { 0xfe, 0x80 }, 10, false, "a link-local address" },
	{ { 0xfd, 0x00, 0x0e, 0xc2 }, 32, false, "a metadata address of AWS" },
	{ { 0xfd, 0x20, 0x00, 0xce }, 32, false, "a metadata address of Google Cloud" },
	{ MAPPED(100, 100, 100, 200), 128, false, "the metadata address of Alibaba Cloud" },
	{ { 0xfd, 0, 0x01, 0, [12] = 0x01, 0, 0x02, 0 }, 128, false, "the metadata address of Alibaba Cloud" },
	{ MAPPED(168, 63, 129, 16), 128, false, "the metadata address of Azure" },
	{ MAPPED(192, 0, 0, 192), 128, false, "the metadata address of Oracle Cloud" },
	{ { 0xfd, 0, 0, 0xc1, [12] = 0xa9, 0xfe, 0xa9, 0xfe }, 128, false, "the metadata address of Oracle Cloud" },
	{ { 0xfd, 0, 0, 0x42, [15] = 0x42 }, 128, false, "the metadata address of Scaleway" },
	{ { 0xfd, 0, 0xa9, 0xfe, 0xa9, 0xfe, [15] = 1 }, 128, false, "the metadata address of Akamai (Linode)" },
	{ MAPPED(224, 0, 0, 0), 96 + 4, false, "a multicast address" },
	{ MAPPED(255, 255, 255, 255), 128, false, "the broadcast address" },
	{ { 0xff }, 8, false, "a multicast address" },
};

/*
 * IPv6 addresses that contain an IPv4 address, and its position. The prefix for local use (RFC
 * 8215) may be divided in each of the ways of RFC 6052, section 2.2, which skip byte 8; bytes from
 * `end` on are 0.
 */
static const struct {
	uint8_t prefix[12], prefix_len;
	uint8_t at[4], end;
} translated[] = {
	{ { 0x00, 0x64, 0xff, 0x9b }, 12, { 12, 13, 14, 15 }, 16 },
	{ { 0x00, 0x64, 0xff, 0x9b, 0x00, 0x01 }, 6, { 6, 7, 9, 10 }, 11 },
	{ { 0x00, 0x64, 0xff, 0x9b, 0x00, 0x01 }, 6, { 7, 9, 10, 11 }, 12 },
	{ { 0x00, 0x64, 0xff, 0x9b, 0x00, 0x01 }, 6, { 9, 10, 11, 12 }, 13 },
	{ { 0x00, 0x64, 0xff, 0x9b, 0x00, 0x01 }, 6, { 12, 13, 14, 15 }, 16 },
	{ { 0 }, 12, { 12, 13, 14, 15 }, 16 },                /* IPv4-compatible, RFC 4291 */
	{ { [8] = 0xff, 0xff }, 12, { 12, 13, 14, 15 }, 16 }, /* IPv4-translated, RFC 2765 */
	{ { 0x20, 0x02 }, 2, { 2, 3, 4, 5 }, 16 },            /* 6to4, RFC 3056; the rest is the site's choice */
};

/* IPv4 is mapped. */
static bool plain_address(const struct sockaddr *address, uint8_t out[16])
{
	if (address->sa_family == AF_INET) {
		const uint8_t *v4 = (const uint8_t *)&((const struct sockaddr_in *)address)->sin_addr;

		memcpy(out, (const uint8_t[16])MAPPED(v4[0], v4[1], v4[2], v4[3]), 16);
		return true;
	}
	if (address->sa_family != AF_INET6)
		return false;
	memcpy(out, &((const struct sockaddr_in6 *)address)->sin6_addr, 16);
	return true;
}

/* The IPv4 address inside, mapped, by form i of `translated`; false: not of this form. */
static bool translated_address(const uint8_t address[16], size_t i, uint8_t out[16])
{
	static const uint8_t nothing[16] = { 0 };
	const uint8_t *at = translated[i].at;

	if (memcmp(address, translated[i].prefix, translated[i].prefix_len) != 0 ||
		memcmp(address + translated[i].end, nothing, (size_t)(16 - translated[i].end)) != 0)
		return false;
	memcpy(out, (const uint8_t[16])MAPPED(address[at[0]], address[at[1]], address[at[2]], address[at[3]]), 16);
	return true;
}

static bool is_in(const uint8_t address[16], const struct address_block *b)
{
	unsigned whole = b->bits / 8, rest = b->bits % 8;

	return memcmp(address, b->prefix, whole) == 0 &&
		(rest == 0 || (address[whole] ^ b->prefix[whole]) >> (8 - rest) == 0);
}

static int refuse_address(const struct sockaddr *address, const char *what, const char *option, struct err *err)
{
	char text[INET6_ADDRSTRLEN] = "?";

	if (address->sa_family == AF_INET)
		inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, text, sizeof(text));
	else
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)address)->sin6_addr, text, sizeof(text));
	return err_set(err, ERR_TEMPORARY, "%s is %s, where no trigger's server may be%s", text, what, option);
}

/* Whether the address is one of this host: only then can a socket be bound to it. */
static bool is_ours(const struct sockaddr *address, size_t len)
{
	struct sockaddr_storage any_port = { 0 };
	int fd = socket(address->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ours;

	memcpy(&any_port, address, len);
	if (address->sa_family == AF_INET)
		((struct sockaddr_in *)&any_port)->sin_port = 0;
	else
		((struct sockaddr_in6 *)&any_port)->sin6_port = 0;
	ours = fd >= 0 && bind(fd, (const struct sockaddr *)&any_port, (socklen_t)len) == 0;
	if (fd >= 0)
		close(fd);
	return ours;
}

static bool is_own_port(const struct sourcerules *rules, const struct sockaddr *address)
{
	uint16_t port = ntohs(address->sa_family == AF_INET ? ((const struct sockaddr_in *)address)->sin_port
							    : ((const struct sockaddr_in6 *)address)->sin6_port);

	for (size_t i = 0; i < SOURCERULES_PORTS_MAX; i++)
		if (port != 0 && rules->own_ports[i] == port)
			return true;
	return false;
}

/* The block that forbids the address; NULL: none. */
static const struct address_block *block_of(const struct sourcerules *rules, const uint8_t address[16])
{
	for (size_t i = 0; i < MEM_COUNT(blocks); i++)
		if (is_in(address, &blocks[i]) && !(blocks[i].local && rules->allow_local))
			return &blocks[i];
	return NULL;
}

int sourcerules_judge(const struct sourcerules *rules, const struct sockaddr *address, size_t len, struct err *err)
{
	const struct address_block *block;
	uint8_t plain[16], behind[16];

	if (!rules->judges)
		return 0;
	if (address->sa_family == AF_UNIX)
		return sourcerules_judge_path(rules, ((const struct sockaddr_un *)address)->sun_path, err);
	if (!plain_address(address, plain) || len > sizeof(struct sockaddr_storage))
		return err_set(err, ERR_TEMPORARY, "an address of family %d, where no trigger's server may be",
			address->sa_family);
	block = block_of(rules, plain);
	for (size_t i = 0; !block && i < MEM_COUNT(translated); i++)
		if (translated_address(plain, i, behind))
			block = block_of(rules, behind);
	if (block)
		return refuse_address(address, block->what,
			block->local ? " (--allow-local-sources would allow it)" : "", err);
	if (is_own_port(rules, address) && is_ours(address, len))
		return refuse_address(address, "this host, and the port one of kscaled's own", "", err);
	return 0;
}

int sourcerules_judge_path(const struct sourcerules *rules, const char *path, struct err *err)
{
	if (!rules->judges || rules->allow_local)
		return 0;
	return err_set(err, ERR_TEMPORARY,
		"%s is a Unix socket, where no trigger's server may be (--allow-local-sources would allow it)", path);
}
