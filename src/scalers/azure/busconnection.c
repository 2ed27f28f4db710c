/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/azure/busconnection.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"
#include "net/http/httpurl.h"

#define BLANKS       " \t\r\n"
#define HOST_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.:[]"
#define HOST_MAX     300

void busconnection_done(struct busconnection *c)
{
	mem_free_secret(c->host);
	mem_free_secret(c->key_name);
	mem_free_secret(c->key);
	mem_free_secret(c->signature);
	mem_free_secret(c->entity_path);
	*c = (struct busconnection){ 0 };
}

/* The last of several values counts, as in the Go client. */
static void put(char **to, const char *value)
{
	mem_free_secret(*to);
	*to = *value ? mem_dup(value) : NULL;
}

static int take_endpoint(struct busconnection *c, const char *value, struct err *err)
{
	const char *host = strstr(value, "://");
	size_t len = host ? strcspn(host += 3, "/?#") : 0;
	MEM_AUTO char *name = mem_dupn(host ? host : "", len), *url = mem_printf("https://%s", name);
	struct httpurl_place place = { 0 };

	if (len == 0 || len > HOST_MAX || strspn(name, HOST_LETTERS) != len || httpurl_place(url, &place, NULL))
		return err_set(err, ERR_INVALID,
			"failed parsing connection string due to an incorrectly formatted Endpoint value: it is "
			"sb://HOST/");
	httpurl_place_done(&place);
	put(&c->host, name);
	return 0;
}

static int take_pair(struct busconnection *c, const char *key, const char *value, struct err *err)
{
	const struct {
		const char *key;
		char **to;
	} places[] = { { "SharedAccessKeyName", &c->key_name }, { "SharedAccessKey", &c->key },
		{ "SharedAccessSignature", &c->signature }, { "EntityPath", &c->entity_path } };

	if (strcasecmp(key, "Endpoint") == 0)
		return take_endpoint(c, value, err);
	for (size_t i = 0; i < MEM_COUNT(places); i++)
		if (strcasecmp(key, places[i].key) == 0)
			put(places[i].to, value);
	return 0;
}

static int take_piece(struct busconnection *c, char *piece, struct err *err)
{
	char *key = text_trim(piece, BLANKS), *equals = strchr(key, '=');

	if (!*key)
		return 0;
	if (!equals)
		return err_set(err, ERR_INVALID,
			"failed parsing connection string due to unmatched key value separated by '='");
	*equals = '\0';
	return take_pair(c, text_trim(key, BLANKS), text_trim(equals + 1, BLANKS), err);
}

/* The service knows only this scheme. */
static int check(const struct busconnection *c, struct err *err)
{
	if (!c->host)
		return err_set(err, ERR_INVALID, "key \"Endpoint\" must not be empty");
	if (c->signature)
		return text_begins(c->signature, "SharedAccessSignature ")
			? 0
			: err_set(err, ERR_INVALID,
				  "key \"SharedAccessSignature\": its value begins with the word "
				  "SharedAccessSignature");
	if (!c->key_name)
		return err_set(err, ERR_INVALID, "key \"SharedAccessKeyName\" must not be empty");
	if (!c->key)
		return err_set(err, ERR_INVALID,
			"key \"SharedAccessKey\" or \"SharedAccessSignature\" cannot both be empty");
	return 0;
}

int busconnection_parse(const char *text, struct busconnection *out, struct err *err)
{
	char *copy = mem_dup(text), *rest = copy, *piece;
	int rc = 0;

	*out = (struct busconnection){ 0 };
	while (rc == 0 && (piece = strsep(&rest, ";")) != NULL)
		rc = take_piece(out, piece, err);
	mem_wipe(copy, strlen(text));
	free(copy);
	if (rc == 0)
		rc = check(out, err);
	if (rc)
		busconnection_done(out);
	return rc;
}
