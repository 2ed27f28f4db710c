/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/join/environment.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/plaintext.h"

static void put_option(struct buf *out, const char *option, const char *value)
{
	if (!value)
		return;
	buf_printf(out, " --%s=", option);
	plaintext_put_word(out, value);
}

/* Texts and switches. */
static void put_options(struct buf *out, const struct option *options, const struct manifests_params *params)
{
	for (; options->name; options++) {
		const char *member = (const char *)params + options->offset;

		if (options->kind != OPTION_SWITCH)
			put_option(out, options->name, *(const char *const *)member);
		else if (*(const bool *)member)
			buf_printf(out, " --%s", options->name);
	}
}

/* The arguments for `kscaled doctor` to repeat, with absolute paths. */
static void put_call(const struct environment *e, struct buf *out)
{
	const struct manifests_params *p = e->params;
	const struct hostfiles *f = e->files;
	MEM_AUTO char *kubeconfig = realpath(e->kubeconfig, NULL),
		      *port = e->given_port ? mem_printf("%u", e->given_port) : NULL;
	buf_puts(out, HOSTFILES_CALL "--kubeconfig=");
	plaintext_put_word(out, kubeconfig ? kubeconfig : e->kubeconfig);
	put_option(out, "host", p->host);
	put_option(out, "port", port);
	put_option(out, "config-dir", strcmp(f->config_dir, HOSTFILES_CONFIG) ? f->config_dir : NULL);
	put_option(out, "state-dir", strcmp(f->state_dir, HOSTFILES_STATE) ? f->state_dir : NULL);
	put_options(out, manifests_name_options, p);
	put_options(out, manifests_rights_options, p);
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
