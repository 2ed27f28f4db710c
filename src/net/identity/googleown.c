/* SPDX-License-Identifier: Apache-2.0 */
#include "net/identity/googleown.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "net/http/httpurl.h"
#include "net/identity/googlekey.h"
#include "net/identity/identity_parts.h"
#include "net/identity/oauthreply.h"

#define KEY_FILE       "GOOGLE_APPLICATION_CREDENTIALS"
#define METADATA_HOST  "169.254.169.254"
#define METADATA_PATHS "/computeMetadata/v1/"
#define URL_MAX        ((size_t)4096)

#define PROJECT_ENV "CLOUDSDK_CORE_PROJECT"

enum { SCOPE };
enum { START, BY_KEY, METADATA_PROJECT, METADATA_TOKEN }; /* stages */
/* The note is the project; NULL: not known. */

/* ---- The steps ---- */

/* Where what the environment says would not be asked for is said by it, too. */
static void note_project(struct identity_exchange *x, const char *otherwise)
{
	const char *said = identity_env(x, PROJECT_ENV);

	mem_free_secret(x->note);
	x->note = mem_dup(said ? said : otherwise);
}

static enum identity_verdict ask_by_key(struct identity_exchange *x, struct identity_request *out, struct err *err)
{
	struct googlekey key = { 0 };
	char *text = identity_file_text(x, KEY_FILE, err);
	enum identity_verdict verdict = IDENTITY_FAILED;

	if (!text)
		return IDENTITY_FAILED;
	if (googlekey_read(text, true, &key, err)) {
		err_wrap(err, "the file that " KEY_FILE " names");
	} else if (googlekey_ask(&key, identity_text(x->identity, SCOPE), x->unix_ms, out, err) == 0) {
		note_project(x, key.project);
		x->stage = BY_KEY;
		verdict = IDENTITY_SEND;
	}
	googlekey_done(&key);
	mem_free_secret(text);
	return verdict;
}

static enum identity_verdict ask_metadata(const struct identity_exchange *x, struct identity_request *out)
{
	const char *place = identity_env(x, "GCE_METADATA_HOST");
	struct buf url = BUF_INIT(URL_MAX);

	buf_printf(&url, "http://%s" METADATA_PATHS, place ? place : METADATA_HOST);
	if (x->stage == METADATA_PROJECT) {
		buf_puts(&url, "project/project-id");
	} else {
		buf_puts(&url, "instance/service-accounts/default/token?scopes=");
		buf_put_percent(&url, identity_text(x->identity, SCOPE), "");
	}
	out->own = true;
	out->url = buf_take(&url);
	strmap_set(&out->headers, "Metadata-Flavor", "Google");
	return IDENTITY_SEND;
}

static enum identity_verdict googleown_next(struct identity_exchange *x, struct identity_request *out,
	struct credential *got, struct err *err)
{
	const char *project = identity_env(x, PROJECT_ENV);

	(void)got;
	if (x->stage != START)
		return ask_metadata(x, out);
	if (project && !googlekey_is_project(project)) {
		err_set(err, ERR_INVALID, PROJECT_ENV " is no name of a project");
		return IDENTITY_FAILED;
	}
	if (identity_env(x, KEY_FILE))
		return ask_by_key(x, out, err);
	if (!x->world->metadata) {
		err_set(err, ERR_INVALID,
			"kscaled has no Google identity of its own: its environment has no " KEY_FILE
			", and the machine's is not asked for (option cloud-metadata)");
		return IDENTITY_FAILED;
	}
	note_project(x, NULL);
	x->stage = x->note ? METADATA_TOKEN : METADATA_PROJECT;
	return ask_metadata(x, out);
}

/* ---- What comes ---- */

/* A machine may have none; who needs it then says so. */
static enum identity_verdict take_project(struct identity_exchange *x, const struct identity_answer *answer,
	struct err *err)
{
	MEM_AUTO char *line = mem_dupn(answer->body ? answer->body : "",
		strcspn(answer->body ? answer->body : "", "\r\n"));

	if (answer->status != 200 && answer->status != 404) {
		identity_refused(answer, "no project", NULL, err);
		return IDENTITY_FAILED;
	}
	if (answer->status == 200 && !googlekey_is_project(line)) {
		err_set(err, ERR_INVALID, "what it says is no name of a project");
		return IDENTITY_FAILED;
	}
	if (answer->status == 200)
		note_project(x, line);
	x->stage = METADATA_TOKEN;
	return IDENTITY_NEXT;
}

static enum identity_verdict googleown_read(struct identity_exchange *x, const struct identity_answer *answer,
	struct credential *got, struct err *err)
{
	enum identity_verdict verdict = IDENTITY_FAILED;

	if (x->stage == METADATA_PROJECT) {
		verdict = take_project(x, answer, err);
	} else if (oauthreply_read(answer, got, err) == 0) {
		got->project = mem_dup(x->note);
		verdict = IDENTITY_GOT;
	}
	if (verdict == IDENTITY_FAILED)
		err_wrap(err, x->stage == BY_KEY ? "the key that " KEY_FILE " names" : "the machine's metadata server");
	return verdict;
}

static const struct identity_kind googleown = { .name = "google own",
	.called = "kscaled's own Google token",
	.next = googleown_next,
	.read = googleown_read };

struct identity *googleown_new(const char *scope)
{
	const struct identity_config config = { .kind = &googleown, .texts = { [SCOPE] = scope } };

	return identity_new(&config);
}

/* ---- Who may see the token ---- */

/* "monitoring.us-east4.rep.googleapis.com", in which the region is one name. */
static bool is_region_of_monitoring(const char *host)
{
	const char *region = text_behind(host, "monitoring.");
	size_t len = region ? strspn(region, "abcdefghijklmnopqrstuvwxyz0123456789-") : 0;

	return len > 0 && strcmp(region + len, ".rep.googleapis.com") == 0;
}

bool googleown_may_see(const char *url)
{
	static const char *const hosts[] = { "monitoring.googleapis.com", "secretmanager.googleapis.com", NULL };
	struct httpurl_place place;
	bool may;

	if (httpurl_place(url, &place, NULL))
		return false;
	may = strcmp(place.scheme, "https") == 0 && place.port == 443 &&
		(text_is_one_of(place.host, hosts) || is_region_of_monitoring(place.host));
	httpurl_place_done(&place);
	return may;
}
