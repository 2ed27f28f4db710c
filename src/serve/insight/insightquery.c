/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/insight/insightquery.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/setselector.h"

/* *text NULL: absent or empty. */
static int read_parameter(const struct httpd_request *r, const char *name, const char **text, struct err *err)
{
	*text = httpd_query(r, name);
	if (!*text && httpd_has_query(r, name))
		return err_set(err, ERR_INVALID, "%s: it is badly encoded", name);
	if (*text && !**text)
		*text = NULL;
	return 0;
}

/* k8s.io/apimachinery pkg/runtime/converter.go: everything but these two words means yes. */
static bool read_watch(const struct httpd_request *r)
{
	const char *text = httpd_query(r, "watch");

	return httpd_has_query(r, "watch") && !(text && (strcasecmp(text, "false") == 0 || strcmp(text, "0") == 0));
}

static int read_include(const struct httpd_request *r, struct insightquery *q, struct err *err)
{
	static const char *const words[] = { [INSIGHTQUERY_METADATA] = "Metadata",
		[INSIGHTQUERY_NOTHING] = "None",
		[INSIGHTQUERY_OBJECT] = "Object" };
	const char *text;

	if (read_parameter(r, "includeObject", &text, err) < 0)
		return -1;
	if (!text)
		return 0;
	for (size_t i = 0; i < MEM_COUNT(words); i++)
		if (strcmp(words[i], text) == 0) {
			q->include = (enum insightquery_include)i;
			return 0;
		}
	return err_set(err, ERR_INVALID, "includeObject: \"%.64s\" is neither None, Metadata nor Object", text);
}

/* Commas are also inside "in (a,b)". */
static size_t count_terms(const char *labels)
{
	size_t count = 1;
	bool within = false;

	for (; *labels; labels++) {
		within = (within || *labels == '(') && *labels != ')';
		count += *labels == ',' && !within;
	}
	return count;
}

static int read_labels(const struct httpd_request *r, struct insightquery *q, struct err *err)
{
	const char *text;

	if (read_parameter(r, "labelSelector", &text, err) < 0)
		return -1;
	if (!text)
		return 0;
	q->labels = setselector_normal(text, err);
	if (!q->labels)
		return err_wrap(err, "labelSelector");
	return count_terms(q->labels) <= INSIGHTQUERY_LABELS_MAX
		? 0
		: err_set(err, ERR_INVALID, "labelSelector: more than %d terms", INSIGHTQUERY_LABELS_MAX);
}

/* "metadata.name=web", "metadata.namespace!=shop", "a==b": one term, split into its parts. */
static int read_field(char *term, struct insightquery *q, struct err *err)
{
	struct insightquery_field *f = &q->field[q->field_count];
	char *operator_ = term + strcspn(term, "=!");
	size_t len = strncmp(operator_, "!=", 2) == 0 || strncmp(operator_, "==", 2) == 0 ? 2 : 1;
	bool is_one = *operator_ == '=' || (*operator_ == '!' && len == 2);

	if (!is_one)
		return err_set(err, ERR_INVALID, "fieldSelector: \"%.64s\" is not FIELD=VALUE or FIELD!=VALUE", term);
	f->differs = *operator_ == '!';
	f->value = operator_ + len;
	*operator_ = '\0';
	f->of_namespace = strcmp(term, "metadata.namespace") == 0;
	if (!f->of_namespace && strcmp(term, "metadata.name") != 0)
		return err_set(err, ERR_INVALID,
			"fieldSelector: field label not supported: \"%.64s\"; metadata.name and metadata.namespace are",
			term);
	q->field_count++;
	return 0;
}

static int read_fields(const struct httpd_request *r, struct insightquery *q, struct err *err)
{
	const char *text;
	char *rest, *term;

	if (read_parameter(r, "fieldSelector", &text, err) < 0)
		return -1;
	q->fields = rest = mem_dup(text);
	while ((term = strsep(&rest, ",")) != NULL) {
		if (q->field_count == INSIGHTQUERY_FIELDS_MAX)
			return err_set(err, ERR_INVALID, "fieldSelector: more than %d terms", INSIGHTQUERY_FIELDS_MAX);
		if (*term && read_field(term, q, err) < 0)
			return -1;
	}
	return 0;
}

int insightquery_read(const struct httpd_request *r, struct insightquery *out, struct err *err)
{
	out->watch = read_watch(r);
	return read_include(r, out, err) || read_labels(r, out, err) || read_fields(r, out, err) ? -1 : 0;
}

void insightquery_done(struct insightquery *q)
{
	free(q->labels);
	free(q->fields);
	*q = (struct insightquery){ 0 };
}

bool insightquery_matches(const struct insightquery *q, const struct meta *m)
{
	for (size_t i = 0; i < q->field_count; i++) {
		const struct insightquery_field *f = &q->field[i];

		if ((strcmp(f->of_namespace ? m->namespace_ : m->name, f->value) != 0) != f->differs)
			return false;
	}
	return !q->labels || setselector_matches(q->labels, &m->labels);
}
