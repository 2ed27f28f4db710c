/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/informer.h"

#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "kube/version.h"

/* ---- Events of the watch ---- */

/* Some servers' caches ignore the field selector. */
static bool is_asked_for(const struct informer *i, const json_t *object)
{
	return !i->name || strcmp(json_metadata_text(object, "name"), i->name) == 0;
}

static void on_list(void *arg)
{
	static unsigned lists;
	struct informer *i = arg;

	i->list = ++lists;
	i->listing = true;
	i->seen = false;
	if (i->events->on_list)
		i->events->on_list(i->arg);
}

static void on_object(void *arg, const json_t *object)
{
	struct informer *i = arg;

	if (!is_asked_for(i, object))
		return;
	i->seen = true;
	i->events->on_object(i->arg, object);
}

/* Objects that were not requested count as known. */
static bool on_text(void *arg, const struct objecttext *text)
{
	struct informer *i = arg;

	if (i->name && text->print && !objecttext_says(&text->name, i->name))
		return true;
	return i->events->on_text && i->events->on_text(i->arg, text);
}

static void on_deleted(void *arg, const json_t *object)
{
	struct informer *i = arg;

	if (is_asked_for(i, object))
		i->events->on_deleted(i->arg, object);
}

/*
 * A temporary error now concerns the watch only. A denial stays: the permission may cover only the
 * list.
 */
static void end_passing_trouble(struct informer *i)
{
	if (i->trouble && (i->trouble->kind == ERR_TEMPORARY || i->trouble->kind == ERR_GONE))
		err_keep(&i->trouble, NULL);
}

static void on_synced(void *arg)
{
	struct informer *i = arg;

	i->listing = false;
	i->synced = true;
	end_passing_trouble(i);
	if (i->name) {
		if (!i->seen)
			i->events->on_deleted(i->arg, NULL);
		return;
	}
	if (i->events->on_synced)
		i->events->on_synced(i->arg);
	mem_settle();
}

bool informer_is_old(const struct informer *i, const json_t *object, const char *known)
{
	return known && !i->listing && version_compare(json_metadata_text(object, "resourceVersion"), known) < 0;
}

const char *informer_version(const struct informer *i)
{
	return i->watch && !i->listing ? watch_version(i->watch) : "";
}

/* ---- Errors ---- */

bool informer_is_denied(const struct err *err)
{
	return err && err->kind == ERR_DENIED && err->http_status != 401;
}

const char *informer_trouble(const struct informer *i)
{
	return i->trouble ? i->trouble->msg : NULL;
}

void informer_log(const struct informer *i, const struct err *err)
{
	if (err)
		log_warn(i->subject, "cannot be watched at the moment: %s", err->msg);
	else
		log_info(i->subject, "the watch works");
}

static void on_trouble(void *arg, const struct err *err)
{
	struct informer *i = arg;
	struct err told = err ? *err : (struct err){ 0 };

	if (i->grant && informer_is_denied(err))
		err_wrap(&told, "%s", i->grant);
	if (!i->quiet)
		informer_log(i, err ? &told : NULL);
	if (err && !i->failing)
		err_wrap(&told, "watching %s", i->subject);
	else if (err && *i->failing)
		err_wrap(&told, "%s", i->failing);
	err_keep(&i->trouble, err ? &told : NULL);
	if (i->events->on_trouble)
		i->events->on_trouble(i->arg, err);
}

/* ---- The interface ---- */

void informer_start(struct informer *i, struct kube *kube, const struct informer_config *config,
	const struct informer_events *events, void *arg)
{
	static const struct watch_events heard = { on_list, on_object, on_deleted, on_synced, on_trouble, on_text };
	MEM_AUTO char *by_name = config->name ? mem_printf("metadata.name=%s", config->name) : NULL;
	struct watch_config watched = {
		.path = config->path,
		.label_selector = config->label_selector,
		.field_selector = by_name ? by_name : config->field_selector,
		.page = config->page,
		.subject = config->subject,
		.managed_fields = config->managed_fields,
	};

	i->name = config->name;
	i->subject = config->subject;
	i->failing = config->failing;
	i->grant = config->grant;
	i->quiet = config->quiet;
	i->events = events;
	i->arg = arg;
	i->watch = watch_start(kube, &watched, &heard, i);
}

void informer_stop(struct informer *i)
{
	watch_stop(i->watch);
	i->watch = NULL;
	i->listing = i->synced = false;
	err_keep(&i->trouble, NULL);
}
