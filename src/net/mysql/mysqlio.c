/* SPDX-License-Identifier: Apache-2.0 */
#include "net/mysql/mysqlio.h"

#include <errno.h>
#include <event2/event.h>
#include <ma_pvio.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/ui.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/answers.h"
#include "net/mysql/coroutine.h"
#include "net/network.h"
#include "net/tls/tls.h"
#include "net/tls/tlsguard.h"

#define SOCKET_PLUGIN "pvio_socket" /* the connector finds its I/O plugin by this name */
#define PVIO_PLUGIN_TYPE                                                                                               \
	101 /* MARIADB_CLIENT_PVIO_PLUGIN of <mysql/client_plugin.h>, which cannot be included: it includes a header   \
	       that is not installed */
#define SERVER_HAS_TLS 2048 /* CLIENT_SSL */
#define HEAD_BYTES     4    /* of a packet: length and number */
#define READ_BYTES_MIN 256  /* least count of a read: one byte in a TLS record is as much work */
#define READS_A_TURN   16
/* A login has about ten, including TLS 1.3's tickets. Each costs about 20 us. */
#define TLS_MESSAGES_MAX 100

struct pvio_plugin {
	MYSQL_CLIENT_PLUGIN_HEADER
	struct st_ma_pvio_methods *methods;
};

/*
 * The first members of the connector's struct st_ma_pvio_tls, whose header does not compile after
 * <ma_pvio.h>.
 */
struct tls_part {
	void *data;
	MARIADB_PVIO *pvio;
	SSL *ssl;
};

/* Exported by the connector for tracing plugins, but in no header. mode 0: read. */
int ma_pvio_register_callback(my_bool add,
	void (*callback)(int mode, MYSQL *mysql, const unsigned char *buffer, size_t length));

struct mysqlio {
	struct loop *loop;
	int fd;
	struct coroutine *co; /* the operation in progress */
	mysqlio_fn operation, ended, lost;
	void *arg, *lost_arg;
	struct event *event; /* of fd: for the operation's wait, or the watch */
	struct loop_task step;
	struct loop_timer timer; /* until the next turn */
	unsigned reads;          /* in this turn of the loop */
	SSL *ssl;                /* borrowed, once the handshake has begun; NULL: unknown */
	unsigned tls_messages;
	size_t max_bytes, bytes;
	struct answers_hold held; /* bytes */
	X509_STORE *roots;        /* a reference while it connects; NULL: the system's */
	bool tls_required;
	bool broken; /* all further waits fail */
	struct mysqlio_faults faults;
	unsigned char first[HEAD_BYTES + 3]; /* the first bytes from the server */
	unsigned first_len;
};

/*
 * Passes the mysqlio from mysql_real_connect to method_connect, which is reached without a wait.
 */
static struct mysqlio *connecting;

/* ---- Waiting ---- */

static void forget_event(struct mysqlio *io)
{
	if (io->event)
		event_free(io->event);
	io->event = NULL;
}

static void end_operation(struct mysqlio *io)
{
	forget_event(io);
	loop_timer_cancel(&io->timer);
	coroutine_free(io->co);
	io->co = NULL;
}

static void go_on(void *arg)
{
	struct mysqlio *io = arg;
	mysqlio_fn ended = io->ended;

	ERR_clear_error(); /* the connector would report earlier errors as its own */
	if (coroutine_resume(io->co))
		return;
	end_operation(io);
	answers_release(&io->held);
	if (ended)
		ended(io->arg);
}

static void on_event(evutil_socket_t fd, short what, void *arg)
{
	struct mysqlio *io = arg;

	(void)fd;
	(void)what;
	loop_enter(io->loop);
	go_on(io);
}

static void on_lost(evutil_socket_t fd, short what, void *arg)
{
	struct mysqlio *io = arg;

	(void)fd;
	(void)what;
	loop_enter(io->loop);
	forget_event(io);
	io->lost(io->lost_arg);
}

/* 1: try again. 0: aborted. */
static int wait_for(struct mysqlio *io, short what)
{
	if (io->broken || !coroutine_inside(io->co)) {
		errno = ETIMEDOUT;
		return 0;
	}
	forget_event(io);
	io->event = event_new(loop_base(io->loop), io->fd, what, on_event, io);
	event_add(io->event, NULL);
	coroutine_wait(io->co);
	io->reads = 0;
	if (!io->broken)
		return 1;
	errno = ETIMEDOUT;
	return 0;
}

