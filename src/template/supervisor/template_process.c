/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/supervisor/template_process.h"

#include "base/base.h"
#include "base/message.h"
#include "base/own_folder.h"
#include "base/preload_list.h"
#include "base/program_file.h"
#include "base/program_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* So that a program which sets its own is seen to have changed it (template/own_settings.c). */
#define UNUSUAL_UMASK 0076

#define LIBRARY "libwarmverbs-template.so.0"

/* Away from the numbers that they are to have, so that none takes another's place. */
static int aside(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, WV_TEMPLATE_BEHIND);
}

/* One line, to be read. */
static int make_input(void)
{
	int input = memfd_create("warmverbs-input", MFD_CLOEXEC);

	return pwrite(input, "\n", 1, 0) == 1 ? input : -1;
}

static int make_output(void)
{
	return memfd_create("warmverbs-output", MFD_CLOEXEC);
}

static bool put_descriptors(const struct wv_template_process *t, int control)
{
	const int from[] = {
	    [WV_TEMPLATE_LISTENER] = aside(t->listener),
	    [WV_TEMPLATE_CONTROL] = aside(control),
	    [WV_TEMPLATE_PROOF] = aside(t->proof),
	    [WV_TEMPLATE_CHANGES] = aside(t->changes),
	};
	/* They show what was read and written: wv_own_settings_change(), wv_quiet_check() */
	int input = make_input();
	bool ok = dup2(input, STDIN_FILENO) >= 0 && dup2(make_output(), STDOUT_FILENO) >= 0 &&
		  dup2(t->errors, STDERR_FILENO) >= 0;

	for (int fd = WV_TEMPLATE_LISTENER; fd < WV_TEMPLATE_BEHIND && ok; fd++)
		ok = dup2(from[fd], fd) >= 0;
	/* What this process has inherited is not the program's. */
	return ok && !close_range(WV_TEMPLATE_BEHIND, UINT_MAX, CLOSE_RANGE_CLOEXEC);
}

static bool set_environment(const struct wv_template_program *program, const char *library)
{
	wv_auto_free char *list = NULL, *told = NULL;
	const char *before;

	for (size_t i = 0; i < program->n_variables; i++)
		if (putenv(program->variables[i]))
			return false;
	before = getenv("LD_PRELOAD");
	list = wv_preload_list(before, library, true);
	if (!list || asprintf(&told, "%s:%s%s", program->at, before ? "LD_PRELOAD=" : "",
			      before ? before : "") < 0)
		return false;
	return !setenv(WV_TEMPLATE_ENV, told, 1) && !setenv("LD_PRELOAD", list, 1);
}

