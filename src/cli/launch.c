/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/launch.h"

#include "base/base.h"
#include "base/own_folder.h"
#include "base/preload_list.h"
#include "base/program_file.h"
#include "base/program_path.h"
#include "cli/complain.h"
#include "cli/doctor/surroundings.h"
#include "cli/library.h"
#include "wire/wire.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#define SOCKET_MAX_BYTES (sizeof(((struct sockaddr_un *)0)->sun_path) - 1)

static int out_of_memory(void)
{
	wv_complain(NULL, "out of memory");
	return WV_EXIT_NOT_STARTED;
}

/* The program may change its working directory before it opens a device. */
static int set_socket(const char *socket)
{
	wv_auto_free char *folder = *socket == '/' ? NULL : getcwd(NULL, 0);
	wv_auto_free char *path = NULL;

	if (asprintf(&path, "%s%s%s", folder ? folder : "", folder ? "/" : "", socket) < 0)
		return out_of_memory();
	if (strlen(path) > SOCKET_MAX_BYTES) {
		wv_complain("choose a shorter path", "the path %s is too long for a socket", path);
		return WV_EXIT_NOT_STARTED;
	}
	return setenv(WV_SOCKET_ENV, path, 1) ? out_of_memory() : 0;
}

/* By the list /etc/ld.so.preload, as in containers, or by the caller's LD_PRELOAD. */
static bool is_preloaded(void)
{
	return dlopen("libwarmverbs.so.0", RTLD_LAZY | RTLD_NOLOAD);
}

static int set_preload(const char *library)
{
	wv_auto_free char *list = NULL;

	if (!wv_preload_can_name(library)) {
		wv_complain("move the library, or set " WV_LIBRARY_ENV
			    " to a link with another path",
			    "LD_PRELOAD cannot name %s: the path has a space or a colon", library);
		return WV_EXIT_NOT_STARTED;
	}
	list = wv_preload_list(getenv("LD_PRELOAD"), library, true);
	return !list || setenv("LD_PRELOAD", list, 1) ? out_of_memory() : 0;
}

static int set_environment(const struct wv_arguments *a)
{
	bool preloaded = is_preloaded();
	char library[PATH_MAX];
	int err = preloaded ? 0 : wv_library_find(library);

	if (err) {
		wv_complain(wv_is_contained("") ? WV_CONTAINER_REMEDY
						: "install warmverbs, or set " WV_LIBRARY_ENV
						  " to the library's path",
			    "cannot read the library %s: %s", library, strerror(-err));
		return WV_EXIT_NOT_STARTED;
	}
	if (a->no_lease && setenv("WARMVERBS_LEASE", "0", 1))
		return out_of_memory();
	if (a->name && setenv("WARMVERBS_NAME", a->name, 1))
		return out_of_memory();
	err = a->socket ? set_socket(a->socket) : 0;
	return err || preloaded ? err : set_preload(library);
}

int wv_launch_prepare(const struct wv_arguments *a)
{
	char path[PATH_MAX];
	const char *obstacle = NULL;

	/* A program that is not found is left for execvp() to report. */
	if (!wv_program_find(a->program[0], getenv("PATH"), path, sizeof(path)))
		obstacle = wv_program_obstacle(path);
	if (!obstacle)
		return set_environment(a);
	wv_complain("the program runs without warmverbs",
		    "no library can be preloaded into %s: it is %s", path, obstacle);
	return 0;
}

/* warmverbs-start: in the folder of this program or, in a build folder, beside that. */
static const char *find_starter(void)
{
	static char path[PATH_MAX];
	static const char *const places[] = {"warmverbs-start", "../template/warmverbs-start"};

	for (size_t i = 0; i < WV_ARRAY_SIZE(places); i++)
		if (!wv_beside_executable(places[i], path) && !access(path, X_OK))
			return path;
	return NULL;
}

char **wv_launch_from_template(char **program)
{
	const char *starter = find_starter();
	char **command;
	size_t n = 0;

	if (!starter) {
		wv_complain("install warmverbs-templates",
			    "there is no warmverbs-start beside warmverbs");
		return NULL;
	}
	while (program[n])
		n++;
	command = calloc(n + 3, sizeof(*command));
	if (!command) {
		out_of_memory();
		return NULL;
	}
	command[0] = (char *)starter;
	command[1] = "--";
	memcpy(command + 2, program, n * sizeof(*program));
	return command;
}

int wv_launch_exec(char **program)
{
	execvp(program[0], program);
	int err = errno;

	wv_complain(err == ENOENT ? "check its path, or PATH"
				  : "check that you may execute it, and that it is a program",
		    "cannot execute %s: %s", program[0], strerror(err));
	return err == ENOENT ? WV_EXIT_NOT_FOUND : WV_EXIT_NOT_RUNNABLE;
}
