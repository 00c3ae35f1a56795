/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/container/hook.h"

#include "base/base.h"
#include "cli/container/container_root.h"
#include "wire/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <libgen.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

/* A file with one line, the path of the library in containers. */
#define PRELOAD_LIST WV_DATADIR "/warmverbs/ld.so.preload"
/* For files that whoever made the image, or the user who mounts its layers, can delay. */
#define SECONDS 20

static void say_plain(const char *id, const char *why, ...)
{
	char text[256];
	va_list args;

	va_start(args, why);
	vsnprintf(text, sizeof(text), why, args);
	va_end(args);
	syslog(LOG_NOTICE, "container %.64s runs with plain verbs: %s", id, text);
}

static const char *text_of(const json_t *document, const char *member)
{
	const char *text = json_string_value(json_object_get(document, member));

	return text ? text : "";
}

/* The image or the user may preload a library of ours already; two are not meant to meet. */
static bool brings_library(const json_t *config)
{
	const json_t *env = json_object_get(json_object_get(config, "process"), "env"), *variable;
	size_t i;

	json_array_foreach ((json_t *)env, i, variable) {
		const char *text = json_string_value(variable);

		if (text && !strncmp(text, "LD_PRELOAD=", 11) && strstr(text, "libwarmverbs"))
			return true;
	}
	return false;
}

/* The folder of the daemon's socket. */
static const char *socket_folder(void)
{
	static char path[] = WV_SOCKET_DEFAULT;

	return dirname(path);
}

/* What the container may get, from the node: mounts, and a file. Descriptors, or -errno. */
struct gifts {
	int socket, library, list; /* mounts */
	int library_file;
};

static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static struct gifts open_gifts(const char *library)
{
	return (struct gifts){
	    .socket = wv_root_mount_of(socket_folder()),
	    .library = wv_root_mount_of(library),
	    .list = wv_root_mount_of(PRELOAD_LIST),
	    .library_file = open_file(library),
	};
}

static void close_gifts(const struct gifts *g)
{
	const int fds[] = {g->socket, g->library, g->list, g->library_file};

	for (unsigned int i = 0; i < WV_ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static const char *reason(int err)
{
	if (err == -EXDEV || err == -ELOOP)
		return "the container's folder for it is a volume, or leads to one";
	return strerror(-err);
}

static int put(int root, int tree, const char *folder, const char *name, bool if_empty)
{
	return tree < 0 ? tree : wv_root_put(root, tree, folder, name, if_empty);
}

/* The list comes last: it names the library. */
static int put_library(int root, const struct gifts *g)
{
	int err = put(root, g->library, "run", "libwarmverbs.so.0", false);

	return err ? err : put(root, g->list, "etc", "ld.so.preload", true);
}

static void bring_library(const char *id, int root, const struct gifts *g)
{
	char why[160];
	int err;

	if (g->library_file < 0)
		say_plain(id, "cannot read libwarmverbs.so.0: %s", strerror(-g->library_file));
	else if (!wv_root_takes_library(root, g->library_file, why, sizeof(why)))
		say_plain(id, "%s", why);
	else if ((err = put_library(root, g)) == -EEXIST)
		say_plain(id, "the image has an /etc/ld.so.preload of its own");
	else if (err)
		say_plain(id, "cannot mount the library and its list: %s", reason(err));
}

/*
 * From here on, paths are those of the container's first process, which has the container's root
 * somewhere below. Without its pid, this process is there already.
 */
static int enter_mounts(const json_t *state)
{
	json_int_t pid = json_integer_value(json_object_get(state, "pid"));
	wv_auto_fd mounts = -1;
	char path[64];

	if (pid <= 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%lld/ns/mnt", (long long)pid);
	mounts = open_file(path);
	if (mounts < 0)
		return mounts;
	return setns(mounts, CLONE_NEWNS) ? -errno : 0;
}

/* The path of a container's root may be relative to that of its bundle. */
static int open_root(const char *bundle, const json_t *config)
{
	const char *path = text_of(json_object_get(config, "root"), "path");
	wv_auto_free char *root = NULL;

	if (asprintf(&root, "%s%s%s", *path == '/' ? "" : bundle, *path == '/' ? "" : "/", path) <
	    0)
		return -ENOMEM;
	return wv_root_open(root);
}

static void bring(const json_t *state, const json_t *config, const struct gifts *g)
{
	const char *id = text_of(state, "id");
	int err = enter_mounts(state);
	wv_auto_fd root = err ? err : open_root(text_of(state, "bundle"), config);

	err = root < 0 ? root : put(root, g->socket, "run", "warmverbs", false);
	if (err)
		say_plain(id, "cannot mount %s: %s", socket_folder(), reason(err));
	else if (!brings_library(config))
		bring_library(id, root, g);
}

static void serve(const json_t *state, const char *library)
{
	const char *bundle = text_of(state, "bundle");
	wv_auto_free char *path = NULL;
	struct gifts gifts;
	json_t *config;

	if (asprintf(&path, "%s/config.json", bundle) < 0)
		path = NULL;
	config = path ? json_load_file(path, 0, NULL) : NULL;
	gifts = open_gifts(library);
	if (config)
		bring(state, config, &gifts);
	else
		say_plain(text_of(state, "id"), "cannot read config.json of its bundle '%s'",
			  bundle);
	close_gifts(&gifts);
	json_decref(config);
}

/* The runtime may have left the signal blocked or ignored. */
static void limit_time(void)
{
	sigset_t none;

	sigemptyset(&none);
	signal(SIGALRM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	alarm(SECONDS);
}

/* Whatever ends the process that looks into the image, the container starts. */
static void await(pid_t pid, const char *id)
{
	int status;

	if (pid < 0)
		say_plain(id, "cannot start a process: %s", strerror(errno));
	else if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
		return;
	else if (WTERMSIG(status) == SIGALRM)
		say_plain(id, "its files could not be read within %d seconds", SECONDS);
	else
		say_plain(id, "the hook was ended by signal %d", WTERMSIG(status));
}

int wv_container_hook(FILE *in, const char *library)
{
	json_t *state = json_loadf(in, 0, NULL);
	pid_t pid;

	openlog("warmverbs", LOG_NDELAY, LOG_DAEMON);
	pid = fork();
	if (!pid) {
		limit_time();
		serve(state, library);
		_exit(0);
	}
	await(pid, text_of(state, "id"));
	json_decref(state);
	return 0;
}