/* What each start has is its client's; what the program sets before its stop point stays. */
static void reset_signals(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* What a child needs to become the program. */
struct spawn {
	const struct wv_template_process *t;
	const struct wv_template_program *program;
	char library[PATH_MAX];
	int control, report; /* report: of errno, if it cannot become the program */
	pid_t parent;
};

static _Noreturn void become_program(const struct spawn *s)
{
	int report;

	reset_signals();
	umask(UNUSUAL_UMASK);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	report = fcntl(s->report, F_DUPFD_CLOEXEC, WV_TEMPLATE_BEHIND);
	if (getppid() == s->parent && put_descriptors(s->t, s->control) &&
	    set_environment(s->program, s->library) && !setrlimit(RLIMIT_NOFILE, &s->t->files))
		execvp(s->program->argv[0], s->program->argv);
	if (write(report, &errno, sizeof(errno)) < 0)
		_exit(126);
	_exit(127);
}

/* Returns 0 once the program is executed, or -errno. */
static int await_exec(int report)
{
	int err = 0;

	return read(report, &err, sizeof(err)) == sizeof(err) ? -err : 0;
}

static int spawn(struct wv_template_process *t, struct spawn *s)
{
	int report[2], err;

	if (pipe2(report, O_CLOEXEC))
		return -errno;
	s->report = report[1];
	t->pid = fork();
	if (!t->pid)
		become_program(s);
	err = t->pid < 0 ? -errno : 0;
	close(report[1]);
	if (!err)
		err = await_exec(report[0]);
	close(report[0]);
	return err;
}

/*
 * Files that were written just before have an earlier time than the proof, by which the template
 * sees that (template/files.c): the kernel has ticks of up to 10 ms.
 */
#define TICK_US 20000

/* At the number where clients look for it, which is free: see wv_template_spawn(). */
static int make_proof(void)
{
	wv_auto_fd file = memfd_create("warmverbs-supervisor", MFD_CLOEXEC);

	if (file == WV_TEMPLATE_PROOF)
		return wv_steal_fd(&file);
	return file < 0 ? -1 : dup3(file, WV_TEMPLATE_PROOF, O_CLOEXEC);
}

/*
 * In a build folder, it is beside this program. A library that cannot be preloaded would let the
 * program run to its end.
 */
static int find_library(char path[static PATH_MAX], struct wv_reason_text *why)
{
	if (wv_beside_executable(LIBRARY, path) || access(path, R_OK))
		strcpy(path, WV_LIBDIR "/" LIBRARY);
	if (access(path, R_OK)) {
		wv_because(why, "cannot read %s: %s", path, strerror(errno));
		return -errno;
	}
	if (wv_preload_can_name(path))
		return 0;
	wv_because(why, "LD_PRELOAD cannot name %s, which has a space or a colon", path);
	return -EINVAL;
}

/* So would such a program; or it is not what its starts would be. */
static int check_program(const char *name, struct wv_reason_text *why)
{
	char path[PATH_MAX];
	int err = wv_program_find(name, getenv("PATH"), path, sizeof(path));
	const char *obstacle = err ? NULL : wv_program_obstacle(path);

	if (err)
		return err;
	if (!obstacle && !wv_program_is_elf(path))
		obstacle = "a script: only its interpreter can have a template";
	if (obstacle)
		wv_because(why, "it is %s", obstacle);
	return obstacle ? -EINVAL : 0;
}

int wv_template_spawn(struct wv_template_process *t, const struct wv_template_program *program,
		      struct wv_reason_text *why)
{
	struct spawn s = {.t = t, .program = program, .parent = getpid()};
	int ends[2], err = check_program(program->argv[0], why);

	if (!err)
		err = find_library(s.library, why);
	if (err)
		return err;
	usleep(TICK_US);
	t->proof = make_proof();
	t->errors = make_output();
	t->changes = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (t->proof < 0 || t->changes < 0 || t->errors < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	t->control = ends[0];
	s.control = ends[1];
	err = spawn(t, &s);
	close(ends[1]);
	return err;
}

bool wv_template_hear(const struct wv_template_process *t, struct wv_control *c, int *fd)
{
	int fds[WV_MESSAGE_FDS];
	unsigned int n;
	bool is_whole = wv_recv_any(t->control, c, sizeof(*c), fds, &n, NULL) == sizeof(*c);

	*fd = -1;
	if (is_whole && n < 2) {
		c->why.text[sizeof(c->why.text) - 1] = '\0';
		*fd = n ? fds[0] : -1;
		return true;
	}
	while (n > 0)
		close(fds[--n]);
	return false;
}

void wv_template_because(const struct wv_template_process *t, const char *what,
			 struct wv_reason_text *why)
{
	char text[4096];
	off_t end = lseek(t->errors, 0, SEEK_END), at = end - (off_t)sizeof(text) + 1;
	ssize_t n = pread(t->errors, text, sizeof(text) - 1, at > 0 ? at : 0);
	const char *begin;

	text[n > 0 ? n : 0] = '\0';
	if (n > 0 && text[n - 1] == '\n')
		text[n - 1] = '\0';
	begin = strrchr(text, '\n');
	begin = begin ? begin + 1 : text;
	wv_because(why, "%s%s%.60s", what, *begin ? ": " : "", begin);
}
