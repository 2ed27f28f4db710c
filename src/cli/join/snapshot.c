/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/join/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/hostport.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/fields.h"
#include "cli/host/pruning.h"
#include "cli/join/reached.h"
#include "cli/manifestobjects.h"

struct snapshot {
	struct cluster *cluster;
	const struct hostfiles *files;
	json_t *objects; /* path -> object; null: did not exist */
	char *addr;      /* NULL: another Service's */
	char *kubeconfig, *token, *environment;
};

/* ---- Taking ---- */

static int take_object(struct snapshot *b, const char *path)
{
	struct err err = { 0 };
	json_t *there = cluster_get(b->cluster, path, &err);

	if (!there && err.kind != ERR_MISSING)
		return -1;
	json_object_set_new(b->objects, path, there ? there : json_null());
	return 0;
}

static int take_objects(struct snapshot *b, const struct documents *wanted)
{
	json_t *pruned, *one;
	size_t i;

	for (i = 0; i < wanted->count; i++) {
		MEM_AUTO char *path = manifestobjects_path(wanted->list[i].json);

		if (take_object(b, path) < 0)
			return -1;
	}
	pruned = pruning_find(b->cluster, wanted, NULL);
	if (!pruned)
		return -1;
	json_array_foreach(pruned, i, one)
		json_object_set(b->objects, json_str_or_empty(one, "path"), json_object_get(one, "object"));
	json_decref(pruned);
	return 0;
}

/* The existing object for the wanted one of this kind; NULL: none. */
static const json_t *there_of(const struct snapshot *b, const struct documents *wanted, const char *kind)
{
	for (size_t i = 0; i < wanted->count; i++) {
		MEM_AUTO char *path = manifestobjects_path(wanted->list[i].json);
		const json_t *there = json_object_get(b->objects, path);

		if (json_str_is(wanted->list[i].json, "kind", kind))
			return json_is_object(there) ? there : NULL;
	}
	return NULL;
}

/* The ExternalName, or the address in the EndpointSlice, which wanted may not contain. */
static char *addr_of(struct snapshot *b, const struct documents *wanted)
{
	const json_t *service = there_of(b, wanted, "Service");
	const char *name = fields_text(service, "spec.externalName"), *address;
	MEM_AUTO char *path = mem_printf("/apis/discovery.k8s.io/v1/namespaces/%s/endpointslices/%s-host",
		fields_namespace(service), fields_name(service));
	json_t *slice;
	json_int_t port;
	char *addr;

	if (!service)
		return NULL;
	if (*name)
		return hostport_join(name, (unsigned)fields_number(service, "spec.ports.0.port"));
	slice = cluster_get(b->cluster, path, NULL);
	address = fields_text(slice, "endpoints.0.addresses.0");
	port = fields_number(slice, "ports.0.port");
	addr = *address && port > 0 ? hostport_join(address, (unsigned)port) : NULL;
	json_decref(slice);
	return addr;
}

struct snapshot *snapshot_take(struct cluster *c, const struct documents *wanted, const struct hostfiles *f)
{
	struct snapshot *b = mem_zalloc(sizeof(*b));

	*b = (struct snapshot){ .cluster = c, .files = f, .objects = json_object() };
	if (reached_check(c, NULL) == 0 && take_objects(b, wanted) == 0) {
		b->addr = addr_of(b, wanted);
		b->kubeconfig = hostfiles_read(f->config_dir, "kubeconfig");
		b->environment = hostfiles_read(f->config_dir, "join.env");
		b->token = hostfiles_read(f->state_dir, "token");
	}
	if (b->kubeconfig && b->token && b->environment)
		return b;
	snapshot_free(b);
	return NULL;
}

void snapshot_free(struct snapshot *b)
{
	if (!b)
		return;
	json_decref(b->objects);
	free(b->addr);
	mem_free_secret(b->kubeconfig);
	mem_free_secret(b->token);
	free(b->environment);
	free(b);
}

const char *snapshot_host(const struct snapshot *b)
{
	return b->addr;
}

/* ---- Restoring ---- */

static bool has_addr(const char *path)
{
	static const char *const words[] = { "/services/", "/endpointslices/", "/endpoints/", NULL };

	return text_has_one_of(path, words);
}

/* Namespaces and CRDs may contain objects by now. */
static bool stays(const char *path)
{
	const char *in = text_behind(path, "/api/v1/namespaces/");

	return (in && !strchr(in, '/')) || strstr(path, "/customresourcedefinitions/");
}

/* Overwrites the current version with the old content. */
static int put_object(const struct snapshot *b, const char *path, const json_t *was, struct err *err)
{
	json_t *there = cluster_get(b->cluster, path, err), *body = json_deep_copy(was),
	       *metadata = json_object_get(body, "metadata");
	MEM_AUTO char *collection = mem_dupn(path, (size_t)(strrchr(path, '/') - path));
	int failed = there ? 0 : -1;

	json_object_del(metadata, "resourceVersion");
	json_object_del(metadata, "uid");
	json_object_del(body, "status");
	if (there) {
		json_object_set_new(metadata, "resourceVersion",
			json_string(fields_text(there, "metadata.resourceVersion")));
		failed = cluster_call(b->cluster, KUBE_UPDATE, path, body, NULL, err);
	} else if (err->kind == ERR_MISSING) {
		json_object_del(metadata, "managedFields");
		failed = cluster_call(b->cluster, KUBE_CREATE, collection, body, NULL, err);
	}
	json_decref(there);
	json_decref(body);
	return failed;
}

static int put_one(const struct snapshot *b, const char *path, const json_t *was, struct err *err)
{
	if (stays(path) || (has_addr(path) && b->addr))
		return 0;
	if (json_is_object(was))
		return put_object(b, path, was, err);
	return cluster_delete(b->cluster, path, err);
}

int snapshot_restore(const struct snapshot *b, struct err *err)
{
	struct err one = { 0 };
	const char *path;
	json_t *was;
	int failed = 0;

	json_object_foreach(b->objects, path, was)
	{
		if (put_one(b, path, was, &one) == 0 || failed)
			continue;
		*err = one;
		failed = err_wrap(err, "putting back %s", path);
	}
	if (hostfiles_write(b->files, b->kubeconfig, b->token, b->environment, &one) < 0 && !failed) {
		*err = one;
		failed = -1;
	}
	return failed;
}
