/* SPDX-License-Identifier: Apache-2.0 */
#include "mariadbserver.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

#define PATH "PATH=$PATH:/usr/sbin "

bool mariadbserver_there(void)
{
	return system(PATH "mariadbd --version >/dev/null 2>&1") == 0 &&
		system("mariadb-install-db --version >/dev/null 2>&1 || command -v mariadb-install-db >/dev/null "
		       "2>&1") == 0;
}

static void write_file(const struct mariadbserver *w, const char *name, const char *text)
{
	MEM_AUTO char *path = mem_printf("%s/%s", w->folder, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod(path, 0644), 0);
}

static void run(const char *command)
{
	if (system(command) != 0)
		fail_msg("failed: %s", command);
}

static bool accepts(const struct mariadbserver *w)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool yes;

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", w->socket);
	yes = connect(fd, (const struct sockaddr *)&sun, sizeof(sun)) == 0;
	close(fd);
	return yes;
}

void mariadbserver_start(struct mariadbserver *w)
{
	w->pid = fork();
	assert_true(w->pid >= 0);
	if (w->pid == 0) {
		MEM_AUTO char *config = mem_printf("--defaults-file=%s/my.cnf", w->folder);

		prctl(PR_SET_PDEATHSIG, SIGKILL); /* even if the test crashes */
		if (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout))
			_exit(126);
		execl("/usr/sbin/mariadbd", "mariadbd", config, (char *)NULL);
		execlp("mariadbd", "mariadbd", config, (char *)NULL);
		_exit(127);
	}
	for (int i = 0; !accepts(w); i++) {
		struct timespec wait = { .tv_nsec = 20000000 };

		if (i > 1500 || waitpid(w->pid, NULL, WNOHANG) == w->pid)
			fail_msg("mariadbd did not start: see %s/log", w->folder);
		nanosleep(&wait, NULL);
	}
}

void mariadbserver_stop(struct mariadbserver *w, int signo)
{
	if (w->pid <= 0)
		return;
	kill(w->pid, SIGCONT);
	kill(w->pid, signo);
	waitpid(w->pid, NULL, 0);
	w->pid = 0;
}

void mariadbserver_freeze(const struct mariadbserver *w)
{
	kill(w->pid, SIGSTOP);
	assert_int_equal(waitpid(w->pid, NULL, WUNTRACED), w->pid);
}

void mariadbserver_sql(const struct mariadbserver *w, const char *sql)
{
	MEM_AUTO char *command = mem_printf("mariadb --no-defaults -u root -S %s -e \"%s\"", w->socket, sql);

	run(command);
}

static void make_config(const struct mariadbserver *w, const struct fixture *f)
{
	MEM_AUTO char *text = mem_printf("[mariadbd]\ndatadir=%s/"
					 "data\nsocket=%s\nport=%u\nbind-address=127.0.0.1,127.0.0.2\npid-file=%s/"
					 "pid\nlog-error=%s/log\nuser=%s\n"
					 "ssl-ca=%s/ca.crt\nssl-cert=%s/serving.crt\nssl-key=%s/"
					 "serving.key\nplugin-load-add=auth_ed25519\nplugin-maturity=unknown\n"
					 "innodb-buffer-pool-size=8M\ninnodb-log-file-size=4M\ninnodb-flush-log-at-trx-"
					 "commit=0\nskip-name-resolve\nskip-log-bin\nlocal-infile=1\n",
		w->folder, w->socket, w->port, w->folder, w->folder, geteuid() == 0 ? "mysql" : "", w->folder,
		w->folder, w->folder);

	write_file(w, "my.cnf", text);
	write_file(w, "ca.crt", f->ca.cert_pem);
	write_file(w, "serving.crt", f->serving.cert_pem);
	write_file(w, "serving.key", f->serving.key_pem);
}

void mariadbserver_make(struct mariadbserver *w, struct fixture *f)
{
	MEM_AUTO char *install = NULL, *own = NULL;

	fixture_pairs(f);
	w->ca_pem = mem_dup(f->ca.cert_pem);
	strcpy(w->folder, "/tmp/kscaled-mariadb-XXXXXX");
	assert_non_null(mkdtemp(w->folder));
	assert_int_equal(chmod(w->folder, 0755), 0);
	snprintf(w->socket, sizeof(w->socket), "%s/s", w->folder);
	w->port = fixture_dead_port();
	make_config(w, f);
	own = mem_printf("chown -R mysql %s", w->folder);
	if (geteuid() == 0)
		run(own);
	install = mem_printf(PATH "mariadb-install-db --defaults-file=%s/my.cnf "
				  "--auth-root-authentication-method=normal --skip-test-db >/dev/null 2>&1",
		w->folder);
	run(install);
	mariadbserver_start(w);
	mariadbserver_sql(w,
		"CREATE DATABASE shop; CREATE TABLE shop.jobs (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(40)); "
		"INSERT INTO shop.jobs (name) VALUES ('a'),('b'),('c');"
		"CREATE USER plain@'%' IDENTIFIED BY 's3cret', none@'%', ed@'%' IDENTIFIED VIA ed25519 USING "
		"PASSWORD('s3cret'); CREATE USER tlsonly@'%' IDENTIFIED BY 's3cret' REQUIRE SSL;"
		"GRANT ALL ON *.* TO plain@'%', none@'%', tlsonly@'%', ed@'%'; CREATE DATABASE other;"
		"CREATE ROLE reader, writer; GRANT reader TO plain@'%'; GRANT writer TO plain@'%';"
		"SET DEFAULT ROLE reader FOR plain@'%'");
}

void mariadbserver_remove(struct mariadbserver *w)
{
	MEM_AUTO char *command = mem_printf("rm -rf %s", w->folder);

	mariadbserver_stop(w, SIGKILL);
	mem_free_ptr(&w->ca_pem);
	if (w->folder[0])
		run(command);
}
