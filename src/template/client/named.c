/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/client/named.h"

#include "base/base.h"
#include "base/own_folder.h"
#include "template/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define SUPERVISOR "warmverbs-template"

/* Returns 0 or -errno. */
static int find_folder(char *folder, size_t capacity)
{
	const char *told = secure_getenv(WV_TEMPLATES_ENV), *runtime = getenv("XDG_RUNTIME_DIR");
	struct stat st;
	int n;

	if (!told && !runtime && geteuid())
		return -ENOENT;
	if (*(told ? told : runtime ? runtime : "/") != '/')
		return -EINVAL;
	if (told)
		n = snprintf(folder, capacity, "%s", told);
	else
		n = snprintf(folder, capacity, "%s/warmverbs-templates",
			     runtime ? runtime : "/run");
	if (n < 0 || (size_t)n >= capacity)
		return -ENAMETOOLONG;
	if (mkdir(folder, 0700) && errno != EEXIST)
		return -errno;
	if (lstat(folder, &st))
		return -errno;
	return S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 077) ? 0 : -EPERM;
}

static bool is_of_linker(const char *variable)
{
	return !strncmp(variable, "LD_", strlen("LD_"));
}

/* Starts in one cgroup are of no use to another. */
static uint64_t hash_cgroup(uint64_t hash)
{
	wv_auto_fd file = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
	char text[1024];
	ssize_t n = file < 0 ? 0 : read(file, text, sizeof(text));

	return n > 0 ? wv_hash(hash, text, (size_t)n) : hash;
}

/* Of the file, so that a program that was built anew has another one. */
static int hash_program(const char *path, uint64_t *hash)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	*hash = wv_hash(*hash, path, strlen(path));
	*hash = wv_hash(*hash, &st.st_dev, sizeof(st.st_dev));
	*hash = wv_hash(*hash, &st.st_ino, sizeof(st.st_ino));
	*hash = wv_hash(*hash, &st.st_ctim, sizeof(st.st_ctim));
	return 0;
}

int wv_named_find(const char *path, struct wv_named *named)
{
	uint64_t hash = hash_cgroup(WV_HASH_START);
	char folder[sizeof(named->socket)];
	int n, err = find_folder(folder, sizeof(folder));

	if (!err)
		err = hash_program(path, &hash);
	if (err)
		return err;
	for (char **variable = environ; *variable; variable++)
		if (is_of_linker(*variable))
			hash = wv_hash(hash, *variable, strlen(*variable) + 1);
	n = snprintf(named->socket, sizeof(named->socket), "%s/%016jx", folder, (uintmax_t)hash);
	return n < 0 || (size_t)n >= sizeof(named->socket) ? -ENAMETOOLONG : 0;
}

static size_t count(char *const *list)
{
	size_t n = 0;

	while (list[n])
		n++;
	return n;
}

/*
 * What the dynamic linker is told goes to the template, not to the supervisor, which is no part of
 * the program. Executes, or returns -errno.
 */
static int execute(const struct wv_named *named, const char *path)
{
	char supervisor[PATH_MAX], *socket = (char *)named->socket;
	char **argv = calloc(2 * count(environ) + 8, sizeof(*argv));
	char **others = calloc(count(environ) + 1, sizeof(*others));
	size_t n = 0, n_others = 0;
	int err = argv && others ? wv_beside_executable(SUPERVISOR, supervisor) : -ENOMEM;

	if (err)
		return err;
	argv[n++] = SUPERVISOR;
	argv[n++] = "--socket";
	argv[n++] = socket;
	argv[n++] = "--named";
	for (char **variable = environ; *variable; variable++) {
		if (is_of_linker(*variable)) {
			argv[n++] = "--setenv";
			argv[n++] = *variable;
		} else {
			others[n_others++] = *variable;
		}
	}
	argv[n++] = "--";
	argv[n] = (char *)path;
	execve(supervisor, argv, others);
	return -errno;
}

/* Not stopped with the terminal, nor with the group of this process. */
static _Noreturn void become_supervisor(const struct wv_named *named, const char *path)
{
	int nowhere = open("/dev/null", O_RDWR);

	setsid();
	if (fork())
		_exit(0);
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		dup2(nowhere, fd);
	wv_signals_block(0);
	execute(named, path);
	_exit(127);
}

/* Orphans are this process's children: the supervisor would be one of the program's. */
static bool gets_orphans(void)
{
	int is_subreaper = 0;

	prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper);
	return is_subreaper || getpid() == 1;
}

/* Its end is signalled by nothing, which the program would find waiting for it. */
static pid_t fork_quietly(void)
{
	return (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, 0);
}

int wv_named_start(const struct wv_named *named, const char *path)
{
	pid_t pid;

	if (gets_orphans())
		return -ECHILD;
	pid = fork_quietly();
	if (!pid)
		become_supervisor(named, path);
	if (pid < 0)
		return -errno;
	waitpid(pid, NULL, __WALL);
	return 0;
}
