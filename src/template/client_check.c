/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/client_check.h"

#include "base/base.h"
#include "base/file_id.h"
#include "template/control.h"
#include "template/descriptors.h"
#include "template/likeness.h"
#include "template/places.h"
#include "template/proc_file.h"
#include "template/sources.h"
#include "template/spy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/auxv.h>
#include <sys/socket.h>

#define refuse(c, ...) wv_because(&(c)->answer.why, __VA_ARGS__)

/*
 * The folder of the client's thread, which stays its own while the client waits for its answer. Not
 * that of the process: each thread has rights of its own.
 */
static int identify(struct wv_client *c, const struct wv_started *s)
{
	char path[64];

	if (!c->pid)
		return refuse(c, "the client has another /proc");
	snprintf(path, sizeof(path), "/proc/%d/task/%d", c->pid, s->thread);
	c->proc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->proc < 0 || !wv_proc_read(c->proc, "status", c->status, sizeof(c->status)))
		return refuse(c, "cannot read %s", path);
	return 0;
}

/* Only who may trace the supervisor can open its file (proc_pid_fd(5)). */
static int check_proof(struct wv_client *c, const struct wv_started *s)
{
	if (wv_is_same_file(wv_file_id_of(s->proof), wv_file_id_of(WV_TEMPLATE_PROOF)))
		return 0;
	return refuse(c, "the client may not trace the supervisor");
}

static bool leads_to_own_path(int program)
{
	char name[32], its[PATH_MAX], own[PATH_MAX];
	ssize_t n, n_own = readlink("/proc/self/exe", own, sizeof(own));

	snprintf(name, sizeof(name), "/proc/self/fd/%d", program);
	n = readlink(name, its, sizeof(its));
	return n > 0 && n == n_own && !memcmp(its, own, (size_t)n);
}

static int check_program(struct wv_client *c, const struct wv_started *s)
{
	if (!wv_is_same_file(wv_file_id_of(s->program), wv_file_id_at("/proc/self/exe")))
		return refuse(c, "the template is of another program");
	/* By which a program finds its parts: a hard link may be in another folder. */
	if (strcmp(s->path, (const char *)getauxval(AT_EXECFN)) != 0)
		return refuse(c, "the template was executed as %s",
			      (const char *)getauxval(AT_EXECFN));
	if (!leads_to_own_path(s->program))
		return refuse(c, "%s has another path now", s->path);
	return 0;
}

static int check_unseen(struct wv_client *c, const struct wv_started *s)
{
	int64_t own[WV_UNSEEN];
	const char *name;

	wv_unseen_read(own);
	own[WV_UNSEEN_END_SIGNAL] = 0; /* in a start */
	name = wv_unseen_difference(own, s->unseen);
	return name ? refuse(c, "%s differs", name) : 0;
}

static int check_numbers(struct wv_client *c, const struct wv_started *s)
{
	return wv_descriptors_fit(s) ? 0 : refuse(c, "its descriptors are above the limit");
}

static int check_surroundings(struct wv_client *c, const struct wv_started *s)
{
	int err = wv_surroundings_read(c->status, s->thread, &c->around);
	const char *obstacle = err ? NULL : wv_surroundings_obstacle(&c->around);

	if (err)
		return refuse(c, "/proc: %s", strerror(-err));
	return obstacle ? refuse(c, "%s", obstacle) : 0;
}

static int check_changes(struct wv_client *c, const struct wv_started *s)
{
	struct pollfd changed = {.fd = WV_TEMPLATE_CHANGES, .events = POLLIN};
	const char *other = wv_places_change();

	(void)s;
	if (other)
		return refuse(c, "%s has changed", other);
	return poll(&changed, 1, 0) ? refuse(c, "a file of the program has changed") : 0;
}

/* "NAME=PID" */
static bool names_pid(const char *variable, const char *name, pid_t pid)
{
	size_t length = strlen(name);
	char number[16];

	if (strncmp(variable, name, length) != 0 || variable[length] != '=')
		return false;
	snprintf(number, sizeof(number), "%d", pid);
	return !strcmp(variable + length + 1, number);
}

/* Of who counts on the pid of what it has executed: systemd(1), sd_listen_fds(3), sd_notify(3). */
static const char *of_pid(const struct wv_started *s, pid_t client)
{
	static const char *const names[] = {"LISTEN_PID", "WATCHDOG_PID", "SYSTEMD_EXEC_PID"};

	for (char **at = s->environ; *at; at++) {
		if (!strncmp(*at, "NOTIFY_SOCKET=", strlen("NOTIFY_SOCKET=")))
			return "NOTIFY_SOCKET";
		for (size_t i = 0; i < WV_ARRAY_SIZE(names); i++)
			if (names_pid(*at, names[i], client))
				return names[i];
	}
	return NULL;
}

static int check_environment(struct wv_client *c, const struct wv_started *s)
{
	const char *name = of_pid(s, c->pid);

	if (name)
		return refuse(c, "%s is for the client's own pid", name);
	if (wv_spy_is_same(s->environ, &name))
		return 0;
	return refuse(c, "the program has read %.*s, which differs", (int)strcspn(name, "="), name);
}

static int check_script(struct wv_client *c, const struct wv_started *s)
{
	return wv_sources_are_named(s) ? 0 : refuse(c, "the arguments name another script");
}

static int check_likeness(struct wv_client *c, const struct wv_started *s)
{
	const struct wv_likeness_client client = {s->thread, c->proc, c->status};

	return wv_likeness_check(&client, &c->answer.why);
}

/* It may have waited for too long, and started the program itself. */
static int check_presence(struct wv_client *c, const struct wv_started *s)
{
	struct pollfd gone = {.fd = c->connection, .events = POLLRDHUP};

	(void)s;
	return poll(&gone, 1, 0) ? refuse(c, "the client has gone") : 0;
}

int wv_client_check(struct wv_client *c, const struct wv_started *s)
{
	int (*const checks[])(struct wv_client *, const struct wv_started *) = {
	    identify,		check_proof,	   check_program,  check_changes,
	    check_script,	check_environment, check_likeness, check_unseen,
	    check_surroundings, check_numbers,	   check_presence,
	};
	int found = 0;

	for (size_t i = 0; i < WV_ARRAY_SIZE(checks) && !found; i++)
		found = checks[i](c, s);
	return found;
}
