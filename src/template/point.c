/* SPDX-License-Identifier: BSD-2-Clause */
/* The stop point of a template: here it makes children, which go on from here. */
#include "template/point.h"
#include "base/base.h"
#include "template/arguments.h"
#include "template/control.h"
#include "template/environment.h"
#include "template/files.h"
#include "template/large_pages.h"
#include "template/libraries.h"
#include "template/own_settings.h"
#include "template/quiet.h"
#include "template/ready.h"
#include "template/spy.h"
#include "template/spy_calls.h"
#include "template/stop.h"
#include "template/tell.h"
#include "template/waiting.h"
#include "warmverbs-template.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* What it has said so far is seen by check_quiet(). */
static const char *show_output(void)
{
	fflush(NULL);
	return NULL;
}

static const char *check_quiet(void)
{
	static struct wv_reason_text why;
	int err = wv_quiet_check(WV_TEMPLATE_LISTENER, WV_TEMPLATE_BEHIND, &why);

	return err > 0 ? why.text : err ? strerror(-err) : NULL;
}

static const char *note_libraries(void)
{
	int err = wv_libraries_note();

	if (err == -EINVAL)
		return "it was linked with a relative path, or searched for libraries in one";
	return err ? wv_files_error(err) : NULL;
}

static const char *watch_files(void)
{
	int err = wv_files_watch_mapped();

	return err ? wv_files_error(err) : NULL;
}

static const char *prepare_arguments(void)
{
	int err = wv_arguments_prepare();

	return err ? "the kernel has no CONFIG_CHECKPOINT_RESTORE (prctl(2), PR_SET_MM_MAP)" : NULL;
}

/* It holds no folder of who started it. */
static const char *leave_folder(void)
{
	return chdir("/") ? strerror(errno) : NULL;
}

/* Why this process cannot be a template; NULL if it is one now. */
static const char *become_template(void)
{
	static const char *(*const steps[])(void) = {
	    wv_ready_begin,	    show_output,    check_quiet,
	    wv_environment_compare, note_libraries, watch_files,
	    prepare_arguments,	    leave_folder,   wv_spy_end,
	};
	const char *why = wv_spy_has_set_limits() ? "it has set a limit" : wv_own_settings_change();

	for (size_t i = 0; i < WV_ARRAY_SIZE(steps) && !why; i++)
		why = steps[i]();
	if (why)
		return why;
	wv_ready_share();
	wv_large_pages_use();
	return NULL;
}

/*
 * Returns true in a child that is a start; this process is not their parent. Handlers of
 * pthread_atfork(3) run once: libraries renew random state in them.
 */
static bool make_children(int n, pid_t supervisor, struct wv_started *s)
{
	struct wv_origin origin = {.supervisor = supervisor, .set_signals = wv_spy_set_signals()};
	pid_t between = _Fork(), child = -1;

	if (between) {
		if (between > 0)
			waitpid(between, NULL, 0);
		wv_tell_supervisor(WV_CONTROL_DONE, 0, "");
		return false;
	}
	origin.parent = getpid();
	wv_ready_list();
	for (; n > 0 && (child = fork()) > 0; n--)
		wv_tell_supervisor(WV_CONTROL_MADE, child, "");
	if (child)
		_exit(0);
	wv_child_wait(&origin, s);
	return true;
}

/* Returns only in a child that is a start. */
static void serve(struct wv_started *s)
{
	pid_t supervisor = getppid();
	struct wv_control c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != supervisor)
		_exit(0);
	for (;;) {
		if (recv(WV_TEMPLATE_CONTROL, &c, sizeof(c), 0) != sizeof(c))
			_exit(0);
		if (c.word == WV_CONTROL_MAKE && make_children(c.value, supervisor, s))
			return;
	}
}

static void stop_here(int *argc, char ***argv)
{
	struct wv_started s;
	const char *why;

	wv_stop_is_reached();
	why = become_template();
	if (why) {
		wv_tell_supervisor(WV_CONTROL_CANNOT, 0, why);
		_exit(0);
	}
	wv_tell_supervisor(WV_CONTROL_READY, 0, "");
	serve(&s);
	wv_environment_change();
	wv_ready_use(s.argv);
	*argc = s.argc;
	*argv = s.argv;
}

WV_PUBLIC int wv_template_point(int *argc, char ***argv)
{
	if (wv_stop_place() != WV_STOP_AT_POINT)
		return 0;
	stop_here(argc, argv);
	return 1;
}

void wv_template_main(int *argc, char ***argv)
{
	if (wv_stop_place() == WV_STOP_AT_MAIN)
		stop_here(argc, argv);
}
