/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/join/environment.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/host/optiontext.h"
#include "cli/plaintext.h"

/* The arguments for `kscaled doctor` to repeat, with absolute paths. */
static void put_call(const struct environment *e, struct buf *out)
{
	const struct hostfiles *f = e->files;
	MEM_AUTO char *kubeconfig = realpath(e->kubeconfig, NULL),
		      *port = e->given_port ? mem_printf("%u", e->given_port) : NULL;

	buf_puts(out, HOSTFILES_CALL "--kubeconfig=");
	plaintext_put_word(out, kubeconfig ? kubeconfig : e->kubeconfig);
	optiontext_put_one(out, "host", e->params->host, '=');
	optiontext_put_one(out, "port", port, '=');
	optiontext_put_one(out, "config-dir", strcmp(f->config_dir, HOSTFILES_CONFIG) ? f->config_dir : NULL, '=');
	optiontext_put_one(out, "state-dir", strcmp(f->state_dir, HOSTFILES_STATE) ? f->state_dir : NULL, '=');
	optiontext_put(out, manifests_name_options, e->params, '=');
	optiontext_put(out, manifests_rights_options, e->params, '=');
	buf_putc(out, '\n');
}

/* join.env overrides the configuration file, so it has a port only if needed. */
static bool needs_port(const struct environment *e)
{
	unsigned configured = hostfiles_configured_port(e->files);

	if (e->given_port)
		return e->given_port != ENVIRONMENT_USUAL_PORT || configured;
	return !configured && hostfiles_joined_port(e->files);
}

char *environment_text(const struct environment *e)
{
	const struct manifests_params *p = e->params;
	struct buf out = BUF_INIT(SIZE_MAX);

	buf_puts(&out, "# Written by kscaled join: options that follow from its arguments, which were:\n");
	put_call(e, &out);
	if (p->namespace_)
		buf_printf(&out, "KSCALED_NAMESPACE=%s\n", p->namespace_);
	if (p->watch_namespaces)
		buf_printf(&out, "KSCALED_WATCH_NAMESPACE=%s\n", p->watch_namespaces);
	if (p->service_name)
		buf_printf(&out, "KSCALED_SERVICE_NAME=%s\n", p->service_name);
	if (p->restrict_secrets)
		buf_puts(&out, "KSCALED_RESTRICT_SECRET_ACCESS=true\n");
	if (p->no_webhook)
		buf_puts(&out, "KSCALED_WEBHOOK=false\n");
	if (needs_port(e))
		buf_printf(&out, "KSCALED_SECURE_PORT=%u\n", e->port);
	return buf_take(&out);
}
