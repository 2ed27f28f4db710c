/* SPDX-License-Identifier: Apache-2.0 */
#include "net/amqp/amqpendpoint.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hostport.h"
#include "base/mem.h"
#include "net/amqp/amqpframe.h"

/* Servers accept no longer ones, as they must fit into a server's first frames. */
#define LOGIN_MAX 8192

static void on_done(struct endpoint *base)
{
	struct amqpendpoint *e = (struct amqpendpoint *)base;

	free(e->host);
	free(e->vhost);
	mem_free_secret(e->user);
	mem_free_secret(e->password);
}

static int check_config(const struct amqpendpoint_config *config, struct err *err)
{
	size_t login = config->user ? strlen(config->user) + strlen(config->password) : 0;

	if (!*config->host || config->port == 0)
		return err_set(err, ERR_INVALID, "it has no host or port");
	if (strlen(config->vhost) > AMQPFRAME_TEXT_MAX)
		return err_set(err, ERR_INVALID, "the vhost has more than %d bytes", AMQPFRAME_TEXT_MAX);
	if (login > LOGIN_MAX)
		return err_set(err, ERR_INVALID, "user and password have more than %d bytes", LOGIN_MAX);
	return 0;
}

/* The vhost is escaped, so that blanks in it cannot make two keys equal. */
static void make_key(struct amqpendpoint *e)
{
	const char *const secrets[] = { e->user, e->password };
	struct buf vhost = BUF_INIT(4 * AMQPFRAME_TEXT_MAX);
	char fingerprint[FINGERPRINT_TEXT];

	buf_put_percent(&vhost, e->vhost, "/");
	endpoint_fingerprint(&e->base, secrets, MEM_COUNT(secrets), fingerprint);
	e->base.key = mem_printf("amqp %s %s%s %s", e->base.name, buf_text(&vhost), endpoint_tls_word(&e->base, e->tls),
		fingerprint);
	buf_done(&vhost);
}

struct amqpendpoint *amqpendpoint_new(const struct amqpendpoint_config *config, struct err *err)
{
	struct amqpendpoint *e;

	if (check_config(config, err))
		return NULL;
	e = endpoint_new(sizeof(*e), on_done);
	endpoint_set_namespace(&e->base, config->namespace_);
	e->base.name = hostport_join(config->host, config->port);
	e->host = mem_dup(config->host);
	e->port = config->port;
	e->vhost = mem_dup(config->vhost);
	e->user = mem_dup(config->user);
	e->password = mem_dup(config->password);
	e->tls = config->tls;
	if (config->tls)
		endpoint_take_tls(&e->base, &config->tls_config);
	make_key(e);
	if (endpoint_check_tls(&e->base, err) == 0)
		return endpoint_unique(e);
	endpoint_unref(e);
	return NULL;
}
