/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/join/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hostport.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/host/pruning.h"
#include "cli/manifestobjects.h"
#include "control/certs/certs.h"

#define APISERVICE    "/apis/apiregistration.k8s.io/v1/apiservices/" CERTS_APISERVICE
#define METRICS       "/apis/external.metrics.k8s.io/v1beta1"
#define FILE_SIZE_MAX (1 << 20)

struct snapshot {
	struct cluster *cluster;
	const struct hostfiles *files;
	json_t *objects; /* path -> object; null: did not exist */
	char *addr;      /* NULL: another Service's */
	char *kubeconfig, *token, *environment;
};

/* ---- Taking ---- */

/* The condition may be outdated, so ask for the metrics, too. */
static bool is_reached(struct cluster *c)
{
	json_t *apiservice = NULL;
	const json_t *condition;
	bool available = false;
	size_t i;

	if (cluster_call(c, KUBE_GET, APISERVICE, NULL, &apiservice, NULL) < 0)
		return false;
	json_array_foreach(json_object_get(json_object_get(apiservice, "status"), "conditions"), i, condition)
	{
		available |= json_str_is(condition, "type", "Available") && json_str_is(condition, "status", "True");
	}
	json_decref(apiservice);
	return available && cluster_call(c, KUBE_GET, METRICS, NULL, NULL, NULL) == 0;
}

static int take_object(struct snapshot *b, const char *path)
{
	json_t *there = NULL;
	struct err err = { 0 };

	if (cluster_call(b->cluster, KUBE_GET, path, NULL, &there, &err) < 0 && err.kind != ERR_MISSING)
		return -1;
	json_object_set_new(b->objects, path, there ? there : json_null());
	return 0;
}

static void take_pruned(void *arg, const char *path, const char *title, const json_t *object)
{
	struct snapshot *b = arg;

	(void)title;
	json_object_set_new(b->objects, path, json_deep_copy(object));
}

static int take_objects(struct snapshot *b, const struct documents *wanted)
{
	int failed = 0;

	for (size_t i = 0; !failed && i < wanted->count; i++) {
		MEM_AUTO char *path = manifestobjects_path(wanted->list[i].json);

		failed = take_object(b, path);
	}
	return failed ? -1 : pruning_each(b->cluster, wanted, take_pruned, b, NULL);
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

static const json_t *first_of(const json_t *object, const char *key)
{
	return json_array_get(json_object_get(object, key), 0);
}

/* The ExternalName, or the address in the EndpointSlice, which wanted may not contain. */
static char *addr_of(struct snapshot *b, const struct documents *wanted)
{
	const json_t *service = there_of(b, wanted, "Service"), *spec = json_object_get(service, "spec"),
		     *metadata = json_object_get(service, "metadata");
	const char *name = json_str_or_empty(spec, "externalName"), *address;
	json_int_t port = json_integer_value(json_object_get(first_of(spec, "ports"), "port"));
	MEM_AUTO char *path = mem_printf("/apis/discovery.k8s.io/v1/namespaces/%s/endpointslices/%s-host",
		json_str_or_empty(metadata, "namespace"), json_str_or_empty(metadata, "name"));
	json_t *slice = NULL;
	char *addr = NULL;

	if (!service)
		return NULL;
	if (*name)
		return hostport_join(name, (unsigned)port);
	if (cluster_call(b->cluster, KUBE_GET, path, NULL, &slice, NULL) < 0)
		return NULL;
	address = json_string_value(first_of(first_of(slice, "endpoints"), "addresses"));
	port = json_integer_value(json_object_get(first_of(slice, "ports"), "port"));
	if (address && port > 0)
		addr = hostport_join(address, (unsigned)port);
	json_decref(slice);
	return addr;
}

static char *read_text(const char *folder, const char *name)
{
	MEM_AUTO char *path = mem_printf("%s/%s", folder, name);
	struct buf text = BUF_INIT(FILE_SIZE_MAX);
	char *copy = file_read(path, FILE_ANY, NULL, &text, NULL) == 0 ? mem_dup(buf_text(&text)) : NULL;

	buf_done_secret(&text);
	return copy;
}

struct snapshot *snapshot_take(struct cluster *c, const struct documents *wanted, const struct hostfiles *f)
{
	struct snapshot *b = mem_zalloc(sizeof(*b));

	*b = (struct snapshot){ .cluster = c, .files = f, .objects = json_object() };
	if (is_reached(c) && take_objects(b, wanted) == 0) {
		b->addr = addr_of(b, wanted);
		b->kubeconfig = read_text(f->config_dir, "kubeconfig");
		b->environment = read_text(f->config_dir, "join.env");
		b->token = read_text(f->state_dir, "token");
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

static bool has_any(const char *path, const char *const *words)
{
	for (; *words; words++)
		if (strstr(path, *words))
			return true;
	return false;
}

static bool has_addr(const char *path)
{
	static const char *const words[] = { "/services/", "/endpointslices/", "/endpoints/", NULL };

	return has_any(path, words);
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
	json_t *there = NULL, *body = json_deep_copy(was), *metadata = json_object_get(body, "metadata");
	MEM_AUTO char *collection = mem_dupn(path, (size_t)(strrchr(path, '/') - path));
	int failed = cluster_call(b->cluster, KUBE_GET, path, NULL, &there, err);

	json_object_del(metadata, "resourceVersion");
	json_object_del(metadata, "uid");
	json_object_del(body, "status");
	if (!failed) {
		json_object_set(metadata, "resourceVersion",
			json_object_get(json_object_get(there, "metadata"), "resourceVersion"));
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
	return cluster_call(b->cluster, KUBE_DELETE, path, NULL, NULL, err) < 0 && err->kind != ERR_MISSING ? -1 : 0;
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