/* Also stops reading data that has arrived already, except for what OpenSSL has read ahead. */
static void stop_reading(struct mysqlio *io)
{
	io->broken = true;
	if (io->ssl)
		SSL_set0_rbio(io->ssl, BIO_new(BIO_s_null()));
	else
		shutdown(io->fd, SHUT_RDWR);
}

/* Call after each read, so that a server that always has data does not block the loop. */
static void share_turns(struct mysqlio *io)
{
	if (++io->reads < READS_A_TURN || io->broken || !coroutine_inside(io->co))
		return;
	loop_timer_set(&io->timer, 0);
	coroutine_wait(io->co);
	io->reads = 0;
}

/* ---- The connector's I/O plugin ---- */

/* The loop has the time-outs. */
static my_bool method_set_timeout(MARIADB_PVIO *pvio, enum enum_pvio_timeout type, int timeout)
{
	(void)pvio;
	(void)type;
	(void)timeout;
	return 0;
}

static int method_get_timeout(MARIADB_PVIO *pvio, enum enum_pvio_timeout type)
{
	(void)pvio;
	(void)type;
	return -1;
}

/*
 * A progress report (error 65535) instead of the greeting makes the connector (3.3.20) dereference
 * a null pointer: the version that a greeting would have.
 */
static bool is_greeting(struct mysqlio *io, const unsigned char *bytes, size_t len)
{
	static const unsigned char progress[] = { 0xff, 0xff, 0xff };

	if (io->first_len == sizeof(io->first))
		return true;
	while (len-- > 0 && io->first_len < sizeof(io->first))
		io->first[io->first_len++] = *bytes++;
	return io->first_len < sizeof(io->first) || memcmp(io->first + HEAD_BYTES, progress, sizeof(progress)) != 0;
}

static ssize_t method_read(MARIADB_PVIO *pvio, unsigned char *buffer, size_t length)
{
	struct mysqlio *io = pvio->data;
	size_t left = io->max_bytes > io->bytes ? io->max_bytes - io->bytes : 0;
	ssize_t got;

	if (length > left + 1) /* one byte above the limit is seen by on_traffic */
		length = left + 1;
	do {
		if (io->broken)
			return -1;
		got = recv(io->fd, buffer, length, MSG_DONTWAIT);
	} while (got < 0 && (errno == EINTR || (errno == EAGAIN && wait_for(io, EV_READ))));
	if (got <= 0 || is_greeting(io, buffer, (size_t)got))
		return got;
	io->faults.bad_greeting = io->broken = true;
	return -1;
}

