/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/diagnosis.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/plaintext.h"

static const char *const names[] = { [DIAGNOSIS_OK] = "ok",
	[DIAGNOSIS_SKIPPED] = "skipped",
	[DIAGNOSIS_WARNING] = "warning",
	[DIAGNOSIS_ERROR] = "error" };

static void add(struct diagnosis *d, const struct diagnosis_line *line)
{
	if (d->count == d->alloc) {
		d->alloc = d->alloc ? 2 * d->alloc : 32;
		d->list = mem_resize(d->list, d->alloc, sizeof(*d->list));
	}
	d->list[d->count++] = *line;
}

void diagnosis_vadd(struct diagnosis *d, const char *hop, enum diagnosis_status status, char *mend, const char *fmt,
	va_list ap)
{
	struct diagnosis_line line = { .hop = hop, .status = status, .message = mem_vprintf(fmt, ap), .mend = mend };

	add(d, &line);
}

void diagnosis_follows(struct diagnosis *d, const char *hop, const char *need)
{
	struct diagnosis_line line = { .hop = hop,
		.status = DIAGNOSIS_SKIPPED,
		.message = mem_printf("not checked: %s failed", need),
		.need = need };

	add(d, &line);
}

void diagnosis_more(struct diagnosis *d, const char *hop, size_t count, char *mend)
{
	struct diagnosis_line line = { .hop = hop,
		.status = diagnosis_worst(d, hop),
		.message = mem_printf("and %zu more", count),
		.mend = mend };

	add(d, &line);
}

void diagnosis_done(struct diagnosis *d)
{
	for (size_t i = 0; i < d->count; i++) {
		free(d->list[i].message);
		free(d->list[i].mend);
	}
	free(d->list);
	*d = (struct diagnosis){ NULL, 0, 0 };
}

void diagnosis_drop_fine(struct diagnosis *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->count; i++) {
		if (d->list[i].status > DIAGNOSIS_SKIPPED) {
			d->list[kept++] = d->list[i];
			continue;
		}
		free(d->list[i].message);
		free(d->list[i].mend);
	}
	d->count = kept;
}

enum diagnosis_status diagnosis_worst(const struct diagnosis *d, const char *hop)
{
	enum diagnosis_status worst = DIAGNOSIS_OK;

	for (size_t i = 0; i < d->count; i++)
		if ((!hop || strcmp(d->list[i].hop, hop) == 0) && d->list[i].status > worst)
			worst = d->list[i].status;
	return worst;
}

const char *diagnosis_cause(const struct diagnosis *d, const char *hop)
{
	for (size_t i = 0; i < d->count; i++)
		if (strcmp(d->list[i].hop, hop) == 0 && d->list[i].need)
			return d->list[i].need;
	return diagnosis_worst(d, hop) == DIAGNOSIS_ERROR ? hop : NULL;
}

static size_t findings_of(const struct diagnosis *d, const char *hop)
{
	size_t count = 0;

	for (size_t i = 0; i < d->count; i++)
		count += strcmp(d->list[i].hop, hop) == 0;
	return count;
}

static void put_heading(const struct diagnosis *d, const char *hop, bool beside, struct buf *out)
{
	buf_printf(out, beside ? "%-8s %-16s" : "%-8s %s", names[diagnosis_worst(d, hop)], hop);
}

static void put_mend(const struct diagnosis_line *f, struct buf *out)
{
	if (!f->mend)
		return;
	buf_puts(out, "           mend: ");
	plaintext_put(out, f->mend, 0);
	buf_putc(out, '\n');
}

/* "skipped  endpoints, lease: not checked, ..." */
static void put_what_follows(const struct diagnosis *d, struct buf *out)
{
	const char *separator = "skipped  ";

	for (size_t i = 0; i < d->count; i++) {
		if (!d->list[i].need)
			continue;
		buf_printf(out, "%s%s", separator, d->list[i].hop);
		separator = ", ";
	}
	if (*separator == ',')
		buf_puts(out, ": not checked, because a hop that they need failed\n");
}

/* Problems go below the hop; a single harmless finding goes beside it. */
void diagnosis_text(const struct diagnosis *d, struct buf *out)
{
	for (size_t i = 0; i < d->count; i++) {
		const struct diagnosis_line *f = &d->list[i];
		if (f->need)
			continue;
		bool first = i == 0 || strcmp(d->list[i - 1].hop, f->hop) != 0;
		bool beside = (f->status <= DIAGNOSIS_SKIPPED && findings_of(d, f->hop) == 1) ||
			(d->count == 1 && !f->mend);

		if (first)
			put_heading(d, f->hop, beside, out);
		if (first && !beside)
			buf_putc(out, '\n');
		buf_puts(out, beside ? " " : "         ");
		plaintext_put(out, f->message, 0);
		buf_putc(out, '\n');
		put_mend(f, out);
	}
	put_what_follows(d, out);
}

json_t *diagnosis_json(const struct diagnosis *d)
{
	json_t *list = json_array();

	for (size_t i = 0; i < d->count; i++) {
		const struct diagnosis_line *f = &d->list[i];

		json_array_append_new(list,
			json_pack("{s:s, s:s, s:s, s:s?}", "hop", f->hop, "status", names[f->status], "message",
				f->message, "mend", f->mend));
	}
	return list;
}
