/* SPDX-License-Identifier: Apache-2.0 */
#include "net/endpoint.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "net/tls/privatekey.h"
#include "net/tls/tlsroots.h"

#define NAME_MAX_LEN 120 /* for messages */

static struct endpoint *unique; /* NULL again when the last one is freed */

void *endpoint_new(size_t size, void (*done)(struct endpoint *e))
{
	struct endpoint *e = mem_zalloc(size);

	e->count = 1;
	e->done = done;
	e->namespace_ = mem_dup("");
	return e;
}

void *endpoint_ref(void *endpoint)
{
	struct endpoint *e = endpoint;

	e->count++;
	return e;
}

static void free_text(const char *text)
{
	mem_free_secret((char *)(uintptr_t)text);
}

void endpoint_unref(void *endpoint)
{
	struct endpoint *e = endpoint;

	if (!e || --e->count > 0)
		return;
	if (e->place)
		HASH_DEL(unique, e);
	e->done(e);
	free(e->place);
	free(e->key);
	free(e->name);
	free(e->namespace_);
	free_text(e->tls.ca_pem);
	tlsroots_unref(e->tls.roots);
	free_text(e->tls.cert_pem);
	free_text(e->tls.key_pem);
	free_text(e->tls.key_password);
	free(e);
}

void *endpoint_unique(void *endpoint)
{
	struct endpoint *e = endpoint;
	MEM_AUTO char *place = mem_printf("%s\n%s", e->namespace_, e->key);
	struct endpoint *there;

	HASH_FIND_STR(unique, place, there);
	if (there && there->done != e->done)
		return e; /* of another protocol, with the same key by chance */
	if (there) {
		endpoint_unref(e);
		return endpoint_ref(there);
	}
	e->place = mem_dup(place);
	HASH_ADD_KEYPTR(hh, unique, e->place, strlen(e->place), e);
	return e;
}

void endpoint_set_namespace(struct endpoint *e, const char *namespace_)
{
	free(e->namespace_);
	e->namespace_ = mem_dup(namespace_ ? namespace_ : "");
}

void endpoint_set_name(struct endpoint *e, const char *servers)
{
	e->name = mem_printf("%.*s%s", NAME_MAX_LEN, servers, strlen(servers) > NAME_MAX_LEN ? "..." : "");
}

void endpoint_share(struct endpoint *e, const struct endpoint *other)
{
	if (e != other && !e->shared)
		e->shared = strcmp(e->namespace_, other->namespace_) != 0;
}

const char *endpoint_namespace(const struct endpoint *e)
{
	return e->shared ? "" : e->namespace_;
}

void endpoint_take_tls(struct endpoint *e, const struct tls_client_config *given)
{
	e->tls = (struct tls_client_config){
		.ca_pem = mem_dup(text_given(given->ca_pem)),
		.roots = given->roots ? tlsroots_ref(given->roots) : tlsroots_get(given->ca_pem),
		.cert_pem = mem_dup(text_given(given->cert_pem)),
		.key_pem = mem_dup(text_given(given->key_pem)),
		.key_password = mem_dup(text_given(given->key_password)),
		.insecure = given->insecure,
	};
}

static int unlock_key(struct endpoint *e, struct err *err)
{
	char *plain = privatekey_plain(e->tls.key_pem, e->tls.key_password, err);

	if (!plain)
		return -1;
	free_text(e->tls.key_pem);
	free_text(e->tls.key_password);
	e->tls.key_pem = plain;
	e->tls.key_password = NULL;
	return 0;
}

int endpoint_check_tls(struct endpoint *e, struct err *err)
{
	if ((e->tls.key_pem && e->tls.key_password && unlock_key(e, err)) || tls_client_check(&e->tls, err))
		return err_wrap(err, "TLS");
	return 0;
}

const char *endpoint_tls_word(const struct endpoint *e, bool tls)
{
	if (!tls)
		return "";
	return e->tls.insecure ? " tls-insecure" : " tls";
}

char *endpoint_fingerprint(const struct endpoint *e, const char *const *secrets, size_t count,
	char out[FINGERPRINT_TEXT])
{
	const char *const tls[] = { e->tls.ca_pem, e->tls.cert_pem, e->tls.key_pem, e->tls.key_password };
	const char **all = mem_array(count + 4, sizeof(*all));

	memcpy(all, tls, sizeof(tls));
	for (size_t i = 0; i < count; i++)
		all[4 + i] = secrets[i];
	fingerprint_of(all, count + 4, out);
	free(all);
	return out;
}