static ssize_t method_write(MARIADB_PVIO *pvio, const unsigned char *buffer, size_t length)
{
	struct mysqlio *io = pvio->data;
	ssize_t put;

	/*
	 * This is called only before TLS has begun. If the server has no TLS, the connector would
	 * go on unencrypted; and if TLS was requested, it would believe the connection to be
	 * encrypted and send the password in plain text.
	 */
	if (!(pvio->mysql->server_capabilities & SERVER_HAS_TLS)) {
		io->faults.refused_plain = io->tls_required;
		io->broken |= io->tls_required;
		pvio->mysql->options.use_ssl = 0;
	}
	do {
		if (io->broken)
			return -1;
		put = send(io->fd, buffer, length, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (put < 0 && (errno == EINTR || (errno == EAGAIN && wait_for(io, EV_WRITE))));
	return put;
}

static int method_wait(MARIADB_PVIO *pvio, my_bool is_read, int timeout)
{
	int again = wait_for(pvio->data, is_read ? EV_READ : EV_WRITE);

	(void)timeout;
	ERR_clear_error();
	return again;
}

/*
 * The socket is always non-blocking, whatever the connector sets: TLS reads it directly, and waits
 * by method_wait.
 */
static int method_blocking(MARIADB_PVIO *pvio, my_bool value, my_bool *old_value)
{
	(void)pvio;
	(void)value;
	if (old_value)
		*old_value = 0;
	return 0;
}

static my_bool method_connect(MARIADB_PVIO *pvio, MA_PVIO_CINFO *cinfo)
{
	struct mysqlio *io = connecting;

	connecting = NULL;
	if (!io || io->fd < 0)
		return 1;
	pvio->data = io;
	pvio->mysql = cinfo->mysql;
	pvio->type = cinfo->type;
	return 0;
}

static my_bool method_close(MARIADB_PVIO *pvio)
{
	struct mysqlio *io = pvio->data;

	if (!io)
		return 0;
	forget_event(io);
	if (io->fd >= 0)
		close(io->fd);
	io->fd = -1;
	io->ssl = NULL;
	pvio->data = NULL;
	return 0;
}

static int method_nothing(MARIADB_PVIO *pvio)
{
	(void)pvio;
	return 0;
}

/*
 * Counts TLS messages that OpenSSL handles in loops of its own: tickets, requests for another
 * handshake, new keys. Above the limit nothing more is read.
 */
static void on_tls_message(int sent, int version, int type, const void *bytes, size_t len, SSL *ssl, void *arg)
{
	struct mysqlio *io = arg;

	(void)ssl;
	(void)version;
	(void)bytes;
	(void)len;
	if (sent || type != SSL3_RT_HANDSHAKE)
		return;
	if (++io->tls_messages > TLS_MESSAGES_MAX && !io->broken) {
		io->faults.tls_flood = true;
		stop_reading(io);
	}
	share_turns(io);
}

/*
 * The connector does not expose its OpenSSL session, but asks for the socket just before the
 * handshake.
 */
static void prepare_tls(MARIADB_PVIO *pvio, struct mysqlio *io)
{
	const struct tls_part *part = (const struct tls_part *)pvio->ctls;
	my_bool verify = 0;

	if (!mysqlio_has_openssl() || !part || part->pvio != pvio || !part->ssl)
		return;
	io->ssl = part->ssl;
	/* From the connector's context only the verification is still used. */
	if (io->roots) {
		tlsguard_apply(SSL_get_SSL_CTX(io->ssl));
		SSL_CTX_set1_cert_store(SSL_get_SSL_CTX(io->ssl), io->roots);
	} else {
		tls_trust_system(SSL_get_SSL_CTX(io->ssl), false);
	}
	mysql_get_optionv(pvio->mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
	if (!verify)
		SSL_set_verify(io->ssl, SSL_VERIFY_NONE, NULL);
	SSL_set_msg_callback(io->ssl, on_tls_message);
	SSL_set_msg_callback_arg(io->ssl, io);
	tlsguard_apply_late(io->ssl);
}

static my_bool method_get_handle(MARIADB_PVIO *pvio, void *handle)
{
	struct mysqlio *io = pvio->data;

	if (!io || !handle)
		return 1;
	prepare_tls(pvio, io);
	*(my_socket *)handle = io->fd;
	return 0;
}

static my_bool method_is_blocking(MARIADB_PVIO *pvio)
{
	(void)pvio;
	return 0;
}

static my_bool method_is_alive(MARIADB_PVIO *pvio)
{
	const struct mysqlio *io = pvio->data;

	return io && io->fd >= 0 && !io->broken;
}

static my_bool method_has_data(MARIADB_PVIO *pvio, ssize_t *length)
{
	(void)pvio;
	*length = 0;
	return 0;
}

static int method_shutdown(MARIADB_PVIO *pvio)
{
	const struct mysqlio *io = pvio->data;

	return io && io->fd >= 0 ? shutdown(io->fd, SHUT_RDWR) : -1;
}

static struct st_ma_pvio_methods methods = {
	.set_timeout = method_set_timeout,
	.get_timeout = method_get_timeout,
	.read = method_read,
	.async_read = method_read,
	.write = method_write,
	.async_write = method_write,
	.wait_io_or_timeout = method_wait,
	.blocking = method_blocking,
	.connect = method_connect,
	.close = method_close,
	.fast_send = method_nothing,
	.keepalive = method_nothing,
	.get_handle = method_get_handle,
	.is_blocking = method_is_blocking,
	.is_alive = method_is_alive,
	.has_data = method_has_data,
	.shutdown = method_shutdown,
};

/* Called after each read, with or without TLS, so that an endless answer cannot block the loop. */
static void on_traffic(int mode, MYSQL *mysql, const unsigned char *buffer, size_t length)
{
	MARIADB_PVIO *pvio = mysql->net.pvio;
	struct mysqlio *io = pvio && pvio->methods == &methods ? pvio->data : NULL;
	struct err err;

	(void)buffer;
	if (!io || mode != 0 || (ssize_t)length <= 0)
		return;
	io->bytes += length > READ_BYTES_MIN ? length : READ_BYTES_MIN;
	if (io->broken)
		return;
	io->faults.too_much = io->bytes > io->max_bytes;
	if (!io->faults.too_much) {
		if (answers_hold(&network_of(io->loop)->answers, &io->held, io->bytes, &err) == 0) {
			share_turns(io);
			return;
		}
		err_keep(&io->faults.crowded, &err);
	}
	stop_reading(io);
}

static int refuse_prompt(UI *ui)
{
	(void)ui;
	return 0;
}

/*
 * The connector reads a server's public key by an OpenSSL function that prompts at the terminal if
 * the key claims to be encrypted. This disables prompts for the whole process.
 */
static void never_prompt(void)
{
	UI_METHOD *silent = UI_create_method("silent");

	UI_method_set_opener(silent, refuse_prompt);
	UI_set_default_method(silent);
}

/* Once per process. */
static bool take_over_plugin(MYSQL *mysql)
{
	static bool taken;
	struct pvio_plugin *plugin;

	if (taken)
		return true;
	plugin = (struct pvio_plugin *)(void *)mysql_client_find_plugin(mysql, SOCKET_PLUGIN, PVIO_PLUGIN_TYPE);
	if (!plugin)
		return false;
	plugin->methods = &methods;
	ma_pvio_register_callback(1, on_traffic);
	never_prompt();
	taken = true;
	return true;
}

/* ---- For net/mysql/mysqlsession and net/mysql/mysqlpool ---- */

bool mysqlio_has_openssl(void)
{
	const char *library = NULL;

	return mariadb_get_infov(NULL, MARIADB_TLS_LIBRARY, &library) == 0 && library &&
		strncmp(library, "OpenSSL", 7) == 0;
}

struct mysqlio *mysqlio_new(struct loop *loop, const char *namespace_, int fd)
{
	struct mysqlio *io = mem_zalloc(sizeof(*io));

	io->loop = loop;
	io->held.namespace_ = namespace_;
	io->fd = fd;
	loop_task_init(&io->step, go_on, io);
	loop_timer_init(&io->timer, loop, go_on, io);
	return io;
}

void mysqlio_free(struct mysqlio *io)
{
	if (!io)
		return;
	forget_event(io);
	loop_timer_done(&io->timer);
	if (io->fd >= 0)
		close(io->fd);
	answers_release(&io->held);
	err_keep(&io->faults.crowded, NULL);
	free(io);
}

void mysqlio_run(struct mysqlio *io, size_t max_bytes, mysqlio_fn operation, mysqlio_fn ended, void *arg)
{
	mysqlio_watch(io, NULL, NULL);
	io->max_bytes = max_bytes;
	io->bytes = io->reads = io->tls_messages = 0;
	answers_release(&io->held);
	err_keep(&io->faults.crowded, NULL);
	io->broken = io->faults.too_much = io->faults.tls_flood = io->faults.refused_plain = false;
	io->ended = ended;
	io->arg = arg;
	io->co = coroutine_new(operation, arg);
	loop_task_queue(io->loop, &io->step);
}

void mysqlio_break(struct mysqlio *io)
{
	if (!io->co)
		return;
	io->broken = true;
	if (!io->step.queued) { /* queued: it has not started */
		ERR_clear_error();
		while (coroutine_resume(io->co)) {
			/* each wait fails at once */
		}
	}
	loop_task_cancel(io->loop, &io->step);
	end_operation(io);
}

int mysqlio_connect(struct mysqlio *io, MYSQL *mysql, const char *host, const char *user, const char *password,
	const char *database, unsigned port, const char *unix_socket, unsigned long flags, bool tls, X509_STORE *roots)
{
	MYSQL *connected;

	if (!take_over_plugin(mysql))
		return -1;
	io->tls_required = tls;
	io->roots = roots;
	if (roots)
		X509_STORE_up_ref(roots);
	connecting = io;
	connected = mysql_real_connect(mysql, host, user, password, database, port, unix_socket, flags);
	if (connecting == io)
		connecting = NULL;
	X509_STORE_free(io->roots);
	io->roots = NULL;
	return connected ? 0 : -1;
}

void mysqlio_watch(struct mysqlio *io, mysqlio_fn lost, void *arg)
{
	forget_event(io);
	io->lost = lost;
	io->lost_arg = arg;
	if (!lost || io->fd < 0)
		return;
	io->event = event_new(loop_base(io->loop), io->fd, EV_READ, on_lost, io);
	event_add(io->event, NULL);
}

const struct mysqlio_faults *mysqlio_faults(const struct mysqlio *io)
{
	return &io->faults;
}
