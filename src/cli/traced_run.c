/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/traced_run.h"

#include "base/base.h"
#include "base/end_alike.h"
#include "cli/complain.h"
#include "cli/subcommand.h"
#include "cli/supervise.h"
#include "cli/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

/* The file has a name because the program opens it by that name. */
static int make_trace(char *path, size_t capacity)
{
	const char *folder = getenv("TMPDIR");
	int fd;

	if ((size_t)snprintf(path, capacity, "%s/warmverbs-XXXXXX",
			     folder && *folder == '/' ? folder : "/tmp") >= capacity)
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int complain_of_trace(const char *path, int err)
{
	wv_complain("set TMPDIR to a folder in which you may create files",
		    "cannot create the trace file %s: %s", path, strerror(-err));
	return WV_EXIT_NOT_STARTED;
}

/* Reads what wv_launch_prepare() or the caller put into the environment. */
static bool lease_wanted(void)
{
	const char *lease = getenv("WARMVERBS_LEASE");

	return !lease || strcmp(lease, "0");
}

static void report(int trace, int exit_code, wv_traced_run_print print, FILE *out)
{
	wv_auto_free struct wv_trace *records = NULL;
	struct wv_run traced = {.lease_wanted = lease_wanted(), .exit_code = exit_code};
	int err = wv_trace_read(trace, &records, &traced.n);

	traced.records = records;
	if (!err)
		err = print(&traced, out);
	if (!err && fflush(out))
		err = -errno;
	if (err)
		wv_complain(err == -EPROTO ? "the library and this command are of different "
					     "versions: install both from one build"
					   : NULL,
			    "the report is not complete: %s", strerror(-err));
}

int wv_traced_run(char **program, wv_traced_run_print print, FILE *out, int *status)
{
	char path[PATH_MAX];
	wv_auto_fd trace = make_trace(path, sizeof(path));
	int code;

	if (trace < 0)
		return complain_of_trace(path, trace);
	if (setenv(WV_TRACE_ENV, path, 1))
		code = complain_of_trace(path, -ENOMEM);
	else
		code = wv_supervise(program, status);
	unlink(path);
	if (!code)
		report(trace, wv_exit_code(*status), print, out);
	return code;
}
