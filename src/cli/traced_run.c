/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/traced_run.h"

#include "base/base.h"
#include "cli/complain.h"
#include "cli/subcommand.h"
#include "cli/supervise.h"
#include "cli/trace_file.h"

#include <errno.h>
#include <fcntl.h>
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

int wv_traced_run_prepare(struct wv_traced_run *run)
{
	int fd = make_trace(run->path, sizeof(run->path));

	run->trace = fd;
	if (fd >= 0 && !setenv(WV_TRACE_ENV, run->path, 1))
		return 0;
	if (fd >= 0)
		unlink(run->path);
	wv_close_fd(&run->trace);
	wv_complain("set TMPDIR to a folder in which you may create files",
		    "cannot create the trace file %s: %s", run->path,
		    strerror(fd < 0 ? -fd : ENOMEM));
	return WV_EXIT_NOT_STARTED;
}

int wv_traced_run(struct wv_traced_run *run, const struct wv_launch *launch)
{
	int code = wv_supervise(launch, &run->status);

	unlink(run->path);
	return code;
}

/* Reads what wv_launch_prepare() or the caller put into the environment. */
static bool lease_wanted(void)
{
	const char *lease = getenv("WARMVERBS_LEASE");

	return !lease || strcmp(lease, "0");
}

void wv_traced_run_report(struct wv_traced_run *run, wv_traced_run_print print, FILE *out)
{
	wv_auto_free struct wv_trace *records = NULL;
	struct wv_run traced = {.lease_wanted = lease_wanted()};
	int err = wv_trace_read(run->trace, &records, &traced.n);

	traced.records = records;
	if (!err)
		err = print(&traced, out);
	if (!err && fflush(out))
		err = -errno;
	wv_close_fd(&run->trace);
	if (err)
		wv_complain(err == -EPROTO ? "the library and this command are of different "
					     "versions: install both from one build"
					   : NULL,
			    "the report is not complete: %s", strerror(-err));
}
