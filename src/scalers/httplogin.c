/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/httplogin.h"

#include "base/mem.h"
#include "net/identity/identity.h"
#include "scalers/params.h"

void httplogin_done(struct httplogin *login)
{
	webaccess_unref(login->access);
	mem_free_secret(login->url);
	*login = (struct httplogin){ 0 };
}

int httplogin_log_in(struct httplogin *login, const struct webaccess_config *config, struct err *err)
{
	login->access = webaccess_new(config, err);
	identity_unref(config->identity);
	return login->access ? 0 : -1;
}

int httplogin_take_url(struct httplogin *login, struct buf *url, struct err *err)
{
	bool too_long = buf_failed(url);

	mem_free_secret(login->url);
	login->url = buf_take(url);
	return too_long ? params_wrong(err, "query", "is too long: the URL may have %zu bytes", HTTPLOGIN_URL_MAX) : 0;
}
