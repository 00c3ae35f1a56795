/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A plugin of Slurm (SPANK, spank.h): the tasks of a step are started with the library preloaded,
 * and the leases that they need are requested before they start.
 *
 * Whatever goes wrong, the job runs as without the plugin. Only a wrong option of srun is an error,
 * before there is a step.
 */
#include "base/base.h"
#include "base/preload_list.h"
#include "base/program_path.h"
#include "wire/exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* What Slurm looks up by its name. */
#pragma GCC visibility push(default)
#include <slurm/spank.h>
SPANK_PLUGIN(warmverbs, 1)
#pragma GCC visibility pop

#define LIST_MAX 32768 /* of LD_PRELOAD and PATH; a longer one is left alone */

static struct {
	bool wanted;
	bool said_no; /* by an option, not by default */
	const char *library, *socket;
} settings = {
    .wanted = true,
    .library = WV_LIBDIR "/libwarmverbs.so.0",
    .socket = WV_SOCKET_DEFAULT,
};

static int read_yes_or_no(const char *word, bool *yes)
{
	if (!word || (strcmp(word, "yes") && strcmp(word, "no")))
		return -EINVAL;
	*yes = !strcmp(word, "yes");
	return 0;
}

static int on_option(int val, const char *word, int remote)
{
	(void)val;
	if (read_yes_or_no(word, &settings.wanted)) {
		slurm_error("warmverbs: --warmverbs=%s: say yes or no", word ? word : "");
		return remote ? ESPANK_SUCCESS : ESPANK_BAD_ARG;
	}
	settings.said_no = !settings.wanted;
	return ESPANK_SUCCESS;
}

static struct spank_option option = {
    .name = (char *)"warmverbs",
    .arginfo = (char *)"yes|no",
    .usage = (char *)"start RDMA programs with objects prepared ahead",
    .has_arg = 1,
    .cb = on_option,
};

/* What follows @name in @argument, or NULL. */
static const char *value_of(const char *argument, const char *name)
{
	size_t bytes = strlen(name);

	return strncmp(argument, name, bytes) ? NULL : argument + bytes;
}

/* An argument in plugstack.conf; the string is Slurm's, and stays. */
static int read_argument(const char *argument)
{
	const char *value;

	if ((value = value_of(argument, "default=")))
		return read_yes_or_no(value, &settings.wanted);
	if ((value = value_of(argument, "library=")) && wv_preload_can_name(value))
		settings.library = value;
	else if ((value = value_of(argument, "socket=")))
		settings.socket = value;
	else
		return -EINVAL;
	return 0;
}

/* In each program of Slurm: @argv has the arguments in plugstack.conf. */
WV_PUBLIC int slurm_spank_init(spank_t spank, int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (read_argument(argv[i]))
			slurm_error("warmverbs: plugstack.conf: '%s' is none of default=yes, "
				    "default=no, library=PATH, socket=PATH: ignored",
				    argv[i]);
	spank_option_register(spank, &option);
	return ESPANK_SUCCESS;
}

/* A variable of the tasks. ESPANK_SUCCESS; or an error, and @value is empty. */
static spank_err_t get_variable(spank_t spank, const char *name, char *value, int bytes)
{
	spank_err_t err = spank_getenv(spank, name, value, bytes);

	if (err)
		*value = '\0';
	return err;
}

static void set_preload(spank_t spank)
{
	static char before[LIST_MAX];
	spank_err_t err = get_variable(spank, "LD_PRELOAD", before, sizeof(before));
	wv_auto_free char *list = NULL;

	if (err && err != ESPANK_ENV_NOEXIST) {
		slurm_debug("warmverbs: LD_PRELOAD stays as it is: %s", spank_strerror(err));
		return;
	}
	list = wv_preload_list(before, settings.library, settings.wanted);
	if (!list)
		slurm_debug("warmverbs: out of memory");
	else if (*list)
		spank_setenv(spank, "LD_PRELOAD", list, 1);
	else
		spank_unsetenv(spank, "LD_PRELOAD");
}

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

/* What the tasks run. 0; or -errno: -ENOEXEC if it is a script, or no program of this machine. */
static int describe_tasks(spank_t spank, char *const *argv, struct wv_msg_request *request)
{
	static char folders[LIST_MAX];
	char name[NAME_MAX], path[PATH_MAX];
	struct wv_build_id program;
	int err;

	get_variable(spank, "PATH", folders, sizeof(folders));
	get_variable(spank, "WARMVERBS_NAME", name, sizeof(name));
	err = wv_program_find(argv[0], folders, path, sizeof(path));
	if (!err)
		err = identify(path, &program);
	if (!err)
		wv_describe(request, &program, hash_argv(path, argv), basename(path), name);
	return err;
}

/* A lease for each task. Waits up to WV_WAIT_MS for the answer. 0 or -errno. */
static int request_leases(struct wv_msg_pool *message, uint32_t tasks,
			  struct wv_msg_pool_state *state)
{
	wv_auto_fd sock = wv_connect(settings.socket);
	int err = sock < 0 ? sock : wv_ask_pool(sock, message, tasks, state);

	/* The request stands until slurmstepd ends, with its one step. */
	if (!err)
		wv_steal_fd(&sock);
	return err;
}

static void request_pool(spank_t spank)
{
	struct wv_msg_pool message;
	struct wv_msg_pool_state state;
	uint32_t tasks;
	char **argv = NULL;
	int argc = 0, err;

	if (spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &tasks) ||
	    spank_get_item(spank, S_JOB_ARGV, &argc, &argv) || !tasks || !argc)
		return;
	err = describe_tasks(spank, argv, &message.program);
	if (!err)
		err = request_leases(&message, tasks, &state);
	if (err)
		slurm_debug("warmverbs: no leases requested for %s: %s", argv[0], strerror(-err));
	else
		slurm_debug("warmverbs: %u leases requested for %s: %u granted, %u ready", tasks,
			    argv[0], state.granted, state.ready);
}

/*
 * In slurmstepd, with the user's rights and the tasks' working directory, before they are forked.
 */
WV_PUBLIC int slurm_spank_user_init(spank_t spank, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	/* The loader would complain in every task. */
	if (settings.wanted && eaccess(settings.library, R_OK)) {
		slurm_debug("warmverbs: cannot read %s: %s", settings.library, strerror(errno));
		return ESPANK_SUCCESS;
	}
	if (settings.wanted || settings.said_no)
		set_preload(spank);
	if (settings.wanted)
		request_pool(spank);
	return ESPANK_SUCCESS;
}
