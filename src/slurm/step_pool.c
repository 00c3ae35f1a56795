/* SPDX-License-Identifier: BSD-2-Clause */
#include "slurm/step_pool.h"

#include "base/base.h"
#include "base/program_path.h"
#include "wire/exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* The connection, on which the request stands. slurmstepd serves one step, and ends with it. */
static int request = -1;

static int identify(const char *path, struct wv_build_id *id)
{
	/* A FIFO, which would make open() wait, is no program either. */
	wv_auto_fd fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	return S_ISREG(st.st_mode) ? wv_id_of_file(fd, id) : -ENOEXEC;
}

/* slurmstepd replaces argv[0] by the program's path just before it starts the task. */
static uint64_t hash_argv(const char *path, char *const *argv)
{
	return wv_hash_argv(wv_hash(WV_HASH_START, path, strlen(path) + 1), argv + 1);
}

int wv_step_pool_request(const struct wv_task_step *step, const char *socket,
			 struct wv_msg_pool_state *state)
{
	struct wv_msg_pool message;
	struct wv_build_id program;
	char path[PATH_MAX];
	wv_auto_fd sock = -1;
	int err = wv_program_find(step->argv[0], step->folders, path, sizeof(path));

	if (!err)
		err = identify(path, &program);
	if (err)
		return err;
	sock = wv_connect(socket);
	if (sock < 0)
		return sock;
	wv_describe(&message.program, &program, hash_argv(path, step->argv), basename(path),
		    step->name);
	err = wv_ask_pool(sock, &message, step->tasks, state);
	if (!err)
		request = wv_steal_fd(&sock);
	return err;
}
